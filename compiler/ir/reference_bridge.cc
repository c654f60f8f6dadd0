#include "compiler/ir/reference_bridge.h"

#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/ir/NnDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace aot::nn {
namespace {

using reference::ElementType;
using reference::Tensor;
using reference::TensorType;

// Constants up to this size become dense attributes, which passes can match on and which print readably.
constexpr size_t kDenseBytes = 1024;

mlir::Type ToElement(ElementType element, mlir::MLIRContext* context) {
  auto integer = [&](unsigned width) { return mlir::IntegerType::get(context, width); };
  auto unsigned_integer = [&](unsigned width) {
    return mlir::IntegerType::get(context, width, mlir::IntegerType::Unsigned);
  };
  switch (element) {
    case ElementType::kFloat32:
      return mlir::Float32Type::get(context);
    case ElementType::kFloat64:
      return mlir::Float64Type::get(context);
    case ElementType::kFloat16:
      return mlir::Float16Type::get(context);
    case ElementType::kBfloat16:
      return mlir::BFloat16Type::get(context);
    case ElementType::kFloat8E4M3FN:
      return mlir::Float8E4M3FNType::get(context);
    case ElementType::kFloat8E4M3FNUZ:
      return mlir::Float8E4M3FNUZType::get(context);
    case ElementType::kFloat8E5M2:
      return mlir::Float8E5M2Type::get(context);
    case ElementType::kFloat8E5M2FNUZ:
      return mlir::Float8E5M2FNUZType::get(context);
    case ElementType::kFloat4E2M1:
      return mlir::Float4E2M1FNType::get(context);
    case ElementType::kFloat8E8M0:
      return mlir::Float8E8M0FNUType::get(context);
    case ElementType::kBool:
      return integer(1);
    case ElementType::kInt2:
      return integer(2);
    case ElementType::kInt4:
      return integer(4);
    case ElementType::kInt8:
      return integer(8);
    case ElementType::kInt16:
      return integer(16);
    case ElementType::kInt32:
      return integer(32);
    case ElementType::kInt64:
      return integer(64);
    case ElementType::kUint2:
      return unsigned_integer(2);
    case ElementType::kUint4:
      return unsigned_integer(4);
    case ElementType::kUint8:
      return unsigned_integer(8);
    case ElementType::kUint16:
      return unsigned_integer(16);
    case ElementType::kUint32:
      return unsigned_integer(32);
    case ElementType::kUint64:
      return unsigned_integer(64);
    case ElementType::kComplex64:
      return mlir::ComplexType::get(mlir::Float32Type::get(context));
    case ElementType::kComplex128:
      return mlir::ComplexType::get(mlir::Float64Type::get(context));
    case ElementType::kString:
    case ElementType::kUndefined:
      return {};
  }
  return {};
}

ElementType FromInteger(mlir::IntegerType type) {
  bool is_unsigned = type.isUnsigned();
  switch (type.getWidth()) {
    case 1:
      return ElementType::kBool;
    case 2:
      return is_unsigned ? ElementType::kUint2 : ElementType::kInt2;
    case 4:
      return is_unsigned ? ElementType::kUint4 : ElementType::kInt4;
    case 8:
      return is_unsigned ? ElementType::kUint8 : ElementType::kInt8;
    case 16:
      return is_unsigned ? ElementType::kUint16 : ElementType::kInt16;
    case 32:
      return is_unsigned ? ElementType::kUint32 : ElementType::kInt32;
    case 64:
      return is_unsigned ? ElementType::kUint64 : ElementType::kInt64;
    default:
      return ElementType::kUndefined;
  }
}

ElementType FromElement(mlir::Type type) {
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type)) return FromInteger(integer);
  if (type.isF32()) return ElementType::kFloat32;
  if (type.isF64()) return ElementType::kFloat64;
  if (type.isF16()) return ElementType::kFloat16;
  if (type.isBF16()) return ElementType::kBfloat16;
  if (mlir::isa<mlir::Float8E4M3FNType>(type)) return ElementType::kFloat8E4M3FN;
  if (mlir::isa<mlir::Float8E4M3FNUZType>(type)) return ElementType::kFloat8E4M3FNUZ;
  if (mlir::isa<mlir::Float8E5M2Type>(type)) return ElementType::kFloat8E5M2;
  if (mlir::isa<mlir::Float8E5M2FNUZType>(type)) return ElementType::kFloat8E5M2FNUZ;
  if (mlir::isa<mlir::Float4E2M1FNType>(type)) return ElementType::kFloat4E2M1;
  if (mlir::isa<mlir::Float8E8M0FNUType>(type)) return ElementType::kFloat8E8M0;
  if (auto complex = mlir::dyn_cast<mlir::ComplexType>(type)) {
    return complex.getElementType().isF32() ? ElementType::kComplex64 : ElementType::kComplex128;
  }
  return ElementType::kUndefined;
}

// Types narrower than a byte are stored as one byte an element in tensors and blobs; dense attributes have rules of
// their own for them.
bool IsSubByte(ElementType element) {
  switch (element) {
    case ElementType::kInt2:
    case ElementType::kUint2:
    case ElementType::kInt4:
    case ElementType::kUint4:
    case ElementType::kFloat4E2M1:
      return true;
    default:
      return false;
  }
}

bool IsSplat(absl::Span<const uint8_t> bytes, size_t width) {
  for (size_t i = width; i + width <= bytes.size(); i += width) {
    if (std::memcmp(bytes.data(), bytes.data() + i, width) != 0) return false;
  }
  return bytes.size() >= width;
}

std::string LocationText(mlir::Operation* operation) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  operation->getLoc().print(stream);
  return text;
}

using Values = llvm::DenseMap<mlir::Value, Tensor>;

absl::StatusOr<std::vector<Tensor>> RunBlock(mlir::Block& block, absl::Span<const Tensor> inputs);

absl::StatusOr<std::vector<Tensor>> RunOperation(mlir::Operation& operation, const Values& values) {
  if (auto constant = mlir::dyn_cast<ConstantOp>(operation)) {
    auto tensor = ToTensor(constant.getValue());
    if (!tensor.ok()) return tensor.status();
    return std::vector<Tensor>{*std::move(tensor)};
  }
  if (auto group = mlir::dyn_cast<GroupOp>(operation)) {
    std::vector<Tensor> inputs;
    for (mlir::Value input : group.getInputs()) inputs.push_back(values.find(input)->second);
    return RunBlock(group.getBody().front(), inputs);
  }
  std::vector<const Tensor*> operands;
  for (mlir::Value operand : ReferenceOperands(&operation)) {
    operands.push_back(operand ? &values.find(operand)->second : nullptr);
  }
  return reference::Evaluate(ToReference(&operation), operands);
}

absl::StatusOr<std::vector<Tensor>> RunBlock(mlir::Block& block, absl::Span<const Tensor> inputs) {
  Values values;
  llvm::DenseMap<mlir::Value, int64_t> uses_left;
  for (auto [argument, input] : llvm::zip(block.getArguments(), inputs)) values[argument] = input;
  for (mlir::Operation& operation : block) {
    for (mlir::Value operand : operation.getOperands()) ++uses_left[operand];
  }
  for (mlir::Operation& operation : block) {
    if (operation.hasTrait<mlir::OpTrait::IsTerminator>()) {
      std::vector<Tensor> results;
      for (mlir::Value operand : operation.getOperands()) results.push_back(values.find(operand)->second);
      return results;
    }
    auto results = RunOperation(operation, values);
    if (!results.ok()) {
      return absl::Status(results.status().code(),
                          absl::StrCat(operation.getName().getStringRef().str(), " at ", LocationText(&operation), ": ",
                                       results.status().message()));
    }
    for (mlir::Value operand : operation.getOperands()) {
      if (--uses_left[operand] == 0) values.erase(operand);
    }
    for (auto [result, tensor] : llvm::zip(operation.getResults(), *results)) {
      if (!result.use_empty()) values[result] = std::move(tensor);
    }
  }
  return absl::InternalError("a block without a terminator");
}

}  // namespace

mlir::RankedTensorType ToMlirType(const TensorType& type, mlir::MLIRContext* context) {
  mlir::Type element = ToElement(type.element, context);
  return element ? mlir::RankedTensorType::get(type.shape, element) : mlir::RankedTensorType();
}

absl::StatusOr<TensorType> ToTensorType(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  TensorType result;
  if (tensor) result.element = FromElement(tensor.getElementType());
  if (!tensor || !tensor.hasStaticShape() || result.element == ElementType::kUndefined) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    type.print(stream);
    return absl::InvalidArgumentError(absl::StrCat(text, " is no statically shaped tensor of a type that ONNX has"));
  }
  result.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
  return result;
}

reference::Operation ToReference(mlir::Operation* operation) {
  reference::Operation result;
  result.name = operation->getName().stripDialect().str();
  for (mlir::NamedAttribute named : operation->getAttrDictionary()) {
    llvm::StringRef name = named.getName().getValue();
    mlir::Attribute attribute = named.getValue();
    // Discardable attributes (of passes) carry a dialect prefix and have no meaning of their own.
    if (name == "operandSegmentSizes" || name.contains('.')) continue;
    reference::Attribute& value = result.attributes[name.str()];
    if (auto boolean = mlir::dyn_cast<mlir::BoolAttr>(attribute)) {
      value = boolean.getValue();
    } else if (mlir::isa<mlir::UnitAttr>(attribute)) {
      value = true;
    } else if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(attribute)) {
      value = integer.getInt();
    } else if (auto real = mlir::dyn_cast<mlir::FloatAttr>(attribute)) {
      value = real.getValueAsDouble();
    } else if (auto text = mlir::dyn_cast<mlir::StringAttr>(attribute)) {
      value = text.getValue().str();
    } else if (auto integers = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(attribute)) {
      value = std::vector<int64_t>(integers.asArrayRef().begin(), integers.asArrayRef().end());
    } else if (auto floats = mlir::dyn_cast<mlir::DenseF32ArrayAttr>(attribute)) {
      value = std::vector<double>(floats.asArrayRef().begin(), floats.asArrayRef().end());
    } else {
      result.attributes.erase(name.str());
    }
  }
  for (mlir::Type type : operation->getResultTypes()) {
    result.results.push_back(ToTensorType(type).value_or(TensorType{}));
  }
  return result;
}

std::vector<mlir::Value> ReferenceOperands(mlir::Operation* operation) {
  std::vector<mlir::Value> operands;
  auto segments = operation->getAttrOfType<mlir::DenseI32ArrayAttr>("operandSegmentSizes");
  if (!segments) {
    operands.assign(operation->operand_begin(), operation->operand_end());
    // The one operation with a single optional operand, which needs no segment sizes.
    if (mlir::isa<PadOp>(operation) && operands.size() == 1) operands.emplace_back();
    return operands;
  }
  unsigned next = 0;
  for (int32_t size : segments.asArrayRef()) operands.push_back(size ? operation->getOperand(next++) : mlir::Value());
  return operands;
}

absl::StatusOr<Tensor> ToTensor(mlir::ElementsAttr elements) {
  auto type = ToTensorType(elements.getType());
  if (!type.ok()) return type.status();
  auto count = reference::ElementCount(type->shape);
  if (!count) return absl::InvalidArgumentError("a constant with more elements than 64 bits can count");
  const size_t width = static_cast<size_t>(reference::StorageBits(type->element)) / 8;
  if (auto resource = mlir::dyn_cast<mlir::DenseResourceElementsAttr>(elements)) {
    mlir::AsmResourceBlob* blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != static_cast<size_t>(*count) * width) {
      return absl::InvalidArgumentError(absl::StrCat("resource '", resource.getRawHandle().getKey().str(), "' holds ",
                                                     blob ? blob->getData().size() : 0, " bytes, its type needs ",
                                                     static_cast<size_t>(*count) * width));
    }
    return Tensor(*std::move(type), nullptr,
                  {reinterpret_cast<const uint8_t*>(blob->getData().data()), blob->getData().size()});
  }
  auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(elements);
  if (!dense) return absl::InvalidArgumentError("a constant that is neither dense nor a resource");
  if (type->element == ElementType::kBool) {
    Tensor tensor(*std::move(type));
    int64_t i = 0;
    for (bool value : dense.getValues<bool>()) tensor.SetInt(i++, value);
    return tensor;
  }
  if (IsSubByte(type->element)) {
    const bool is_signed = reference::IsSignedInteger(type->element);
    Tensor tensor(*std::move(type));
    absl::Span<uint8_t> bytes = tensor.mutable_bytes();
    size_t i = 0;
    auto put = [&](const llvm::APInt& bits) {
      bytes[i++] = static_cast<uint8_t>(is_signed ? static_cast<uint64_t>(bits.getSExtValue()) : bits.getZExtValue());
    };
    if (mlir::isa<mlir::FloatType>(dense.getElementType())) {
      for (const llvm::APFloat& value : dense.getValues<llvm::APFloat>()) put(value.bitcastToAPInt());
    } else {
      for (const llvm::APInt& value : dense.getValues<llvm::APInt>()) put(value);
    }
    return tensor;
  }
  llvm::ArrayRef<char> raw = dense.getRawData();
  if (!dense.isSplat()) {
    return Tensor(*std::move(type), nullptr, {reinterpret_cast<const uint8_t*>(raw.data()), raw.size()});
  }
  Tensor tensor(*std::move(type));
  absl::Span<uint8_t> bytes = tensor.mutable_bytes();
  for (size_t i = 0; i + width <= bytes.size(); i += width) std::memcpy(bytes.data() + i, raw.data(), width);
  return tensor;
}

namespace {

// A key that most likely isn't taken: the blob manager would try one number after the other, which takes quadratic
// time.
std::string FreshKey(mlir::MLIRContext* context) {
  size_t count = 0;
  mlir::DenseResourceElementsHandle::getManagerInterface(context).getBlobManager().getBlobMap(
      [&](const auto& blobs) { count = blobs.size(); });
  return count == 0 ? "constant" : absl::StrCat("constant_", count);
}

}  // namespace

mlir::ElementsAttr FromTensor(const Tensor& tensor, mlir::MLIRContext* context) {
  mlir::RankedTensorType type = ToMlirType(tensor.type(), context);
  const size_t width = static_cast<size_t>(reference::StorageBits(tensor.element())) / 8;
  absl::Span<const uint8_t> bytes = tensor.bytes();
  llvm::ArrayRef<char> raw(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const bool splat = IsSplat(bytes, width);
  if (!IsSubByte(tensor.element()) && (bytes.size() <= kDenseBytes || splat)) {
    if (tensor.element() != ElementType::kBool) {
      return mlir::DenseElementsAttr::getFromRawBuffer(type, splat ? raw.take_front(width) : raw);
    }
    llvm::SmallVector<bool> values;
    for (int64_t i = 0; i < (splat ? 1 : tensor.size()); ++i) values.push_back(bytes[static_cast<size_t>(i)] != 0);
    return mlir::DenseElementsAttr::get(type, llvm::ArrayRef<bool>(values));
  }
  if (width != 0 && reinterpret_cast<uintptr_t>(raw.data()) % width != 0) {
    Tensor aligned(tensor.type());
    std::memcpy(aligned.mutable_bytes().data(), raw.data(), raw.size());
    return FromTensor(aligned, context);
  }
  // The deleter holds a copy of the tensor, which shares the bytes.
  mlir::AsmResourceBlob blob = mlir::UnmanagedAsmResourceBlob::allocateWithAlign(
      raw, /*align=*/width ? width : 1, [keep = tensor](void*, size_t, size_t) {});
  return mlir::DenseResourceElementsAttr::get(type, FreshKey(context), std::move(blob));
}

absl::StatusOr<std::vector<Tensor>> Interpret(mlir::func::FuncOp function, absl::Span<const Tensor> inputs) {
  if (inputs.size() != function.getNumArguments()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the function takes ", function.getNumArguments(), " inputs, ", inputs.size(), " were given"));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto type = ToTensorType(function.getArgumentTypes()[i]);
    if (!type.ok()) return type.status();
    if (!(inputs[i].type() == *type)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input ", i, " is ", reference::Name(inputs[i].element()), " ", reference::ToString(inputs[i].shape()),
          ", the function takes ", reference::Name(type->element), " ", reference::ToString(type->shape)));
    }
  }
  return RunBlock(function.getBody().front(), inputs);
}

}  // namespace aot::nn
