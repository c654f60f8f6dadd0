// Messages on a pipe: each a 4-byte little-endian length and so many bytes of Protobuf.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/worker/worker.pb.h"

namespace aot::server {

// The longest event: a failure may list every node of a large model.
inline constexpr size_t kMaxEventBytes = size_t{64} << 20;

// The bytes of one event, length first. RESOURCE_EXHAUSTED: longer than kMaxEventBytes.
absl::Status AppendEvent(const WorkerEvent& event, std::string& out);

// Puts events together from pieces as they arrive. Not thread-safe.
class EventReader {
 public:
  // Calls `handle` for each event that is complete now. INTERNAL: what came can't be the other end's protocol; nothing
  // may be fed afterwards.
  absl::Status Feed(absl::string_view piece, const std::function<void(WorkerEvent)>& handle);

 private:
  std::string pending_;
};

}  // namespace aot::server
