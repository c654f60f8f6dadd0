#include "compiler/emit/assemble.h"

#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "compiler/emit/code_check.h"
#include "compiler/emit/manifest_writer.h"
#include "runtime/format/container.h"
#include "runtime/format/sha256.h"

namespace aot::emit {
namespace {

std::string Sha256(absl::string_view bytes) {
  std::string digest(AOT_SHA256_SIZE, '\0');
  aot_sha256(bytes.data(), bytes.size(), reinterpret_cast<uint8_t*>(digest.data()));
  return digest;
}

// What the code says about itself against what the manifest is going to say.
absl::Status Compare(const ManifestData& data, const CodeFacts& facts, uint64_t code_size, uint64_t weights_size) {
  const auto mismatch = [](absl::string_view what, auto in_code, auto in_manifest) {
    return absl::InternalError(
        absl::StrCat("artifact: the code's descriptor states ", what, " ", in_code, ", the manifest ", in_manifest));
  };
  const std::string key =
      absl::BytesToHexString({reinterpret_cast<const char*>(facts.descriptor.key), sizeof facts.descriptor.key});
  if (key != data.key) return mismatch("artifact key", key, data.key);
  if (facts.descriptor.arena_size != data.arena_size) {
    return mismatch("arena size", facts.descriptor.arena_size, data.arena_size);
  }
  if (facts.descriptor.weights_size != weights_size) {
    return mismatch("weights size", facts.descriptor.weights_size, weights_size);
  }
  aot_container layout;
  if (!aot_container_plan(code_size, weights_size, 0, data.page_size, &layout)) {
    return absl::InternalError(
        absl::StrCat("artifact: page size ", data.page_size, " or the sizes by it are impossible"));
  }
  if (facts.weights_size != weights_size || (weights_size != 0 && facts.weights_offset != layout.weights_offset)) {
    return absl::InternalError(absl::StrCat("artifact: the code was linked for ", facts.weights_size,
                                            " bytes of weights at ", facts.weights_offset, ", not ", weights_size,
                                            " at ", layout.weights_offset));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> BuildManifest(const ManifestData& data, absl::string_view code, absl::string_view weights) {
  absl::StatusOr<CodeFacts> facts = CheckCode(code);
  if (!facts.ok()) return facts.status();
  if (absl::Status status = Compare(data, *facts, code.size(), weights.size()); !status.ok()) return status;
  PartFacts parts;
  parts.code_size = code.size();
  parts.weights_size = weights.size();
  parts.code_digest = Sha256(code);
  parts.weights_digest = Sha256(weights);
  parts.descriptor_address = facts->descriptor_address;
  return WriteManifest(data, parts);
}

absl::StatusOr<std::string> SharedObject(absl::string_view manifest, absl::string_view code,
                                         absl::string_view weights) {
  aot_manifest read;
  aot_fault fault;
  if (!aot_manifest_open(manifest.data(), manifest.size(), &read, &fault)) {
    char text[256];
    aot_fault_text(&fault, text, sizeof text);
    return absl::InvalidArgumentError(text);
  }
  const auto check = [](absl::string_view part, absl::string_view bytes, uint64_t size, const uint8_t* digest) {
    if (bytes.size() != size || std::memcmp(Sha256(bytes).data(), digest, AOT_SHA256_SIZE) != 0) {
      return absl::InvalidArgumentError(absl::StrCat("artifact: the ", part, " (", bytes.size(),
                                                     " bytes) are not those of the manifest (", size, " bytes)"));
    }
    return absl::OkStatus();
  };
  if (absl::Status s = check("code bytes", code, read.info.code_size, read.info.code_sha256); !s.ok()) return s;
  if (absl::Status s = check("weights", weights, read.info.weights_size, read.info.weights_sha256); !s.ok()) return s;

  aot_container layout;
  if (!aot_container_plan(code.size(), weights.size(), manifest.size(), read.info.page_size, &layout)) {
    return absl::InvalidArgumentError("artifact: the parts are too large for one file");
  }
  std::string out;
  out.reserve(layout.total_size);
  out.append(code.data(), code.size());
  out.resize(layout.weights_offset);
  out.append(weights.data(), weights.size());
  out.resize(layout.manifest_offset);
  out.append(manifest.data(), manifest.size());
  uint8_t trailer[AOT_TRAILER_SIZE];
  aot_container_write_trailer(&layout, trailer);
  out.append(reinterpret_cast<const char*>(trailer), sizeof trailer);
  return out;
}

}  // namespace aot::emit
