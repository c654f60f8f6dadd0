// What the compiler decides for a model, step by step, without compiling it; and such a schedule beside what a
// benchmark measures.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "clients/aotctl/compile_flags.h"

namespace aot::clients {

// aotctl inspect --schedule: reports the schedule for one target. `clock` is in GHz: what the cost model's cycles are
// turned into seconds with. Usage error: several targets. Errors of compiler::ReportSchedule.
absl::Status ShowSchedule(const CompileFlags& flags, double clock, Context& context);

// A step of a schedule that was written with --json.
struct PredictedStep {
  double seconds = 0;
  std::string operation, algorithm;
};

// INVALID_ARGUMENT: the file isn't what aotctl inspect --schedule --json writes, or is about another artifact than the
// one with this key (hexadecimal).
absl::StatusOr<std::vector<PredictedStep>> ReadSchedule(const std::string& path, const std::string& artifact_key);

}  // namespace aot::clients
