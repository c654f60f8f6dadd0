// What the schedule of a model is, for people and for benchmarks: each step's algorithm, tile and packing, why they
// were chosen, what the step has to compute and move, and how long the cost model says that it takes. Made from the
// model without generating code; nothing of it is in artifacts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/pipeline.h"

namespace aot::compiler {

struct ScheduledStep {
  std::string value;  // what it makes: the name that the arena plan has, or the output's
  std::string
      operation;      // "conv 3x3 + add, relu": the operation that the step is built around, then what is fused to it
  std::string shape;  // "1x56x56x64 * 3x3x64x64 -> 1x56x56x64"
  std::string algorithm;     // "direct", "minimal filtering F(4x4)", "depthwise", "dot product"...
  std::string tile;          // "14 rows x 2 vectors of 16"; empty where there is none
  std::string packing;       // how the constant operand is stored, and the pitch of the other one; or empty
  std::string reason;        // why, in one sentence
  bool conditional = false;  // a run may skip it

  // Work. Products are those that the algorithm does, not those of the definition.
  double multiply_adds = 0;  // on floats, and on integers without a dot product instruction
  double byte_products = 0;  // of 8-bit integers by the dot product instruction
  double operations = 0;     // of everything else: additions of transforms, elementwise functions, comparisons
  // Bytes that must be moved at least: packed weights once, each operand and result once.
  int64_t weight_bytes = 0, activation_bytes = 0;

  // What the cost model expects, in cycles of one multiply-add of a native vector.
  double cycles = 0;
};

struct ScheduleReport {
  std::string artifact;  // the key that Compile gives
  std::string target;
  std::vector<ScheduledStep> steps;  // numbered as a traced run numbers them
  // Of the arena: with reuse, the largest sum of what lives at one step, without reuse.
  int64_t arena_bytes = 0, arena_lower_bound = 0, arena_without_reuse = 0;
  // With reuse, but with every operation a step of its own.
  int64_t arena_unfused = 0;
  int64_t weights_bytes = 0;  // packed
};

// Imports, optimises and schedules: the same errors as Compile would give up to there.
absl::StatusOr<ScheduleReport> ReportSchedule(const Model& model, const Options& options);

}  // namespace aot::compiler
