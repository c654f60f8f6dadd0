#include "server/services/release_artifact.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/format/manifest.h"

namespace aot::server {
namespace {

std::string ToString(const aot_text& text) { return std::string(text.data, text.size); }

}  // namespace

absl::StatusOr<registry::ReleaseArtifact> DescribeForRelease(const registry::ArtifactRecord& artifact,
                                                             absl::string_view bytes) {
  aot_manifest manifest;
  aot_fault fault;
  if (!aot_manifest_open(bytes.data(), bytes.size(), &manifest, &fault)) {
    char text[256];
    aot_fault_text(&fault, text, sizeof(text));
    return absl::InternalError(absl::StrCat("the manifest of artifact ", artifact.key.Hex(), ": ", text));
  }
  absl::string_view key(reinterpret_cast<const char*>(manifest.info.key), sizeof(manifest.info.key));
  if (key != artifact.key.digest.Raw()) {
    return absl::InternalError(absl::StrCat("the manifest of artifact ", artifact.key.Hex(), " states another key"));
  }
  registry::ReleaseArtifact release;
  release.key = artifact.key;
  release.target = artifact.target;
  release.triple = ToString(manifest.info.triple);
  aot_text feature;
  for (uint32_t i = 0; aot_manifest_feature(&manifest, i, &feature); ++i) {
    release.cpu_features.push_back(ToString(feature));
  }
  release.vector_bits = manifest.info.vector_bits;
  release.abi = manifest.info.code_abi_version;
  release.format = manifest.version;
  release.arena_size = manifest.info.arena_size;
  return release;
}

}  // namespace aot::server
