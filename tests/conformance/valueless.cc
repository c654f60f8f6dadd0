#include "tests/conformance/valueless.h"

#include <algorithm>

namespace aot::tests {
namespace {

constexpr const char* kRandom[] = {"Bernoulli",        "Multinomial",   "RandomNormal",
                                   "RandomNormalLike", "RandomUniform", "RandomUniformLike"};
constexpr int kTrainingMode = 2;  // an input of Dropout since opset 12

bool IsRandom(const aot::onnx::NodeProto& node) {
  if (node.op_type() == "Dropout") {
    return node.input_size() > kTrainingMode && !node.input(kTrainingMode).empty();
  }
  return std::find(std::begin(kRandom), std::end(kRandom), node.op_type()) != std::end(kRandom);
}

}  // namespace

std::string ValuelessOperator(const aot::onnx::GraphProto& graph) {
  for (const aot::onnx::NodeProto& node : graph.node()) {
    if (IsRandom(node)) return node.op_type();
    for (const aot::onnx::AttributeProto& attribute : node.attribute()) {
      if (std::string found = ValuelessOperator(attribute.g()); !found.empty()) return found;
    }
  }
  return "";
}

}  // namespace aot::tests
