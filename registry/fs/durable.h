// Files that survive a power cut: every write here is complete and on the disk, or it isn't there.
//
// All functions report the path and what was tried. Errno becomes a status once, in ErrnoStatus: ENOSPC and EDQUOT are
// RESOURCE_EXHAUSTED, EIO is DATA_LOSS, EACCES, EPERM and EROFS are PERMISSION_DENIED, ENOENT is NOT_FOUND.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace aot::registry::fs {

// The steps at which a power cut or a full disk can strike.
enum class Op { kCreate, kWrite, kSync, kRename, kSyncDirectory, kUnlink, kRead };

// Called before each step when set; a value other than 0 is an errno, and the step fails with it. Tests kill the
// process or fill the disk here. Set it before other threads use this file.
using Hook = int (*)(Op op, const std::string& path);
void SetHook(Hook hook);

// `action` completes "cannot ... PATH".
absl::Status ErrnoStatus(int error, absl::string_view action, const std::string& path);

// Owns a file descriptor; -1 owns none.
class File {
 public:
  File() = default;
  explicit File(int fd) : fd_(fd) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept;
  ~File();

  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void Close();

 private:
  int fd_ = -1;
};

// Opens for writing. `flags` adds to O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW.
absl::StatusOr<File> Create(const std::string& path, int flags, mode_t mode);
absl::StatusOr<File> OpenForReading(const std::string& path);
absl::Status Write(const File& file, const std::string& path, absl::string_view data);
// Reads exactly `size` bytes. OUT_OF_RANGE when the file ends before.
absl::Status ReadAt(const File& file, const std::string& path, uint64_t offset, char* buffer, size_t size);
absl::Status Sync(const File& file, const std::string& path);
absl::Status SyncDirectory(const std::string& path);
// Renames within one directory tree; the caller syncs the directory.
absl::Status Rename(const std::string& from, const std::string& to);
// A missing file is no error.
absl::Status Unlink(const std::string& path);

// Replaces the file's content atomically: a temporary name beside it, fsync, rename, fsync of the directory.
absl::Status WriteFile(const std::string& path, absl::string_view data, mode_t mode);
// RESOURCE_EXHAUSTED when the file is longer than `limit` bytes.
absl::StatusOr<std::string> ReadFile(const std::string& path, uint64_t limit);

// Makes the directory and its parents, durably.
absl::Status MakeDirectories(const std::string& path, mode_t mode);
// Names in a directory without "." and "..", sorted.
absl::StatusOr<std::vector<std::string>> ListDirectory(const std::string& path);

// The end of the temporary names of WriteFile; what carries it after a crash is rubbish.
inline constexpr absl::string_view kTemporarySuffix = ".tmp";

}  // namespace aot::registry::fs
