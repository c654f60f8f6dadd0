#include "registry/blobs/file_blob_store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "registry/blobs/file_blob_writer.h"
#include "registry/blobs/pins.h"
#include "registry/blobs/upload_folder.h"
#include "registry/blobs/verified_files.h"
#include "registry/fs/durable.h"

namespace aot::registry {
namespace {

constexpr size_t kReadChunk = 256 * 1024;

class FileBlobReader : public BlobReader {
 public:
  FileBlobReader(BlobRef ref, fs::File file, std::string path, BlobPin pin)
      : ref_(ref), file_(std::move(file)), path_(std::move(path)), pin_(std::move(pin)) {}

  const BlobRef& ref() const override { return ref_; }

  absl::Status ReadAt(uint64_t offset, char* buffer, size_t size) const override {
    if (offset > ref_.size || size > ref_.size - offset) {
      return absl::OutOfRangeError(absl::StrCat("bytes ", offset, " to ", offset, "+", size, " of blob ",
                                                ref_.digest.Hex(), ", which has ", ref_.size));
    }
    return fs::ReadAt(file_, path_, offset, buffer, size);
  }

 private:
  BlobRef ref_;
  fs::File file_;
  std::string path_;
  BlobPin pin_;
};

class FileBlobStore : public BlobStore, public BlobHome {
 public:
  FileBlobStore(const std::string& root, const BlobLimits& limits)
      : root_(root), uploads_(absl::StrCat(root, "/uploads"), limits) {}

  absl::Status Prepare();

  absl::StatusOr<std::unique_ptr<BlobWriter>> CreateBlob() override {
    std::string path = absl::StrCat(root_, "/tmp/", next_temporary_.fetch_add(1));
    return NewBlobWriter(*this, path, std::nullopt);
  }
  absl::StatusOr<std::unique_ptr<BlobWriter>> OpenUpload(const BlobRef& announced) override;
  absl::StatusOr<std::unique_ptr<BlobReader>> Open(const BlobRef& ref, Verify verify) override;
  absl::StatusOr<uint64_t> Stat(const Digest& digest) const override;
  absl::StatusOr<std::optional<uint64_t>> Delete(const Digest& digest,
                                                 const std::function<absl::StatusOr<bool>()>& keep) override;
  absl::StatusOr<std::vector<StoredBlob>> List() override;
  absl::StatusOr<BlobTotals> Totals() override;
  absl::Status DropStaleUploads() override { return uploads_.DropStale(); }
  absl::StatusOr<uint64_t> EmptyQuarantine() override;
  BlobPin Pin(const Digest& digest) override { return pins_->Add(digest); }
  bool IsPinned(const Digest& digest) const override { return pins_->Has(digest); }
  uint64_t quarantined() const override { return quarantined_.load(); }

  // BlobHome: what writers need.
  absl::Status Install(const std::string& temporary, const Digest& digest) override;
  BlobPin PinForWriter(const Digest& digest) override { return Pin(digest); }
  void UploadClosed(const Digest& digest) override { uploads_.Close(digest); }

 private:
  std::string DirectoryOf(const Digest& digest) const {
    return absl::StrCat(root_, "/sha256/", digest.Hex().substr(0, 2));
  }
  std::string PathOf(const Digest& digest) const { return absl::StrCat(DirectoryOf(digest), "/", digest.Hex()); }
  void CountOut(uint64_t size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    blobs_ -= std::min<uint64_t>(blobs_, 1);
    blob_bytes_ -= std::min(blob_bytes_, size);
  }
  // Removes a blob's name and counts it out; its length, or nothing when there is none.
  absl::StatusOr<std::optional<uint64_t>> Remove(const Digest& digest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::StatusOr<Digest> DigestOf(const fs::File& file, const std::string& path, uint64_t size) const;
  void Quarantine(const Digest& digest, const struct stat& seen);

  const std::string root_;
  std::shared_ptr<Pins> pins_ = std::make_shared<Pins>();
  VerifiedFiles verified_;
  std::atomic<uint64_t> next_temporary_{0};
  std::atomic<uint64_t> quarantined_{0};
  // Held while a name under sha256/ changes its file, so that a good file that has just replaced a damaged one isn't
  // set aside in its place.
  absl::Mutex mutex_;
  uint64_t blobs_ ABSL_GUARDED_BY(mutex_) = 0, blob_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  UploadFolder uploads_;
};

absl::Status FileBlobStore::Prepare() {
  for (absl::string_view part : {"sha256", "tmp", "uploads", "quarantine"}) {
    if (absl::Status s = fs::MakeDirectories(absl::StrCat(root_, "/", part), 0700); !s.ok()) return s;
  }
  // All of them now, so that no blob ever waits for its directory to be on the disk, or fails to.
  for (int i = 0; i < 256; ++i) {
    std::string directory = absl::StrCat(root_, "/sha256/", absl::Hex(i, absl::kZeroPad2));
    if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return fs::ErrnoStatus(errno, "create", directory);
  }
  if (absl::Status s = fs::SyncDirectory(absl::StrCat(root_, "/sha256")); !s.ok()) return s;

  absl::StatusOr<std::vector<std::string>> temporaries = fs::ListDirectory(absl::StrCat(root_, "/tmp"));
  if (!temporaries.ok()) return temporaries.status();
  for (const std::string& name : *temporaries) {
    if (absl::Status s = fs::Unlink(absl::StrCat(root_, "/tmp/", name)); !s.ok()) return s;
  }
  if (absl::Status s = uploads_.DropStale(); !s.ok()) return s;
  return List().status();  // counts them
}

absl::StatusOr<std::unique_ptr<BlobWriter>> FileBlobStore::OpenUpload(const BlobRef& announced) {
  absl::StatusOr<std::string> path = uploads_.Open(announced);
  if (!path.ok()) return path.status();
  // Also a writer that fails to start tells UploadClosed when it goes.
  return NewBlobWriter(*this, *path, announced);
}

absl::Status FileBlobStore::Install(const std::string& temporary, const Digest& digest) {
  std::string path = PathOf(digest);
  bool replaced = false;
  {
    absl::MutexLock lock(&mutex_);
    struct stat before, now;
    replaced = stat(path.c_str(), &before) == 0;
    if (absl::Status s = fs::Rename(temporary, path); !s.ok()) return s;
    if (replaced) CountOut(static_cast<uint64_t>(before.st_size));
    if (stat(path.c_str(), &now) == 0) blob_bytes_ += static_cast<uint64_t>(now.st_size);
    ++blobs_;
  }
  absl::Status status = fs::SyncDirectory(DirectoryOf(digest));
  if (status.ok() || replaced) return status;  // the name that was there before is on the disk
  // Nobody may count on a name that a power cut can take.
  absl::MutexLock lock(&mutex_);
  Remove(digest).IgnoreError();
  return status;
}

absl::StatusOr<std::unique_ptr<BlobReader>> FileBlobStore::Open(const BlobRef& ref, Verify verify) {
  BlobPin pin = Pin(ref.digest);
  std::string path = PathOf(ref.digest);
  absl::StatusOr<fs::File> file = fs::OpenForReading(path);
  absl::Status missing = absl::NotFoundError(absl::StrCat("no blob ", ref.digest.Hex(), " of ", ref.size, " bytes"));
  if (absl::IsNotFound(file.status())) return missing;
  if (!file.ok()) return file.status();
  struct stat info;
  if (fstat(file->fd(), &info) != 0) return fs::ErrnoStatus(errno, "stat", path);
  const uint64_t size = static_cast<uint64_t>(info.st_size);
  if (verify == Verify::kAlways || size != ref.size || !verified_.Has(ref.digest, info)) {
    absl::StatusOr<Digest> digest = DigestOf(*file, path, size);
    if (!digest.ok()) return digest.status();
    if (*digest != ref.digest) {
      Quarantine(ref.digest, info);
      return missing;
    }
    verified_.Add(ref.digest, info);
  }
  // A sound blob, but the caller's idea of its length is wrong: nothing to set aside.
  if (size != ref.size) return missing;
  return std::unique_ptr<BlobReader>(
      std::make_unique<FileBlobReader>(ref, std::move(*file), std::move(path), std::move(pin)));
}

absl::StatusOr<Digest> FileBlobStore::DigestOf(const fs::File& file, const std::string& path, uint64_t size) const {
  DigestBuilder builder;
  std::string buffer(std::min<uint64_t>(size, kReadChunk), '\0');
  for (uint64_t offset = 0; offset < size;) {
    size_t n = static_cast<size_t>(std::min<uint64_t>(size - offset, kReadChunk));
    if (absl::Status s = fs::ReadAt(file, path, offset, buffer.data(), n); !s.ok()) return s;
    builder.Append(absl::string_view(buffer.data(), n));
    offset += n;
  }
  return builder.Finish();
}

void FileBlobStore::Quarantine(const Digest& digest, const struct stat& seen) {
  absl::MutexLock lock(&mutex_);
  struct stat now;
  std::string path = PathOf(digest);
  if (stat(path.c_str(), &now) != 0 || now.st_ino != seen.st_ino || now.st_dev != seen.st_dev) return;
  std::string aside =
      absl::StrCat(root_, "/quarantine/", digest.Hex(), ".", absl::ToUnixMicros(absl::Now()), ".", now.st_ino);
  // If it can't be moved it is deleted; if that fails too, the next read finds it damaged again.
  if (fs::Rename(path, aside).ok() || unlink(path.c_str()) == 0) {
    CountOut(static_cast<uint64_t>(now.st_size));
  }
  quarantined_.fetch_add(1);
}

absl::StatusOr<uint64_t> FileBlobStore::Stat(const Digest& digest) const {
  std::string path = PathOf(digest);
  struct stat info;
  if (stat(path.c_str(), &info) == 0) return static_cast<uint64_t>(info.st_size);
  if (errno == ENOENT) return absl::NotFoundError(absl::StrCat("no blob ", digest.Hex()));
  return fs::ErrnoStatus(errno, "stat", path);
}

absl::StatusOr<std::optional<uint64_t>> FileBlobStore::Remove(const Digest& digest) {
  std::string path = PathOf(digest);
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  if (absl::Status s = fs::Unlink(path); !s.ok()) return s;
  CountOut(static_cast<uint64_t>(info.st_size));
  return static_cast<uint64_t>(info.st_size);
}

absl::StatusOr<std::optional<uint64_t>> FileBlobStore::Delete(const Digest& digest,
                                                              const std::function<absl::StatusOr<bool>()>& keep) {
  absl::StatusOr<std::optional<uint64_t>> deleted = std::nullopt;
  pins_->RunUnlessPinned(digest, [&] {
    absl::StatusOr<bool> needed = keep();
    if (!needed.ok()) {
      deleted = needed.status();
      return;
    }
    if (*needed) return;
    absl::MutexLock lock(&mutex_);
    deleted = Remove(digest);
  });
  return deleted;
}

absl::StatusOr<BlobTotals> FileBlobStore::Totals() {
  absl::StatusOr<uint64_t> uploads = uploads_.Bytes();
  if (!uploads.ok()) return uploads.status();
  BlobTotals totals;
  totals.upload_bytes = *uploads;
  std::string quarantine = absl::StrCat(root_, "/quarantine");
  absl::StatusOr<std::vector<std::string>> aside = fs::ListDirectory(quarantine);
  if (!aside.ok()) return aside.status();
  for (const std::string& name : *aside) {
    struct stat info;
    if (stat(absl::StrCat(quarantine, "/", name).c_str(), &info) == 0) {
      totals.quarantine_bytes += static_cast<uint64_t>(info.st_size);
    }
  }
  absl::MutexLock lock(&mutex_);
  totals.blobs = blobs_;
  totals.blob_bytes = blob_bytes_;
  return totals;
}

absl::StatusOr<uint64_t> FileBlobStore::EmptyQuarantine() {
  uint64_t freed = 0;
  std::string quarantine = absl::StrCat(root_, "/quarantine");
  absl::StatusOr<std::vector<std::string>> aside = fs::ListDirectory(quarantine);
  if (!aside.ok()) return aside.status();
  for (const std::string& name : *aside) {
    std::string path = absl::StrCat(quarantine, "/", name);
    struct stat info;
    if (stat(path.c_str(), &info) != 0) continue;
    if (absl::Status s = fs::Unlink(path); !s.ok()) return s;
    freed += static_cast<uint64_t>(info.st_size);
  }
  return freed;
}

absl::StatusOr<std::vector<StoredBlob>> FileBlobStore::List() {
  absl::MutexLock lock(&mutex_);
  std::vector<StoredBlob> blobs;
  const absl::Time now = absl::Now();
  absl::StatusOr<std::vector<std::string>> directories = fs::ListDirectory(absl::StrCat(root_, "/sha256"));
  if (!directories.ok()) return directories.status();
  for (const std::string& prefix : *directories) {
    std::string directory = absl::StrCat(root_, "/sha256/", prefix);
    absl::StatusOr<std::vector<std::string>> names = fs::ListDirectory(directory);
    if (!names.ok()) return names.status();
    for (const std::string& name : *names) {
      absl::StatusOr<Digest> digest = Digest::FromHex(name);
      struct stat info;
      // A file of another name isn't ours and is left alone; one that vanished meanwhile is simply gone.
      if (!digest.ok() || stat(absl::StrCat(directory, "/", name).c_str(), &info) != 0) continue;
      blobs.push_back({{*digest, static_cast<uint64_t>(info.st_size)}, now - absl::TimeFromTimespec(info.st_mtim)});
    }
  }
  blobs_ = blobs.size();
  blob_bytes_ = 0;
  for (const StoredBlob& blob : blobs) blob_bytes_ += blob.ref.size;
  return blobs;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BlobStore>> OpenFileBlobStore(const std::string& root, const BlobLimits& limits) {
  auto store = std::make_unique<FileBlobStore>(root, limits);
  if (absl::Status s = store->Prepare(); !s.ok()) return s;
  return std::unique_ptr<BlobStore>(std::move(store));
}

}  // namespace aot::registry
