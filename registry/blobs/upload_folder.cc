#include "registry/blobs/upload_folder.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "registry/fs/durable.h"

namespace aot::registry {
namespace {

uint64_t SizeOf(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
}

}  // namespace

std::string UploadFolder::PathOf(const BlobRef& announced) const {
  return absl::StrCat(path_, "/", announced.digest.Hex(), ".", announced.size);
}

absl::StatusOr<std::vector<UploadFolder::Partial>> UploadFolder::Interrupted() {
  std::set<std::string> open;
  for (const auto& [digest, ref] : open_) open.insert(PathOf(ref));
  absl::StatusOr<std::vector<std::string>> names = fs::ListDirectory(path_);
  if (!names.ok()) return names.status();
  std::vector<Partial> partials;
  for (const std::string& name : *names) {
    std::string path = absl::StrCat(path_, "/", name);
    struct stat info;
    if (open.count(path) > 0 || stat(path.c_str(), &info) != 0) continue;
    partials.push_back({path, static_cast<uint64_t>(info.st_size), absl::TimeFromTimespec(info.st_mtim)});
  }
  std::sort(partials.begin(), partials.end(), [](const Partial& a, const Partial& b) { return a.touched < b.touched; });
  return partials;
}

absl::StatusOr<std::string> UploadFolder::Open(const BlobRef& announced) {
  absl::MutexLock lock(&mutex_);
  if (open_.contains(announced.digest)) {
    return absl::AbortedError(absl::StrCat("blob ", announced.digest.Hex(),
                                           " is being uploaded already; wait for that upload and ask again"));
  }
  // Uploads under way count with what they will have in the end, so that all of them can end.
  uint64_t promised = 0;
  for (const auto& [digest, ref] : open_) promised += ref.size;
  if (announced.size > limits_.upload_bytes || promised > limits_.upload_bytes - announced.size) {
    return absl::ResourceExhaustedError(absl::StrCat("an upload of ", announced.size, " bytes and the ", promised,
                                                     " of those under way exceed the ", limits_.upload_bytes,
                                                     " that uploads may take together; try again when they are done"));
  }
  absl::StatusOr<std::vector<Partial>> interrupted = Interrupted();
  if (!interrupted.ok()) return interrupted.status();
  std::string path = PathOf(announced);
  uint64_t lying = 0;
  for (const Partial& partial : *interrupted) lying += partial.path == path ? 0 : partial.size;
  for (const Partial& partial : *interrupted) {
    if (lying <= limits_.upload_bytes - announced.size - promised) break;
    if (partial.path == path) continue;
    if (absl::Status s = fs::Unlink(partial.path); !s.ok()) return s;
    lying -= partial.size;
  }
  if (absl::Status s = CheckDisk(announced); !s.ok()) return s;
  open_.emplace(announced.digest, announced);
  return path;
}

absl::Status UploadFolder::CheckDisk(const BlobRef& announced) {
  struct statvfs disk;
  if (statvfs(path_.c_str(), &disk) != 0) return fs::ErrnoStatus(errno, "ask for the free space of", path_);
  uint64_t free = static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize;
  uint64_t needed = limits_.reserve_bytes;
  auto add = [&](const BlobRef& ref) { needed += ref.size - std::min(ref.size, SizeOf(PathOf(ref))); };
  add(announced);
  for (const auto& [digest, ref] : open_) add(ref);
  if (needed <= free) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the disk of ", path_, " has ", free, " free bytes; this upload, those under way and the reserve of ",
      limits_.reserve_bytes, " need ", needed, "; free space there or run a garbage collection"));
}

void UploadFolder::Close(const Digest& digest) {
  absl::MutexLock lock(&mutex_);
  open_.erase(digest);
}

absl::Status UploadFolder::DropStale() {
  absl::MutexLock lock(&mutex_);
  absl::StatusOr<std::vector<Partial>> interrupted = Interrupted();
  if (!interrupted.ok()) return interrupted.status();
  for (const Partial& partial : *interrupted) {
    if (absl::Now() - partial.touched < kLifetime) break;
    if (absl::Status s = fs::Unlink(partial.path); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> UploadFolder::Bytes() {
  absl::StatusOr<std::vector<std::string>> names = fs::ListDirectory(path_);
  if (!names.ok()) return names.status();
  uint64_t bytes = 0;
  for (const std::string& name : *names) bytes += SizeOf(absl::StrCat(path_, "/", name));
  return bytes;
}

}  // namespace aot::registry
