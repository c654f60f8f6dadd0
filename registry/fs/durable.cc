#include "registry/fs/durable.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "absl/strings/str_cat.h"

namespace aot::registry::fs {
namespace {

std::atomic<Hook> g_hook{nullptr};

// Sets errno and says true when the hook wants the step to fail.
bool Intercepted(Op op, const std::string& path) {
  Hook hook = g_hook.load(std::memory_order_relaxed);
  if (hook == nullptr) return false;
  int error = hook(op, path);
  if (error == 0) return false;
  errno = error;
  return true;
}

std::string DirectoryOf(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

void SetHook(Hook hook) { g_hook.store(hook); }

absl::Status ErrnoStatus(int error, absl::string_view action, const std::string& path) {
  std::string message = absl::StrCat("cannot ", action, " ", path, ": ", strerror(error));
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return absl::ResourceExhaustedError(absl::StrCat(message, "; free space there or run a garbage collection"));
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return absl::ResourceExhaustedError(message);
    case EIO:
      return absl::DataLossError(absl::StrCat(message, "; the disk reports an error"));
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    case ENOENT:
      return absl::NotFoundError(message);
    case EEXIST:
      return absl::AlreadyExistsError(message);
    default:
      return absl::UnknownError(message);
  }
}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

File::~File() { Close(); }

void File::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

absl::StatusOr<File> Create(const std::string& path, int flags, mode_t mode) {
  if (Intercepted(Op::kCreate, path)) return ErrnoStatus(errno, "create", path);
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, mode);
  if (fd < 0) return ErrnoStatus(errno, "create", path);
  return File(fd);
}

absl::StatusOr<File> OpenForReading(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return ErrnoStatus(errno, "open", path);
  return File(fd);
}

absl::Status Write(const File& file, const std::string& path, absl::string_view data) {
  if (Intercepted(Op::kWrite, path)) return ErrnoStatus(errno, "write", path);
  while (!data.empty()) {
    ssize_t n = write(file.fd(), data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "write", path);
    data.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status ReadAt(const File& file, const std::string& path, uint64_t offset, char* buffer, size_t size) {
  if (Intercepted(Op::kRead, path)) return ErrnoStatus(errno, "read", path);
  while (size > 0) {
    ssize_t n = pread(file.fd(), buffer, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "read", path);
    if (n == 0) return absl::OutOfRangeError(absl::StrCat(path, " ends before byte ", offset + size));
    buffer += n;
    offset += static_cast<uint64_t>(n);
    size -= static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

absl::Status Sync(const File& file, const std::string& path) {
  if (Intercepted(Op::kSync, path)) return ErrnoStatus(errno, "sync", path);
  // Never retried: after a failed fsync the kernel may have dropped the dirty pages, and a second call would say 0.
  if (fsync(file.fd()) != 0) return ErrnoStatus(errno, "sync", path);
  return absl::OkStatus();
}

absl::Status SyncDirectory(const std::string& path) {
  if (Intercepted(Op::kSyncDirectory, path)) return ErrnoStatus(errno, "sync", path);
  int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, "open", path);
  File directory(fd);
  if (fsync(fd) != 0) return ErrnoStatus(errno, "sync", path);
  return absl::OkStatus();
}

absl::Status Rename(const std::string& from, const std::string& to) {
  if (Intercepted(Op::kRename, to)) return ErrnoStatus(errno, "rename to", to);
  if (rename(from.c_str(), to.c_str()) != 0) return ErrnoStatus(errno, "rename to", to);
  return absl::OkStatus();
}

absl::Status Unlink(const std::string& path) {
  if (Intercepted(Op::kUnlink, path)) return ErrnoStatus(errno, "delete", path);
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return ErrnoStatus(errno, "delete", path);
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path, absl::string_view data, mode_t mode) {
  std::string temporary = absl::StrCat(path, kTemporarySuffix);
  // The mode must hold for a leftover of a crash too, so that one is removed instead of truncated.
  if (absl::Status s = Unlink(temporary); !s.ok()) return s;
  absl::Status status = [&]() -> absl::Status {
    absl::StatusOr<File> file = Create(temporary, O_EXCL, mode);
    if (!file.ok()) return file.status();
    if (absl::Status s = Write(*file, temporary, data); !s.ok()) return s;
    if (absl::Status s = Sync(*file, temporary); !s.ok()) return s;
    return Rename(temporary, path);
  }();
  if (!status.ok()) {
    unlink(temporary.c_str());  // best effort: the error that counts is already known
    return status;
  }
  return SyncDirectory(DirectoryOf(path));
}

absl::StatusOr<std::string> ReadFile(const std::string& path, uint64_t limit) {
  absl::StatusOr<File> file = OpenForReading(path);
  if (!file.ok()) return file.status();
  struct stat info;
  if (fstat(file->fd(), &info) != 0) return ErrnoStatus(errno, "stat", path);
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, " is not a regular file"));
  uint64_t size = static_cast<uint64_t>(info.st_size);
  if (size > limit) {
    return absl::ResourceExhaustedError(absl::StrCat(path, " has ", size, " bytes; the limit is ", limit));
  }
  std::string data(size, '\0');
  if (absl::Status s = ReadAt(*file, path, 0, data.data(), data.size()); !s.ok()) return s;
  return data;
}

absl::Status MakeDirectories(const std::string& path, mode_t mode) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(path, " exists and is not a directory"));
  }
  std::string parent = DirectoryOf(path);
  if (parent != path) {
    if (absl::Status s = MakeDirectories(parent, mode); !s.ok()) return s;
  }
  if (Intercepted(Op::kCreate, path)) return ErrnoStatus(errno, "create", path);
  if (mkdir(path.c_str(), mode) != 0 && errno != EEXIST) return ErrnoStatus(errno, "create", path);
  return SyncDirectory(parent);
}

absl::StatusOr<std::vector<std::string>> ListDirectory(const std::string& path) {
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) return ErrnoStatus(errno, "list", path);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(directory)) {
    absl::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  int error = errno;
  closedir(directory);
  if (error != 0) return ErrnoStatus(error, "list", path);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace aot::registry::fs
