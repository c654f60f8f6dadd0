#include "runtime/ota/state_directory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace aot::ota {
namespace {

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

std::vector<std::string> Components(const std::string& path) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Status CheckComponents(const std::vector<std::string>& parts, const std::string& path) {
  for (const std::string& part : parts)
    if (!IsSafeComponent(part))
      return Status(Code::kInvalidArgument, "unsafe path \"" + path + "\" in the state directory");
  return Status();
}

int OpenRetry(int directory, const char* name, int flags, mode_t mode = 0) {
  int fd = -1;
  do {
    fd = openat(directory, name, flags, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

}  // namespace

bool IsSafeComponent(std::string_view name) {
  if (name.empty() || name.size() > 200 || name[0] == '.') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = other.Release();
  }
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

int FileDescriptor::Release() {
  const int fd = fd_;
  fd_ = -1;
  return fd;
}

int StateDirectory::Step(const char* action, const std::string& path) {
  return hook_ != nullptr ? hook_(hook_context_, (std::string(action) + " " + path).c_str()) : 0;
}

Status StateDirectory::Error(const char* action, const std::string& path, int error_number) const {
  Code code = Code::kIo;
  if (error_number == ENOENT) code = Code::kNotFound;
  if (error_number == ENOSPC || error_number == EDQUOT) code = Code::kNoSpace;
  return Status(code, std::string("can't ") + action + " " + path_ + "/" + path + ": " + strerror(error_number));
}

Status StateDirectory::Open(const std::string& path, StepHook hook, void* hook_context) {
  path_ = path;
  hook_ = hook;
  hook_context_ = hook_context;
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
    return Status(Code::kIo, "can't make the state directory " + path + ": " + strerror(errno));
  // The directory itself may be a symbolic link: its place is the owner's choice.
  directory_ = FileDescriptor(OpenRetry(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory_.valid()) return Status(Code::kIo, "can't open the state directory " + path + ": " + strerror(errno));
  return Status();
}

Status StateDirectory::Acquire(Lock lock, int64_t timeout_ms) {
  const char* name = lock == Lock::kUpdate ? "update.lock" : "lock";
  FileDescriptor& held = locks_[static_cast<size_t>(lock)];
  held = FileDescriptor(OpenRetry(directory_.get(), name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
  // A read-only file system still starts what is installed.
  if (!held.valid()) held = FileDescriptor(OpenRetry(directory_.get(), name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!held.valid()) return Status(Code::kIo, "can't open " + path_ + "/" + name + ": " + strerror(errno));
  constexpr int64_t kPollMs = 20;
  for (int64_t waited = 0; flock(held.get(), LOCK_EX | LOCK_NB) != 0; waited += kPollMs) {
    if (errno != EWOULDBLOCK && errno != EINTR) return Error("lock", name, errno);
    if (waited >= timeout_ms)
      return Status(Code::kBusy, path_ + "/" + name + ": another process has been " +
                                     (lock == Lock::kUpdate ? "updating" : "using") + " the state directory for " +
                                     std::to_string(timeout_ms) + " ms");
    const timespec pause = {0, kPollMs * 1000000};
    nanosleep(&pause, nullptr);
  }
  return Status();
}

void StateDirectory::Release(Lock lock) { locks_[static_cast<size_t>(lock)] = FileDescriptor(); }

Status StateDirectory::OpenDirectory(const std::string& path, FileDescriptor* out) {
  const std::vector<std::string> parts = Components(path);
  AOT_OTA_RETURN_IF_ERROR(CheckComponents(parts, path));
  FileDescriptor current(fcntl(directory_.get(), F_DUPFD_CLOEXEC, 0));
  for (const std::string& part : parts) {
    FileDescriptor next(OpenRetry(current.get(), part.c_str(), kDirectoryFlags));
    if (!next.valid()) return Error("open", path, errno);
    current = std::move(next);
  }
  *out = std::move(current);
  return Status();
}

Status StateDirectory::OpenParent(const std::string& path, FileDescriptor* parent, std::string* name) {
  const size_t slash = path.rfind('/');
  *name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (!IsSafeComponent(*name)) return CheckComponents({*name}, path);
  if (slash != std::string::npos) return OpenDirectory(path.substr(0, slash), parent);
  *parent = FileDescriptor(fcntl(directory_.get(), F_DUPFD_CLOEXEC, 0));
  return parent->valid() ? Status() : Error("open", path, errno);
}

Status StateDirectory::SyncParent(const std::string& path) {
  FileDescriptor parent;
  std::string name;
  AOT_OTA_RETURN_IF_ERROR(OpenParent(path, &parent, &name));
  if (const int error = Step("fsync directory of", path)) return Error("fsync the directory of", path, error);
  return fsync(parent.get()) == 0 ? Status() : Error("fsync the directory of", path, errno);
}

Status StateDirectory::Read(const std::string& path, int64_t max_bytes, std::string* out) {
  FileDescriptor file;
  AOT_OTA_RETURN_IF_ERROR(OpenForRead(path, &file));
  out->clear();
  char buffer[16384];
  for (;;) {
    size_t got = 0;
    AOT_OTA_RETURN_IF_ERROR(ReadSome(file, buffer, sizeof(buffer), path, &got));
    if (got == 0) return Status();
    if (static_cast<int64_t>(out->size() + got) > max_bytes)
      return Status(Code::kLimit, path_ + "/" + path + ": larger than " + std::to_string(max_bytes) + " bytes");
    out->append(buffer, got);
  }
}

Status StateDirectory::ReadSome(const FileDescriptor& file, char* buffer, size_t size, const std::string& path,
                                size_t* got) {
  int error = Step("read", path);
  ssize_t count = 0;
  do {
    if (error == 0) count = read(file.get(), buffer, size);
  } while (count < 0 && errno == EINTR);
  if (count < 0) error = errno;
  // A block that went bad is damage like a flipped bit: what is there is of no use, and is to be fetched again.
  if (error == EIO) return Status(Code::kDigest, path_ + "/" + path + ": the storage can't read it back");
  if (error != 0) return Error("read", path, error);
  *got = static_cast<size_t>(count);
  return Status();
}

Status StateDirectory::WriteAtomic(const std::string& path, std::string_view bytes) {
  // One name for each top-level directory: those have one writer at a time, and a leftover is overwritten.
  const std::string staged = "staging/" + Components(path).front() + ".tmp";
  AOT_OTA_RETURN_IF_ERROR(MakeDirectories("staging"));
  AOT_OTA_RETURN_IF_ERROR(RemoveAll(staged));
  FileDescriptor file;
  int64_t size = 0;
  Status status = OpenForAppend(staged, &file, &size);
  if (status.ok()) status = Append(file, bytes.data(), bytes.size(), staged);
  if (status.ok()) status = Sync(file, staged);
  if (status.ok()) return Rename(staged, path);
  (void)RemoveAll(staged);
  return status;
}

Status StateDirectory::MakeDirectories(const std::string& path) {
  const std::vector<std::string> parts = Components(path);
  AOT_OTA_RETURN_IF_ERROR(CheckComponents(parts, path));
  std::string current;
  for (const std::string& part : parts) {
    current += (current.empty() ? "" : "/") + part;
    FileDescriptor parent;
    std::string name;
    AOT_OTA_RETURN_IF_ERROR(OpenParent(current, &parent, &name));
    struct stat info;
    if (fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode)) continue;
    if (const int error = Step("mkdir", current)) return Error("make directory", current, error);
    if (mkdirat(parent.get(), name.c_str(), 0755) != 0 && errno != EEXIST)
      return Error("make directory", current, errno);
    AOT_OTA_RETURN_IF_ERROR(SyncParent(current));
  }
  return Status();
}

Status StateDirectory::Rename(const std::string& from, const std::string& to) {
  FileDescriptor from_parent;
  FileDescriptor to_parent;
  std::string from_name;
  std::string to_name;
  AOT_OTA_RETURN_IF_ERROR(OpenParent(from, &from_parent, &from_name));
  AOT_OTA_RETURN_IF_ERROR(OpenParent(to, &to_parent, &to_name));
  if (const int error = Step("rename", from + " to " + to)) return Error("rename to", to, error);
  if (renameat(from_parent.get(), from_name.c_str(), to_parent.get(), to_name.c_str()) != 0)
    return Error("rename to", to, errno);
  if (const int error = Step("fsync directory of", to)) return Error("fsync the directory of", to, error);
  if (fsync(to_parent.get()) != 0) return Error("fsync the directory of", to, errno);
  // The source directory too: else the old name may come back beside the new one.
  if (fsync(from_parent.get()) != 0) return Error("fsync the directory of", from, errno);
  return Status();
}

void StateDirectory::MakeReadOnly(const std::string& path) {
  FileDescriptor file;
  if (OpenForRead(path, &file).ok()) (void)fchmod(file.get(), 0444);
}

Status StateDirectory::RemoveTree(int parent, const std::string& name, const std::string& path) {
  if (const int error = Step("remove", path)) return Error("remove", path, error);
  if (unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return Status();
  if (errno != EISDIR && errno != EPERM) return Error("remove", path, errno);
  FileDescriptor directory(OpenRetry(parent, name.c_str(), kDirectoryFlags));
  if (!directory.valid()) return Error("remove", path, errno);
  std::vector<std::string> names;
  AOT_OTA_RETURN_IF_ERROR(List(path, &names));
  for (const std::string& child : names)
    AOT_OTA_RETURN_IF_ERROR(RemoveTree(directory.get(), child, path + "/" + child));
  return unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 ? Status() : Error("remove directory", path, errno);
}

Status StateDirectory::RemoveAll(const std::string& path) {
  FileDescriptor parent;
  std::string name;
  const Status opened = OpenParent(path, &parent, &name);
  if (opened.code() == Code::kNotFound) return Status();
  AOT_OTA_RETURN_IF_ERROR(opened);
  struct stat info;
  if (fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) return Status();
  AOT_OTA_RETURN_IF_ERROR(RemoveTree(parent.get(), name, path));
  return fsync(parent.get()) == 0 ? Status() : Error("fsync the directory of", path, errno);
}

Status StateDirectory::List(const std::string& path, std::vector<std::string>* names) {
  names->clear();
  FileDescriptor directory;
  const Status opened = OpenDirectory(path, &directory);
  if (opened.code() == Code::kNotFound) return Status();
  AOT_OTA_RETURN_IF_ERROR(opened);
  DIR* stream = fdopendir(directory.get());
  if (stream == nullptr) return Error("list", path, errno);
  directory.Release();  // closedir closes it
  while (const dirent* entry = readdir(stream)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names->push_back(name);
  }
  closedir(stream);
  std::sort(names->begin(), names->end());
  return Status();
}

bool StateDirectory::Exists(const std::string& path) {
  FileDescriptor parent;
  std::string name;
  struct stat info;
  return OpenParent(path, &parent, &name).ok() && fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
}

int64_t StateDirectory::FreeBytes() {
  struct statvfs info;
  if (Step("statvfs", path_) != 0) return 0;
  if (fstatvfs(directory_.get(), &info) != 0) return INT64_MAX;
  const uint64_t block = info.f_frsize != 0 ? info.f_frsize : 1;
  // Blocks that only root may use don't count.
  return info.f_bavail < INT64_MAX / block ? static_cast<int64_t>(info.f_bavail * block) : INT64_MAX;
}

Status StateDirectory::OpenForRead(const std::string& path, FileDescriptor* out) {
  FileDescriptor parent;
  std::string name;
  AOT_OTA_RETURN_IF_ERROR(OpenParent(path, &parent, &name));
  *out = FileDescriptor(OpenRetry(parent.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!out->valid()) return Error("open", path, errno);
  struct stat info;
  if (fstat(out->get(), &info) != 0 || !S_ISREG(info.st_mode))
    return Status(Code::kIo, path_ + "/" + path + ": not a file");
  return Status();
}

Status StateDirectory::OpenForAppend(const std::string& path, FileDescriptor* out, int64_t* size) {
  FileDescriptor parent;
  std::string name;
  AOT_OTA_RETURN_IF_ERROR(OpenParent(path, &parent, &name));
  if (const int error = Step("open", path)) return Error("open", path, error);
  *out = FileDescriptor(
      OpenRetry(parent.get(), name.c_str(), O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0644));
  if (!out->valid()) return Error("open", path, errno);
  struct stat info;
  if (fstat(out->get(), &info) != 0 || !S_ISREG(info.st_mode))
    return Status(Code::kIo, path_ + "/" + path + ": not a file");
  *size = info.st_size;
  return Status();
}

Status StateDirectory::Append(const FileDescriptor& file, const char* data, size_t size, const std::string& path) {
  if (const int error = Step("write", path)) return Error("write", path, error);
  while (size > 0) {
    const ssize_t put = write(file.get(), data, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return Error("write", path, errno);
    data += put;
    size -= static_cast<size_t>(put);
  }
  return Status();
}

Status StateDirectory::Truncate(const FileDescriptor& file, const std::string& path) {
  if (const int error = Step("truncate", path)) return Error("truncate", path, error);
  return ftruncate(file.get(), 0) == 0 ? Status() : Error("truncate", path, errno);
}

Status StateDirectory::Sync(const FileDescriptor& file, const std::string& path) {
  if (const int error = Step("fsync", path)) return Error("fsync", path, error);
  return fsync(file.get()) == 0 ? Status() : Error("fsync", path, errno);
}

}  // namespace aot::ota
