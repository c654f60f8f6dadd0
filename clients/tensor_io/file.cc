#include "clients/tensor_io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace aot::clients {
namespace {

// read(2) and write(2) transfer at most 0x7ffff000 bytes a call on Linux.
constexpr size_t kChunk = size_t{1} << 30;

absl::Status SystemError(int error, absl::string_view action, const std::string& path) {
  std::string message = absl::StrCat("can't ", action, " ", path, ": ", strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(message);
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(message);
    default:
      return absl::UnknownError(message);
  }
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  // Closes now, so that an error of close(2) (a full disk on a network file system) can be told. 0 or errno.
  int Close() {
    int fd = fd_;
    fd_ = -1;
    return close(fd) == 0 ? 0 : errno;
  }

 private:
  int fd_;
};

// 0 or errno.
int WriteAll(int fd, absl::string_view contents) {
  while (!contents.empty()) {
    ssize_t n = write(fd, contents.data(), std::min(contents.size(), kChunk));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    contents.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t limit) {
  FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return SystemError(errno, "open", path);
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return SystemError(errno, "examine", path);
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, " is not a regular file"));
  if (info.st_size > limit) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, " has ", info.st_size, " bytes; at most ", limit, " are allowed here"));
  }
  std::string contents(static_cast<size_t>(info.st_size), '\0');
  size_t done = 0;
  while (done < contents.size()) {
    ssize_t n = read(fd.get(), &contents[done], std::min(contents.size() - done, kChunk));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError(errno, "read", path);
    if (n == 0) break;  // the file shrank meanwhile; what remains is judged by its own checks
    done += static_cast<size_t>(n);
  }
  contents.resize(done);
  return contents;
}

absl::Status WriteFile(const std::string& path, absl::string_view contents) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    FileDescriptor fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (fd.get() < 0) return SystemError(errno, "open", path);
    int error = WriteAll(fd.get(), contents);
    return error == 0 ? absl::OkStatus() : SystemError(error, "write", path);
  }
  std::string temporary = absl::StrCat(path, ".tmp.XXXXXX");
  FileDescriptor fd(mkostemp(&temporary[0], O_CLOEXEC));
  if (fd.get() < 0) return SystemError(errno, "write", path);
  int error = WriteAll(fd.get(), contents);
  // mkostemp makes files that the owner alone may read; give what open(2) would have given.
  mode_t mask = umask(0);
  umask(mask);
  if (error == 0 && fchmod(fd.get(), 0666 & ~mask) != 0) error = errno;
  if (int e = fd.Close(); error == 0) error = e;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    unlink(temporary.c_str());
    return SystemError(error, "write", path);
  }
  return absl::OkStatus();
}

std::string UserPath(const std::string& path) {
  if (path.empty() || path[0] == '/') return path;
  const char* base = getenv("BUILD_WORKING_DIRECTORY");
  if (base == nullptr || *base == '\0') return path;
  // The variable outlives `bazel run` in whatever that started; only in the runfiles tree does it say where the user
  // stands.
  char current[4096];
  if (getcwd(current, sizeof(current)) == nullptr || strstr(current, ".runfiles") == nullptr) return path;
  return absl::StrCat(base, "/", path);
}

}  // namespace aot::clients
