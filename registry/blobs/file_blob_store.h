// Blobs as files of one file system:
//
//   root/sha256/ab/abcd...   complete blobs, by digest
//   root/tmp/                blobs being written; emptied when the store is opened
//   root/uploads/            announced blobs that may be resumed; those untouched for a day are dropped
//   root/quarantine/         damaged blobs, for a person to look at; never read again
//
// A blob is written under a temporary name, synced, renamed, and its directory synced: a name under sha256/ is a
// promise that the bytes are complete and on the disk.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "registry/blobs/blob_store.h"

namespace aot::registry {

// Opens or creates the store. Only one process may use a root at a time; the caller sees to that.
absl::StatusOr<std::unique_ptr<BlobStore>> OpenFileBlobStore(const std::string& root, const BlobLimits& limits = {});

}  // namespace aot::registry
