// Writes one blob into a temporary file while its digest is computed, and hands it to its store.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "registry/blobs/blob_store.h"

namespace aot::registry {

// What a writer asks of the store it writes for. The store outlives its writers.
class BlobHome {
 public:
  virtual ~BlobHome() = default;
  // Gives a complete, synced file its final name, durably. After an error it has neither name, or a name that a blob of
  // the same content had before.
  virtual absl::Status Install(const std::string& temporary, const Digest& digest) = 0;
  virtual BlobPin PinForWriter(const Digest& digest) = 0;
  // The writer of this announced blob is gone.
  virtual void UploadClosed(const Digest& digest) = 0;
};

// `path` is the temporary file. With `announced` its bytes are resumed; without, it must not exist.
absl::StatusOr<std::unique_ptr<BlobWriter>> NewBlobWriter(BlobHome& home, const std::string& path,
                                                          const std::optional<BlobRef>& announced);

}  // namespace aot::registry
