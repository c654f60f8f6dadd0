// A TUF target of this repository: the manifest of one released artifact, and its `custom` field.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "registry/records.h"

namespace aot::registry::tuf {

// "<channel>/<model>/<target>.manifest"
std::string TargetPath(absl::string_view channel, absl::string_view model, absl::string_view target);

// The target object: length and hashes of the manifest and {"aot": {...}} as custom.
nlohmann::json TargetObject(const ReleaseRecord& release, const ReleaseArtifact& artifact);

// The release that a target of ours stands for, without its artifact key and time. DATA_LOSS names the path.
absl::StatusOr<ReleaseRecord> ReleaseOf(const std::string& path, const nlohmann::json& object);

// What a client asks for: the parts of "<channel>/<model>/<sha256>.<target>.manifest".
struct ManifestPath {
  std::string channel, model, target;
  Digest digest;
};
// NOT_FOUND for anything else.
absl::StatusOr<ManifestPath> ParseManifestPath(absl::string_view path);

}  // namespace aot::registry::tuf
