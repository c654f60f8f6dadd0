// Random ONNX models of 8 to 20 nodes: every family of operators, attributes and shapes at their edges, values with
// several users, outputs in the middle, constant and run-time operands.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "compiler/reference/tensor.h"

namespace aot::numeric {

struct RandomModel {
  compiler::Model model;
  std::vector<reference::Tensor> inputs;
  std::string text;  // a line for each node, for messages
  std::map<std::string, int> operators;
};

// The same seed gives the same model. Operators that turn small differences into large ones (rounding, comparing,
// sorting) take values that are exact only, so that results may be compared.
RandomModel MakeRandomModel(uint32_t seed);

}  // namespace aot::numeric
