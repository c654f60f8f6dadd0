#include "compiler/schedule/winograd.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace aot::schedule {
namespace {

// Every finite point in the order of the matrices' rows.
std::vector<double> AllPoints(int results) {
  std::vector<double> points = {0};
  for (double point : WinogradPoints(results)) points.insert(points.end(), {point, -point});
  return points;
}

// The coefficients of the product of (x - p) over the points but the one left out, lowest first.
std::vector<double> ProductOfRoots(const std::vector<double>& points, size_t left_out) {
  std::vector<double> coefficients = {1};
  for (size_t i = 0; i < points.size(); ++i) {
    if (i == left_out) continue;
    coefficients.push_back(0);
    for (size_t k = coefficients.size() - 1; k > 0; --k)
      coefficients[k] = coefficients[k - 1] - points[i] * coefficients[k];
    coefficients[0] *= -points[i];
  }
  return coefficients;
}

// Bytes a cycle that come from memory beyond the second-level cache, on one core of the machines measured.
constexpr double kStreamedBytes = 8;

int64_t ConstantBytes(mlir::Operation* function) {
  int64_t bytes = 0;
  function->walk([&](nn::ConstantOp constant) {
    auto type = nn::TensorTypeOf(constant.getResult());
    mlir::Type element = type.getElementType();
    if (element.isIntOrFloat())  // no complex one
      bytes += type.getNumElements() * std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  });
  return bytes;
}

// Whether an operand of a group's operation is a constant (through free reshapes) that nothing else in the group uses.
bool IsOwnConstant(mlir::Value operand) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(operand);
  if (!argument || !argument.hasOneUse()) return false;
  mlir::Value value = argument.getOwner()->getParentOp()->getOperand(argument.getArgNumber());
  while (auto reshape = value.getDefiningOp<nn::ReshapeOp>()) value = reshape.getInput();
  return value.getDefiningOp<nn::ConstantOp>() != nullptr;
}

}  // namespace

std::vector<double> WinogradPoints(int results) {
  return results == 4 ? std::vector<double>{0.75, 1.5} : std::vector<double>{1};
}

std::vector<std::vector<double>> WinogradInputMatrix(int results) {
  std::vector<double> points = AllPoints(results);
  std::vector<std::vector<double>> matrix;
  for (size_t i = 0; i <= points.size(); ++i) {  // the last row, with no root left out, is infinity's
    matrix.push_back(ProductOfRoots(points, i));
    matrix.back().resize(points.size() + 1, 0);
  }
  return matrix;
}

std::vector<std::vector<double>> WinogradFilterMatrix(int results) {
  std::vector<double> points = AllPoints(results);
  std::vector<std::vector<double>> matrix;
  for (size_t i = 0; i < points.size(); ++i) {
    double norm = 1;
    for (size_t k = 0; k < points.size(); ++k)
      if (k != i) norm *= points[i] - points[k];
    matrix.push_back({1 / norm, points[i] / norm, points[i] * points[i] / norm});
  }
  matrix.push_back({0, 0, 1});
  return matrix;
}

void TransformFilter(const std::vector<std::vector<double>>& g, const double (&filter)[9], double* transformed) {
  for (const std::vector<double>& row : g) {
    double partial[3];
    for (size_t x = 0; x < 3; ++x) partial[x] = row[0] * filter[x] + row[1] * filter[3 + x] + row[2] * filter[6 + x];
    for (const std::vector<double>& column : g)
      *transformed++ = partial[0] * column[0] + partial[1] * column[1] + partial[2] * column[2];
  }
}

std::optional<ConvolutionEstimate> EstimateConvolution(nn::ConvOp conv, const target::Description& target) {
  auto input = nn::TensorTypeOf(conv.getInput()), result = nn::TensorTypeOf(conv.getResult());
  auto filter = nn::TensorTypeOf(conv.getFilter());
  if (input.getRank() != 4) return std::nullopt;
  bool fits = conv.getChannelsLast() && conv.getGroup() == 1 && filter.getDimSize(0) == 3 &&
              filter.getDimSize(1) == 3 && llvm::all_of(conv.getStrides(), [](int64_t s) { return s == 1; }) &&
              llvm::all_of(conv.getDilations(), [](int64_t d) { return d == 1; }) &&
              llvm::all_of(conv.getPads(), [](int64_t p) { return p >= 0 && p <= 2; });
  for (mlir::RankedTensorType type : {input, result}) fits = fits && type.getElementType().isF32();
  mlir::Type weight = filter.getElementType();
  fits = fits && (weight.isF32() || weight.isF16() || weight.isBF16());
  int64_t channels = input.getDimSize(3), features = result.getDimSize(3);
  double lanes = target.lanes(32);
  if (!fits || channels < 8 || features < 8 || result.getNumElements() == 0) return std::nullopt;

  int64_t rows = result.getDimSize(1), columns = result.getDimSize(2);
  double steps = std::ceil(features / lanes);  // vectors of features
  // What doesn't stay in the cache beside its input is read once for each image.
  auto streaming = [&](double bytes) { return bytes > target.l2_bytes / 2 ? bytes / kStreamedBytes : 0; };
  // Transformed weights are 32-bit floats, whatever they were.
  double bytes = 4.0 * channels * features, own_bytes = bytes * weight.getIntOrFloatBitWidth() / 32;
  ConvolutionEstimate estimate;
  estimate.direct = result.getDimSize(0) * (9.0 * rows * columns * channels * steps + streaming(9 * own_bytes));
  estimate.winograd = estimate.direct;
  for (int results : {2, 4}) {
    int size = results + 2;
    double tiles = std::ceil(rows / static_cast<double>(results)) * std::ceil(columns / static_cast<double>(results));
    // Loads, sums and stores of the transforms for each vector of a tile.
    double input_steps = results == 4 ? 300 : 90, output_steps = results == 4 ? 260 : 80;
    double products = 1.1 * size * size * tiles * channels * steps;
    double transforms = tiles * (std::ceil(channels / lanes) * input_steps + steps * output_steps);
    double cycles = result.getDimSize(0) * (products + transforms + streaming(size * size * bytes));
    if (cycles >= estimate.winograd) continue;
    estimate.winograd = cycles;
    estimate.results = results;
    estimate.added_bytes = static_cast<int64_t>(size * size * bytes - 9 * own_bytes);
  }
  return estimate;
}

void ChooseWinograd(mlir::Operation* function, const target::Description& target, WeightGrowth growth) {
  if (growth == WeightGrowth::kNone) return;
  llvm::SmallVector<std::pair<nn::ConvOp, ConvolutionEstimate>> candidates;
  function->walk([&](nn::ConvOp conv) {
    if (!llvm::isa<nn::GroupOp>(conv->getParentOp()) || !llvm::isa<mlir::BlockArgument>(conv.getInput())) return;
    if (!IsOwnConstant(conv.getFilter())) return;
    auto estimate = EstimateConvolution(conv, target);
    if (estimate && estimate->saves()) candidates.push_back({conv, *estimate});
  });
  // Equal layers are taken in program order.
  auto value = [&](size_t i) {
    const ConvolutionEstimate& e = candidates[i].second;
    return (e.direct - e.winograd) / static_cast<double>(e.added_bytes);
  };
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return value(a) != value(b) ? value(a) > value(b) : a < b; });
  int64_t budget = growth == WeightGrowth::kFree ? INT64_MAX : ConstantBytes(function) / 4;
  for (size_t i : order) {
    auto& [conv, estimate] = candidates[i];
    if (estimate.added_bytes > budget) continue;
    budget -= estimate.added_bytes;
    conv->setAttr(kWinograd, mlir::IntegerAttr::get(mlir::IntegerType::get(conv.getContext(), 64), estimate.results));
  }
}

}  // namespace aot::schedule
