// Models of one node each, for operators that ONNX Runtime defines: its implementation is their specification.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "compiler/import/onnx/model_builder.h"

namespace aot::tests {

struct OperatorCase {
  std::string name, domain, op;
  // Absent optional inputs are tensors without a type.
  std::vector<reference::Tensor> inputs;
  std::vector<aot::onnx::AttributeProto> attributes;
  int outputs = 1;  // the last may be optional
  // Inputs that decide shapes become initialisers.
  std::vector<size_t> constants;
  double tolerance = 1e-5;  // of values, relative to the largest of the output; of integers, steps
};

// The same cases for the same seed.
std::vector<OperatorCase> OperatorCases(uint32_t seed);

}  // namespace aot::tests
