// The comparison's side of a peer (peer.h): starts its program and talks to it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace aot::perf {

// Used by one thread. One command at a time.
class PeerProcess {
 public:
  // Starts arguments[0], a path. Its stderr goes to /dev/null: libraries talk.
  static absl::StatusOr<std::unique_ptr<PeerProcess>> Start(const std::vector<std::string>& arguments);
  // Ends the process.
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  // Sends a line and reads the answer. INTERNAL: the peer's own error, or how it ended. DEADLINE_EXCEEDED after ten
  // minutes.
  absl::StatusOr<nlohmann::json> Ask(const std::string& command);

 private:
  PeerProcess() = default;

  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::string pending_;  // read, but behind the last answer
};

}  // namespace aot::perf
