#include "registry/gc.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace aot::registry {
namespace {

uint64_t TotalBytes(const std::vector<BlobRef>& blobs) {
  uint64_t total = 0;
  for (const BlobRef& blob : blobs) total += blob.size;
  return total;
}

bool AnyPinned(const BlobStore& blobs, const Candidate& candidate) {
  return std::any_of(candidate.blobs.begin(), candidate.blobs.end(),
                     [&](const BlobRef& blob) { return blobs.IsPinned(blob.digest); });
}

}  // namespace

absl::Status DeleteUnreferenced(Index& index, BlobStore& blobs, const std::vector<BlobRef>& candidates,
                                GcResult& result) {
  for (const BlobRef& blob : candidates) {
    absl::StatusOr<bool> deleted = blobs.Delete(blob.digest, [&] { return index.IsReferenced(blob.digest); });
    if (!deleted.ok()) return deleted.status();
    if (*deleted) {
      ++result.blobs;
      result.freed_bytes += blob.size;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<GcResult> CollectGarbage(Index& index, BlobStore& blobs, const GcRequest& request, absl::Time now) {
  GcResult result;
  if (absl::Status s = index.FlushUses(); !s.ok()) return s;
  absl::StatusOr<uint64_t> retired = index.RetireReleases(request.keep_superseded, now);
  if (!retired.ok()) return retired.status();
  result.releases = *retired;

  absl::StatusOr<std::vector<BlobRef>> all = blobs.List();
  if (!all.ok()) return all.status();
  const uint64_t total = TotalBytes(*all);
  // Blobs without a row: of retired releases, of uploads that were never used, of a process that was killed.
  if (absl::Status s = DeleteUnreferenced(index, blobs, *all, result); !s.ok()) return s;

  // A model becomes a candidate when its last artifact goes, hence the rounds.
  bool progress = true;
  while (progress && total - result.freed_bytes > request.budget_bytes) {
    progress = false;
    absl::StatusOr<std::vector<Candidate>> candidates = index.ListCandidates();
    if (!candidates.ok()) return candidates.status();
    for (const Candidate& candidate : *candidates) {
      if (total - result.freed_bytes <= request.budget_bytes) break;
      if (AnyPinned(blobs, candidate)) continue;
      bool artifact = candidate.kind == Candidate::Kind::kArtifact;
      absl::StatusOr<std::vector<BlobRef>> freed =
          artifact ? index.DeleteArtifact(ArtifactKey{candidate.id}, "collected", now)
                   : index.DeleteModel(candidate.id, "collected", now);
      // Published, or deleted by someone else, since the list was made.
      if (absl::IsFailedPrecondition(freed.status()) || absl::IsNotFound(freed.status())) continue;
      if (!freed.ok()) return freed.status();
      ++(artifact ? result.artifacts : result.models);
      progress = true;
      if (absl::Status s = DeleteUnreferenced(index, blobs, *freed, result); !s.ok()) return s;
    }
  }
  result.kept_bytes = total - result.freed_bytes;
  return result;
}

}  // namespace aot::registry
