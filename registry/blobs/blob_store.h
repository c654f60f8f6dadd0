// The store of blobs by content: the seam behind which files, or later an S3-style store, keep the bytes.
//
// Integrity is a property of the read path: what Open gives was compared with its digest and length. Stored rubbish is
// set aside and reported as NOT_FOUND, so that callers rebuild it exactly as if it had never been there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "registry/digest.h"

namespace aot::registry {

// Keeps a blob from being deleted while it is alive, whether or not the blob exists yet. Move-only; any thread.
class BlobPin {
 public:
  BlobPin() = default;
  explicit BlobPin(std::function<void()> release) : release_(std::move(release)) {}
  BlobPin(BlobPin&& other) noexcept : release_(std::move(other.release_)) { other.release_ = nullptr; }
  BlobPin& operator=(BlobPin&& other) noexcept {
    if (this != &other) {
      if (release_) release_();
      release_ = std::move(other.release_);
      other.release_ = nullptr;
    }
    return *this;
  }
  ~BlobPin() {
    if (release_) release_();
  }

 private:
  std::function<void()> release_;
};

// Receives one blob as a stream. Destroying a writer that neither committed nor suspended drops what was written.
// Not thread-safe.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;
  // Bytes received so far; above zero at the start when a suspended upload is resumed.
  virtual uint64_t offset() const = 0;
  // RESOURCE_EXHAUSTED: the disk or the quota is full. DATA_LOSS: an I/O error. INVALID_ARGUMENT: more bytes than
  // were announced.
  // After an error only destruction is allowed.
  virtual absl::Status Append(absl::string_view data) = 0;
  // Makes the blob durable and visible and gives its name. INVALID_ARGUMENT: digest or length differ from what was
  // announced; the message names both. Errors of Append otherwise. The blob stays pinned until the writer is destroyed.
  virtual absl::StatusOr<BlobRef> Commit() = 0;
  // Keeps the bytes for a later OpenUpload of the same announced blob. FAILED_PRECONDITION for a writer of CreateBlob.
  virtual absl::Status Suspend() = 0;
};

// An open blob, verified. Keeps the blob pinned. Reads may come from several threads.
class BlobReader {
 public:
  virtual ~BlobReader() = default;
  virtual const BlobRef& ref() const = 0;
  // Reads exactly `size` bytes at `offset`. OUT_OF_RANGE past the end; DATA_LOSS on an I/O error.
  virtual absl::Status ReadAt(uint64_t offset, char* buffer, size_t size) const = 0;
};

// How much of the disk blobs may take before they are blobs.
struct BlobLimits {
  uint64_t upload_bytes = uint64_t{32} << 30;    // of all announced blobs that are not complete
  uint64_t reserve_bytes = uint64_t{256} << 20;  // what an upload must leave free, for the index and for signing
};

struct StoredBlob {
  BlobRef ref;
  absl::Duration age;  // since its bytes were written
};

struct BlobTotals {
  uint64_t blobs = 0, blob_bytes = 0;  // complete ones
  uint64_t upload_bytes = 0;           // received of those that aren't
  uint64_t quarantine_bytes = 0;       // damaged ones
};

enum class Verify {
  kAlways,    // reads the whole blob and compares its digest before Open returns
  kRecently,  // trusts a comparison of the same, unchanged file less than a minute ago: for ranges of one download
};

// Thread-safe.
class BlobStore {
 public:
  virtual ~BlobStore() = default;

  // A writer for bytes whose digest is not known in advance.
  virtual absl::StatusOr<std::unique_ptr<BlobWriter>> CreateBlob() = 0;
  // A writer for an announced blob; resumes a suspended one. ABORTED: another writer of this blob is open.
  // RESOURCE_EXHAUSTED: uploads already take what they may, or the disk hasn't the room.
  virtual absl::StatusOr<std::unique_ptr<BlobWriter>> OpenUpload(const BlobRef& announced) = 0;
  // NOT_FOUND: no such blob, or it was damaged and has been quarantined.
  virtual absl::StatusOr<std::unique_ptr<BlobReader>> Open(const BlobRef& ref, Verify verify) = 0;
  // Whether a file of that name and length exists; its bytes are not read. The length, or NOT_FOUND.
  virtual absl::StatusOr<uint64_t> Stat(const Digest& digest) const = 0;
  // Deletes the blob unless it is pinned or `keep` says so; keep is called with new pins held off. Gives the length of
  // the file that went, or nothing when none did.
  virtual absl::StatusOr<std::optional<uint64_t>> Delete(const Digest& digest,
                                                         const std::function<absl::StatusOr<bool>()>& keep) = 0;
  // All blobs, in no particular order, with the lengths that their files have. None comes or goes meanwhile.
  virtual absl::StatusOr<std::vector<StoredBlob>> List() = 0;
  // Counted as blobs come and go, so cheap; what somebody else deletes or cuts short shows after the next List.
  virtual absl::StatusOr<BlobTotals> Totals() = 0;
  // Drops interrupted uploads that nothing was added to for a day.
  virtual absl::Status DropStaleUploads() = 0;
  // Deletes damaged blobs that were set aside; gives their bytes.
  virtual absl::StatusOr<uint64_t> EmptyQuarantine() = 0;
  // Holds off Delete for this digest.
  virtual BlobPin Pin(const Digest& digest) = 0;
  virtual bool IsPinned(const Digest& digest) const = 0;
  // Damaged blobs set aside since the store was opened.
  virtual uint64_t quarantined() const = 0;
};

// Stores `data`, or nothing if it is there already and sound.
absl::StatusOr<BlobRef> PutBytes(BlobStore& store, absl::string_view data);
// The whole blob, verified. RESOURCE_EXHAUSTED if it is longer than `limit`.
absl::StatusOr<std::string> ReadAll(BlobStore& store, const BlobRef& ref, uint64_t limit);

}  // namespace aot::registry
