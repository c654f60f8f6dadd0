#include "compiler/import/onnx/builder.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/node.h"
#include "compiler/import/onnx/status_macros.h"
#include "compiler/import/onnx/tensor_data.h"
#include "compiler/import/onnx/text.h"
#include "compiler/ir/NnDialect.h"
#include "compiler/ir/element_types.h"
#include "compiler/ir/reference_bridge.h"
#include "mlir/IR/Builders.h"

namespace aot::import::onnx {
namespace {

using reference::Attributes;
using reference::ElementType;
using reference::Operation;
using reference::Shape;
using reference::Tensor;
using reference::TensorType;

// What is evaluated while importing: results that are small, from operands that don't cost much to read. Larger
// constants stay as operations; the folding pass decides about them with the whole graph in view.
constexpr int64_t kMostFoldedElements = 64 << 10;
constexpr int64_t kMostOperandElements = 16 << 20;
constexpr int64_t kMostFoldedProducts = 64 << 20;  // multiplications of a product or convolution, an upper bound

// Of all evaluations of an import together: elements that are read, multiplied and written, and bytes of results. Many
// small nodes, or a loop that is unrolled, could ask for any number of them. Past these limits operations stay, except
// on what is as small as shapes are; and that has a limit too, which is an error.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
constexpr int64_t kMostFoldedWork = 32 << 20;
#else
constexpr int64_t kMostFoldedWork = int64_t{4} << 30;
#endif
constexpr int64_t kMostFoldedBytes = 256 << 20;
constexpr int64_t kShapeWork = 512;
constexpr int64_t kMostFoldedShapeBytes = 384 << 20;

// Tensors of all sequences that an import makes. Each is a copy: a loop that appends n times makes n * n / 2.
constexpr int64_t kMostSequenceElements = 4'000'000;

// What no handler checks: sizes, and types that an operation isn't defined on.
absl::Status Check(const Operation& operation, absl::Span<const Value> operands) {
  for (const TensorType& type : operation.results) RETURN_IF_ERROR(CheckShape(type.element, type.shape));
  if (nn::NeedsFloats(operation.name) && !reference::IsFloat(operands.front().element())) {
    return Unsupported(absl::StrCat(operation.name, " of ", reference::Name(operands.front().element())),
                       "float types");
  }
  return absl::OkStatus();
}

bool IsProduct(absl::string_view name) { return name == "matmul" || name == "conv" || name == "conv_transpose"; }

// Elements that an evaluation reads and writes, or its multiplications; nullopt if it isn't worth it. Quantised weights
// keep their dequantize: the quantisation passes look for it, and the weights would grow fourfold.
std::optional<int64_t> WorkOf(const Operation& operation, absl::Span<const Value> operands) {
  if (operation.name == "dequantize" || operation.name == "quantize") return std::nullopt;
  int64_t results = 0, largest = 0, total = 0;
  for (const TensorType& type : operation.results) {
    const auto count = reference::ElementCount(type.shape);
    if (!count || *count > kMostFoldedElements) return std::nullopt;
    results += *count;
  }
  for (const Value& operand : operands) {
    if (!operand) continue;
    if (!operand.constant()) return std::nullopt;
    largest = std::max(largest, operand.constant()->size());
    total += operand.constant()->size();
    if (total > kMostOperandElements) return std::nullopt;
  }
  if (!IsProduct(operation.name)) return total + results;
  // Both are bounded above, so that their product fits.
  return results * largest <= kMostFoldedProducts ? std::optional<int64_t>(results * largest) : std::nullopt;
}

mlir::Attribute ToMlirAttribute(mlir::Builder& builder, const reference::Attribute& attribute) {
  if (auto* value = std::get_if<bool>(&attribute)) return builder.getBoolAttr(*value);
  if (auto* value = std::get_if<int64_t>(&attribute)) return builder.getI64IntegerAttr(*value);
  if (auto* value = std::get_if<double>(&attribute)) return builder.getF32FloatAttr(static_cast<float>(*value));
  if (auto* value = std::get_if<std::string>(&attribute)) return builder.getStringAttr(*value);
  if (auto* value = std::get_if<std::vector<int64_t>>(&attribute)) return builder.getDenseI64ArrayAttr(*value);
  const auto& reals = std::get<std::vector<double>>(attribute);
  return builder.getDenseF32ArrayAttr(std::vector<float>(reals.begin(), reals.end()));
}

bool IsIdentity(absl::Span<const int64_t> perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

}  // namespace

int64_t Elements(absl::Span<const int64_t> dims) {
  return reference::ElementCount(dims).value_or(std::numeric_limits<int64_t>::max());
}

std::optional<Shape> BroadcastShape(absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  if (a.size() < b.size()) std::swap(a, b);
  Shape result(a.begin(), a.end());
  const size_t offset = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t& dim = result[offset + i];
    if (dim != b[i] && dim != 1 && b[i] != 1) return std::nullopt;
    if (dim == 1) dim = b[i];
  }
  return result;
}

absl::string_view KindName(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kTensor:
      return "a tensor";
    case Value::Kind::kSequence:
      return "a sequence";
    case Value::Kind::kOptional:
      return "an optional";
  }
  return "a value";
}

Builder::Builder(mlir::OpBuilder& ops) : ops_(ops), location_(ops.getUnknownLoc().getAsOpaquePointer()) {}

void Builder::set_location(mlir::Location location) { location_ = location.getAsOpaquePointer(); }

mlir::Location Builder::location() const { return mlir::Location::getFromOpaquePointer(location_); }

Value Builder::Constant(Tensor tensor) const {
  Value value;
  value.rep_ = std::make_shared<Value::Rep>();
  value.rep_->type = tensor.type();
  value.rep_->constant = std::move(tensor);
  return value;
}

Value Builder::FromArgument(mlir::Value argument, TensorType type) const {
  Value value;
  value.rep_ = std::make_shared<Value::Rep>();
  value.rep_->type = std::move(type);
  value.rep_->ssa = argument.getAsOpaquePointer();
  return value;
}

Value Builder::Unsupported() {
  Value value;
  value.rep_ = std::make_shared<Value::Rep>();
  return value;
}

Value Builder::Sequence(ElementType element, std::vector<Value> tensors) {
  sequence_elements_ += static_cast<int64_t>(tensors.size());
  if (sequence_elements_ > kMostSequenceElements) {
    status_.Update(absl::UnimplementedError(
        UnsupportedText(absl::StrCat("sequences of more than ", kMostSequenceElements, " tensors in all"),
                        "shorter ones, or loops of fewer steps")));
    tensors.clear();
  }
  Value value;
  value.rep_ = std::make_shared<Value::Rep>();
  value.rep_->kind = Value::Kind::kSequence;
  value.rep_->type.element = element;
  value.rep_->elements = std::move(tensors);
  return value;
}

Value Builder::Optional(Value element) {
  Value value;
  value.rep_ = std::make_shared<Value::Rep>();
  value.rep_->kind = Value::Kind::kOptional;
  if (element) value.rep_->elements.push_back(std::move(element));
  return value;
}

Value Builder::WithExtents(const Value& value, std::vector<Extent> extents) {
  if (!value || !value.known()) return value;
  Value result = value;
  std::vector<Extent> unknown;
  for (Extent& extent : extents) {
    const Tensor* size = extent.size.constant();
    if (!size) {
      unknown.push_back(std::move(extent));
      continue;
    }
    Shape shape = result.shape();
    shape[static_cast<size_t>(extent.axis)] = std::clamp<int64_t>(size->GetInt(0), 0, result.dim(extent.axis));
    result = Slice(result, std::vector<int64_t>(shape.size(), 0), std::vector<int64_t>(shape.size(), 1), shape);
  }
  if (unknown.empty() && result.extents().empty()) return result;
  auto rep = std::make_shared<Value::Rep>(*result.rep_);
  rep->extents = std::move(unknown);
  result.rep_ = std::move(rep);
  return result;
}

Value Builder::Dims(const Value& value) {
  std::vector<Value> sizes;
  for (int64_t size : value.shape()) sizes.push_back(Int64s({size}));
  for (const Extent& extent : value.extents()) sizes[static_cast<size_t>(extent.axis)] = extent.size;
  return sizes.empty() ? Int64s({}) : Concat(sizes, 0);
}

mlir::Value Builder::Materialise(const Value& value) {
  if (!value.rep_->ssa) {
    mlir::Value constant =
        nn::ConstantOp::create(ops_, location(), nn::FromTensor(*value.rep_->constant, ops_.getContext()));
    value.rep_->ssa = constant.getAsOpaquePointer();
  }
  return mlir::Value::getFromOpaquePointer(value.rep_->ssa);
}

std::optional<std::vector<Value>> Builder::Evaluate(const Operation& operation, absl::Span<const Value> operands) {
  const std::optional<int64_t> work = WorkOf(operation, operands);
  if (!work) return std::nullopt;
  const bool spent = folded_work_ > kMostFoldedWork || folded_bytes_ > kMostFoldedBytes;
  if (spent && *work > kShapeWork) return std::nullopt;
  folded_work_ += *work;
  std::vector<const Tensor*> tensors;
  for (const Value& operand : operands) tensors.push_back(operand ? operand.constant() : nullptr);
  auto results = reference::Evaluate(operation, tensors);
  // A type that the reference doesn't know, for example: the operation is built instead.
  if (!results.ok()) return std::nullopt;
  std::vector<Value> values;
  for (Tensor& tensor : *results) {
    folded_bytes_ += static_cast<int64_t>(tensor.bytes().size());
    values.push_back(Constant(std::move(tensor)));
  }
  if (folded_bytes_ > kMostFoldedShapeBytes) {
    status_.Update(absl::InvalidArgumentError(
        absl::StrCat("what the model computes of constants, such as shapes, takes more than ", kMostFoldedShapeBytes,
                     " bytes up to here; fewer or smaller ones are accepted")));
  }
  return values;
}

std::vector<Value> Builder::Emit(const Operation& operation, absl::Span<const Value> operands) {
  if (absl::Status status = Check(operation, operands); !status.ok()) {
    status_.Update(status);
    // Values that keep their promised types, so that the caller may go on; the import fails in the end.
    const mlir::Value placeholder = Materialise(Constant(Tensor(TensorType{ElementType::kFloat32, {}})));
    std::vector<Value> values;
    for (const TensorType& result : operation.results) values.push_back(FromArgument(placeholder, result));
    return values;
  }
  if (auto values = Evaluate(operation, operands)) return *std::move(values);

  mlir::MLIRContext* context = ops_.getContext();
  mlir::OperationState state(location(), "nn." + operation.name);
  std::vector<int32_t> segments;
  for (const Value& operand : operands) {
    segments.push_back(operand ? 1 : 0);
    if (operand) state.addOperands(Materialise(operand));
  }
  for (const auto& [name, attribute] : operation.attributes) {
    state.addAttribute(name, ToMlirAttribute(ops_, attribute));
  }
  if (state.name.hasTrait<mlir::OpTrait::AttrSizedOperandSegments>()) {
    state.addAttribute("operandSegmentSizes", ops_.getDenseI32ArrayAttr(segments));
  }
  for (const TensorType& type : operation.results) state.addTypes(nn::ToMlirType(type, context));
  mlir::Operation* built = ops_.create(state);
  std::vector<Value> values;
  for (size_t i = 0; i < operation.results.size(); ++i) {
    values.push_back(FromArgument(built->getResult(static_cast<unsigned>(i)), operation.results[i]));
  }
  return values;
}

Value Builder::Emit(std::string name, Attributes attributes, absl::Span<const Value> operands, TensorType result) {
  return Emit(Operation{std::move(name), std::move(attributes), {std::move(result)}}, operands).front();
}

Value Builder::Scalar(ElementType element, double value) const {
  Tensor tensor(TensorType{element, {}});
  if (reference::IsFloat(element)) {
    tensor.SetFloat(0, value);
  } else {
    constexpr double kTwo63 = 9223372036854775808.0;
    const bool inside = value >= -kTwo63 && value < kTwo63;
    tensor.SetInt(0, inside ? static_cast<int64_t>(value) : value > 0 ? INT64_MAX : INT64_MIN);
  }
  return Constant(std::move(tensor));
}

Value Builder::Int64s(absl::Span<const int64_t> values) const {
  Tensor tensor(TensorType{ElementType::kInt64, {static_cast<int64_t>(values.size())}});
  for (size_t i = 0; i < values.size(); ++i) tensor.SetInt(static_cast<int64_t>(i), values[i]);
  return Constant(std::move(tensor));
}

Value Builder::Unary(std::string name, const Value& x, Attributes attributes) {
  return Emit(std::move(name), std::move(attributes), {x}, x.type());
}

Value Builder::Binary(std::string name, const Value& a, const Value& b, Attributes attributes) {
  return Emit(std::move(name), std::move(attributes), {a, b}, {a.element(), *BroadcastShape(a.shape(), b.shape())});
}

Value Builder::Compare(std::string name, const Value& a, const Value& b) {
  return Emit(std::move(name), {}, {a, b}, {ElementType::kBool, *BroadcastShape(a.shape(), b.shape())});
}

Value Builder::Where(const Value& condition, const Value& a, const Value& b) {
  Shape shape = *BroadcastShape(condition.shape(), *BroadcastShape(a.shape(), b.shape()));
  return Emit("where", {}, {condition, a, b}, {a.element(), std::move(shape)});
}

Value Builder::Cast(const Value& x, ElementType element, bool saturate) {
  if (x.element() == element) return x;
  return Emit("cast", {{"saturate", saturate}}, {x}, {element, x.shape()});
}

Value Builder::Reshape(const Value& x, Shape shape) {
  if (x.shape() == shape) return x;
  if (const Tensor* constant = x.constant()) {
    // The same bytes under another shape; the copy in the closure keeps their owner.
    auto owner = std::make_shared<Tensor>(*constant);
    const absl::Span<const uint8_t> bytes = owner->bytes();
    return Constant(Tensor(TensorType{x.element(), std::move(shape)}, std::move(owner), bytes));
  }
  return Emit("reshape", {}, {x}, {x.element(), std::move(shape)});
}

Value Builder::Transpose(const Value& x, std::vector<int64_t> perm) {
  if (IsIdentity(perm)) return x;
  Shape shape;
  for (int64_t from : perm) shape.push_back(x.dim(from));
  return Emit("transpose", {{"perm", std::move(perm)}}, {x}, {x.element(), std::move(shape)});
}

Value Builder::Broadcast(const Value& x, Shape shape) {
  if (x.shape() == shape) return x;
  return Emit("broadcast", {}, {x}, {x.element(), std::move(shape)});
}

Value Builder::Slice(const Value& x, std::vector<int64_t> starts, std::vector<int64_t> steps, Shape shape) {
  const bool forward = std::all_of(steps.begin(), steps.end(), [](int64_t step) { return step > 0; });
  if (x.shape() == shape && forward) return x;
  return Emit("slice", {{"starts", std::move(starts)}, {"steps", std::move(steps)}}, {x},
              {x.element(), std::move(shape)});
}

Value Builder::Concat(const std::vector<Value>& values, int64_t axis) {
  if (values.size() == 1) return values.front();
  TensorType type = values.front().type();
  int64_t& dim = type.shape[static_cast<size_t>(axis)];
  for (size_t i = 1; i < values.size(); ++i) dim += values[i].dim(axis);
  return Emit("concat", {{"axis", axis}}, values, std::move(type));
}

Value Builder::Reduce(std::string name, const Value& x, std::vector<int64_t> axes) {
  TensorType type = x.type();
  for (int64_t axis : axes) type.shape[static_cast<size_t>(axis)] = 1;
  return Emit(std::move(name), {{"axes", std::move(axes)}}, {x}, std::move(type));
}

Value Builder::MatMul(const Value& a, const Value& b, bool trans_a, bool trans_b, std::optional<ElementType> result) {
  auto batch = [](const Value& v) { return absl::MakeConstSpan(v.shape()).first(v.shape().size() - 2); };
  Shape shape = *BroadcastShape(batch(a), batch(b));
  shape.push_back(a.dim(a.rank() - (trans_a ? 1 : 2)));
  shape.push_back(b.dim(b.rank() - (trans_b ? 2 : 1)));
  return Emit("matmul", {{"trans_a", trans_a}, {"trans_b", trans_b}}, {a, b},
              {result.value_or(a.element()), std::move(shape)});
}

}  // namespace aot::import::onnx
