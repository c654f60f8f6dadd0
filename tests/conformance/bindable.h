// Which inputs of a model may become constants before it is compiled.
//
// Operands that decide shapes can't stay inputs of an artifact with static shapes; ONNX's suite gives many of them as
// graph inputs. Everything else is data and must go through the compiled code.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "third_party/onnx/onnx.pb.h"

namespace aot::tests {

struct BindableOperand {
  absl::string_view op;  // of ai.onnx
  int operand;           // position among the node's inputs
  absl::string_view decides;
};

// The whole list, by operator.
absl::Span<const BindableOperand> BindableOperands();

// Positions in graph.input() of the inputs that are read, and only as bindable operands of nodes of the main graph. The
// suite also has each function operator written out ("expanded"), its inputs being the operator's: they bind alike.
std::vector<int> FindBindableInputs(const aot::onnx::GraphProto& graph);

}  // namespace aot::tests
