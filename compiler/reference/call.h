// One evaluation in progress: checked access to the operands and attributes of an operation, for the files of this
// folder that implement operations.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/reference/evaluate.h"
#include "compiler/reference/tensor.h"

namespace aot::reference {

// Access remembers the first mistake and goes on with a harmless value; the caller looks at ok() once, before it
// computes:
//
//   const Tensor& input = call.Operand(0, "input");
//   int64_t axis = call.Axis("axis", input);
//   if (!call.ok()) return call.status();
//
// Lives for one Evaluate; not thread-safe.
class Call {
 public:
  Call(const Operation& operation, absl::Span<const Tensor* const> operands)
      : operation_(operation), operands_(operands) {}

  const std::string& name() const { return operation_.name; }
  int operand_count() const { return static_cast<int>(operands_.size()); }
  int result_count() const { return static_cast<int>(operation_.results.size()); }

  // A required operand, or an empty tensor after a mistake.
  const Tensor& Operand(int index, absl::string_view operand_name);
  // Null if it is absent.
  const Tensor* OptionalOperand(int index) const;
  const TensorType& Result(int index = 0);

  // Attributes. An absent flag is false; every other attribute must be there unless a default is given.
  bool Flag(absl::string_view attribute);
  int64_t Int(absl::string_view attribute);
  int64_t Int(absl::string_view attribute, int64_t absent) { return Find(attribute) ? Int(attribute) : absent; }
  double Float(absl::string_view attribute);
  std::string String(absl::string_view attribute);
  std::vector<double> Floats(absl::string_view attribute);
  // One entry for each of `count` dimensions (or `count` entries in all); after a mistake `count` zeros.
  std::vector<int64_t> Ints(absl::string_view attribute, size_t count);
  std::vector<int64_t> Ints(absl::string_view attribute);
  // An axis of the tensor; 0 after a mistake.
  int64_t Axis(absl::string_view attribute, const Tensor& tensor);

  // Records INVALID_ARGUMENT "name: parts..." unless the condition holds. Gives the condition.
  template <class... Parts>
  bool Require(bool condition, const Parts&... parts) {
    if (!condition) Record(absl::InvalidArgumentError(absl::StrCat(name(), ": ", parts...)));
    return condition;
  }
  // Records UNIMPLEMENTED unless the condition holds.
  bool RequireSupported(bool condition, ElementType type);
  bool RequireFloat(const Tensor& tensor) { return RequireSupported(IsFloat(tensor.element()), tensor.element()); }
  bool RequireNumeric(const Tensor& tensor);
  bool RequireShape(absl::string_view what, absl::Span<const int64_t> actual, absl::Span<const int64_t> expected);
  bool RequireElement(absl::string_view what, ElementType actual, ElementType expected);

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

 private:
  const Attribute* Find(absl::string_view attribute) const;
  template <class T>
  T Get(absl::string_view attribute, absl::string_view kind);
  void Record(absl::Status status);

  const Operation& operation_;
  absl::Span<const Tensor* const> operands_;
  absl::Status status_;
};

using Results = absl::StatusOr<std::vector<Tensor>>;
using KernelFunction = Results (*)(Call& call);

inline Results OneResult(Tensor tensor) {
  std::vector<Tensor> results;
  results.push_back(std::move(tensor));
  return results;
}

// A row of the registration table (kernels.h).
struct Kernel {
  const char* name;
  KernelFunction function;
};

}  // namespace aot::reference
