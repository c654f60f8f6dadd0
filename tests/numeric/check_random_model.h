// One random model held against compiler/reference at both ends of the optimisation levels.
#pragma once

#include <cstdint>
#include <string>

#include "tests/numeric/random_model.h"

namespace aot::numeric {

// "" or what is wrong: a level that refuses what the importer took, an output that differs from the reference (floats
// by more than 1e-4 of the largest element or of 1), or integers that differ between the levels. Ends the process where
// generated code reads or writes beside its buffers (compiler/testing/compiled_model.h).
std::string CheckRandomModel(const RandomModel& model, const std::string& target);

}  // namespace aot::numeric
