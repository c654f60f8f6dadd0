#include "compiler/import/onnx/inputs.h"

#include <map>
#include <set>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/onnx/status_macros.h"
#include "compiler/import/onnx/tensor_data.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using compiler::Options;
using compiler::ValueInfo;
using Dimension = aot::onnx::TensorShapeProto::Dimension;

// A symbol's size and what bound it, for messages about contradictions.
struct Binding {
  int64_t size = 0;
  std::string source;
};
using Bindings = std::map<std::string, Binding>;

bool IsFixed(const Dimension& dim) { return dim.has_dim_value() && dim.dim_value() >= 0; }
bool IsNamed(const Dimension& dim) { return dim.has_dim_param() && !dim.dim_param().empty(); }

std::vector<const ValueInfoProto*> ModelInputs(const GraphProto& graph) {
  absl::flat_hash_set<absl::string_view> initialisers;
  for (const TensorProto& tensor : graph.initializer()) initialisers.insert(tensor.name());
  for (const SparseTensorProto& tensor : graph.sparse_initializer()) initialisers.insert(tensor.values().name());
  std::vector<const ValueInfoProto*> inputs;
  for (const ValueInfoProto& input : graph.input()) {
    if (!initialisers.contains(input.name())) inputs.push_back(&input);
  }
  return inputs;
}

absl::Status CheckIsTensor(const ValueInfoProto& input) {
  const char* kind = nullptr;
  switch (input.type().value_case()) {
    case TypeProto::kTensorType:
      return absl::OkStatus();
    case TypeProto::kSequenceType:
      kind = "a sequence";
      break;
    case TypeProto::kMapType:
      kind = "a map";
      break;
    case TypeProto::kOptionalType:
      kind = "an optional";
      break;
    case TypeProto::kSparseTensorType:
      kind = "a sparse tensor";
      break;
    case TypeProto::kOpaqueType:
      kind = "an opaque value";
      break;
    case TypeProto::VALUE_NOT_SET:
      return absl::InvalidArgumentError(absl::StrCat("input ", Quoted(input.name()), " has no type"));
  }
  return absl::UnimplementedError(
      absl::StrCat("unsupported: input ", Quoted(input.name()), ": ", UnsupportedText(kind, "dense tensors")));
}

// The symbols that --input-shape binds, checked against fixed dimensions, --dim and each other.
absl::Status BindSymbols(const std::vector<const ValueInfoProto*>& inputs, const Options& options, Bindings& bindings) {
  std::set<std::string> symbols;
  for (const ValueInfoProto* input : inputs) {
    for (const Dimension& dim : input->type().tensor_type().shape().dim()) {
      if (IsNamed(dim)) symbols.insert(dim.dim_param());
    }
  }
  for (const auto& [name, size] : options.dims) {
    if (!symbols.count(name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--dim ", Printable(name), "=", size, ": no input has a dimension of that name; ",
          symbols.empty()
              ? "all are fixed or unnamed"
              : absl::StrCat("there are: ", absl::StrJoin(symbols, ", ", [](std::string* out, const std::string& s) {
                               out->append(Printable(s));
                             }))));
    }
    if (size < 0) return absl::InvalidArgumentError(absl::StrCat("--dim ", Printable(name), "=", size, " is negative"));
    bindings[name] = {size, "--dim"};
  }
  for (const ValueInfoProto* input : inputs) {
    auto given = options.input_shapes.find(input->name());
    if (given == options.input_shapes.end()) continue;
    const std::vector<int64_t>& shape = given->second;
    const std::string option =
        absl::StrCat("--input-shape ", Printable(input->name()), "=", reference::ToString(shape));
    for (int64_t size : shape) {
      if (size < 0) return absl::InvalidArgumentError(absl::StrCat(option, " has a negative dimension"));
    }
    if (!input->type().tensor_type().has_shape()) continue;
    const auto& dims = input->type().tensor_type().shape().dim();
    if (dims.size() != static_cast<int>(shape.size())) {
      return absl::InvalidArgumentError(absl::StrCat(option, ": the model's input has ", dims.size(), " dimensions"));
    }
    for (int i = 0; i < dims.size(); ++i) {
      const int64_t size = shape[static_cast<size_t>(i)];
      if (IsFixed(dims[i]) && dims[i].dim_value() != size) {
        return absl::InvalidArgumentError(
            absl::StrCat(option, ": dimension ", i, " is fixed to ", dims[i].dim_value(), " in the model"));
      }
      if (!IsNamed(dims[i])) continue;
      auto [binding, added] = bindings.try_emplace(dims[i].dim_param(), Binding{size, option});
      if (!added && binding->second.size != size) {
        return absl::InvalidArgumentError(absl::StrCat(option, ": dimension ", Quoted(dims[i].dim_param()),
                                                       " is already bound to ", binding->second.size, " by ",
                                                       binding->second.source));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ValueInfo>> BindInputs(const GraphProto& graph, const Options& options) {
  const std::vector<const ValueInfoProto*> inputs = ModelInputs(graph);
  std::set<std::string> names;
  for (const ValueInfoProto* input : inputs) {
    if (input->name().empty()) return absl::InvalidArgumentError("a graph input has no name");
    if (!names.insert(input->name()).second) {
      return absl::InvalidArgumentError(absl::StrCat("two graph inputs have the name ", Quoted(input->name())));
    }
    RETURN_IF_ERROR(CheckIsTensor(*input));
  }
  for (const auto& [name, shape] : options.input_shapes) {
    if (names.count(name)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--input-shape ", Printable(name), "=", reference::ToString(shape), ": the model has no such input; it has: ",
        absl::StrJoin(names, ", ", [](std::string* out, const std::string& s) { out->append(Printable(s)); })));
  }
  Bindings bindings;
  RETURN_IF_ERROR(BindSymbols(inputs, options, bindings));

  std::vector<ValueInfo> result;
  std::vector<std::string> unbound;
  for (const ValueInfoProto* input : inputs) {
    const auto& tensor = input->type().tensor_type();
    ValueInfo info{input->name(), {}};
    auto element = ToElementType(tensor.elem_type());
    if (absl::IsUnimplemented(element.status())) {
      return absl::UnimplementedError(
          absl::StrCat("unsupported: input ", Quoted(input->name()), ": ", element.status().message()));
    }
    if (!element.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", Quoted(input->name()), ": ", element.status().message()));
    }
    info.type.element = *element;
    const std::string name = Printable(input->name());
    auto given = options.input_shapes.find(input->name());
    if (given != options.input_shapes.end()) {
      info.type.shape = given->second;
    } else if (!tensor.has_shape()) {
      unbound.push_back(absl::StrCat("input '", name, "' has no shape: bind it with --input-shape ", name, "=..."));
    } else {
      for (int i = 0; i < tensor.shape().dim_size(); ++i) {
        const Dimension& dim = tensor.shape().dim(i);
        auto binding = bindings.find(dim.dim_param());
        if (IsFixed(dim)) {
          info.type.shape.push_back(dim.dim_value());
        } else if (IsNamed(dim) && binding != bindings.end()) {
          info.type.shape.push_back(binding->second.size);
        } else if (IsNamed(dim)) {
          const std::string symbol = Printable(dim.dim_param());
          unbound.push_back(absl::StrCat("input '", name, "' has symbolic dimension '", symbol, "' at position ", i,
                                         ": bind it with --dim ", symbol, "=1 or --input-shape ", name, "=..."));
        } else {
          unbound.push_back(absl::StrCat("input '", name, "' has an unknown dimension without a name at position ", i,
                                         ": bind it with --input-shape ", name, "=..."));
        }
      }
    }
    absl::Status shape = CheckShape(info.type.element, info.type.shape);
    if (!shape.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("input ", Quoted(input->name()), ": ", shape.message()));
    }
    result.push_back(std::move(info));
  }
  if (!unbound.empty()) return absl::FailedPreconditionError(absl::StrJoin(unbound, "\n"));
  return result;
}

}  // namespace aot::import::onnx
