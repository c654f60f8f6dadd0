#include "server/worker/event_stream.h"

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace aot::server {
namespace {

constexpr size_t kLengthBytes = 4;

size_t ReadLength(absl::string_view bytes) {
  size_t length = 0;
  for (size_t i = kLengthBytes; i-- > 0;) length = length << 8 | static_cast<uint8_t>(bytes[i]);
  return length;
}

}  // namespace

absl::Status AppendEvent(const WorkerEvent& event, std::string& out) {
  size_t length = event.ByteSizeLong();
  if (length > kMaxEventBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("an event of ", length, " bytes; at most ", kMaxEventBytes, " are sent"));
  }
  for (size_t i = 0; i < kLengthBytes; ++i) out.push_back(static_cast<char>(length >> (8 * i)));
  event.AppendToString(&out);
  return absl::OkStatus();
}

absl::Status EventReader::Feed(absl::string_view piece, const std::function<void(WorkerEvent)>& handle) {
  pending_.append(piece.data(), piece.size());
  absl::string_view rest = pending_;
  while (rest.size() >= kLengthBytes) {
    size_t length = ReadLength(rest);
    if (length > kMaxEventBytes) {
      return absl::InternalError(absl::StrCat("the worker announced an event of ", length, " bytes; at most ",
                                              kMaxEventBytes, " are allowed"));
    }
    if (rest.size() - kLengthBytes < length) break;
    WorkerEvent event;
    if (!event.ParseFromArray(rest.data() + kLengthBytes, static_cast<int>(length))) {
      return absl::InternalError("the worker sent an event that can't be parsed");
    }
    rest.remove_prefix(kLengthBytes + length);
    handle(std::move(event));
  }
  pending_.erase(0, pending_.size() - rest.size());
  return absl::OkStatus();
}

}  // namespace aot::server
