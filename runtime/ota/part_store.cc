#include "runtime/ota/part_store.h"

#include <algorithm>
#include <ctime>

#include <sys/stat.h>
#include <unistd.h>

namespace aot::ota {
namespace {

constexpr int64_t kMaxEtagBytes = 256;
constexpr int64_t kMaxPauseMs = 30000;  // between two attempts

std::string Describe(const Part& part) {
  return "sha256 " + part.sha256.Hex() + ", " + std::to_string(part.length) + " bytes";
}

// Appends a body to a partial file, or starts the file again where the server sends the object from its beginning.
class PartSink : public BodySink {
 public:
  // `staged` and `etag_path` are where `file` and its tag are kept.
  PartSink(StateDirectory* state, const Part& part, const std::string& staged, const std::string& etag_path,
           FileDescriptor* file, int64_t size, std::string etag, int64_t* downloaded)
      : state_(state),
        part_(part),
        staged_(staged),
        etag_path_(etag_path),
        file_(file),
        size_(size),
        etag_(std::move(etag)),
        downloaded_(downloaded) {}

  Status Begin(const HttpResponse& response) override {
    if (response.status != 200) return Continue(response);
    if (size_ > 0) AOT_OTA_RETURN_IF_ERROR(Empty());
    // The tag is on disk before the bytes that it stands for. Only a strong one can vouch for a byte range (RFC
    // 9110, 13.1.5).
    const bool strong = response.etag.size() > 1 && response.etag[0] == '"' && response.etag.size() <= kMaxEtagBytes;
    return strong ? state_->WriteAtomic(etag_path_, response.etag) : state_->RemoveAll(etag_path_);
  }

  Status Write(const char* data, size_t size) override {
    if (static_cast<int64_t>(size) > part_.length - size_)
      return Status(Code::kDigest, "longer than the signed " + std::to_string(part_.length) + " bytes");
    AOT_OTA_RETURN_IF_ERROR(state_->Append(*file_, data, size, staged_));
    size_ += static_cast<int64_t>(size);
    *downloaded_ += static_cast<int64_t>(size);
    return Status();
  }

  int64_t size() const { return size_; }
  bool changed() const { return changed_; }

 private:
  Status Empty() {
    size_ = 0;
    return state_->Truncate(*file_, staged_);
  }

  // A 206 must be the rest of the very object that the partial file is the beginning of.
  Status Continue(const HttpResponse& response) {
    const bool same = response.status == 206 && response.range_start == size_ &&
                      (response.range_total < 0 || response.range_total == part_.length) &&
                      (response.etag.empty() || response.etag == etag_);
    if (same) return Status();
    changed_ = true;
    AOT_OTA_RETURN_IF_ERROR(Empty());
    return Status(Code::kNetwork, "the object changed since the download began");
  }

  StateDirectory* state_;
  const Part& part_;
  const std::string staged_;
  const std::string etag_path_;
  FileDescriptor* file_;
  int64_t size_;
  const std::string etag_;
  int64_t* downloaded_;
  bool changed_ = false;
};

void SleepMs(int64_t ms) {
  const timespec pause = {static_cast<time_t>(ms / 1000), static_cast<long>(ms % 1000 * 1000000)};
  nanosleep(&pause, nullptr);
}

}  // namespace

Status PartStore::Measure(const std::string& path, Part* found) {
  FileDescriptor file;
  AOT_OTA_RETURN_IF_ERROR(state_->OpenForRead(path, &file));
  Sha256 hash;
  char buffer[65536];
  found->length = 0;
  for (size_t got = 1; got > 0; found->length += static_cast<int64_t>(got)) {
    AOT_OTA_RETURN_IF_ERROR(state_->ReadSome(file, buffer, sizeof(buffer), path, &got));
    hash.Update(buffer, got);
  }
  found->sha256 = hash.Final();
  return Status();
}

bool PartStore::Damaged(const Part& part) {
  Part found;
  const Status measured = Measure(PathOf(part.sha256), &found);
  return measured.code() == Code::kDigest || (measured.ok() && found.sha256 != part.sha256);
}

bool PartStore::Present(const Part& part) {
  FileDescriptor file;
  struct stat info;
  return state_->OpenForRead(PathOf(part.sha256), &file).ok() && fstat(file.get(), &info) == 0 &&
         info.st_size == part.length;
}

int64_t PartStore::Outstanding(const Part& part) {
  if (Present(part)) return 0;
  FileDescriptor file;
  struct stat info;
  const bool partial =
      state_->OpenForRead(StagedPath(part), &file).ok() && fstat(file.get(), &info) == 0 && info.st_size <= part.length;
  return partial ? part.length - info.st_size : part.length;
}

Status PartStore::Ensure(const Part& part, const std::string& url, int64_t* downloaded) {
  AOT_OTA_RETURN_IF_ERROR(state_->MakeDirectories("parts"));
  AOT_OTA_RETURN_IF_ERROR(state_->MakeDirectories(downloads_));
  const std::string path = PathOf(part.sha256);
  Part found;
  const Status measured = Measure(path, &found);
  if (measured.ok() && found == part) return measured;
  // The bytes are those that others signed for, too; it is this description that contradicts itself.
  if (measured.ok() && found.sha256 == part.sha256)
    return Status(Code::kDigest, path + ": " + std::to_string(found.length) + " bytes, signed is " + Describe(part));
  // A damaged part is worth nothing to the version that runs either: it would fail its check at the next load.
  if (measured.ok() || measured.code() == Code::kDigest) AOT_OTA_RETURN_IF_ERROR(state_->RemoveAll(path));
  AOT_OTA_RETURN_IF_ERROR(Download(part, url, downloaded));
  AOT_OTA_RETURN_IF_ERROR(state_->Rename(StagedPath(part), path));
  state_->MakeReadOnly(path);
  return state_->RemoveAll(EtagPath(part));
}

Status PartStore::Download(const Part& part, const std::string& url, int64_t* downloaded) {
  int64_t pause_ms = policy_.first_pause_ms;
  bool restarted = false;
  for (int attempt = 1;; ++attempt) {
    bool restart = false;
    const Status status = DownloadOnce(part, url, downloaded, &restart);
    if (status.ok()) return status;
    // A partial file that turned out useless costs one attempt of its own, not the server's error budget.
    if (restart && !restarted) {
      restarted = true;
      continue;
    }
    if (status.code() != Code::kNetwork || attempt >= policy_.attempts || transport_->Expired()) return status;
    SleepMs(pause_ms);
    pause_ms = std::min(2 * pause_ms, kMaxPauseMs);
  }
}

Status PartStore::DownloadOnce(const Part& part, const std::string& url, int64_t* downloaded, bool* restart) {
  const std::string staged = StagedPath(part);
  FileDescriptor file;
  int64_t size = 0;
  AOT_OTA_RETURN_IF_ERROR(state_->OpenForAppend(staged, &file, &size));
  std::string etag;
  // Without a tag there is no telling whether the server still has the object that the partial file came from.
  const bool resumable = state_->Read(EtagPath(part), kMaxEtagBytes, &etag).ok() && size <= part.length;
  if (size > 0 && !resumable) {
    AOT_OTA_RETURN_IF_ERROR(state_->Truncate(file, staged));
    size = 0;
  }
  const bool resumed = size > 0;
  Status got;
  if (size < part.length) {
    HttpRequest request;
    request.url = url;
    request.max_bytes = part.length;
    request.range_start = size;
    request.if_range = etag;
    PartSink sink(state_, part, staged, EtagPath(part), &file, size, etag, downloaded);
    got = transport_->Get(request, &sink);
    *restart = sink.changed();
    if (got.ok() && sink.size() < part.length)
      got = Status(Code::kNetwork, url + ": ended after " + std::to_string(sink.size()) + " of " +
                                       std::to_string(part.length) + " bytes");
  }
  // What came is kept durably, so that a power cut costs the rest at most.
  const Status synced = state_->Sync(file, staged);
  if (got.ok() || synced.code() == Code::kNoSpace) got = synced;
  Part found;
  if (got.ok()) got = Measure(staged, &found);
  if (got.ok() && found != part) {
    *restart = resumed;
    got = Status(Code::kDigest, url + ": got " + Describe(found) + ", signed is " + Describe(part));
  }
  if (got.code() == Code::kDigest || got.code() == Code::kLimit || got.code() == Code::kNoSpace) {
    (void)state_->RemoveAll(staged);
    (void)state_->RemoveAll(EtagPath(part));
  }
  return got;
}

Status PartStore::RemoveAllBut(const std::set<Digest>& keep) {
  std::vector<std::string> names;
  AOT_OTA_RETURN_IF_ERROR(state_->List("parts", &names));
  for (const std::string& name : names) {
    Digest digest;
    if (ParseDigest(name, &digest) && keep.count(digest) != 0) continue;
    AOT_OTA_RETURN_IF_ERROR(state_->RemoveAll("parts/" + name));
  }
  return Status();
}

}  // namespace aot::ota
