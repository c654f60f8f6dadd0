// Operators whose results no reference can state.
#pragma once

#include <string>

#include "third_party/onnx/onnx.pb.h"

namespace aot::tests {

// The first node whose values are drawn at random (RandomNormal and its relatives, Bernoulli, Multinomial, Dropout in
// training), or empty. Main graph and subgraphs.
std::string ValuelessOperator(const aot::onnx::GraphProto& graph);

}  // namespace aot::tests
