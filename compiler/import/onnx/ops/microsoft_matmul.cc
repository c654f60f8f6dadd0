// com.microsoft: products with quantised weights, and the recurrent layer that has such products.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/ops/matrix_product.h"
#include "compiler/import/onnx/ops/quantisation.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

bool IsEightBits(const Value& x) { return x.element() == ElementType::kInt8 || x.element() == ElementType::kUint8; }

// The integers of x in int32, less a zero point that broadcasts along the last dimension.
Value Centre(Builder& b, const Value& x, const Value& zero_point) {
  const Value wide = b.Cast(x, ElementType::kInt32);
  return zero_point ? b.Sub(wide, b.Cast(zero_point, ElementType::kInt32)) : wide;
}

// One number, or one for each of `columns`.
absl::StatusOr<Value> PerColumn(Node& n, size_t input, int64_t columns) {
  if (!n.Has(input)) return Value();
  if (Elements(n.In(input).shape()) == 1) return n.b.Reshape(n.In(input), {});
  if (n.In(input).shape() == Shape{columns}) return n.In(input);
  return Unsupported(absl::StrCat("input ", input, " of shape ", reference::ToString(n.In(input).shape())),
                     absl::StrCat("one element, or one for each of ", columns, " columns"));
}

// DynamicQuantizeMatMul (A is real) and MatMulIntegerToFloat (A is quantised already).
absl::StatusOr<Results> ImportQuantisedProduct(Node& n) {
  Builder& b = n.b;
  const bool dynamic = n.op() == "DynamicQuantizeMatMul";
  const size_t b_scale = dynamic ? 2 : 3, b_zero = dynamic ? 3 : 5, bias = dynamic ? 4 : 6;
  const Value& weights = n.In(1);
  RETURN_IF_ERROR(n.RequireRank(0, 1));
  RETURN_IF_ERROR(n.RequireRank(1, 2));
  if (!IsEightBits(weights) || (!dynamic && !IsEightBits(n.In(0)))) {
    return Unsupported("quantised operands that aren't of 8 bits", "int8 and uint8");
  }
  const int64_t columns = weights.dim(weights.rank() - 1);
  RETURN_IF_ERROR(n.RequireFloat(b_scale));
  if (n.Has(b_zero)) RETURN_IF_ERROR(n.RequireSameElement(1, b_zero));
  ASSIGN_OR_RETURN(const Value weight_scale, PerColumn(n, b_scale, columns));
  ASSIGN_OR_RETURN(const Value weight_zero, PerColumn(n, b_zero, columns));
  Quantised a;
  if (dynamic) {
    RETURN_IF_ERROR(n.RequireFloat(0));
    a = QuantiseDynamically(b, n.In(0));
  } else {
    RETURN_IF_ERROR(n.RequireSameElement(2, b_scale));
    if (n.Has(4)) RETURN_IF_ERROR(n.RequireSameElement(0, 4));
    ASSIGN_OR_RETURN(a.scale, PerColumn(n, 2, 1));
    ASSIGN_OR_RETURN(a.zero_point, PerColumn(n, 4, 1));
    a.value = n.In(0);
  }
  ASSIGN_OR_RETURN(const Value sum, MatrixProduct(n, Centre(b, a.value, a.zero_point), Centre(b, weights, weight_zero),
                                                  ElementType::kInt32));
  const ElementType element = weight_scale.element();
  Value result = b.Mul(b.Cast(sum, element), b.Mul(a.scale, weight_scale));
  if (n.Has(bias)) {
    RETURN_IF_ERROR(n.RequireSameElement(b_scale, bias));
    if (n.In(bias).shape() != Shape{columns}) {
      return absl::InvalidArgumentError(
          absl::StrCat("a bias of ", reference::ToString(n.In(bias).shape()), " for ", columns, " columns"));
    }
    result = b.Add(result, n.In(bias));
  }
  return Results{result};
}

// Numbers of `bits` bits that lie in bytes, the first in the lowest bits: [..., bytes] to [..., bytes * 8 / bits].
Value Unpack(Builder& b, const Value& packed, int64_t bits) {
  if (bits == 8) return packed;
  std::vector<Value> parts;
  Shape column = packed.shape();
  column.push_back(1);
  const Value bytes = b.Reshape(packed, column);
  for (int64_t shift = 0; shift < 8; shift += bits) {
    const Value moved = b.Binary("shift_right", bytes, b.Scalar(ElementType::kUint8, static_cast<double>(shift)));
    const double mask = static_cast<double>((1 << bits) - 1);
    parts.push_back(b.Binary("bitwise_and", moved, b.Scalar(ElementType::kUint8, mask)));
  }
  Shape shape = packed.shape();
  shape.back() *= 8 / bits;
  return b.Reshape(b.Concat(parts, packed.rank()), std::move(shape));
}

// A W', with W [N, K] in blocks along K that share a scale and a zero point.
absl::StatusOr<Results> ImportMatMulNBits(Node& n) {
  Builder& b = n.b;
  const Value &x = n.In(0), &packed = n.In(1);
  const int64_t inner = n.Int("K", 0), outer = n.Int("N", 0), bits = n.Int("bits", 4), block = n.Int("block_size", 0);
  RETURN_IF_ERROR(n.RequireFloat(0));
  RETURN_IF_ERROR(n.RequireRank(0, 1));
  RETURN_IF_ERROR(n.RequireSameElement(0, 2));
  if (n.Has(4)) return Unsupported("g_idx", "blocks of columns in their order");
  if (n.Int("weight_prepacked", 0) != 0) return Unsupported("weight_prepacked", "weights in ONNX's packing");
  if (bits != 2 && bits != 4 && bits != 8) return Unsupported(absl::StrCat("bits=", bits), "2, 4 and 8");
  constexpr int64_t kMost = int64_t{1} << 40;
  if (inner < 1 || outer < 1 || inner > kMost || outer > kMost || block < 16 || block > kMost ||
      (block & (block - 1)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("K ", inner, ", N ", outer, ", block_size ", block, "; the last is a power of 2 from 16 on"));
  }
  const int64_t blocks = (inner + block - 1) / block, in_blob = block * bits / 8;
  RETURN_IF_ERROR(CheckShape(ElementType::kFloat32, {outer, blocks, block}));
  const bool fits = packed.element() == ElementType::kUint8 && Elements(packed.shape()) == outer * blocks * in_blob &&
                    Elements(n.In(2).shape()) == outer * blocks && x.dim(x.rank() - 1) == inner &&
                    (!n.Has(5) || n.In(5).shape() == Shape{outer});
  if (!fits) {
    return absl::InvalidArgumentError(absl::StrCat(
        "weights of ", reference::ToString(packed.shape()), ", scales of ", reference::ToString(n.In(2).shape()),
        " or a bias don't fit K ", inner, ", N ", outer, " and an input of ", reference::ToString(x.shape())));
  }
  const ElementType element = x.element();
  const Value weights = b.Cast(Unpack(b, b.Reshape(packed, {outer, blocks, in_blob}), bits), element);
  Value zero = b.Scalar(element, static_cast<double>(1 << (bits - 1)));
  if (n.Has(3) && n.In(3).element() == ElementType::kUint8) {
    const int64_t in_row = (blocks * bits + 7) / 8;
    if (Elements(n.In(3).shape()) != outer * in_row) {
      return absl::InvalidArgumentError(absl::StrCat("zero points of ", reference::ToString(n.In(3).shape()), ", ",
                                                     outer, " rows of ", in_row, " bytes are expected"));
    }
    const Value all = Unpack(b, b.Reshape(n.In(3), {outer, in_row}), bits);
    zero = b.Reshape(b.Cast(b.Slice(all, {0, 0}, {1, 1}, {outer, blocks}), element), {outer, blocks, 1});
  } else if (n.Has(3)) {
    RETURN_IF_ERROR(n.RequireSameElement(0, 3));
    if (Elements(n.In(3).shape()) != outer * blocks) {
      return absl::InvalidArgumentError(absl::StrCat("zero points of ", reference::ToString(n.In(3).shape())));
    }
    zero = b.Reshape(n.In(3), {outer, blocks, 1});
  }
  const Value real = b.Mul(b.Sub(weights, zero), b.Reshape(n.In(2), {outer, blocks, 1}));
  const Value matrix = b.Slice(b.Reshape(real, {outer, blocks * block}), {0, 0}, {1, 1}, {outer, inner});
  Shape shape = x.shape();
  shape.back() = outer;
  const Value rows = b.Reshape(x, {Elements(x.shape()) / inner, inner});
  Value result = b.Reshape(b.MatMul(rows, matrix, false, /*trans_b=*/true), std::move(shape));
  if (n.Has(5)) result = b.Add(result, n.In(5));
  return Results{result};
}

// An LSTM whose inputs, all at once, and hidden states, step by step, are quantised before they are multiplied.
class QuantisedLstm {
 public:
  explicit QuantisedLstm(Node& n) : n_(n), b_(n.b) {}

  absl::StatusOr<Results> Import() {
    RETURN_IF_ERROR(Check());
    const Quantised x = QuantiseDynamically(b_, n_.In(0));
    const int64_t directions = n_.In(1).dim(0);
    std::vector<Value> hidden(static_cast<size_t>(directions)), last_h, last_c;
    const std::string direction = n_.String("direction", "forward");
    for (int64_t d = 0; d < directions; ++d) {
      const bool reverse = direction == "reverse" || d == 1;
      ASSIGN_OR_RETURN(const Direction run, Run(x, d, reverse));
      hidden[static_cast<size_t>(d)] = b_.Reshape(b_.Concat(run.hidden, 0), {steps_, 1, batch_, size_});
      last_h.push_back(b_.Reshape(run.h, {1, batch_, size_}));
      last_c.push_back(b_.Reshape(run.c, {1, batch_, size_}));
    }
    return Results{b_.Concat(hidden, 1), b_.Concat(last_h, 0), b_.Concat(last_c, 0)};
  }

 private:
  struct Direction {
    std::vector<Value> hidden;  // [1, batch, size] for each step, in the order of time
    Value h, c;
  };

  absl::Status Check() {
    constexpr int64_t kMostSteps = 2000;  // each is written out
    for (size_t i : {0, 1, 2}) RETURN_IF_ERROR(n_.RequireRank(i, 3, 3));
    if (n_.In(0).element() != ElementType::kFloat32 || !IsEightBits(n_.In(1)) || !IsEightBits(n_.In(2))) {
      return Unsupported("other types than float32 inputs and weights of 8 bits", "these");
    }
    for (const auto& [input, what] : {std::pair<size_t, const char*>(4, "sequence_lens"), {7, "peepholes"}}) {
      if (n_.Has(input)) return Unsupported(what, absl::StrCat("layers without ", what));
    }
    for (const char* name : {"clip", "activation_alpha", "activation_beta"}) {
      if (n_.HasAttribute(name)) return Unsupported(name, absl::StrCat("layers without ", name));
    }
    if (n_.Flag("input_forget", false)) return Unsupported("input_forget=1", "input_forget=0");
    const std::vector<std::string> activations = n_.Strings("activations");
    for (size_t i = 0; i < activations.size(); ++i) {
      const std::string name = absl::AsciiStrToLower(activations[i]);
      if (name != (i % 3 == 0 ? "sigmoid" : "tanh")) {
        return Unsupported(absl::StrCat("activation ", Quoted(activations[i])), "Sigmoid, Tanh, Tanh");
      }
    }
    const std::string direction = n_.String("direction", "forward");
    const int64_t directions = n_.In(1).dim(0);
    if ((direction != "forward" && direction != "reverse" && direction != "bidirectional") ||
        directions != (direction == "bidirectional" ? 2 : 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("direction ", Quoted(direction), " with ", directions, " sets of weights"));
    }
    steps_ = n_.In(0).dim(0);
    batch_ = n_.In(0).dim(1);
    inputs_ = n_.In(0).dim(2);
    size_ = n_.In(2).dim(1);
    if (steps_ < 1 || steps_ * directions > kMostSteps) {
      return Unsupported(absl::StrCat(steps_, " steps"), absl::StrCat("1 to ", kMostSteps, " of all directions"));
    }
    const bool fits = size_ > 0 && n_.In(1).shape() == Shape{directions, inputs_, 4 * size_} &&
                      n_.In(2).shape() == Shape{directions, size_, 4 * size_} &&
                      (!n_.Has(3) || n_.In(3).shape() == Shape{directions, 8 * size_});
    if (!fits || n_.Int("hidden_size", size_) != size_) {
      return absl::InvalidArgumentError(absl::StrCat("weights of ", reference::ToString(n_.In(1).shape()), " and ",
                                                     reference::ToString(n_.In(2).shape()), " or the bias don't fit"));
    }
    for (size_t i : {5, 6}) {
      if (n_.Has(i) && n_.In(i).shape() != Shape{directions, batch_, size_}) {
        return absl::InvalidArgumentError(absl::StrCat("input ", i, " is ", reference::ToString(n_.In(i).shape())));
      }
    }
    for (size_t i : {8, 9, 10, 11}) {
      const Shape& shape = n_.In(i).shape();
      if (shape == Shape{directions} || shape == Shape{directions, 4 * size_}) continue;
      return absl::InvalidArgumentError(absl::StrCat("input ", i, " is ", reference::ToString(shape)));
    }
    return absl::OkStatus();
  }

  // Entry d of the first dimension, in the shape [columns] or [] that broadcasts along the gates; or a matrix.
  Value Entry(const Value& x, int64_t d) {
    Shape part = x.shape();
    part[0] = 1;
    std::vector<int64_t> starts(part.size(), 0);
    starts[0] = d;
    const Value slice = b_.Slice(x, starts, std::vector<int64_t>(part.size(), 1), part);
    part.erase(part.begin());
    return b_.Reshape(slice, std::move(part));
  }

  // Rows [rows, k] times the weights of direction d, in real numbers.
  Value Product(const Value& rows, const Quantised& q, size_t weights, int64_t d) {
    const size_t scale = weights == 1 ? 8 : 10;
    const Value sum =
        b_.MatMul(Centre(b_, rows, q.zero_point), Centre(b_, Entry(n_.In(weights), d), Entry(n_.In(scale + 1), d)),
                  false, false, ElementType::kInt32);
    return b_.Mul(b_.Cast(sum, ElementType::kFloat32), b_.Mul(q.scale, Entry(n_.In(scale), d)));
  }

  absl::StatusOr<Direction> Run(const Quantised& x, int64_t d, bool reverse) {
    const int64_t width = 4 * size_;
    Value projected = Product(b_.Reshape(x.value, {steps_ * batch_, inputs_}), x, 1, d);
    if (n_.Has(3)) {
      const Value both = Entry(n_.In(3), d);
      projected = b_.Add(projected, b_.Add(b_.Slice(both, {0}, {1}, {width}), b_.Slice(both, {width}, {1}, {width})));
    }
    const Value zeros = b_.Broadcast(b_.Scalar(ElementType::kFloat32, 0), {batch_, size_});
    Direction run{std::vector<Value>(static_cast<size_t>(steps_)), n_.Has(5) ? Entry(n_.In(5), d) : zeros,
                  n_.Has(6) ? Entry(n_.In(6), d) : zeros};
    for (int64_t i = 0; i < steps_; ++i) {
      const int64_t step = reverse ? steps_ - 1 - i : i;
      const Quantised h = QuantiseDynamically(b_, run.h);
      const Value gates =
          b_.Add(b_.Slice(projected, {step * batch_, 0}, {1, 1}, {batch_, width}), Product(h.value, h, 2, d));
      auto gate = [&](int64_t g) { return b_.Slice(gates, {0, g * size_}, {1, 1}, {batch_, size_}); };
      const Value input = b_.Unary("sigmoid", gate(0)), output = b_.Unary("sigmoid", gate(1));
      const Value forget = b_.Unary("sigmoid", gate(2)), candidate = b_.Unary("tanh", gate(3));
      run.c = b_.Add(b_.Mul(forget, run.c), b_.Mul(input, candidate));
      run.h = b_.Mul(output, b_.Unary("tanh", run.c));
      run.hidden[static_cast<size_t>(step)] = b_.Reshape(run.h, {1, batch_, size_});
    }
    return run;
  }

  Node& n_;
  Builder& b_;
  int64_t steps_ = 0, batch_ = 0, inputs_ = 0, size_ = 0;
};

absl::StatusOr<Results> ImportDynamicQuantizeLstm(Node& n) {
  for (size_t i : {1, 2, 8, 9, 10, 11}) {
    if (!n.Has(i)) return absl::InvalidArgumentError(absl::StrCat("input ", i, " is missing"));
  }
  return QuantisedLstm(n).Import();
}

}  // namespace

Family MicrosoftMatMulFamily() {
  static const std::vector<Operator> operators = {
      {"DynamicQuantizeLSTM", {1}, 3, 12, ImportDynamicQuantizeLstm},
      {"DynamicQuantizeMatMul", {1}, 3, 5, ImportQuantisedProduct},
      {"MatMulIntegerToFloat", {1}, 4, 7, ImportQuantisedProduct},
      {"MatMulNBits", {1}, 3, 6, ImportMatMulNBits},
  };
  return {"products with quantised weights", operators, kMicrosoftDomain};
}

}  // namespace aot::import::onnx
