// A worker process: started in its sandbox, fed, listened to, and always reaped.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/worker/cancel_signal.h"
#include "server/worker/sandbox.h"

namespace aot::server {

struct SubprocessRequest {
  std::vector<std::string> argv;         // argv[0] is the path of the program
  std::vector<std::string> environment;  // "NAME=value"; nothing is inherited
  std::string working_directory;
  std::string standard_input;
  absl::Duration timeout = absl::InfiniteDuration();  // wall clock
};

// How a process ended.
struct SubprocessResult {
  enum class End { kExited, kSignalled, kTimedOut, kCancelled };
  End end = End::kExited;
  int code = 0;            // exit code or signal number
  std::string error_tail;  // the last 4 KiB of its standard error
};

// Runs a program to its end; `output` gets its standard output piece by piece, on this thread. If output returns an
// error, the process is killed and the error is returned. Whatever happens, no process of its group is left when this
// returns. The calling thread must live until the return: the kernel kills the process when the thread that started it
// ends. INTERNAL: it could not be started; the message names the step.
absl::StatusOr<SubprocessResult> RunSubprocess(const SubprocessRequest& request, const SandboxPlan& sandbox,
                                               const CancelSignal& cancel,
                                               const std::function<absl::Status(absl::string_view)>& output);

}  // namespace aot::server
