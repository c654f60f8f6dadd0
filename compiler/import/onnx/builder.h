// Emits nn operations, or evaluates them at once where everything they need is known.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/reference/evaluate.h"
#include "compiler/reference/tensor.h"

// The handlers of operators see no MLIR, which keeps their files quick to compile.
namespace mlir {
class Location;
class OpBuilder;
class Value;
}  // namespace mlir

namespace aot::import::onnx {

struct Extent;

// A value of the graph: a tensor, or a sequence or an optional, which exist while importing alone: as lists of tensors.
// A tensor is a constant, a value of the function being built, or (for the results of unsupported nodes) neither.
// Copies mean the same value. A default-constructed Value is an absent optional input of an operator.
class Value {
 public:
  enum class Kind { kTensor, kSequence, kOptional };

  Value() = default;
  explicit operator bool() const { return rep_ != nullptr; }

  Kind kind() const { return rep_->kind; }
  bool is_tensor() const { return rep_->kind == Kind::kTensor; }
  // The tensors of a sequence, or what an optional holds: nothing, a tensor or a sequence. All are known.
  const std::vector<Value>& elements() const { return rep_->elements; }

  // Of tensors. A sequence's element type is type().element; an optional has none.
  const reference::TensorType& type() const { return rep_->type; }
  reference::ElementType element() const { return rep_->type.element; }
  const reference::Shape& shape() const { return rep_->type.shape; }
  int64_t rank() const { return static_cast<int64_t>(rep_->type.shape.size()); }
  int64_t dim(int64_t axis) const { return rep_->type.shape[static_cast<size_t>(axis)]; }
  // Null if the value is only known at run time.
  const reference::Tensor* constant() const { return rep_->constant ? &*rep_->constant : nullptr; }
  // False for what an unsupported node would have given; such values have no type.
  bool known() const { return rep_->constant || rep_->ssa || !is_tensor(); }
  // The dimensions whose sizes only run time knows, ascending; the shape has their bounds, and what lies beyond the
  // sizes means nothing. Handlers of operators need not look at them (extents.h).
  const std::vector<Extent>& extents() const { return rep_->extents; }
  bool operator==(const Value& other) const { return rep_ == other.rep_; }

 private:
  friend class Builder;
  struct Rep {
    Kind kind = Kind::kTensor;
    std::vector<Value> elements;
    reference::TensorType type;
    std::optional<reference::Tensor> constant;
    void* ssa = nullptr;  // the opaque form of an mlir::Value; of a constant: once it was needed
    std::vector<Extent> extents;
  };
  std::shared_ptr<Rep> rep_;
};

// The size of a dimension that only run time knows.
struct Extent {
  int64_t axis = 0;
  Value size;  // int64 [1], at most the dimension. Sizes are equal if they are the same value
};

// "a tensor", "a sequence", "an optional", for messages.
absl::string_view KindName(const Value& value);

// Appends to one block. Shapes that don't fit an operation are the caller's mistake: handlers check before they build.
// What only the sizes of results decide (rank, bytes) is checked here, once for all operators, and kept in status().
class Builder {
 public:
  // Operations go to the insertion point of `ops`, which must outlive the builder.
  explicit Builder(mlir::OpBuilder& ops);

  // Of the operations to come.
  void set_location(mlir::Location location);
  mlir::Location location() const;
  // The first result since ClearStatus that was too large, in bytes or tensors of a sequence, else OK.
  const absl::Status& status() const { return status_; }
  void ClearStatus() { status_ = absl::OkStatus(); }

  Value Constant(reference::Tensor tensor) const;
  Value FromArgument(mlir::Value argument, reference::TensorType type) const;
  static Value Unsupported();
  // Tensors of one element type; their shapes may differ. Counts towards the sequences that an import may hold.
  Value Sequence(reference::ElementType element, std::vector<Value> tensors);
  // Of a tensor or a sequence; of an absent value: without an element.
  static Value Optional(Value element);
  // The value with these extents instead of its own. Sizes that are constants become its shape.
  Value WithExtents(const Value& value, std::vector<Extent> extents);
  // The sizes of all dimensions, int64 [rank].
  Value Dims(const Value& value);
  // The tensor in the function; makes an nn.constant of a constant when first asked.
  mlir::Value Materialise(const Value& value);

  // The one way in which operations come to be. Null operands are absent optional ones.
  std::vector<Value> Emit(const reference::Operation& operation, absl::Span<const Value> operands);
  Value Emit(std::string name, reference::Attributes attributes, absl::Span<const Value> operands,
             reference::TensorType result);

  // Constants. Scalars have rank 0.
  Value Scalar(reference::ElementType element, double value) const;
  Value Int64s(absl::Span<const int64_t> values) const;

  // Elementwise. Operand shapes must broadcast (BroadcastShape below); `like` a says the result's element type.
  Value Unary(std::string name, const Value& x, reference::Attributes attributes = {});
  Value Binary(std::string name, const Value& a, const Value& b, reference::Attributes attributes = {});
  Value Compare(std::string name, const Value& a, const Value& b);  // boolean result
  Value Where(const Value& condition, const Value& a, const Value& b);
  Value Cast(const Value& x, reference::ElementType element, bool saturate = true);
  Value Add(const Value& a, const Value& b) { return Binary("add", a, b); }
  Value Sub(const Value& a, const Value& b) { return Binary("sub", a, b); }
  Value Mul(const Value& a, const Value& b) { return Binary("mul", a, b); }
  Value Div(const Value& a, const Value& b) { return Binary("div", a, b); }

  // Data movement; each gives its operand where it would change nothing. Element counts must match in Reshape.
  Value Reshape(const Value& x, reference::Shape shape);
  Value Transpose(const Value& x, std::vector<int64_t> perm);
  Value Broadcast(const Value& x, reference::Shape shape);
  Value Slice(const Value& x, std::vector<int64_t> starts, std::vector<int64_t> steps, reference::Shape shape);
  Value Concat(const std::vector<Value>& values, int64_t axis);

  // Reductions keep the reduced dimensions as 1.
  Value Reduce(std::string name, const Value& x, std::vector<int64_t> axes);
  // Ranks of at least 2, leading dimensions that broadcast. `result`: the element type, by default that of a.
  Value MatMul(const Value& a, const Value& b, bool trans_a = false, bool trans_b = false,
               std::optional<reference::ElementType> result = std::nullopt);

 private:
  std::optional<std::vector<Value>> Evaluate(const reference::Operation& operation, absl::Span<const Value> operands);

  mlir::OpBuilder& ops_;
  const void* location_;  // the opaque form of an mlir::Location
  absl::Status status_;
  int64_t sequence_elements_ = 0;               // of all sequences so far
  int64_t folded_work_ = 0, folded_bytes_ = 0;  // of all evaluations so far
};

// The product of dimensions that were checked or of some of them; the largest number if only a dimension of 0 kept the
// whole small.
int64_t Elements(absl::Span<const int64_t> dims);

// NumPy's broadcast, or nullopt.
std::optional<reference::Shape> BroadcastShape(absl::Span<const int64_t> a, absl::Span<const int64_t> b);

}  // namespace aot::import::onnx
