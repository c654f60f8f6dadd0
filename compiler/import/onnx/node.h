// A node as the handler of its operator sees it: typed attributes, inputs, the builder, and the wording of errors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/import/onnx/builder.h"
#include "compiler/import/onnx/proto_reader.h"
#include "compiler/import/onnx/status_macros.h"
#include "compiler/import/onnx/tensor_data.h"

namespace aot::import::onnx {

// The attributes of a function's caller, which its nodes may refer to; empty in the main graph.
using AttributeMap = std::map<std::string, const AttributeProto*>;

class Node {
 public:
  // `version` is the operator's since-version that the model's opset selects. All references must outlive the node.
  Node(const NodeProto& proto, int64_t opset, int version, std::vector<Value> inputs,
       const AttributeMap& caller_attributes, const TensorStorage& storage, Builder& builder)
      : b(builder),
        proto_(proto),
        opset_(opset),
        version_(version),
        inputs_(std::move(inputs)),
        caller_attributes_(caller_attributes),
        storage_(storage) {}

  absl::string_view op() const { return proto_.op_type(); }
  // What tells nodes apart: the name, or that of the first output.
  const std::string& name() const {
    return proto_.name().empty() && proto_.output_size() > 0 ? proto_.output(0) : proto_.name();
  }
  int64_t opset() const { return opset_; }
  int version() const { return version_; }

  // Inputs by position. Beyond what the model gives: absent.
  int64_t input_count() const { return static_cast<int64_t>(inputs_.size()); }
  bool Has(size_t i) const { return i < inputs_.size() && inputs_[i]; }
  const Value& In(size_t i) const { return i < inputs_.size() ? inputs_[i] : absent_; }
  const std::vector<Value>& inputs() const { return inputs_; }
  // Outputs that the model names; optional ones may be absent.
  int output_count() const { return proto_.output_size(); }
  bool Wants(int i) const { return i < proto_.output_size() && !proto_.output(i).empty(); }

  // Attributes. One of the wrong type counts as absent here and fails the node afterwards, through attribute_status().
  bool HasAttribute(absl::string_view name) const { return Find(name) != nullptr; }
  int64_t Int(absl::string_view name, int64_t otherwise);
  bool Flag(absl::string_view name, bool otherwise) { return Int(name, otherwise ? 1 : 0) != 0; }
  double Float(absl::string_view name, double otherwise);
  std::string String(absl::string_view name, absl::string_view otherwise);
  std::vector<int64_t> Ints(absl::string_view name, std::vector<int64_t> otherwise = {});
  std::vector<double> Floats(absl::string_view name);
  std::vector<std::string> Strings(absl::string_view name);
  // Null if absent.
  const AttributeProto* Find(absl::string_view name) const;
  absl::StatusOr<reference::Tensor> TensorAttribute(const AttributeProto& attribute) const;
  absl::StatusOr<reference::Tensor> SparseTensorAttribute(const AttributeProto& attribute) const;
  const absl::Status& attribute_status() const { return attribute_status_; }

  // The values of an input that decides a shape. UNIMPLEMENTED, naming `what`, if they are only known at run time.
  absl::StatusOr<std::vector<int64_t>> ConstantInts(size_t input, absl::string_view what) const;
  absl::StatusOr<std::vector<double>> ConstantFloats(size_t input, absl::string_view what) const;
  absl::StatusOr<int64_t> ConstantInt(size_t input, absl::string_view what) const;  // exactly one element

  // Checks for what models get wrong; each gives INVALID_ARGUMENT with what would be right.
  absl::StatusOr<int64_t> Axis(int64_t axis, int64_t rank, absl::string_view what = "axis") const;  // in [-rank, rank)
  absl::StatusOr<std::vector<int64_t>> Axes(std::vector<int64_t> axes, int64_t rank) const;         // sorted, distinct
  absl::Status RequireRank(size_t input, int64_t least, int64_t most = kHighestRank) const;
  absl::Status RequireSameElement(size_t a, size_t b) const;
  absl::Status RequireFloat(size_t input) const;
  absl::StatusOr<Value> Broadcasting(std::string name, const Value& a, const Value& b,
                                     reference::Attributes attributes = {});
  absl::Status RequireBroadcast(absl::Span<const int64_t> a, absl::Span<const int64_t> b) const;

  // Emission.
  Builder& b;

 private:
  const AttributeProto* Typed(absl::string_view name, AttributeProto::AttributeType type, absl::string_view type_name);
  absl::StatusOr<const reference::Tensor*> ConstantInput(size_t input, absl::string_view what) const;

  const NodeProto& proto_;
  const int64_t opset_;
  const int version_;
  const std::vector<Value> inputs_;
  const Value absent_;
  const AttributeMap& caller_attributes_;
  const TensorStorage& storage_;
  absl::Status attribute_status_;
};

// Valid ONNX that isn't supported: UNIMPLEMENTED "<reason>; supported: <supported>".
absl::Status Unsupported(absl::string_view reason, absl::string_view supported);

}  // namespace aot::import::onnx
