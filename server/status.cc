#include "server/status.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace aot::server {
namespace {

// What a byte of a grpc-message takes on the wire: all but printable ASCII is percent-encoded.
size_t WireBytes(char c) { return c >= ' ' && c <= '~' && c != '%' ? 1 : 3; }

std::string Shorten(absl::string_view message) {
  size_t wire = 0, fits = 0;
  while (fits < message.size() && wire + WireBytes(message[fits]) <= kMaxStatusMessageBytes) {
    wire += WireBytes(message[fits++]);
  }
  return CutAtLine(message, fits);
}

}  // namespace

std::string CutAtLine(absl::string_view message, size_t fits) {
  if (fits >= message.size()) return std::string(message);
  absl::string_view kept = message.substr(0, fits);
  if (size_t line = kept.rfind('\n'); line != absl::string_view::npos && line > 0) kept = kept.substr(0, line);
  // Not in the middle of a UTF-8 sequence.
  while (!kept.empty() && (static_cast<unsigned char>(message[kept.size()]) & 0xc0) == 0x80) kept.remove_suffix(1);
  return absl::StrCat(kept, "\n(cut here: ", message.size() - kept.size(), " more bytes)");
}

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), Shorten(status.message()));
}

}  // namespace aot::server
