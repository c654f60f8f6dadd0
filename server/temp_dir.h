// A private directory that goes when its owner goes.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace aot::server {

// Mode 0700, empty at the start. Move-only; the destructor removes it with all that is in it.
class TempDir {
 public:
  // Inside `parent`, which must exist. RESOURCE_EXHAUSTED: the disk is full; INTERNAL otherwise.
  static absl::StatusOr<TempDir> Create(const std::string& parent);
  TempDir(TempDir&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TempDir& operator=(TempDir&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~TempDir();

  const std::string& path() const { return path_; }

 private:
  explicit TempDir(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Makes `path` an empty directory of mode 0700: for what a killed server left behind. The parent must exist.
absl::Status MakeEmptyDir(const std::string& path);

}  // namespace aot::server
