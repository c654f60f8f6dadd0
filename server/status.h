// absl::Status as a gRPC status.
#pragma once

#include <grpcpp/support/status.h>

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace aot::server {

// A status message travels in HTTP/2 headers, which gRPC limits to 8 KiB in all, escaped.
inline constexpr size_t kMaxStatusMessageBytes = 4096;

// The message if it has at most `most` bytes, else its lines that fit, with a note of how much is left out.
std::string CutAtLine(absl::string_view message, size_t most);

// Code and message as they are. A message that is too long is cut at the end of a line, with a note that says so.
grpc::Status ToGrpc(const absl::Status& status);

}  // namespace aot::server
