// What aotctl's exit status tells a script.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace aot::clients {

enum class ExitCode : int {
  kOk = 0,
  kFailure = 1,
  kUsage = 2,
  kUnsupported = 3,
  kNotFound = 4,
  kUnavailable = 5,
  kVerificationFailed = 6,
  kBadInput = 7,
  kLimit = 8,
  kDenied = 9,
};

struct ExitCodeDescription {
  ExitCode code;
  absl::string_view name;     // as --json shows it
  absl::string_view meaning;  // one sentence
};

// In order of number; `aotctl help exit-codes` and docs/cli.md show it.
absl::Span<const ExitCodeDescription> ExitCodes();

// The exit status for an error. A status that carries an exit code of its own (see WithExitCode) gives that.
ExitCode ToExitCode(const absl::Status& status);

// The same error with a given exit status, where the code alone doesn't tell: a verification that failed, a mistake on
// the command line.
absl::Status WithExitCode(absl::Status status, ExitCode code);

// A mistake on the command line that only a verb can see.
absl::Status UsageError(absl::string_view message);

}  // namespace aot::clients
