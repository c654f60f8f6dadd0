#include "compiler/self_test.h"

#include <cmath>

#include "compiler/ir/NnDialect.h"
#include "compiler/ir/reference_bridge.h"
#include "runtime/format/self_test_input.h"

namespace aot::compiler {
namespace {

// The reference does about 0.5 to 1 multiply-add a nanosecond.
constexpr double kMaxMultiplyAdds = 3e9;
// Of the inputs, and of any one value: what a compile may take on the side.
constexpr int64_t kMaxBytes = int64_t{1} << 30;
constexpr int64_t kMaxSamples = 1024;  // of all outputs together: 24 KB of manifest
constexpr uint64_t kSeed = 0x616f745f74657374;

double MultiplyAdds(mlir::func::FuncOp function) {
  double sum = 0;
  function.walk([&](mlir::Operation* op) {
    if (op->getNumResults() == 0) return;
    auto result = llvm::dyn_cast<mlir::RankedTensorType>(op->getResult(0).getType());
    if (!result) return;
    auto count = static_cast<double>(result.getNumElements());
    if (auto conv = llvm::dyn_cast<nn::ConvOp>(op)) {
      auto filter = nn::TensorTypeOf(conv.getFilter());
      count *= static_cast<double>(filter.getNumElements()) /
               static_cast<double>(std::max<int64_t>(1, filter.getDimSize(0)));
    } else if (auto conv = llvm::dyn_cast<nn::ConvTransposeOp>(op)) {
      auto filter = nn::TensorTypeOf(conv.getFilter());
      count = static_cast<double>(nn::TensorTypeOf(conv.getInput()).getNumElements()) *
              static_cast<double>(filter.getNumElements()) /
              static_cast<double>(std::max<int64_t>(1, filter.getDimSize(0)));
    } else if (auto matmul = llvm::dyn_cast<nn::MatMulOp>(op)) {
      auto lhs = nn::TensorTypeOf(matmul.getLhs());
      count *= static_cast<double>(lhs.getDimSize(matmul.getTransA() ? lhs.getRank() - 2 : lhs.getRank() - 1));
    }
    sum += count;
  });
  return sum;
}

int64_t Bytes(mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor) return 0;
  // Sizes in bytes were checked at import; sub-byte elements count as one.
  unsigned bits = tensor.getElementType().isIntOrFloat() ? tensor.getElementTypeBitWidth() : 128;
  return tensor.getNumElements() * std::max<int64_t>(1, bits / 8);
}

bool FitsMemory(mlir::func::FuncOp function) {
  int64_t inputs = 0, largest = 0;
  for (mlir::Type type : function.getArgumentTypes()) inputs += std::min(Bytes(type), kMaxBytes);
  function.walk([&](mlir::Operation* op) {
    if (llvm::isa<nn::ConstantOp>(op)) return;  // points into the model
    for (mlir::Type type : op->getResultTypes()) largest = std::max(largest, Bytes(type));
  });
  return inputs < kMaxBytes && largest < kMaxBytes;
}

emit::SelfTestInput InputOf(reference::ElementType element) {
  emit::SelfTestInput input;
  if (reference::IsFloat(element)) {
    // Multiples of 1/128 in [-1, 1]: exact in every float type of 16 bits and more.
    input.fraction_bits = 7;
    input.low = -128;
    input.high = 128;
  } else {
    // Small numbers are valid as indices and tokens too.
    input.low = 0;
    input.high = 1;
  }
  return input;
}

}  // namespace

absl::StatusOr<std::optional<emit::SelfTest>> MakeSelfTest(mlir::func::FuncOp function) {
  if (!FitsMemory(function) || MultiplyAdds(function) > kMaxMultiplyAdds) return std::nullopt;
  emit::SelfTest test;
  test.seed = kSeed;
  std::vector<reference::Tensor> inputs;
  for (auto [i, argument] : llvm::enumerate(function.getArgumentTypes())) {
    auto type = nn::ToTensorType(argument);
    if (!type.ok()) return type.status();
    test.inputs.push_back(InputOf(type->element));
    const emit::SelfTestInput& rule = test.inputs.back();
    reference::Tensor tensor(*type);
    if (!aot_self_test_fill(static_cast<uint32_t>(type->element), kSeed, static_cast<uint32_t>(i), rule.fraction_bits,
                            rule.low, rule.high, static_cast<uint64_t>(tensor.size()), tensor.mutable_bytes().data()))
      return std::nullopt;
    inputs.push_back(std::move(tensor));
  }
  auto outputs = nn::Interpret(function, inputs);
  if (!outputs.ok()) return outputs.status();
  int64_t share = kMaxSamples / std::max<int64_t>(1, static_cast<int64_t>(outputs->size()));
  for (const reference::Tensor& output : *outputs) {
    emit::SelfTestOutput expected;
    bool is_float = reference::IsFloat(output.element());
    double largest = 0;
    if (is_float)
      for (int64_t i = 0; i < output.size(); ++i)
        if (std::isfinite(output.GetFloat(i))) largest = std::max(largest, std::fabs(output.GetFloat(i)));
    if (is_float) {
      expected.tolerance = AOT_TOLERANCE_FLOAT;
      expected.relative = 1e-3;
      expected.absolute = 1e-3 * largest + 1e-7;
    }
    int64_t samples = std::min<int64_t>({output.size(), share, 256});
    for (int64_t s = 0; s < samples; ++s) {
      emit::SelfTestSample sample;
      sample.index = static_cast<uint64_t>(s * output.size() / samples);
      if (is_float) {
        sample.float_value = output.GetFloat(static_cast<int64_t>(sample.index));
        if (!std::isfinite(sample.float_value)) continue;
      } else {
        sample.int_value = output.GetInt(static_cast<int64_t>(sample.index));
      }
      expected.samples.push_back(sample);
    }
    test.outputs.push_back(std::move(expected));
  }
  return test;
}

}  // namespace aot::compiler
