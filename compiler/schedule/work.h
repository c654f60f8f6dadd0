// What one group has to compute and move, and the cycles that the cost model gives it.
#pragma once

#include "compiler/schedule/kernel_plan.h"

namespace aot::schedule {

struct Work {
  // As in compiler::ScheduledStep.
  double multiply_adds = 0, byte_products = 0, operations = 0;
  // Cycles of one multiply-add of a native vector.
  double cycles = 0;
};

// `weight_bytes` are the packed constants that the group reads, `activation_bytes` its other operands and its results.
Work WorkOf(nn::GroupOp group, const KernelPlan& plan, const target::Description& target, double weight_bytes,
            double activation_bytes);

}  // namespace aot::schedule
