// Winograd's minimal filtering for 3x3 convolutions with stride 1: tiles of m x m results from t x t inputs, t = m + 2,
// with one product for each of the t * t transformed positions.
//
// Y = A^T [ (G g G^T) * (B^T d B) ] A after Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2016);
// the matrices are those of Toom and Cook for the points 0, +-p..., infinity.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/NnDialect.h"
#include "compiler/target/target.h"

namespace aot::schedule {

// The attribute of an nn.conv that says how many results a tile has along a side: 2 or 4. Set by ChooseWinograd.
inline constexpr char kWinograd[] = "aot.winograd";

// The finite points that are not 0, one of each pair of opposite ones. For 4 results 3/4 and 3/2, which are exact in
// binary and keep the error three to four times below the usual 1 and 2; for 2 results 1.
std::vector<double> WinogradPoints(int results);

// B^T, t x t. Rows: the point 0, then p and -p for each pair, then infinity.
std::vector<std::vector<double>> WinogradInputMatrix(int results);
// G, t x 3, rows in the same order.
std::vector<std::vector<double>> WinogradFilterMatrix(int results);

// G g G^T of one 3x3 filter in row-major order into t * t numbers.
void TransformFilter(const std::vector<std::vector<double>>& filter_matrix, const double (&filter)[9],
                     double* transformed);

// The time that a convolution takes by the target's cost model, in cycles of one multiply-add of a native vector.
struct ConvolutionEstimate {
  double direct = 0, winograd = 0;  // of the better tile
  int results = 0;                  // of that tile; 0: none is better than direct
  int64_t added_bytes = 0;          // to the weights
  // A tenth less is the least that is worth other rounding.
  bool saves() const { return results > 0 && winograd <= 0.9 * direct; }
};

// Null: the convolution isn't one that minimal filtering can compute.
std::optional<ConvolutionEstimate> EstimateConvolution(nn::ConvOp conv, const target::Description& target);

// How much of the weights' bytes the packed ones may add to.
enum class WeightGrowth {
  kNone,     // no weight becomes larger
  kBounded,  // all together by a quarter
  kFree,     // whatever saves time
};

// Marks the convolutions of a function of groups for which it saves time by the target's cost model; where growth is
// bounded, those first that save most for each byte.
void ChooseWinograd(mlir::Operation* function, const target::Description& target, WeightGrowth growth);

}  // namespace aot::schedule
