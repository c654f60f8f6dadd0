#include "registry/gc.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace aot::registry {
namespace {

// A blob without a row may belong to an upload whose other files are still to come.
constexpr absl::Duration kGrace = absl::Hours(24);

bool AnyPinned(const BlobStore& blobs, const Candidate& candidate) {
  return std::any_of(candidate.blobs.begin(), candidate.blobs.end(),
                     [&](const BlobRef& blob) { return blobs.IsPinned(blob.digest); });
}

}  // namespace

absl::Status DeleteUnreferenced(Index& index, BlobStore& blobs, const std::vector<BlobRef>& candidates,
                                GcResult& result) {
  for (const BlobRef& blob : candidates) {
    absl::StatusOr<std::optional<uint64_t>> deleted =
        blobs.Delete(blob.digest, [&] { return index.IsReferenced(blob.digest); });
    if (!deleted.ok()) return deleted.status();
    if (deleted->has_value()) {
      ++result.blobs;
      result.freed_bytes += **deleted;  // not what the row says: the file may have been cut short
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

  if (absl::Status s = blobs.DropStaleUploads(); !s.ok()) return s;
  absl::StatusOr<BlobTotals> totals = blobs.Totals();
  if (!totals.ok()) return totals.status();
  absl::StatusOr<std::vector<StoredBlob>> all = blobs.List();
  if (!all.ok()) return all.status();
  uint64_t total = totals->upload_bytes + totals->quarantine_bytes;
  std::vector<BlobRef> old;
  for (const StoredBlob& blob : *all) {
    total += blob.ref.size;
    if (blob.age >= kGrace) old.push_back(blob.ref);
  }
  // What came in since `all` was listed can be freed as well, so more than `total` may go.
  auto left = [&] { return total - std::min(total, result.freed_bytes); };
  // Blobs without a row: of retired releases, of uploads that were never used, of a process that was killed.
  if (absl::Status s = DeleteUnreferenced(index, blobs, old, result); !s.ok()) return s;
  if (left() > request.budget_bytes) {
    absl::StatusOr<uint64_t> damaged = blobs.EmptyQuarantine();
    if (!damaged.ok()) return damaged.status();
    result.freed_bytes += *damaged;
  }

  // A model becomes a candidate when its last artifact goes, hence the rounds.
  bool progress = true;
  while (progress && left() > request.budget_bytes) {
    progress = false;
    absl::StatusOr<std::vector<Candidate>> candidates = index.ListCandidates();
    if (!candidates.ok()) return candidates.status();
    for (const Candidate& candidate : *candidates) {
      if (left() <= request.budget_bytes) break;
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
  result.kept_bytes = left();
  return result;
}

}  // namespace aot::registry
