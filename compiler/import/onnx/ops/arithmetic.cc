// Arithmetic, logic and bits on one, two or any number of tensors.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/ops/legacy_broadcast.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;

// Operators that are one nn operation.
const char* NnName(absl::string_view op) {
  static const auto* const names =
      new absl::flat_hash_map<absl::string_view, const char*>{{"Abs", "abs"},
                                                              {"Neg", "neg"},
                                                              {"Exp", "exp"},
                                                              {"Log", "log"},
                                                              {"Sqrt", "sqrt"},
                                                              {"Reciprocal", "reciprocal"},
                                                              {"Sign", "sign"},
                                                              {"Floor", "floor"},
                                                              {"Ceil", "ceil"},
                                                              {"Round", "round"},
                                                              {"Sin", "sin"},
                                                              {"Cos", "cos"},
                                                              {"Tan", "tan"},
                                                              {"Asin", "asin"},
                                                              {"Acos", "acos"},
                                                              {"Atan", "atan"},
                                                              {"Sinh", "sinh"},
                                                              {"Cosh", "cosh"},
                                                              {"Asinh", "asinh"},
                                                              {"Acosh", "acosh"},
                                                              {"Atanh", "atanh"},
                                                              {"Erf", "erf"},
                                                              {"Not", "logical_not"},
                                                              {"BitwiseNot", "bitwise_not"},
                                                              {"Add", "add"},
                                                              {"Sub", "sub"},
                                                              {"Mul", "mul"},
                                                              {"Div", "div"},
                                                              {"Pow", "pow"},
                                                              {"And", "logical_and"},
                                                              {"Or", "logical_or"},
                                                              {"Xor", "logical_xor"},
                                                              {"BitwiseAnd", "bitwise_and"},
                                                              {"BitwiseOr", "bitwise_or"},
                                                              {"BitwiseXor", "bitwise_xor"},
                                                              {"Max", "max"},
                                                              {"Min", "min"},
                                                              {"Sum", "add"}};
  return names->at(op);
}

absl::StatusOr<Results> ImportUnary(Node& n) { return Results{n.b.Unary(NnName(n.op()), n.In(0))}; }

absl::StatusOr<Results> ImportBinary(Node& n) {
  if (n.op() != "Pow") RETURN_IF_ERROR(n.RequireSameElement(0, 1));
  ASSIGN_OR_RETURN(Value rhs, LegacyBroadcast(n));
  ASSIGN_OR_RETURN(Value result, n.Broadcasting(NnName(n.op()), n.In(0), rhs));
  return Results{result};
}

// Max, Min, Sum, Mean: a chain over the inputs, which broadcast (before opset 8 they had one shape).
absl::StatusOr<Results> ImportVariadic(Node& n) {
  const bool mean = n.op() == "Mean";
  Value result = n.In(0);
  for (size_t i = 1; i < n.inputs().size(); ++i) {
    if (!n.Has(i)) return absl::InvalidArgumentError(absl::StrCat("input ", i, " is missing"));
    RETURN_IF_ERROR(n.RequireSameElement(0, i));
    ASSIGN_OR_RETURN(result, n.Broadcasting(mean ? "add" : NnName(n.op()), result, n.In(i)));
  }
  if (mean) result = n.b.Div(result, n.b.Scalar(result.element(), static_cast<double>(n.input_count())));
  return Results{result};
}

absl::StatusOr<Results> ImportMod(Node& n) {
  RETURN_IF_ERROR(n.RequireSameElement(0, 1));
  const bool fmod = n.Flag("fmod", false);
  if (!fmod && reference::IsFloat(n.In(0).element())) {
    return absl::InvalidArgumentError("float operands need the attribute fmod=1");
  }
  ASSIGN_OR_RETURN(Value result, n.Broadcasting("mod", n.In(0), n.In(1), {{"fmod", fmod}}));
  return Results{result};
}

absl::StatusOr<Results> ImportBitShift(Node& n) {
  RETURN_IF_ERROR(n.RequireSameElement(0, 1));
  const std::string direction = n.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    return absl::InvalidArgumentError("the attribute direction must be LEFT or RIGHT");
  }
  ASSIGN_OR_RETURN(Value result, n.Broadcasting(direction == "LEFT" ? "shift_left" : "shift_right", n.In(0), n.In(1)));
  return Results{result};
}

}  // namespace

Family ArithmeticFamily() {
  static const std::vector<Operator> operators = {
      {"Abs", {1, 6, 13}, 1, 1, ImportUnary},
      {"Acos", {7, 22}, 1, 1, ImportUnary},
      {"Acosh", {9, 22}, 1, 1, ImportUnary},
      {"Add", {1, 6, 7, 13, 14}, 2, 2, ImportBinary},
      {"And", {1, 7}, 2, 2, ImportBinary},
      {"Asin", {7, 22}, 1, 1, ImportUnary},
      {"Asinh", {9, 22}, 1, 1, ImportUnary},
      {"Atan", {7, 22}, 1, 1, ImportUnary},
      {"Atanh", {9, 22}, 1, 1, ImportUnary},
      {"BitShift", {11}, 2, 2, ImportBitShift},
      {"BitwiseAnd", {18}, 2, 2, ImportBinary},
      {"BitwiseNot", {18}, 1, 1, ImportUnary},
      {"BitwiseOr", {18}, 2, 2, ImportBinary},
      {"BitwiseXor", {18}, 2, 2, ImportBinary},
      {"Ceil", {1, 6, 13}, 1, 1, ImportUnary},
      {"Cos", {7, 22}, 1, 1, ImportUnary},
      {"Cosh", {9, 22}, 1, 1, ImportUnary},
      {"Div", {1, 6, 7, 13, 14}, 2, 2, ImportBinary},
      {"Erf", {9, 13}, 1, 1, ImportUnary},
      {"Exp", {1, 6, 13}, 1, 1, ImportUnary},
      {"Floor", {1, 6, 13}, 1, 1, ImportUnary},
      {"Log", {1, 6, 13}, 1, 1, ImportUnary},
      {"Max", {1, 6, 8, 12, 13}, 1, kVariadic, ImportVariadic},
      {"Mean", {1, 6, 8, 13}, 1, kVariadic, ImportVariadic},
      {"Min", {1, 6, 8, 12, 13}, 1, kVariadic, ImportVariadic},
      {"Mod", {10, 13}, 2, 2, ImportMod},
      {"Mul", {1, 6, 7, 13, 14}, 2, 2, ImportBinary},
      {"Neg", {1, 6, 13}, 1, 1, ImportUnary},
      {"Not", {1}, 1, 1, ImportUnary},
      {"Or", {1, 7}, 2, 2, ImportBinary},
      {"Pow", {1, 7, 12, 13, 15}, 2, 2, ImportBinary},
      {"Reciprocal", {1, 6, 13}, 1, 1, ImportUnary},
      {"Round", {11, 22}, 1, 1, ImportUnary},
      {"Sign", {9, 13}, 1, 1, ImportUnary},
      {"Sin", {7, 22}, 1, 1, ImportUnary},
      {"Sinh", {9, 22}, 1, 1, ImportUnary},
      {"Sqrt", {1, 6, 13}, 1, 1, ImportUnary},
      {"Sub", {1, 6, 7, 13, 14}, 2, 2, ImportBinary},
      {"Sum", {1, 6, 8, 13}, 1, kVariadic, ImportVariadic},
      {"Tan", {7, 22}, 1, 1, ImportUnary},
      {"Xor", {1, 7}, 2, 2, ImportBinary},
  };
  return {"arithmetic", operators};
}

}  // namespace aot::import::onnx
