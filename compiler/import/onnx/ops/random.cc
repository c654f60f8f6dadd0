// Random numbers. ONNX doesn't say which, and a compiled model gives the same ones in every run: element i of a node is
// a hash of i and of a key, which comes from the node's seed, or from its name if it has none.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

class RandomNumbers {
 public:
  explicit RandomNumbers(Node& n) : b_(n.b) {
    // FNV-1a over what tells nodes apart.
    std::string text(n.name());
    // Dropout's seed is an integer, that of all others a float.
    if (n.HasAttribute("seed"))
      text = n.op() == "Dropout" ? absl::StrCat(n.Int("seed", 0)) : absl::StrCat(n.Float("seed", 0.0));
    for (char c : text) key_ = (key_ ^ static_cast<uint8_t>(c)) * 16777619u;
  }

  // [0, 1), 24 bits each, of the next stream.
  Value Uniform(const Shape& shape) { return b_.Mul(b_.Cast(Bits(shape), ElementType::kFloat32), F(kStep)); }

  // Standard normal, from two streams by Box and Muller's transform.
  Value Normal(const Shape& shape) {
    const Value positive = b_.Add(Uniform(shape), F(kStep));  // (0, 1]: its logarithm is finite
    const Value radius = b_.Unary("sqrt", b_.Mul(b_.Unary("log", positive), F(-2)));
    return b_.Mul(radius, b_.Unary("cos", b_.Mul(Uniform(shape), F(2 * 3.14159265358979323846))));
  }

 private:
  static constexpr double kStep = 1.0 / (1 << 24);

  Value F(double value) { return b_.Scalar(ElementType::kFloat32, value); }
  Value U(uint32_t value) { return b_.Scalar(ElementType::kUint32, static_cast<double>(value)); }

  // 0, 1, 2, ... modulo 2^32, from two short lists.
  Value Count(int64_t count) {
    constexpr int64_t kRow = 4096;
    const int64_t rows = (count + kRow - 1) / kRow;
    auto list = [&](int64_t size, int64_t step, Shape shape) {
      reference::Tensor tensor(reference::TensorType{ElementType::kUint32, std::move(shape)});
      for (int64_t i = 0; i < size; ++i) tensor.SetInt(i, static_cast<uint32_t>(i * step));
      return b_.Constant(std::move(tensor));
    };
    const Value all = b_.Add(list(rows, kRow, {rows, 1}), list(kRow, 1, {1, kRow}));
    return b_.Slice(b_.Reshape(all, {rows * kRow}), {0}, {1}, {count});
  }

  // A bijection of 32 bits that spreads every bit of its argument over all of the result (Ellis' lowbias32).
  Value Mix(Value x) {
    auto fold = [&](uint32_t shift) { x = b_.Binary("bitwise_xor", x, b_.Binary("shift_right", x, U(shift))); };
    fold(16);
    x = b_.Mul(x, U(0x7feb352du));
    fold(15);
    x = b_.Mul(x, U(0x846ca68bu));
    fold(16);
    return x;
  }

  Value Bits(const Shape& shape) {
    ++stream_;
    const Value first = Mix(b_.Binary("bitwise_xor", Count(Elements(shape)), U(key_)));
    const Value second = Mix(b_.Add(first, U(key_ * 747796405u + stream_ * 2891336453u)));
    return b_.Reshape(b_.Binary("shift_right", second, U(8)), shape);
  }

  Builder& b_;
  uint32_t key_ = 2166136261u, stream_ = 0;
};

// The attribute dtype, or what is to be without it.
absl::StatusOr<ElementType> ReadType(Node& n, ElementType otherwise) {
  const int64_t given = n.Int("dtype", 0);
  return given == 0 ? absl::StatusOr<ElementType>(otherwise) : ToElementType(given);
}

// RandomUniform, RandomNormal and, with an input whose shape counts, those of which the name ends in Like.
absl::StatusOr<Results> ImportRandom(Node& n) {
  Builder& b = n.b;
  const bool like = n.Has(0);
  const Shape shape = like ? n.In(0).shape() : n.Ints("shape");
  ASSIGN_OR_RETURN(const ElementType element, ReadType(n, like ? n.In(0).element() : ElementType::kFloat32));
  if (!reference::IsFloat(element)) {
    return absl::InvalidArgumentError(absl::StrCat("dtype is ", reference::Name(element), ", it must be a float type"));
  }
  RETURN_IF_ERROR(CheckShape(ElementType::kFloat32, shape));
  RandomNumbers random(n);
  const bool normal = n.op() == "RandomNormal" || n.op() == "RandomNormalLike";
  const double low = normal ? n.Float("mean", 0.0) : n.Float("low", 0.0);
  const double range = normal ? n.Float("scale", 1.0) : n.Float("high", 1.0) - low;
  const Value unit = normal ? random.Normal(shape) : random.Uniform(shape);
  const Value scaled = b.Mul(unit, b.Scalar(ElementType::kFloat32, range));
  return Results{b.Cast(b.Add(scaled, b.Scalar(ElementType::kFloat32, low)), element)};
}

// 1 with the probability that the input says.
absl::StatusOr<Results> ImportBernoulli(Node& n) {
  RETURN_IF_ERROR(n.RequireFloat(0));
  ASSIGN_OR_RETURN(const ElementType element, ReadType(n, n.In(0).element()));
  const Value probability = n.b.Cast(n.In(0), ElementType::kFloat32);
  return Results{n.b.Cast(n.b.Compare("less", RandomNumbers(n).Uniform(n.In(0).shape()), probability), element)};
}

// Classes drawn by their unnormalised logarithms of probabilities: the largest after Gumbel's noise.
absl::StatusOr<Results> ImportMultinomial(Node& n) {
  Builder& b = n.b;
  RETURN_IF_ERROR(n.RequireFloat(0));
  RETURN_IF_ERROR(n.RequireRank(0, 2, 2));
  ASSIGN_OR_RETURN(const ElementType element, ReadType(n, ElementType::kInt32));
  const int64_t batch = n.In(0).dim(0), classes = n.In(0).dim(1), samples = n.Int("sample_size", 1);
  if (classes < 1 || samples < 1 || (element != ElementType::kInt32 && element != ElementType::kInt64)) {
    return absl::InvalidArgumentError(absl::StrCat(classes, " classes, sample_size ", samples, ", dtype ",
                                                   reference::Name(element), "; int32 and int64 are possible"));
  }
  const Shape shape{batch, samples, classes};
  RETURN_IF_ERROR(CheckShape(ElementType::kFloat32, shape));
  const Value half = b.Scalar(ElementType::kFloat32, 1.0 / (1 << 25));  // between 0 and 1, neither of them
  const Value most = b.Scalar(ElementType::kFloat32, 1 - 1.0 / (1 << 24));
  const Value uniform = b.Binary("min", b.Add(RandomNumbers(n).Uniform(shape), half), most);
  const Value noise = b.Unary("neg", b.Unary("log", b.Unary("neg", b.Unary("log", uniform))));
  const Value scores = b.Add(noise, b.Reshape(b.Cast(n.In(0), ElementType::kFloat32), {batch, 1, classes}));
  const Value best = b.Emit("arg_max", {{"axis", int64_t{2}}, {"select_last", false}}, {scores},
                            {ElementType::kInt64, {batch, samples, 1}});
  return Results{b.Cast(b.Reshape(best, {batch, samples}), element)};
}

// Since opset 12 an input says whether the node trains: then elements are dropped with the probability `ratio`, and
// the others are scaled up. Ratio and mode may come at run time.
absl::StatusOr<Results> ImportDropout(Node& n) {
  Builder& b = n.b;
  const Value& x = n.In(0);
  for (size_t i = 1; i < 3; ++i) {
    if (!n.Has(i) || Elements(n.In(i).shape()) == 1) continue;
    return absl::InvalidArgumentError(absl::StrCat("input ", i, " must have one element"));
  }
  const reference::Tensor* mode = n.Has(2) ? n.In(2).constant() : nullptr;
  if (!n.Has(2) || (mode && mode->GetInt(0) == 0)) {
    // Nothing is dropped; before opset 10 the mask had the input's type.
    const ElementType element = n.version() < 10 ? x.element() : ElementType::kBool;
    return Results{x, n.Wants(1) ? b.Broadcast(b.Scalar(element, 1), x.shape()) : Value()};
  }
  RETURN_IF_ERROR(n.RequireFloat(0));
  RETURN_IF_ERROR(CheckShape(ElementType::kFloat32, x.shape()));
  const Value training = b.Cast(b.Reshape(n.In(2), {}), ElementType::kBool);
  const Value ratio = n.Has(1) ? b.Reshape(n.In(1), {}) : b.Scalar(x.element(), 0.5);
  const Value drawn = RandomNumbers(n).Uniform(x.shape());
  const Value kept = b.Binary("logical_or", b.Compare("greater_equal", drawn, b.Cast(ratio, ElementType::kFloat32)),
                              b.Unary("logical_not", training));
  const Value one = b.Scalar(x.element(), 1);
  const Value scale = b.Where(training, b.Div(one, b.Sub(one, b.Cast(ratio, x.element()))), one);
  return Results{b.Where(kept, b.Mul(x, scale), b.Scalar(x.element(), 0)), kept};
}

}  // namespace

Family RandomFamily() {
  static const std::vector<Operator> operators = {
      {"Bernoulli", {15, 22}, 1, 1, ImportBernoulli},
      {"Multinomial", {7, 22}, 1, 1, ImportMultinomial},
      {"RandomNormal", {1, 22}, 0, 0, ImportRandom},
      {"RandomNormalLike", {1, 22}, 1, 1, ImportRandom},
      {"RandomUniform", {1, 22}, 0, 0, ImportRandom},
      {"RandomUniformLike", {1, 22}, 1, 1, ImportRandom},
      {"Dropout", {1, 6, 7, 10, 12, 13, 22}, 1, 3, ImportDropout},
  };
  return {"random numbers", operators};
}

}  // namespace aot::import::onnx
