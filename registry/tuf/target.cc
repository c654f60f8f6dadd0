#include "registry/tuf/target.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "registry/names.h"

namespace aot::registry::tuf {
namespace {

using Json = nlohmann::json;

constexpr absl::string_view kSuffix = ".manifest";

Json PartObject(const BlobRef& ref) { return Json{{"sha256", ref.digest.Hex()}, {"length", ref.size}}; }

// Null when a member on the way is missing.
const Json* Find(const Json& object, std::initializer_list<const char*> path) {
  const Json* at = &object;
  for (const char* name : path) {
    if (!at->is_object()) return nullptr;
    auto it = at->find(name);
    if (it == at->end()) return nullptr;
    at = &*it;
  }
  return at;
}

bool ReadRef(const Json* digest, const Json* length, BlobRef& ref) {
  if (digest == nullptr || !digest->is_string() || length == nullptr || !length->is_number_unsigned()) return false;
  absl::StatusOr<Digest> parsed = Digest::FromHex(digest->get<std::string>());
  if (!parsed.ok()) return false;
  ref = {*parsed, length->get<uint64_t>()};
  return true;
}

}  // namespace

std::string TargetPath(absl::string_view channel, absl::string_view model, absl::string_view target) {
  return absl::StrCat(channel, "/", model, "/", target, kSuffix);
}

Json TargetObject(const ReleaseRecord& release, const ReleaseArtifact& artifact) {
  Json aot = {{"model", release.model},
              {"channel", release.channel},
              {"target", release.target},
              {"triple", artifact.triple},
              {"cpu_features", artifact.cpu_features},
              {"vector_bits", artifact.vector_bits},
              {"abi", artifact.abi},
              {"format", artifact.format},
              {"arena_size", artifact.arena_size},
              {"release", release.release},
              {"code", PartObject(release.code)},
              {"weights", PartObject(release.weights)}};
  return Json{{"length", release.manifest.size},
              {"hashes", {{"sha256", release.manifest.digest.Hex()}}},
              {"custom", {{"aot", std::move(aot)}}}};
}

absl::StatusOr<ReleaseRecord> ReleaseOf(const std::string& path, const Json& object) {
  ReleaseRecord release;
  std::vector<std::string> parts = absl::StrSplit(path, '/');
  const Json* number = Find(object, {"custom", "aot", "release"});
  bool good = parts.size() == 3 && absl::EndsWith(parts[2], kSuffix) && number != nullptr &&
              number->is_number_unsigned() &&
              ReadRef(Find(object, {"hashes", "sha256"}), Find(object, {"length"}), release.manifest) &&
              ReadRef(Find(object, {"custom", "aot", "code", "sha256"}),
                      Find(object, {"custom", "aot", "code", "length"}), release.code) &&
              ReadRef(Find(object, {"custom", "aot", "weights", "sha256"}),
                      Find(object, {"custom", "aot", "weights", "length"}), release.weights);
  if (!good) return absl::DataLossError(absl::StrCat("target ", path, " isn't one that this repository writes"));
  release.channel = parts[0];
  release.model = parts[1];
  release.target = std::string(absl::StripSuffix(parts[2], kSuffix));
  release.release = number->get<uint64_t>();
  release.current = true;
  return release;
}

absl::StatusOr<ManifestPath> ParseManifestPath(absl::string_view path) {
  absl::Status none = absl::NotFoundError("no such object");
  std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  constexpr size_t kHex = 2 * Digest::kSize;
  if (parts.size() != 3 || parts[2].size() <= kHex + 1 + kSuffix.size() || parts[2][kHex] != '.' ||
      !absl::EndsWith(parts[2], kSuffix)) {
    return none;
  }
  absl::StatusOr<Digest> digest = Digest::FromHex(parts[2].substr(0, kHex));
  if (!digest.ok()) return none;
  absl::string_view target = absl::StripSuffix(parts[2].substr(kHex + 1), kSuffix);
  for (absl::string_view name : {parts[0], parts[1], target}) {
    if (!CheckName("path", name).ok()) return none;
  }
  return ManifestPath{std::string(parts[0]), std::string(parts[1]), std::string(target), *digest};
}

}  // namespace aot::registry::tuf
