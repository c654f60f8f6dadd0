#include "server/worker/local_executor.h"

#include <signal.h>
#include <string.h>

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "server/worker/event_stream.h"
#include "server/worker/subprocess.h"

namespace aot::server {
namespace {

std::string LastWords(const SubprocessResult& result) {
  absl::string_view tail = absl::StripSuffix(result.error_tail, "\n");
  return tail.empty() ? std::string() : absl::StrCat("; it last said: ", tail);
}

// LLVM and the C++ library each have their own words for it.
bool SaysOutOfMemory(absl::string_view words) {
  return absl::StrContains(words, "out of memory") || absl::StrContains(words, "bad_alloc") ||
         absl::StrContains(words, "Allocation failed") || absl::StrContains(words, "Cannot allocate memory");
}

// What became of a worker that gave no last event, in the order of what can be known for sure.
absl::Status ExplainEnd(const SubprocessResult& result, const LocalExecutorOptions& options) {
  absl::Status memory = absl::ResourceExhaustedError(
      absl::StrCat("the compile needs more than the ", options.limits.memory_bytes >> 20,
                   " MiB of address space that a worker may have (--worker-memory of the server)"));
  switch (result.end) {
    case SubprocessResult::End::kCancelled:
      return absl::CancelledError("the compile was stopped because nobody waits for it");
    case SubprocessResult::End::kTimedOut:
      return absl::DeadlineExceededError(absl::StrCat("the compile took longer than ",
                                                      absl::FormatDuration(options.timeout),
                                                      " (--compile-timeout of the server)"));
    case SubprocessResult::End::kSignalled:
      if (result.code == SIGXCPU) {
        return absl::DeadlineExceededError(absl::StrCat("the compile used more than ", options.limits.cpu_seconds,
                                                        " seconds of processor time (--worker-cpu of the server)"));
      }
      if (result.code == SIGXFSZ) {
        return absl::ResourceExhaustedError(
            absl::StrCat("the compile wrote a file of more than ", options.limits.file_bytes, " bytes"));
      }
      if (SaysOutOfMemory(result.error_tail)) return memory;
      return absl::InternalError(absl::StrCat("the compiler crashed: signal ", result.code, " (",
                                              strsignal(result.code), "). Other jobs are not touched",
                                              LastWords(result)));
    case SubprocessResult::End::kExited:
      if (result.code == kWorkerOutOfMemory || (result.code != 0 && SaysOutOfMemory(result.error_tail))) return memory;
      return absl::InternalError(
          absl::StrCat("the worker ended with exit code ", result.code, " and no result", LastWords(result)));
  }
  return absl::InternalError("the worker ended in an unknown way");
}

}  // namespace

LocalExecutor::LocalExecutor(LocalExecutorOptions options)
    : options_(std::move(options)),
      sandbox_(options_.isolation, options_.limits, options_.worker_path, options_.private_directory) {}

absl::StatusOr<WorkerEvent> LocalExecutor::Run(const WorkerRequest& request, const CancelSignal& cancel,
                                               const ProgressSink& progress) {
  SubprocessRequest process;
  process.argv = {options_.worker_path};
  // Nothing of the server's environment reaches a compile, so nothing of it can reach an artifact.
  process.environment = {"LC_ALL=C", absl::StrCat("TMPDIR=", request.output_directory()),
                         absl::StrCat("HOME=", request.output_directory())};
  process.working_directory = request.output_directory();
  process.standard_input = request.SerializeAsString();
  process.timeout = options_.timeout;

  std::optional<WorkerEvent> last;
  EventReader reader;
  counters_.started.fetch_add(1);
  absl::StatusOr<SubprocessResult> result =
      RunSubprocess(process, sandbox_, cancel, [&](absl::string_view piece) -> absl::Status {
        return reader.Feed(piece, [&](WorkerEvent event) {
          if (event.has_progress()) {
            progress(event.progress());
          } else {
            last = std::move(event);
          }
        });
      });
  if (!result.ok()) {
    counters_.lost.fetch_add(1);
    return result.status();
  }
  // A worker that got as far as its last event and an orderly end has done its job, even if it was cancelled meanwhile.
  bool orderly = result->end == SubprocessResult::End::kExited && result->code == 0;
  if (orderly && last.has_value()) {
    if (last->has_failure()) {
      return absl::Status(static_cast<absl::StatusCode>(last->failure().code()), last->failure().message());
    }
    return *std::move(last);
  }
  (result->end == SubprocessResult::End::kCancelled ? counters_.cancelled : counters_.lost).fetch_add(1);
  return ExplainEnd(*result, options_);
}

}  // namespace aot::server
