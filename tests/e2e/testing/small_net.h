// A small convolutional network: as an ONNX model, and what it computes, written down a second time as plain loops that
// share nothing with the compiler.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aot::e2e {

// x (Nx3x8x8) -> convolution 3x3 with padding to 8 channels -> Relu -> global average -> Gemm to 4 classes -> y (Nx4),
// all float32. N is symbolic: `--dim N=1` binds it. One seed is one set of weights.
class SmallNet {
 public:
  static constexpr int64_t kInputs = 3 * 8 * 8, kOutputs = 4;

  explicit SmallNet(uint32_t seed);

  // The bytes of a model file, opset 17. `activation` is the operator in place of Relu, in the node "activation".
  std::string Onnx(const std::string& activation = "Relu") const;
  // y for a batch of one; x has kInputs elements.
  std::vector<float> Evaluate(const std::vector<float>& x) const;

 private:
  std::vector<float> kernel_, kernel_bias_, dense_, dense_bias_;
};

// An input for the network: kInputs elements in [-1, 1).
std::vector<float> SmallNetInput(uint32_t seed);

}  // namespace aot::e2e
