// The state directory of a device (docs/formats/device-state.md): durable writes, listing, and the locks that keep
// processes apart.
//
// Every path is relative to the directory and made of components that IsSafeComponent accepts, so nothing that a server
// names can leave it; no component is followed through a symbolic link. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/ota/status.h"

namespace aot::ota {

// One component of a path: 1 to 200 characters of [A-Za-z0-9._-], not starting with a dot.
bool IsSafeComponent(std::string_view name);

// Owns a file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  bool valid() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int Release();

 private:
  int fd_ = -1;
};

class StateDirectory {
 public:
  // Called before each step on the file system, with its name ("fsync staging/x"). Gives 0, or the error number that
  // the step fails with: tests cut the power, fill the disk and damage it there.
  using StepHook = int (*)(void* context, const char* step);

  // Opens path, making the directory if there is none (not its parents).
  Status Open(const std::string& path, StepHook hook = nullptr, void* hook_context = nullptr);

  // Two exclusive locks, so that what a network does to an update never keeps a version that is installed from
  // starting. kUpdate admits one update: it is held over all downloads, and covers metadata/, downloads/ and the growth
  // of parts/. kSlots is held for the moment of an installation, or while a version is loaded: slots/ and staging/slot.
  // Who needs both takes kUpdate first.
  enum class Lock { kUpdate, kSlots };
  // Waits up to timeout_ms; kBusy after that. Held until Release or the end of this object or process.
  Status Acquire(Lock lock, int64_t timeout_ms);
  void Release(Lock lock);

  // Reads a whole file. kNotFound where there is none, kLimit beyond max_bytes, kDigest where the medium can't give
  // back what was written (EIO).
  Status Read(const std::string& path, int64_t max_bytes, std::string* out);
  // Makes path hold bytes, or leaves it as it was: staged file, fsync, rename, fsync of the directory. kNoSpace where
  // the disk is full, as all functions that write.
  Status WriteAtomic(const std::string& path, std::string_view bytes);
  // Makes the directory and its parents, durably.
  Status MakeDirectories(const std::string& path);
  // Replaces `to`; a directory can only replace an empty one. Durable on return.
  Status Rename(const std::string& from, const std::string& to);
  // Takes write permission from a file, against accidents; best effort.
  void MakeReadOnly(const std::string& path);
  // Removes a file or a whole directory. A path that is not there is no error.
  Status RemoveAll(const std::string& path);
  // Names in a directory, sorted; none where there is no such directory.
  Status List(const std::string& path, std::vector<std::string>* names);
  bool Exists(const std::string& path);

  // Bytes that this process may still write; INT64_MAX where the file system doesn't tell.
  int64_t FreeBytes();

  // Opens for reading, kNotFound where there is none.
  Status OpenForRead(const std::string& path, FileDescriptor* out);
  // Reads up to `size` bytes; *got is 0 at the end. Errors as Read's.
  Status ReadSome(const FileDescriptor& file, char* buffer, size_t size, const std::string& path, size_t* got);
  // Opens for writing at the end, making the file if needed; *size is its present size.
  Status OpenForAppend(const std::string& path, FileDescriptor* out, int64_t* size);
  Status Append(const FileDescriptor& file, const char* data, size_t size, const std::string& path);
  Status Truncate(const FileDescriptor& file, const std::string& path);
  Status Sync(const FileDescriptor& file, const std::string& path);

  const std::string& path() const { return path_; }

 private:
  // The error number that a test wants the step to fail with, or 0.
  int Step(const char* action, const std::string& path);
  Status Error(const char* action, const std::string& path, int error_number) const;
  // Opens the directory that holds path, and splits off the last component.
  Status OpenParent(const std::string& path, FileDescriptor* parent, std::string* name);
  Status OpenDirectory(const std::string& path, FileDescriptor* out);
  Status SyncParent(const std::string& path);
  Status RemoveTree(int parent, const std::string& name, const std::string& path);

  std::string path_;
  FileDescriptor directory_;
  FileDescriptor locks_[2];
  StepHook hook_ = nullptr;
  void* hook_context_ = nullptr;
};

}  // namespace aot::ota
