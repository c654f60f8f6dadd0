#include "compiler/codegen/resize_taps.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace aot::codegen {
namespace {

// Where output coordinate x lies in the input.
double SourceCoordinate(llvm::StringRef rule, double x, double scale, double in, double out, double roi_start,
                        double roi_end) {
  if (rule == "asymmetric") return x / scale;
  if (rule == "align_corners") return out == 1 ? 0 : x * (in - 1) / (out - 1);
  if (rule == "pytorch_half_pixel") return out > 1 ? (x + 0.5) / scale - 0.5 : 0;
  if (rule == "tf_crop_and_resize")
    return out > 1 ? roi_start * (in - 1) + x * (roi_end - roi_start) * (in - 1) / (out - 1)
                   : 0.5 * (roi_start + roi_end) * (in - 1);
  if (rule == "half_pixel_symmetric") {
    double adjustment = out / (scale * in), centre = in / 2;
    return centre * (1 - adjustment) + (x + 0.5) / scale - 0.5;
  }
  return (x + 0.5) / scale - 0.5;  // half_pixel
}

int64_t Nearest(llvm::StringRef rule, double x) {
  if (rule == "floor") return static_cast<int64_t>(std::floor(x));
  if (rule == "ceil") return static_cast<int64_t>(std::ceil(x));
  if (rule == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  return static_cast<int64_t>(std::ceil(x - 0.5));  // round_prefer_floor
}

double Cubic(double distance, double a) {
  double d = std::fabs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

}  // namespace

ResizeTaps MakeResizeTaps(nn::ResizeOp op, size_t d) {
  int64_t in = nn::TensorTypeOf(op.getInput()).getDimSize(d), out = nn::TensorTypeOf(op.getResult()).getDimSize(d);
  size_t rank = nn::TensorTypeOf(op.getInput()).getRank();
  double scale = op.getScales()[d];
  bool has_roi = op.getRoi().size() == 2 * rank;
  double roi_start = has_roi ? op.getRoi()[d] : 0, roi_end = has_roi ? op.getRoi()[d + rank] : 1;
  bool crop = op.getCoordinates() == "tf_crop_and_resize";
  bool nearest = op.getMode() == "nearest", cubic = op.getMode() == "cubic";
  // With antialiasing the filter widens as the image shrinks.
  double stretch = op.getAntialias() && scale < 1 ? 1 / scale : 1;
  int radius = nearest ? 0 : static_cast<int>(std::ceil((cubic ? 2 : 1) * stretch));
  ResizeTaps taps;
  taps.count = nearest ? 1 : 2 * radius;
  double a = op.getCubicCoeffA().convertToDouble();
  for (int64_t x = 0; x < out; ++x) {
    double source = SourceCoordinate(op.getCoordinates(), static_cast<double>(x), scale, in, out, roi_start, roi_end);
    bool outside = crop && (source < 0 || source > static_cast<double>(in - 1));
    if (nearest) {
      taps.indices.push_back(static_cast<int32_t>(std::clamp<int64_t>(Nearest(op.getNearest(), source), 0, in - 1)));
      taps.weights.push_back(outside ? std::numeric_limits<float>::quiet_NaN() : 1);
      continue;
    }
    auto first = static_cast<int64_t>(std::floor(source)) - radius + 1;
    std::vector<double> weights;
    double sum = 0;
    for (int t = 0; t < taps.count; ++t) {
      double distance = (static_cast<double>(first + t) - source) / stretch;
      double weight = cubic ? Cubic(distance, a) : std::max(0.0, 1 - std::fabs(distance));
      bool inside = first + t >= 0 && first + t < in;
      // Excluded taps weigh nothing and the others are normalised; else the border repeats.
      if (!inside && op.getExcludeOutside()) weight = 0;
      weights.push_back(weight);
      sum += weight;
    }
    bool normalise = (op.getExcludeOutside() || stretch != 1) && sum != 0;
    for (int t = 0; t < taps.count; ++t) {
      taps.indices.push_back(static_cast<int32_t>(std::clamp<int64_t>(first + t, 0, in - 1)));
      double weight = normalise ? weights[t] / sum : weights[t];
      taps.weights.push_back(outside ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(weight));
    }
  }
  return taps;
}

namespace {

Buffer MakeTable(Emitter& e, mlir::Type element, mlir::DenseElementsAttr values) {
  auto& builder = e.builder();
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<mlir::ModuleOp>();
  auto type = mlir::MemRefType::get({values.getNumElements()}, element);
  // One table a content.
  for (auto global : module.getOps<mlir::memref::GlobalOp>()) {
    if (global.getInitialValue() == mlir::Attribute(values) && global.getType() == type)
      return {mlir::memref::GetGlobalOp::create(builder, e.location(), type, global.getSymName()), element};
  }
  std::string name = "table_" + std::to_string(llvm::range_size(module.getOps<mlir::memref::GlobalOp>()));
  mlir::OpBuilder at_start = mlir::OpBuilder::atBlockBegin(module.getBody());
  mlir::memref::GlobalOp::create(at_start, e.location(), name, at_start.getStringAttr("private"), type, values,
                                 /*constant=*/true, at_start.getI64IntegerAttr(4));
  return {mlir::memref::GetGlobalOp::create(builder, e.location(), type, name), element};
}

}  // namespace

Buffer TableOf(Emitter& e, const std::vector<int32_t>& values) {
  mlir::Type i32 = e.builder().getI32Type();
  auto type = mlir::RankedTensorType::get({static_cast<int64_t>(values.size())}, i32);
  return MakeTable(e, i32, mlir::DenseElementsAttr::get(type, llvm::ArrayRef<int32_t>(values)));
}

Buffer TableOf(Emitter& e, const std::vector<float>& values) {
  mlir::Type f32 = e.builder().getF32Type();
  auto type = mlir::RankedTensorType::get({static_cast<int64_t>(values.size())}, f32);
  return MakeTable(e, f32, mlir::DenseElementsAttr::get(type, llvm::ArrayRef<float>(values)));
}

}  // namespace aot::codegen
