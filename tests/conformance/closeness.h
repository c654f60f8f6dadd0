// The tolerance of ONNX's own test runner.
#pragma once

#include <string>

#include "compiler/reference/tensor.h"

namespace aot::tests {

constexpr double kRelativeTolerance = 1e-3, kAbsoluteTolerance = 1e-7;

// Empty if `computed` is what `reference` says, else the first difference in words. Element type and shape first;
// floats element by element within the tolerances (NaN equals NaN, an infinity itself); everything else exactly.
std::string Difference(const reference::Tensor& computed, const reference::Tensor& reference);

}  // namespace aot::tests
