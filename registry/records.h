// The rows of the registry as plain values: models, artifacts, releases. Times are UTC; sizes are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "registry/digest.h"

namespace aot::registry {

// A data blob that the model names in its `location` fields. The name is a label inside the upload, never a path.
struct ExternalBlob {
  std::string name;
  BlobRef blob;
};

// A stored model. `digest` is its identity (over the model bytes and every external blob, compiler::ModelDigest);
// `blob` is the model file itself.
struct ModelRecord {
  Digest digest;
  BlobRef blob;
  std::string name;
  std::vector<ExternalBlob> external;
  absl::Time created;    // set by the registry
  absl::Time last_used;  // set by the registry
};

// A compiled artifact: what it was made from and the blobs it consists of.
struct ArtifactRecord {
  ArtifactKey key;
  Digest model;          // ModelRecord::digest
  std::string target;    // a target name, e.g. "cortex-a75"
  std::string options;   // compiler::CanonicalOptions
  std::string compiler;  // compiler::CompilerVersion
  BlobRef manifest, code, weights;
  absl::Duration compile_time;
  absl::Time created;    // set by the registry
  absl::Time last_used;  // set by the registry; written with a delay, so a crash may lose the last minutes of it
};

// A file to take a part from; it is copied, and stays the caller's.
struct FilePath {
  std::string path;
};
// Where a part of an artifact comes from: bytes in memory, which must outlive the call, or a file.
using PartSource = std::variant<absl::string_view, FilePath>;

struct ArtifactParts {
  PartSource manifest, code, weights;
};

// One artifact of a release: the artifact's key and what devices need to know before they fetch it. These become the
// target's signed `custom` field (docs/formats/repository.md).
struct ReleaseArtifact {
  ArtifactKey key;
  std::string target;                     // last part of the TUF target path, e.g. "cortex-a75"
  std::string triple;                     // e.g. "aarch64-unknown-linux-gnu"
  std::vector<std::string> cpu_features;  // e.g. {"asimd"}; kept in the order given
  uint32_t vector_bits = 0;               // of the widest vectors that the code uses
  uint32_t abi = 0;                       // AOT_CODE_ABI_VERSION of the code object
  uint32_t format = 0;                    // version of the manifest's format
  uint64_t arena_size = 0;                // bytes
};

inline constexpr size_t kMaxArtifactsOfRelease = 256;

struct PublishRequest {
  std::string channel;                     // e.g. "stable"
  std::string model;                       // the name devices ask for, e.g. "ppocr-rec"
  std::vector<ReleaseArtifact> artifacts;  // 1 to kMaxArtifactsOfRelease; one for each target
};

struct PublishResult {
  uint64_t release = 0;          // one more than the model's last release in this channel
  uint64_t targets_version = 0;  // of the TUF targets role that carries it
};

// One (channel, model, target) of a release.
struct ReleaseRecord {
  std::string channel, model, target;
  uint64_t release = 0;
  ArtifactKey artifact;
  BlobRef manifest, code, weights;
  absl::Time created;
  // True for the release that the signed metadata names now; false for one that a newer release replaced. The blobs
  // of both are served and kept.
  bool current = false;
};

}  // namespace aot::registry
