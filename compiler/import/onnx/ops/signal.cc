// Fourier transforms as products with a constant matrix, windows.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;
using reference::Tensor;
using reference::TensorType;

constexpr double kPi = 3.14159265358979323846;
// Elements of a transform's matrix; a longer transform would want a fast algorithm.
constexpr int64_t kLargestMatrix = int64_t{1} << 26;
constexpr int64_t kLongestWindow = int64_t{1} << 24;

struct Transform {
  int64_t inputs = 0;            // elements that are there along the axis
  int64_t input_components = 0;  // 1: real, 2: complex
  int64_t length = 0;            // of the transform; elements beyond it don't count, missing ones are 0
  bool inverse = false, onesided = false;

  // One-sided transforms have real values on the other side.
  int64_t outputs() const { return onesided && !inverse ? length / 2 + 1 : length; }
  int64_t output_components() const { return onesided && inverse ? 1 : 2; }
};

// The matrix [inputs * input_components, outputs * output_components] of a transform.
absl::StatusOr<Value> Matrix(Node& n, const Transform& t, ElementType element) {
  const int64_t rows = t.inputs * t.input_components, columns = Elements({t.outputs(), t.output_components()});
  if (Elements({rows, columns}) > kLargestMatrix) {
    return Unsupported(absl::StrCat("a Fourier transform of length ", t.length),
                       absl::StrCat("those whose matrix has at most ", kLargestMatrix, " elements"));
  }
  Tensor matrix(TensorType{element, {rows, columns}});
  const int64_t used = t.onesided && t.inverse ? t.length / 2 + 1 : t.length;
  for (int64_t i = 0; i < std::min(t.inputs, used); ++i) {
    // Of a one-sided spectrum, what isn't its own mirror image counts twice.
    const bool mirrored = t.onesided && t.inverse && i != 0 && 2 * i != t.length;
    const double scale = t.inverse ? (mirrored ? 2.0 : 1.0) / static_cast<double>(t.length) : 1.0;
    for (int64_t o = 0; o < t.outputs(); ++o) {
      const double angle = 2 * kPi * static_cast<double>((i * o) % t.length) / static_cast<double>(t.length);
      const double real = scale * std::cos(angle), imaginary = scale * std::sin(angle) * (t.inverse ? 1 : -1);
      const int64_t row = i * t.input_components, column = o * t.output_components();
      matrix.SetFloat(row * columns + column, real);
      if (t.output_components() == 2) matrix.SetFloat(row * columns + column + 1, imaginary);
      if (t.input_components == 1) continue;
      matrix.SetFloat((row + 1) * columns + column, -imaginary);
      if (t.output_components() == 2) matrix.SetFloat((row + 1) * columns + column + 1, real);
    }
  }
  return n.b.Constant(std::move(matrix));
}

// x [..., inputs, input_components] to [..., outputs, output_components].
absl::StatusOr<Value> Apply(Node& n, const Value& x, const Transform& t) {
  const ElementType wide = x.element() == ElementType::kFloat64 ? x.element() : ElementType::kFloat32;
  ASSIGN_OR_RETURN(const Value matrix, Matrix(n, t, wide));
  Shape shape(x.shape().begin(), x.shape().end() - 2);
  const int64_t count = Elements(shape);
  const Value rows = n.b.Reshape(n.b.Cast(x, wide), {count, t.inputs * t.input_components});
  shape.push_back(t.outputs());
  shape.push_back(t.output_components());
  return n.b.Cast(n.b.Reshape(n.b.MatMul(rows, matrix), std::move(shape)), x.element());
}

absl::Status CheckComponents(const Value& x) {
  const int64_t components = x.dim(x.rank() - 1);
  if (components == 1 || components == 2) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the last dimension must be 1 (real) or 2 (complex), not ", components));
}

absl::StatusOr<Results> ImportDft(Node& n) {
  const Value& x = n.In(0);
  RETURN_IF_ERROR(n.RequireFloat(0));
  RETURN_IF_ERROR(n.RequireRank(0, 2));
  RETURN_IF_ERROR(CheckComponents(x));
  int64_t axis = n.version() < 20 ? n.Int("axis", 1) : -2;
  if (n.version() >= 20 && n.Has(2)) {
    ASSIGN_OR_RETURN(axis, n.ConstantInt(2, "the axis"));
  }
  ASSIGN_OR_RETURN(axis, n.Axis(axis, x.rank()));
  if (axis == x.rank() - 1) return absl::InvalidArgumentError("the axis is that of the components");
  Transform t;
  t.inputs = x.dim(axis);
  t.input_components = x.dim(x.rank() - 1);
  t.inverse = n.Flag("inverse", false);
  t.onesided = n.Flag("onesided", false);
  t.length = t.inverse && t.onesided ? 2 * (t.inputs - 1) : t.inputs;
  if (n.Has(1)) {
    ASSIGN_OR_RETURN(t.length, n.ConstantInt(1, "the transform's length"));
  }
  if (t.length < 1 || t.length > kLargestMatrix) {
    return absl::InvalidArgumentError(absl::StrCat("a transform of length ", t.length));
  }
  if (t.onesided && !t.inverse && t.input_components == 2) {
    return absl::InvalidArgumentError("a one-sided transform needs real input");
  }
  // The axis goes next to the components, and back.
  std::vector<int64_t> there, back(static_cast<size_t>(x.rank()));
  for (int64_t i = 0; i < x.rank() - 1; ++i) {
    if (i != axis) there.push_back(i);
  }
  there.push_back(axis);
  there.push_back(x.rank() - 1);
  for (size_t i = 0; i < there.size(); ++i) back[static_cast<size_t>(there[i])] = static_cast<int64_t>(i);
  ASSIGN_OR_RETURN(const Value result, Apply(n, n.b.Transpose(x, std::move(there)), t));
  return Results{n.b.Transpose(result, std::move(back))};
}

// The transforms of overlapping frames of a signal [batch, length, components].
absl::StatusOr<Results> ImportStft(Node& n) {
  Value signal = n.In(0);
  RETURN_IF_ERROR(n.RequireFloat(0));
  RETURN_IF_ERROR(n.RequireRank(0, 2, 3));
  if (signal.rank() == 2) signal = n.b.Reshape(signal, {signal.dim(0), signal.dim(1), 1});
  RETURN_IF_ERROR(CheckComponents(signal));
  ASSIGN_OR_RETURN(const int64_t step, n.ConstantInt(1, "the frame step"));
  int64_t length = n.Has(2) ? Elements(n.In(2).shape()) : signal.dim(1);
  if (n.Has(3)) {
    ASSIGN_OR_RETURN(length, n.ConstantInt(3, "the frame length"));
  }
  if (step < 1 || length < 1 || length > signal.dim(1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("frames of ", length, " in steps of ", step, " from a signal of ", signal.dim(1)));
  }
  const int64_t frames = 1 + (signal.dim(1) - length) / step;
  Transform t;
  t.inputs = t.length = length;
  t.input_components = signal.dim(2);
  t.onesided = n.Flag("onesided", true);
  if (t.onesided && t.input_components == 2) {
    return absl::InvalidArgumentError("a one-sided transform needs real input");
  }
  if (Elements({frames, length}) > kLargestMatrix) {
    return Unsupported(absl::StrCat(frames, " frames of ", length),
                       absl::StrCat("at most ", kLargestMatrix, " elements in all frames"));
  }
  std::vector<int64_t> positions;
  for (int64_t f = 0; f < frames; ++f) {
    for (int64_t i = 0; i < length; ++i) positions.push_back(f * step + i);
  }
  Value framed = n.b.Emit("gather", {{"axis", int64_t{1}}}, {signal, n.b.Int64s(positions)},
                          {signal.element(), {signal.dim(0), frames * length, signal.dim(2)}});
  framed = n.b.Reshape(framed, {signal.dim(0), frames, length, signal.dim(2)});
  if (n.Has(2)) {
    RETURN_IF_ERROR(n.RequireSameElement(0, 2));
    if (n.In(2).shape() != Shape{length}) return absl::InvalidArgumentError("the window must be as long as a frame");
    framed = n.b.Mul(framed, n.b.Reshape(n.In(2), {length, 1}));
  }
  ASSIGN_OR_RETURN(Value result, Apply(n, framed, t));
  return Results{std::move(result)};
}

// a0 - a1 cos(2 pi i / N) + a2 cos(4 pi i / N)
absl::StatusOr<Results> ImportWindow(Node& n) {
  ASSIGN_OR_RETURN(const int64_t size, n.ConstantInt(0, "the window's length"));
  if (size < 0 || size > kLongestWindow) {
    return absl::InvalidArgumentError(
        absl::StrCat("a window of ", size, " elements; 0 to ", kLongestWindow, " are accepted"));
  }
  ASSIGN_OR_RETURN(const ElementType element, ToElementType(n.Int("output_datatype", 1)));
  if (reference::StorageBits(element) == 0 || element == ElementType::kBool) {
    return absl::InvalidArgumentError(absl::StrCat("output_datatype is ", reference::Name(element)));
  }
  double a0 = 0.5, a1 = 0.5, a2 = 0;  // Hann
  if (n.op() == "HammingWindow") {
    a0 = 25.0 / 46;
    a1 = 1 - a0;
  } else if (n.op() == "BlackmanWindow") {
    a0 = 0.42;
    a2 = 0.08;
  }
  const double period = static_cast<double>(n.Flag("periodic", true) ? size : size - 1);
  const bool is_float = reference::IsFloat(element);
  Tensor window(TensorType{is_float ? element : ElementType::kFloat64, {size}});
  for (int64_t i = 0; i < size; ++i) {
    const double angle = period > 0 ? 2 * kPi * static_cast<double>(i) / period : 0;
    window.SetFloat(i, a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle));
  }
  return Results{n.b.Cast(n.b.Constant(std::move(window)), element)};
}

}  // namespace

Family SignalFamily() {
  static const std::vector<Operator> operators = {
      {"BlackmanWindow", {17}, 1, 1, ImportWindow},
      {"DFT", {17, 20}, 1, 3, ImportDft},
      {"HammingWindow", {17}, 1, 1, ImportWindow},
      {"HannWindow", {17}, 1, 1, ImportWindow},
      {"STFT", {17}, 2, 4, ImportStft},
  };
  return {"signal", operators};
}

}  // namespace aot::import::onnx
