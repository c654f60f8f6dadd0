#include "registry/blobs/file_blob_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "registry/fs/durable.h"

namespace aot::registry {
namespace {

constexpr size_t kReadChunk = 256 * 1024;

class FileBlobWriter : public BlobWriter {
 public:
  FileBlobWriter(BlobHome& home, std::string path, std::optional<BlobRef> announced)
      : home_(home), path_(std::move(path)), announced_(announced) {}

  ~FileBlobWriter() override {
    if (state_ == State::kWriting) unlink(path_.c_str());
    if (announced_) home_.UploadClosed(announced_->digest);
  }

  absl::Status Start() {
    absl::StatusOr<fs::File> file = fs::Create(path_, announced_ ? O_APPEND : O_EXCL, 0600);
    if (!file.ok()) return file.status();
    file_ = std::move(*file);
    state_ = State::kWriting;
    if (!announced_) return absl::OkStatus();
    return Resume();
  }

  uint64_t offset() const override { return offset_; }

  absl::Status Append(absl::string_view data) override {
    if (state_ != State::kWriting) return absl::FailedPreconditionError("the blob's writer is closed");
    if (announced_ && data.size() > announced_->size - offset_) {
      return absl::InvalidArgumentError(absl::StrCat("blob ", announced_->digest.Hex(), " was announced with ",
                                                     announced_->size, " bytes; more than that arrived"));
    }
    if (absl::Status s = fs::Write(file_, path_, data); !s.ok()) return s;
    digest_.Append(data);
    offset_ += data.size();
    return absl::OkStatus();
  }

  absl::StatusOr<BlobRef> Commit() override {
    if (state_ != State::kWriting) return absl::FailedPreconditionError("the blob's writer is closed");
    BlobRef ref{digest_.Finish(), offset_};
    if (announced_ && ref != *announced_) {
      // The destructor drops the bytes: a resumed upload must not start from them.
      return absl::InvalidArgumentError(absl::StrCat("the upload has digest ", ref.digest.Hex(), " and ", ref.size,
                                                     " bytes; announced were digest ", announced_->digest.Hex(),
                                                     " and ", announced_->size, " bytes"));
    }
    if (absl::Status s = fs::Sync(file_, path_); !s.ok()) return s;
    file_.Close();
    // Pinned before it becomes visible, so that a collection can't take it before its row is written.
    pin_ = home_.PinForWriter(ref.digest);
    if (absl::Status s = home_.Install(path_, ref.digest); !s.ok()) return s;
    state_ = State::kClosed;
    return ref;
  }

  absl::Status Suspend() override {
    if (!announced_) return absl::FailedPreconditionError("only an announced blob can be resumed");
    if (state_ != State::kWriting) return absl::FailedPreconditionError("the blob's writer is closed");
    file_.Close();
    state_ = State::kClosed;
    return absl::OkStatus();
  }

 private:
  // kNotStarted: there is no file of ours to remove.
  enum class State { kNotStarted, kWriting, kClosed };

  // Takes the bytes of an earlier attempt into the digest. Nothing vouches for them yet: Commit compares.
  absl::Status Resume() {
    struct stat info;
    if (fstat(file_.fd(), &info) != 0) return fs::ErrnoStatus(errno, "stat", path_);
    uint64_t have = static_cast<uint64_t>(info.st_size);
    if (have > announced_->size) {
      if (ftruncate(file_.fd(), 0) != 0) return fs::ErrnoStatus(errno, "truncate", path_);
      have = 0;
    }
    absl::StatusOr<fs::File> in = fs::OpenForReading(path_);
    if (!in.ok()) return in.status();
    std::string buffer(std::min<uint64_t>(have, kReadChunk), '\0');
    while (offset_ < have) {
      size_t n = static_cast<size_t>(std::min<uint64_t>(have - offset_, kReadChunk));
      if (absl::Status s = fs::ReadAt(*in, path_, offset_, buffer.data(), n); !s.ok()) return s;
      digest_.Append(absl::string_view(buffer.data(), n));
      offset_ += n;
    }
    return absl::OkStatus();
  }

  BlobHome& home_;
  const std::string path_;
  const std::optional<BlobRef> announced_;
  State state_ = State::kNotStarted;
  fs::File file_;
  DigestBuilder digest_;
  uint64_t offset_ = 0;
  BlobPin pin_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<BlobWriter>> NewBlobWriter(BlobHome& home, const std::string& path,
                                                          const std::optional<BlobRef>& announced) {
  auto writer = std::make_unique<FileBlobWriter>(home, path, announced);
  if (absl::Status s = writer->Start(); !s.ok()) return s;
  return std::unique_ptr<BlobWriter>(std::move(writer));
}

}  // namespace aot::registry
