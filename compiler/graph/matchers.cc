#include "compiler/graph/matchers.h"

#include <cmath>

#include "compiler/ir/reference_bridge.h"

namespace aot::graph {

std::optional<double> SplatValue(mlir::Value value) {
  auto dense = llvm::dyn_cast_if_present<mlir::DenseElementsAttr>(nn::ConstantValue(value));
  if (!dense || !dense.isSplat()) return std::nullopt;
  mlir::Type element = dense.getElementType();
  if (llvm::isa<mlir::FloatType>(element)) {
    llvm::APFloat number = dense.getSplatValue<llvm::APFloat>();
    bool inexact = false;
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    return number.convertToDouble();
  }
  if (!llvm::isa<mlir::IntegerType>(element) || element.getIntOrFloatBitWidth() > 64) return std::nullopt;
  llvm::APInt number = dense.getSplatValue<llvm::APInt>();
  bool is_signed = !element.isUnsignedInteger() && !element.isInteger(1);
  return is_signed ? static_cast<double>(number.getSExtValue()) : static_cast<double>(number.getZExtValue());
}

bool IsSplat(mlir::Value value, double expected) {
  std::optional<double> found = SplatValue(value);
  return found && *found == expected;
}

std::optional<std::vector<double>> FloatElements(mlir::Value value) {
  mlir::ElementsAttr attribute = nn::ConstantValue(value);
  if (!attribute || !HasFloatElements(value)) return std::nullopt;
  auto tensor = nn::ToTensor(attribute);
  if (!tensor.ok()) return std::nullopt;
  std::vector<double> elements(tensor->size());
  for (int64_t i = 0; i < tensor->size(); ++i) elements[i] = tensor->GetFloat(i);
  return elements;
}

mlir::Value MakeFloatConstant(mlir::OpBuilder& builder, mlir::Location location, mlir::Type element,
                              llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> elements) {
  auto type = mlir::RankedTensorType::get(shape, element);
  reference::Tensor tensor(*nn::ToTensorType(type));
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.SetFloat(i, elements[i]);
  return nn::ConstantOp::create(builder, location, type, nn::FromTensor(tensor, builder.getContext()));
}

std::optional<std::vector<double>> PerChannel(mlir::Value value, int64_t rank, int64_t axis, int64_t channels) {
  if (!IsConstant(value) || !HasFloatElements(value)) return std::nullopt;
  if (auto splat = SplatValue(value)) return std::vector<double>(channels, *splat);
  llvm::ArrayRef<int64_t> shape = nn::TensorTypeOf(value).getShape();
  int64_t missing = rank - static_cast<int64_t>(shape.size());
  if (missing < 0) return std::nullopt;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1 && static_cast<int64_t>(i) + missing != axis) return std::nullopt;
  auto elements = FloatElements(value);
  if (elements && elements->size() == 1) elements->resize(channels, elements->front());
  if (!elements || static_cast<int64_t>(elements->size()) != channels) return std::nullopt;
  return elements;
}

bool KeepsMagnitude(llvm::ArrayRef<double> a, llvm::ArrayRef<double> b) {
  for (auto [x, y] : llvm::zip(a, b))
    if (!(std::fabs(x + y) * 16 >= std::max(std::fabs(x), std::fabs(y)))) return false;
  return true;
}

}  // namespace aot::graph
