#include "runtime/ota/target_description.h"

#include <algorithm>
#include <bitset>
#include <cstring>

#include "runtime/format/entry.h"
#include "runtime/format/manifest.h"
#include "runtime/ota/json.h"

namespace aot::ota {
namespace {

constexpr char kSuffix[] = ".manifest";

Status ParsePart(const cJSON* aot, const char* name, Part* out) {
  const cJSON* part = nullptr;
  AOT_OTA_RETURN_IF_ERROR(GetObject(aot, name, &part));
  AOT_OTA_RETURN_IF_ERROR(GetDigest(part, "sha256", &out->sha256).At(name));
  return GetInteger(part, "length", 0, &out->length).At(name);
}

Status ParseFields(const TargetFile& file, TargetDescription* out) {
  const cJSON* aot = nullptr;
  if (file.custom == nullptr) return Status(Code::kMalformed, "no custom field: not an artifact");
  AOT_OTA_RETURN_IF_ERROR(GetObject(file.custom, "aot", &aot));
  AOT_OTA_RETURN_IF_ERROR(GetString(aot, "model", &out->model));
  AOT_OTA_RETURN_IF_ERROR(GetString(aot, "channel", &out->channel));
  AOT_OTA_RETURN_IF_ERROR(GetString(aot, "target", &out->target));
  AOT_OTA_RETURN_IF_ERROR(GetString(aot, "triple", &out->triple));
  AOT_OTA_RETURN_IF_ERROR(GetStrings(aot, "cpu_features", &out->cpu_features));
  if (Find(aot, "vector_bits") != nullptr)
    AOT_OTA_RETURN_IF_ERROR(GetInteger(aot, "vector_bits", 0, &out->vector_bits));
  AOT_OTA_RETURN_IF_ERROR(GetInteger(aot, "abi", 1, &out->abi));
  AOT_OTA_RETURN_IF_ERROR(GetInteger(aot, "format", 1, &out->format));
  AOT_OTA_RETURN_IF_ERROR(GetInteger(aot, "arena_size", 0, &out->arena_size));
  AOT_OTA_RETURN_IF_ERROR(GetInteger(aot, "release", 1, &out->release));
  AOT_OTA_RETURN_IF_ERROR(ParsePart(aot, "code", &out->code));
  return ParsePart(aot, "weights", &out->weights);
}

Status Differs(const char* field, const std::string& signed_value, const std::string& manifest_value) {
  return Status(Code::kDigest, std::string("the manifest's ") + field + " is \"" + Printable(manifest_value) +
                                   "\", signed metadata says \"" + Printable(signed_value) + "\"");
}

Status CompareText(const char* field, const std::string& signed_value, const aot_text& text) {
  const std::string manifest_value(text.data, text.size);
  return manifest_value == signed_value ? Status() : Differs(field, signed_value, manifest_value);
}

Status CompareNumber(const char* field, int64_t signed_value, uint64_t manifest_value) {
  if (static_cast<uint64_t>(signed_value) == manifest_value) return Status();
  return Differs(field, std::to_string(signed_value), std::to_string(manifest_value));
}

Status ComparePart(const char* field, const Part& part, const uint8_t* digest, uint64_t size) {
  AOT_OTA_RETURN_IF_ERROR(CompareNumber(field, part.length, size));
  if (memcmp(part.sha256.bytes.data(), digest, part.sha256.bytes.size()) == 0) return Status();
  return Differs(field, part.sha256.Hex(), EncodeHex(digest, part.sha256.bytes.size()));
}

Status CompareFeatures(const std::vector<std::string>& signed_features, const aot_manifest& manifest) {
  std::vector<std::string> wanted = signed_features;
  std::vector<std::string> found;
  aot_text text;
  for (uint32_t i = 0; aot_manifest_feature(&manifest, i, &text); ++i) found.emplace_back(text.data, text.size);
  std::sort(wanted.begin(), wanted.end());
  std::sort(found.begin(), found.end());
  if (wanted == found) return Status();
  const auto join = [](const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : ",") + name;
    return out;
  };
  return Differs("CPU features", join(wanted), join(found));
}

}  // namespace

std::string TargetPath(const std::string& channel, const std::string& model, const std::string& target) {
  return channel + "/" + model + "/" + target + kSuffix;
}

std::string TargetNameOf(const std::string& path, const std::string& channel, const std::string& model) {
  const std::string prefix = channel + "/" + model + "/";
  const size_t suffix_size = sizeof(kSuffix) - 1;
  if (path.size() <= prefix.size() + suffix_size || path.compare(0, prefix.size(), prefix) != 0) return "";
  const std::string name = path.substr(prefix.size(), path.size() - prefix.size() - suffix_size);
  return path == TargetPath(channel, model, name) && IsSafeComponent(name) ? name : "";
}

Status ParseTargetDescription(const std::string& path, const TargetFile& file, TargetDescription* out) {
  AOT_OTA_RETURN_IF_ERROR(ParseFields(file, out).At(path));
  out->manifest = {file.sha256, file.length};
  const std::string described = TargetPath(out->channel, out->model, out->target);
  if (described != path)
    return Status(Code::kDigest, "target \"" + path + "\" describes itself as \"" + Printable(described) + "\"");
  return Status();
}

Status CheckCompatible(const TargetDescription& description, const aot_cpu& cpu) {
  const std::string where = TargetPath(description.channel, description.model, description.target);
  const std::string& triple = description.triple;
  if (aot_cpu_arch_of_triple(triple.data(), triple.size()) != cpu.arch)
    return Status(Code::kIncompatible,
                  where + ": built for " + Printable(triple) + ", this device is " + aot_cpu_arch_name(cpu.arch));
  for (const std::string& feature : description.cpu_features) {
    const uint64_t bits = aot_cpu_feature_bits(cpu.arch, feature.data(), feature.size());
    if (bits == 0 || (cpu.features & bits) != bits)
      return Status(Code::kIncompatible,
                    where + ": needs the CPU feature " + Printable(feature) + ", this device lacks it");
  }
  // As the loader checks it: code of scalable vectors is silently wrong on any other length.
  const bool scalable = std::any_of(description.cpu_features.begin(), description.cpu_features.end(),
                                    [](const std::string& feature) { return feature == "sve" || feature == "sve2"; });
  const int64_t bits = description.vector_bits;
  if (bits > int64_t{cpu.vector_bits} || (scalable && bits >= 0 && bits != int64_t{cpu.vector_bits}))
    return Status(Code::kIncompatible, where + ": built for vectors of " + std::to_string(bits) +
                                           " bits, this device has " + std::to_string(cpu.vector_bits));
  if (description.abi != AOT_CODE_ABI_VERSION)
    return Status(Code::kIncompatible, where + ": code ABI version " + std::to_string(description.abi) +
                                           ", this runtime has " + std::to_string(AOT_CODE_ABI_VERSION));
  if (description.format != AOT_FORMAT_VERSION)
    return Status(Code::kIncompatible, where + ": artifact format version " + std::to_string(description.format) +
                                           ", this runtime reads " + std::to_string(AOT_FORMAT_VERSION));
  return Status();
}

int FeatureLevel(const TargetDescription& description, const aot_cpu& cpu) {
  uint64_t bits = 0;
  for (const std::string& feature : description.cpu_features)
    bits |= aot_cpu_feature_bits(cpu.arch, feature.data(), feature.size());
  return static_cast<int>(std::bitset<64>(bits).count());
}

Status CheckManifest(const TargetDescription& description, const std::string& manifest_bytes) {
  const std::string where = TargetPath(description.channel, description.model, description.target);
  aot_manifest manifest;
  aot_fault fault;
  if (!aot_manifest_open(manifest_bytes.data(), manifest_bytes.size(), &manifest, &fault)) {
    char text[256];
    aot_fault_text(&fault, text, sizeof(text));
    return Status(fault.kind == AOT_FAULT_VERSION ? Code::kIncompatible : Code::kMalformed, where + ": " + text);
  }
  const aot_manifest_info& info = manifest.info;
  AOT_OTA_RETURN_IF_ERROR(CompareNumber("format version", description.format, manifest.version).At(where));
  AOT_OTA_RETURN_IF_ERROR(CompareNumber("code ABI version", description.abi, info.code_abi_version).At(where));
  if (description.vector_bits >= 0)
    AOT_OTA_RETURN_IF_ERROR(CompareNumber("vector length", description.vector_bits, info.vector_bits).At(where));
  AOT_OTA_RETURN_IF_ERROR(CompareText("target", description.target, info.target_name).At(where));
  AOT_OTA_RETURN_IF_ERROR(CompareText("triple", description.triple, info.triple).At(where));
  AOT_OTA_RETURN_IF_ERROR(CompareNumber("arena size", description.arena_size, info.arena_size).At(where));
  AOT_OTA_RETURN_IF_ERROR(CompareFeatures(description.cpu_features, manifest).At(where));
  AOT_OTA_RETURN_IF_ERROR(ComparePart("code", description.code, info.code_sha256, info.code_size).At(where));
  return ComparePart("weights", description.weights, info.weights_sha256, info.weights_size).At(where);
}

}  // namespace aot::ota
