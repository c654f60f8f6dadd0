#include "clients/aotctl/exit_codes.h"

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace aot::clients {
namespace {

constexpr absl::string_view kPayload = "aot.clients/exit_code";

constexpr ExitCodeDescription kExitCodes[] = {
    {ExitCode::kOk, "ok", "The command did what it was asked."},
    {ExitCode::kFailure, "failure", "It failed for a reason that no other code names; the message tells."},
    {ExitCode::kUsage, "usage", "The command line is wrong."},
    {ExitCode::kUnsupported, "unsupported",
     "The model is valid, but uses something that isn't supported; the message lists it by node."},
    {ExitCode::kNotFound, "not_found", "A file, model, artifact, target or release doesn't exist."},
    {ExitCode::kUnavailable, "unavailable", "The server can't be reached, or is shutting down."},
    {ExitCode::kVerificationFailed, "verification_failed",
     "Results differ from the reference, or content from its digest."},
    {ExitCode::kBadInput, "bad_input",
     "A model, option value, tensor or artifact is invalid, or a dimension isn't bound."},
    {ExitCode::kLimit, "limit", "A limit on size, memory, time or queue length was hit."},
    {ExitCode::kDenied, "denied", "A file or the server doesn't permit it."},
};

}  // namespace

absl::Span<const ExitCodeDescription> ExitCodes() { return kExitCodes; }

ExitCode ToExitCode(const absl::Status& status) {
  if (absl::optional<absl::Cord> payload = status.GetPayload(kPayload); payload.has_value()) {
    int code = 0;
    if (absl::SimpleAtoi(std::string(*payload), &code)) return static_cast<ExitCode>(code);
  }
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kOk;
    case absl::StatusCode::kUnimplemented:
      return ExitCode::kUnsupported;
    case absl::StatusCode::kNotFound:
      return ExitCode::kNotFound;
    case absl::StatusCode::kUnavailable:
      return ExitCode::kUnavailable;
    case absl::StatusCode::kDataLoss:
      return ExitCode::kVerificationFailed;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return ExitCode::kBadInput;
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kLimit;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return ExitCode::kDenied;
    default:
      return ExitCode::kFailure;
  }
}

absl::Status WithExitCode(absl::Status status, ExitCode code) {
  // From a string_view: absl's constructor from a temporary string is mangled otherwise by clang than by the compiler
  // of Debian's library.
  const std::string number = absl::StrCat(static_cast<int>(code));
  status.SetPayload(kPayload, absl::Cord(absl::string_view(number)));
  return status;
}

absl::Status UsageError(absl::string_view message) {
  return WithExitCode(absl::InvalidArgumentError(message), ExitCode::kUsage);
}

}  // namespace aot::clients
