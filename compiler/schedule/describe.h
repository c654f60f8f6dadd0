// A program in words and numbers: what was chosen for each step, why, what the step has to do and how long the cost
// model says it takes.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/schedule/program.h"
#include "compiler/schedule_report.h"

namespace aot::schedule {

// One entry a step. `outputs` are the names of the model's outputs, for the steps that make them. INTERNAL: a kernel's
// specification can't be read back.
absl::StatusOr<std::vector<compiler::ScheduledStep>> DescribeSteps(const Program& program,
                                                                   const target::Description& target,
                                                                   const std::vector<std::string>& outputs);

}  // namespace aot::schedule
