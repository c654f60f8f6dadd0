// Whole files in and out of memory, with errors that name the path.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace aot::clients {

// No file that a client reads whole is larger: ONNX files end at 2 GiB by their wire format, external data is read file
// by file.
constexpr int64_t kMaxFileBytes = int64_t{16} << 30;

// The contents of a regular file. NOT_FOUND: no such file; INVALID_ARGUMENT: not a regular file; RESOURCE_EXHAUSTED:
// larger than `limit` bytes; PERMISSION_DENIED and UNKNOWN from the system, with its words.
absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t limit = kMaxFileBytes);

// Writes a file beside `path` and renames it there, so that a reader never sees half of it. An existing file is
// replaced; something that is not a regular file (/dev/null, a pipe) is written to directly.
absl::Status WriteFile(const std::string& path, absl::string_view contents);

// `path` as the user meant it: relative paths count from where the user stands, which under `bazel run` is
// BUILD_WORKING_DIRECTORY and not the current directory.
std::string UserPath(const std::string& path);

}  // namespace aot::clients
