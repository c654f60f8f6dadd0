#include "server/temp_dir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace aot::server {
namespace {

absl::Status DirError(const std::string& path, int error) {
  std::string message = absl::StrCat("can't make the directory ", path, ": ", strerror(error));
  return error == ENOSPC || error == EDQUOT ? absl::ResourceExhaustedError(message) : absl::InternalError(message);
}

}  // namespace

absl::StatusOr<TempDir> TempDir::Create(const std::string& parent) {
  std::string path = absl::StrCat(parent, "/job-XXXXXX");
  if (mkdtemp(path.data()) == nullptr) return DirError(path, errno);
  return TempDir(std::move(path));
}

TempDir::~TempDir() {
  if (path_.empty()) return;
  // What can't be removed now is removed when the server starts again (MakeEmptyDir).
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

absl::Status MakeEmptyDir(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) return absl::InternalError(absl::StrCat("can't clear ", path, ": ", error.message()));
  if (mkdir(path.c_str(), 0700) != 0) return DirError(path, errno);
  return absl::OkStatus();
}

}  // namespace aot::server
