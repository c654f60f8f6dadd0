// MelWeightMatrix: triangular filters between band edges that are equidistant on the mel scale.
//
// The number of bands and the transform's length decide the shape; the sample rate and the frequencies may come at run
// time. The edges are whole numbers of bins, so a rounding error at the wrong place would move one: they are computed
// in float64, with an exponential and a logarithm of that precision (the elementwise operations have float32's).
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Tensor;
using reference::TensorType;

constexpr int64_t kMostBins = int64_t{1} << 20;  // and bands, which are listed while compiling

class MelFilters {
 public:
  explicit MelFilters(Builder& builder) : b_(builder) {}

  // rate, low and high are float64 scalars; the result is float64 [length / 2 + 1, bands].
  Value Matrix(int64_t bands, int64_t length, const Value& rate, const Value& low, const Value& high) {
    const Value lowest = Log(b_.Add(D(1), b_.Div(low, D(700)))), highest = Log(b_.Add(D(1), b_.Div(high, D(700))));
    const Value step = b_.Div(b_.Sub(highest, lowest), D(static_cast<double>(bands + 2)));
    const Value mel = b_.Add(b_.Mul(Count(bands + 2), step), lowest);  // up to a factor
    const Value hertz = b_.Mul(D(700), b_.Sub(Exp(mel), D(1)));
    const Value edges = b_.Unary("floor", b_.Div(b_.Mul(D(static_cast<double>(length + 1)), hertz), rate));
    auto edge = [&](int64_t from) { return b_.Slice(edges, {from}, {1}, {bands}); };
    const Value left = edge(0), centre = edge(1), right = edge(2);
    const int64_t bins = length / 2 + 1;
    const Value bin = b_.Reshape(Count(bins), {bins, 1});
    // Up from the left edge to the centre, a step if both are one bin; down to the right edge.
    const Value width = b_.Sub(centre, left), drop = b_.Sub(right, centre);
    const Value is_step = b_.Compare("equal", width, D(0)), is_centre = b_.Compare("equal", bin, centre);
    const Value rise = b_.Div(b_.Sub(bin, left), b_.Where(is_step, D(1), width));
    const Value rising = And(b_.Compare("greater_equal", bin, left), b_.Compare("less_equal", bin, centre));
    const Value falling = And(b_.Compare("greater_equal", bin, centre), b_.Compare("less", bin, right));
    const Value up = b_.Where(is_step, b_.Where(is_centre, D(1), D(0)), b_.Where(rising, rise, D(0)));
    return b_.Where(falling, b_.Div(b_.Sub(right, bin), b_.Binary("max", drop, D(1))), up);
  }

 private:
  Value D(double value) { return b_.Scalar(ElementType::kFloat64, value); }

  Value Count(int64_t count) {
    Tensor tensor(TensorType{ElementType::kFloat64, {count}});
    for (int64_t i = 0; i < count; ++i) tensor.SetFloat(i, static_cast<double>(i));
    return b_.Constant(std::move(tensor));
  }

  Value And(const Value& x, const Value& y) {
    return b_.Emit("logical_and", {}, {x, y}, {ElementType::kBool, *BroadcastShape(x.shape(), y.shape())});
  }

  // 2^k e^r with |r| <= ln(2) / 2 by its Taylor series, for |k| < 64: arguments up to 44.
  Value Exp(const Value& x) {
    constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;  // fdlibm's split
    const Value k = b_.Unary("round", b_.Mul(x, D(1.44269504088896340736)));
    const Value r = b_.Sub(b_.Sub(x, b_.Mul(k, D(kLn2High))), b_.Mul(k, D(kLn2Low)));
    Value sum = D(1);
    for (int i = 14; i > 0; --i) sum = b_.Add(b_.Mul(b_.Mul(sum, r), D(1.0 / i)), D(1));
    const Value bits = b_.Cast(b_.Unary("abs", k), ElementType::kUint64);
    const Value power =
        b_.Cast(b_.Binary("shift_left", b_.Scalar(ElementType::kUint64, 1), bits), ElementType::kFloat64);
    return b_.Where(b_.Compare("less", k, D(0)), b_.Div(sum, power), b_.Mul(sum, power));
  }

  // From float32's logarithm y: log(x) = y + log(x e^-y), whose argument is close to 1.
  Value Log(const Value& x) {
    const Value y = b_.Cast(b_.Unary("log", b_.Cast(x, ElementType::kFloat32)), ElementType::kFloat64);
    const Value z = b_.Sub(b_.Mul(x, Exp(b_.Unary("neg", y))), D(1));
    const Value square = b_.Mul(z, z);
    return b_.Add(y, b_.Add(b_.Sub(z, b_.Mul(square, D(0.5))), b_.Mul(b_.Mul(square, z), D(1.0 / 3))));
  }

  Builder& b_;
};

absl::StatusOr<Results> ImportMelWeightMatrix(Node& n) {
  ASSIGN_OR_RETURN(const int64_t bands, n.ConstantInt(0, "the number of bands"));
  ASSIGN_OR_RETURN(const int64_t length, n.ConstantInt(1, "the transform's length"));
  ASSIGN_OR_RETURN(const ElementType element, ToElementType(n.Int("output_datatype", 1)));
  if (reference::StorageBits(element) == 0 || element == ElementType::kBool) {
    return absl::InvalidArgumentError(absl::StrCat("output_datatype is ", reference::Name(element)));
  }
  if (bands < 1 || length < 1 || bands > kMostBins || length > kMostBins) {
    return absl::InvalidArgumentError(
        absl::StrCat(bands, " bands and a length of ", length, "; both must be in [1, ", kMostBins, "]"));
  }
  RETURN_IF_ERROR(n.RequireFloat(3));
  RETURN_IF_ERROR(n.RequireFloat(4));
  std::vector<Value> operands;
  for (size_t i : {2, 3, 4}) {
    if (Elements(n.In(i).shape()) != 1)
      return absl::InvalidArgumentError(absl::StrCat("input ", i, " must be a scalar"));
    operands.push_back(n.b.Cast(n.b.Reshape(n.In(i), {}), ElementType::kFloat64));
    const reference::Tensor* constant = operands.back().constant();
    if (constant && !(constant->GetFloat(0) >= (i == 2 ? 1 : 0))) {
      return absl::InvalidArgumentError(
          absl::StrCat(i == 2 ? "the sample rate" : "a frequency", " is ", constant->GetFloat(0)));
    }
  }
  const Value matrix = MelFilters(n.b).Matrix(bands, length, operands[0], operands[1], operands[2]);
  return Results{n.b.Cast(matrix, element)};
}

}  // namespace

Family MelFamily() {
  static const std::vector<Operator> operators = {{"MelWeightMatrix", {17}, 5, 5, ImportMelWeightMatrix}};
  return {"mel filters", operators};
}

}  // namespace aot::import::onnx
