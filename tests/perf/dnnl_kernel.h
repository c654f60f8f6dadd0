// Single operations in oneDNN, in its best layouts: packed weights, blocked or channels-last data, nothing converted
// while it is timed. Bias and ReLU are fused as in ours.
#pragma once

#include <cstdint>
#include <memory>

namespace aot::perf {

// Used by one thread.
class DnnlKernel {
 public:
  virtual ~DnnlKernel() = default;
  virtual void Run() = 0;
};

// A convolution [1, channels, size, size] -> [1, features, ...] with square filters.
struct ConvShape {
  int64_t size = 0, channels = 0, features = 0, kernel = 1, stride = 1, group = 1;
  int64_t pad() const { return kernel / 2; }
  int64_t result_size() const { return (size + 2 * pad() - kernel) / stride + 1; }
  // Multiply-adds of the definition.
  double products() const {
    return static_cast<double>(result_size() * result_size() * features * kernel * kernel * channels / group);
  }
};

enum class Precision {
  kFloat,  // 32-bit floats
  kBytes,  // unsigned by signed 8-bit integers
};

// any_algorithm: oneDNN may take Winograd's; otherwise direct. Throws dnnl::error.
std::unique_ptr<DnnlKernel> DnnlConvolution(const ConvShape& shape, Precision precision, bool any_algorithm);
// rows x depth by depth x cols.
std::unique_ptr<DnnlKernel> DnnlMatMul(int64_t rows, int64_t depth, int64_t cols, Precision precision);
std::unique_ptr<DnnlKernel> DnnlLayerNorm(int64_t rows, int64_t size);
std::unique_ptr<DnnlKernel> DnnlSoftmax(int64_t rows, int64_t size);
std::unique_ptr<DnnlKernel> DnnlGelu(int64_t rows, int64_t size);  // the form with erf

}  // namespace aot::perf
