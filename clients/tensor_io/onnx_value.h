// Sequences and optionals in ONNX's data files (.pb), as the lists of tensors that an artifact takes and gives.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/reference/tensor.h"
#include "third_party/onnx/onnx.pb.h"

namespace aot::clients {

struct OnnxValue {
  bool present = true;  // false: an optional without an element
  std::vector<reference::Tensor> tensors;
};

// The type of the tensors that a value of `type` consists of. Null if it consists of others: maps, sequences of
// sequences.
const aot::onnx::TypeProto::Tensor* TensorTypeWithin(const aot::onnx::TypeProto& type);
// Whether a value of the type is a list of tensors: a sequence or an optional of one.
bool IsSequence(const aot::onnx::TypeProto& type);

// Reads a TensorProto, SequenceProto or OptionalProto, as `type` says. INVALID_ARGUMENT names `where` (the file) and
// what is wrong; UNIMPLEMENTED: values that don't consist of tensors.
absl::StatusOr<OnnxValue> ParseOnnxValue(absl::string_view bytes, const aot::onnx::TypeProto& type,
                                         absl::string_view where);

// The names of a value's tensors as inputs or outputs of an artifact: a sequence "x" consists of "x[0]", "x[1]", ...
std::vector<std::string> TensorNames(const std::string& name, const aot::onnx::TypeProto& type, size_t count);

}  // namespace aot::clients
