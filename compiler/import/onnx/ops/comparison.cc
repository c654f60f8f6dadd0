// Comparisons, selection and conversion.
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/ops/legacy_broadcast.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;

absl::StatusOr<Results> ImportComparison(Node& n) {
  RETURN_IF_ERROR(n.RequireSameElement(0, 1));
  ASSIGN_OR_RETURN(Value rhs, LegacyBroadcast(n));
  RETURN_IF_ERROR(n.RequireBroadcast(n.In(0).shape(), rhs.shape()));
  std::string name = "equal";
  if (n.op() == "Less") name = "less";
  if (n.op() == "LessOrEqual") name = "less_equal";
  if (n.op() == "Greater") name = "greater";
  if (n.op() == "GreaterOrEqual") name = "greater_equal";
  return Results{n.b.Compare(std::move(name), n.In(0), rhs)};
}

absl::StatusOr<Results> ImportIsNaN(Node& n) {
  return Results{n.b.Emit("is_nan", {}, {n.In(0)}, {ElementType::kBool, n.In(0).shape()})};
}

absl::StatusOr<Results> ImportIsInf(Node& n) {
  return Results{n.b.Emit(
      "is_inf",
      {{"detect_negative", n.Flag("detect_negative", true)}, {"detect_positive", n.Flag("detect_positive", true)}},
      {n.In(0)}, {ElementType::kBool, n.In(0).shape()})};
}

absl::StatusOr<Results> ImportWhere(Node& n) {
  if (n.In(0).element() != ElementType::kBool) return absl::InvalidArgumentError("the condition must be boolean");
  RETURN_IF_ERROR(n.RequireSameElement(1, 2));
  RETURN_IF_ERROR(n.RequireBroadcast(n.In(1).shape(), n.In(2).shape()));
  RETURN_IF_ERROR(n.RequireBroadcast(n.In(0).shape(), *BroadcastShape(n.In(1).shape(), n.In(2).shape())));
  return Results{n.b.Where(n.In(0), n.In(1), n.In(2))};
}

// The type names of version 1.
absl::StatusOr<ElementType> TypeFromName(const std::string& name) {
  static const auto* const types = new absl::flat_hash_map<std::string, ElementType>{
      {"FLOAT", ElementType::kFloat32},  {"UINT8", ElementType::kUint8},   {"INT8", ElementType::kInt8},
      {"UINT16", ElementType::kUint16},  {"INT16", ElementType::kInt16},   {"INT32", ElementType::kInt32},
      {"INT64", ElementType::kInt64},    {"BOOL", ElementType::kBool},     {"FLOAT16", ElementType::kFloat16},
      {"DOUBLE", ElementType::kFloat64}, {"UINT32", ElementType::kUint32}, {"UINT64", ElementType::kUint64}};
  auto found = types->find(name);
  if (found != types->end()) return found->second;
  return Unsupported(absl::StrCat("conversion to ", Quoted(name)), "numeric and boolean types");
}

// A float beyond a 4- or 2-bit integer keeps its low bits, as in ONNX's data, where wider integers saturate.
Value ConvertTo(Node& n, ElementType to) {
  const bool narrow =
      to == ElementType::kInt4 || to == ElementType::kUint4 || to == ElementType::kInt2 || to == ElementType::kUint2;
  const bool through_integer = narrow && reference::IsFloat(n.In(0).element());
  const Value x = through_integer ? n.b.Cast(n.In(0), ElementType::kInt32) : n.In(0);
  return n.b.Cast(x, to, n.Flag("saturate", true));
}

// As ONNX counts them; 0 for types without a fixed width.
int ElementBits(ElementType element) {
  switch (element) {
    case ElementType::kInt2:
    case ElementType::kUint2:
      return 2;
    case ElementType::kInt4:
    case ElementType::kUint4:
    case ElementType::kFloat4E2M1:
      return 4;
    case ElementType::kComplex64:
    case ElementType::kComplex128:
      return 0;
    default:
      return reference::StorageBits(element);
  }
}

absl::StatusOr<Results> ImportCast(Node& n) {
  if (!n.HasAttribute("to")) return absl::InvalidArgumentError("the attribute 'to' is missing");
  ElementType to = ElementType::kUndefined;
  if (n.version() < 6) {
    ASSIGN_OR_RETURN(to, TypeFromName(n.String("to", "")));
  } else {
    ASSIGN_OR_RETURN(to, ToElementType(n.Int("to", 0)));
  }
  if (to == ElementType::kFloat8E8M0 && n.String("round_mode", "up") != "up") {
    return Unsupported("a round_mode other than up", "up");
  }
  return Results{ConvertTo(n, to)};
}

// The same bits under another type. Integers of one width have one form in memory here, so that theirs is a conversion,
// which wraps; 4-bit types lie in bytes, the signed ones with their sign repeated.
absl::StatusOr<Results> ImportBitCast(Node& n) {
  if (!n.HasAttribute("to")) return absl::InvalidArgumentError("the attribute 'to' is missing");
  ASSIGN_OR_RETURN(const ElementType to, ToElementType(n.Int("to", 0)));
  const ElementType from = n.In(0).element();
  const int from_bits = ElementBits(from), to_bits = ElementBits(to);
  if (from_bits == 0 || to_bits == 0) {
    return Unsupported(absl::StrCat("a bit cast from ", reference::Name(from), " to ", reference::Name(to)),
                       "numeric and boolean types");
  }
  if (from_bits != to_bits) {
    return absl::InvalidArgumentError(absl::StrCat(reference::Name(from), " has ", from_bits, " bits and ",
                                                   reference::Name(to), " ", to_bits, "; they must be equally wide"));
  }
  auto bitcast = [&](const Value& x, ElementType element) {
    return x.element() == element ? x : n.b.Emit("bitcast", {}, {x}, {element, x.shape()});
  };
  const bool is_float = reference::IsFloat(from), to_float = reference::IsFloat(to);
  if (!is_float && !to_float) return Results{n.b.Cast(n.In(0), to)};
  if (from_bits >= 8) {
    // A boolean is one of two numbers, not any byte.
    if (to == ElementType::kBool) return Results{n.b.Cast(bitcast(n.In(0), ElementType::kUint8), to)};
    if (from == ElementType::kBool) return Results{bitcast(n.b.Cast(n.In(0), ElementType::kUint8), to)};
    return Results{bitcast(n.In(0), to)};
  }
  if (to_float) return Results{bitcast(n.b.Cast(n.In(0), ElementType::kUint4), to)};
  return Results{n.b.Cast(bitcast(n.In(0), ElementType::kUint4), to)};
}

absl::StatusOr<Results> ImportCastLike(Node& n) { return Results{ConvertTo(n, n.In(1).element())}; }

}  // namespace

Family ComparisonFamily() {
  static const std::vector<Operator> operators = {
      {"BitCast", {26}, 1, 1, ImportBitCast},
      {"Cast", {1, 6, 9, 13, 19, 21, 23, 24, 25}, 1, 1, ImportCast},
      {"CastLike", {15, 19, 21, 23, 24, 25}, 2, 2, ImportCastLike},
      {"Equal", {1, 7, 11, 13, 19}, 2, 2, ImportComparison},
      {"Greater", {1, 7, 9, 13}, 2, 2, ImportComparison},
      {"GreaterOrEqual", {12, 16}, 2, 2, ImportComparison},
      {"IsInf", {10, 20}, 1, 1, ImportIsInf},
      {"IsNaN", {9, 13, 20}, 1, 1, ImportIsNaN},
      {"Less", {1, 7, 9, 13}, 2, 2, ImportComparison},
      {"LessOrEqual", {12, 16}, 2, 2, ImportComparison},
      {"Where", {9, 16}, 3, 3, ImportWhere},
  };
  return {"comparison and conversion", operators};
}

}  // namespace aot::import::onnx
