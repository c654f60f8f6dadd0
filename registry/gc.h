// Garbage collection: keeps the files within a budget by dropping damaged blobs first, then what was least recently
// used.
//
// Never touched: what a release names (current, or superseded and still kept), what another row names, what is being
// read or written, what came in the last day and may still become a model (interrupted uploads and blobs that no row
// names). If that alone exceeds the budget, it stays.
#pragma once

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "registry/blobs/blob_store.h"
#include "registry/index/index.h"
#include "registry/registry.h"

namespace aot::registry {

// Deletes those of `blobs` that no row names and nothing has pinned; adds to the counts and bytes in `result`.
absl::Status DeleteUnreferenced(Index& index, BlobStore& blobs, const std::vector<BlobRef>& candidates,
                                GcResult& result);

absl::StatusOr<GcResult> CollectGarbage(Index& index, BlobStore& blobs, const GcRequest& request, absl::Time now);

}  // namespace aot::registry
