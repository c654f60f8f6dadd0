#include "server/compile_options.h"

#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace aot::server {
namespace {

// More than any real model has; keeps the canonical text of the options short.
constexpr int kMaxBindings = 1024;
constexpr int kMaxRank = 64;
constexpr size_t kMaxNameBytes = 1024;
constexpr int kMaxOptLevel = 3;
constexpr size_t kMaxBindingBytes = 64 << 10;  // of the names and sizes of all bindings, a size counted as 8 bytes
constexpr size_t kMaxBoundBytes = 1 << 20;

absl::Status CheckName(absl::string_view what, absl::string_view name, bool may_be_empty) {
  if (name.empty() && !may_be_empty) return absl::InvalidArgumentError(absl::StrCat(what, " has an empty name"));
  if (name.size() > kMaxNameBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " is a name of ", name.size(), " bytes; at most ", kMaxNameBytes, " are allowed"));
  }
  return absl::OkStatus();
}

absl::Status CheckDim(absl::string_view what, int64_t size) {
  if (size >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " is bound to ", size, "; a size is at least 1"));
}

absl::StatusOr<reference::Tensor> BoundValue(const std::string& name, const aot::v1::TensorValue& value) {
  const auto wrong = [&](auto... what) {
    return absl::InvalidArgumentError(absl::StrCat("the value of input '", name, "' in options.bind_inputs ", what...));
  };
  const auto element = static_cast<reference::ElementType>(value.type());
  const int bits = value.type() < 0 || value.type() > UINT8_MAX ? 0 : reference::StorageBits(element);
  if (bits == 0) return wrong("has the type ", value.type(), ", which no bound input can have");
  if (value.dims_size() > kMaxRank) return wrong("has rank ", value.dims_size(), "; at most ", kMaxRank, " is allowed");
  const reference::Shape shape(value.dims().begin(), value.dims().end());
  const std::optional<int64_t> count = reference::ElementCount(shape);
  if (!count || *count > static_cast<int64_t>(kMaxBoundBytes) ||
      static_cast<size_t>(*count) * static_cast<size_t>(bits / 8) != value.data().size()) {
    return wrong("has ", value.data().size(), " bytes, which isn't what its dimensions say");
  }
  reference::Tensor tensor(reference::TensorType{element, shape});
  std::copy(value.data().begin(), value.data().end(), tensor.mutable_bytes().begin());
  return tensor;
}

absl::Status AddBoundInputs(const aot::v1::CompileOptions& proto, compiler::Options& options) {
  if (proto.bind_inputs_size() > kMaxBindings) {
    return absl::InvalidArgumentError(
        absl::StrCat("options bind ", proto.bind_inputs_size(), " inputs; at most ", kMaxBindings, " are allowed"));
  }
  size_t bytes = 0;
  for (const auto& [name, value] : proto.bind_inputs()) {
    if (absl::Status status = CheckName("an input in options.bind_inputs", name, false); !status.ok()) return status;
    bytes += value.data().size();
    if (bytes > kMaxBoundBytes) {
      return absl::InvalidArgumentError(absl::StrCat("options.bind_inputs has more than ", kMaxBoundBytes, " bytes"));
    }
    absl::StatusOr<reference::Tensor> tensor = BoundValue(name, value);
    if (!tensor.ok()) return tensor.status();
    options.bind_inputs[name] = *std::move(tensor);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<compiler::Options> FromProto(const aot::v1::CompileOptions& proto) {
  compiler::Options options;
  if (proto.target().empty()) {
    return absl::InvalidArgumentError("options.target is missing; RegistryService.ListTargets has the names");
  }
  if (absl::Status status = CheckName("options.target", proto.target(), false); !status.ok()) return status;
  options.target = proto.target();
  if (proto.has_opt_level()) {
    if (proto.opt_level() < 0 || proto.opt_level() > kMaxOptLevel) {
      return absl::InvalidArgumentError(
          absl::StrCat("options.opt_level is ", proto.opt_level(), "; it goes from 0 to ", kMaxOptLevel));
    }
    options.opt_level = proto.opt_level();
  }
  if (proto.dims_size() > kMaxBindings || proto.input_shapes_size() > kMaxBindings) {
    return absl::InvalidArgumentError(absl::StrCat("options bind ", proto.dims_size(), " dimensions and ",
                                                   proto.input_shapes_size(), " input shapes; at most ", kMaxBindings,
                                                   " of each are allowed"));
  }
  for (const auto& [name, size] : proto.dims()) {
    if (absl::Status status = CheckName("a dimension in options.dims", name, false); !status.ok()) return status;
    if (absl::Status status = CheckDim(absl::StrCat("dimension '", name, "'"), size); !status.ok()) return status;
    options.dims[name] = size;
  }
  for (const auto& [name, shape] : proto.input_shapes()) {
    if (absl::Status status = CheckName("an input in options.input_shapes", name, false); !status.ok()) return status;
    if (shape.dims_size() > kMaxRank) {
      return absl::InvalidArgumentError(absl::StrCat("input '", name, "' is given a shape of rank ", shape.dims_size(),
                                                     "; at most ", kMaxRank, " are allowed"));
    }
    for (int64_t size : shape.dims()) {
      // Zero is a shape of ONNX: a tensor without elements.
      if (size < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("a dimension of input '", name, "' is ", size, "; a size is at least 0"));
      }
    }
    options.input_shapes[name] = std::vector<int64_t>(shape.dims().begin(), shape.dims().end());
  }
  if (proto.input_elements_size() > kMaxBindings) {
    return absl::InvalidArgumentError(absl::StrCat("options give the lengths of ", proto.input_elements_size(),
                                                   " inputs; at most ", kMaxBindings, " are allowed"));
  }
  for (const auto& [name, count] : proto.input_elements()) {
    if (absl::Status status = CheckName("an input in options.input_elements", name, false); !status.ok()) return status;
    if (count < compiler::kAbsent) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", name, "' is given ", count, " elements; at least 0 are possible, -1 means absent"));
    }
    options.input_elements[name] = count;
  }
  if (proto.states_size() > kMaxBindings) {
    return absl::InvalidArgumentError(
        absl::StrCat("options name ", proto.states_size(), " states; at most ", kMaxBindings, " are allowed"));
  }
  for (const auto& [input, output] : proto.states()) {
    if (absl::Status status = CheckName("an input in options.states", input, false); !status.ok()) return status;
    if (absl::Status status = CheckName("an output in options.states", output, false); !status.ok()) return status;
    options.states[input] = output;
  }
  for (const aot::v1::Bucket& bucket : proto.buckets()) {
    options.buckets.emplace_back();
    if (bucket.dims_size() > kMaxBindings || proto.buckets_size() > compiler::kMaxBuckets) {
      return absl::InvalidArgumentError(absl::StrCat("options have ", proto.buckets_size(), " buckets, one of ",
                                                     bucket.dims_size(), " dimensions; at most ", compiler::kMaxBuckets,
                                                     " of ", kMaxBindings, " are allowed"));
    }
    for (const auto& [name, size] : bucket.dims()) {
      if (absl::Status status = CheckName("a dimension in options.buckets", name, false); !status.ok()) return status;
      options.buckets.back()[name] = size;
    }
  }
  size_t bytes = 0;
  for (const auto& [name, size] : options.dims) bytes += name.size() + 8;
  for (const auto& [name, shape] : options.input_shapes) bytes += name.size() + 8 * shape.size();
  for (const auto& [name, count] : options.input_elements) bytes += name.size() + 8;
  for (const auto& [input, output] : options.states) bytes += input.size() + output.size();
  for (const auto& bucket : options.buckets)
    for (const auto& [name, size] : bucket) bytes += name.size() + 8;
  if (bytes > kMaxBindingBytes) {
    return absl::InvalidArgumentError(absl::StrCat("options bind dimensions and shapes of ", bytes,
                                                   " bytes in all; at most ", kMaxBindingBytes, " are allowed"));
  }
  if (absl::Status status = AddBoundInputs(proto, options); !status.ok()) return status;
  options.strict_math = proto.strict_math();
  switch (proto.optimize_for()) {
    case v1::OPTIMIZE_FOR_UNSPECIFIED:
    case v1::OPTIMIZE_FOR_BALANCED:
      options.optimize_for = compiler::OptimizeFor::kBalanced;
      break;
    case v1::OPTIMIZE_FOR_LATENCY:
      options.optimize_for = compiler::OptimizeFor::kLatency;
      break;
    case v1::OPTIMIZE_FOR_SIZE:
      options.optimize_for = compiler::OptimizeFor::kSize;
      break;
    default:
      return absl::InvalidArgumentError(absl::StrCat("options.optimize_for is ", static_cast<int>(proto.optimize_for()),
                                                     "; known are latency (1), balanced (2) and size (3)"));
  }
  if (absl::Status status = CheckName("options.model_name", proto.model_name(), true); !status.ok()) return status;
  options.model_name = proto.model_name();
  if (absl::Status status = compiler::CheckOptions(options); !status.ok())
    return absl::Status(status.code(), absl::StrCat("options: ", status.message()));
  return options;
}

absl::Status RefuseUnknownFields(const google::protobuf::Message& message) {
  const google::protobuf::Reflection* reflection = message.GetReflection();
  const google::protobuf::UnknownFieldSet& unknown = reflection->GetUnknownFields(message);
  if (!unknown.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        message.GetTypeName(), " has a field with the number ", unknown.field(0).number(),
        " that this server doesn't know. An option that can't be honoured is refused: use a server of the client's "
        "version, or leave the option out"));
  }
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const google::protobuf::Message& inner = field->is_repeated() ? reflection->GetRepeatedMessage(message, field, i)
                                                                    : reflection->GetMessage(message, field);
      if (absl::Status status = RefuseUnknownFields(inner); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace aot::server
