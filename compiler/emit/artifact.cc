#include "compiler/emit/artifact.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "runtime/format/sha256.h"

namespace aot::emit {
namespace {

std::string HexDigest(absl::string_view bytes) {
  uint8_t digest[AOT_SHA256_SIZE];
  aot_sha256(bytes.data(), bytes.size(), digest);
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest), sizeof digest});
}

}  // namespace

absl::StatusOr<compiler::Artifact> BuildArtifact(const ManifestData& data, std::string code, std::string weights) {
  absl::StatusOr<std::string> manifest = BuildManifest(data, code, weights);
  if (!manifest.ok()) return manifest.status();
  compiler::Artifact artifact;
  artifact.key = data.key;
  artifact.manifest_digest = HexDigest(*manifest);
  artifact.code_digest = HexDigest(code);
  artifact.weights_digest = HexDigest(weights);
  artifact.manifest = *std::move(manifest);
  artifact.code = std::move(code);
  artifact.weights = std::move(weights);
  return artifact;
}

absl::StatusOr<std::string> SharedObject(const compiler::Artifact& artifact) {
  return SharedObject(artifact.manifest, artifact.code, artifact.weights);
}

}  // namespace aot::emit
