#include "compiler/import/onnx/inputs.h"

#include <map>
#include <optional>
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

// A tensor that the compiled function takes, and what the model says about it.
struct Leaf {
  std::string name;
  const TypeProto::Tensor* declared;
  bool in_sequence;
};

// The type of the tensors that an input consists of; `form` learns what it is to the graph.
absl::StatusOr<const TypeProto::Tensor*> TensorTypeOf(const ValueInfoProto& input, GraphInput& form) {
  const TypeProto* type = &input.type();
  if (type->has_optional_type()) {
    form.optional = true;
    type = &type->optional_type().elem_type();
  }
  if (type->has_sequence_type()) {
    form.sequence = true;
    type = &type->sequence_type().elem_type();
  }
  const char* kind = nullptr;
  switch (type->value_case()) {
    case TypeProto::kTensorType:
      return &type->tensor_type();
    case TypeProto::kSequenceType:
      kind = "a sequence of sequences";
      break;
    case TypeProto::kMapType:
      kind = form.sequence ? "a sequence of maps" : "a map";
      break;
    case TypeProto::kOptionalType:
      kind = "an optional of an optional";
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
      absl::StrCat("unsupported: input ", Quoted(input.name()), ": ",
                   UnsupportedText(kind, "dense tensors, sequences and optionals of dense tensors")));
}

// How many tensors a sequence has by the options: as they say, or as many as have a shape there. Nullopt: they don't
// say.
std::optional<int64_t> GivenElements(const std::string& name, bool sequence, const Options& options) {
  if (auto given = options.input_elements.find(name); given != options.input_elements.end()) return given->second;
  if (!sequence) return options.input_shapes.count(name) ? std::optional<int64_t>(1) : std::nullopt;
  size_t count = 0;
  while (count <= kMostInputElements && options.input_shapes.count(ElementName(name, count))) ++count;
  return count > 0 ? std::optional<int64_t>(count) : std::nullopt;
}

// Takes sequences and optionals apart. What the options don't say goes to `unbound`.
absl::Status Expand(const ValueInfoProto& input, const TypeProto::Tensor& declared, const Options& options,
                    GraphInput& form, std::vector<Leaf>& leaves, std::vector<std::string>& unbound) {
  form.first = leaves.size();
  const std::string name = Printable(input.name());
  if (!form.optional && !form.sequence) {
    if (options.input_elements.count(input.name())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--input-elements ", name, ": the input is a tensor; only sequences and optionals have elements"));
    }
    form.count = 1;
    leaves.push_back({input.name(), &declared, false});
    return absl::OkStatus();
  }
  const std::optional<int64_t> given = GivenElements(input.name(), form.sequence, options);
  const std::string absent =
      form.optional ? absl::StrCat(", or that it is absent with --input-elements ", name, "=absent") : "";
  if (!given) {
    unbound.push_back(form.sequence
                          ? absl::StrCat("input '", name, "' is a sequence: say how many tensors it has with ",
                                         "--input-elements ", name, "=N, or all their shapes with --input-shape ",
                                         ElementName(name, 0), "=...", absent)
                          : absl::StrCat("input '", name, "' is an optional: say that it is present with ",
                                         "--input-elements ", name, "=1", absent));
    return absl::OkStatus();
  }
  const int64_t most = form.sequence ? kMostInputElements : 1;
  const int64_t least = form.sequence ? 0 : 1;
  if (*given == compiler::kAbsent && form.optional) {
    form.present = false;
    return absl::OkStatus();
  }
  if (*given < least || *given > most) {
    return absl::InvalidArgumentError(absl::StrCat("--input-elements ", name, "=", *given, ": ", least, " to ", most,
                                                   " are possible", form.optional ? ", or absent" : ""));
  }
  form.count = static_cast<size_t>(*given);
  for (size_t i = 0; i < form.count; ++i) {
    leaves.push_back({form.sequence ? ElementName(input.name(), i) : input.name(), &declared, form.sequence});
  }
  return absl::OkStatus();
}

// The shape that an option gives a tensor, or null.
const std::vector<int64_t>* GivenShape(const std::string& name, const Options& options) {
  if (auto value = options.bind_inputs.find(name); value != options.bind_inputs.end()) return &value->second.shape();
  auto shape = options.input_shapes.find(name);
  return shape == options.input_shapes.end() ? nullptr : &shape->second;
}

// The symbols that --input-shape and --bind-input bind, checked against fixed dimensions, --dim and each other.
absl::Status BindSymbols(const std::vector<const TypeProto::Tensor*>& types, const std::vector<Leaf>& leaves,
                         const Options& options, Bindings& bindings) {
  std::set<std::string> symbols;
  for (const TypeProto::Tensor* type : types) {
    for (const Dimension& dim : type->shape().dim()) {
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
  for (const Leaf& leaf : leaves) {
    const std::vector<int64_t>* given = GivenShape(leaf.name, options);
    if (!given) continue;
    const std::vector<int64_t>& shape = *given;
    const bool is_value = options.bind_inputs.count(leaf.name) != 0;
    const std::string option = absl::StrCat(is_value ? "--bind-input " : "--input-shape ", Printable(leaf.name), "=",
                                            is_value ? "a tensor of " : "", reference::ToString(shape));
    for (int64_t size : shape) {
      if (size < 0) return absl::InvalidArgumentError(absl::StrCat(option, " has a negative dimension"));
    }
    if (!leaf.declared->has_shape()) continue;
    const auto& dims = leaf.declared->shape().dim();
    if (dims.size() != static_cast<int>(shape.size())) {
      return absl::InvalidArgumentError(absl::StrCat(option, ": the model's input has ", dims.size(), " dimensions"));
    }
    for (int i = 0; i < dims.size(); ++i) {
      const int64_t size = shape[static_cast<size_t>(i)];
      if (IsFixed(dims[i]) && dims[i].dim_value() != size) {
        return absl::InvalidArgumentError(
            absl::StrCat(option, ": dimension ", i, " is fixed to ", dims[i].dim_value(), " in the model"));
      }
      if (!IsNamed(dims[i]) || leaf.in_sequence) continue;
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

absl::StatusOr<reference::ElementType> ElementTypeOf(const std::string& input, const TypeProto::Tensor& declared) {
  auto element = ToElementType(declared.elem_type());
  if (element.ok()) return element;
  return absl::Status(element.status().code(),
                      absl::StrCat(absl::IsUnimplemented(element.status()) ? "unsupported: " : "", "input ",
                                   Quoted(input), ": ", element.status().message()));
}

// The one type that the options and the model give a tensor; what they leave open goes to `unbound`.
absl::StatusOr<reference::TensorType> BindType(const Leaf& leaf, const Options& options, const Bindings& bindings,
                                               std::vector<std::string>& unbound) {
  reference::TensorType type;
  ASSIGN_OR_RETURN(type.element, ElementTypeOf(leaf.name, *leaf.declared));
  const std::string name = Printable(leaf.name);
  auto value = options.bind_inputs.find(leaf.name);
  if (value != options.bind_inputs.end() && value->second.element() != type.element) {
    return absl::InvalidArgumentError(absl::StrCat("--bind-input ", name, ": a tensor of ",
                                                   reference::Name(value->second.element()), "; the input is ",
                                                   reference::Name(type.element)));
  }
  if (const std::vector<int64_t>* given = GivenShape(leaf.name, options)) {
    type.shape = *given;
  } else if (!leaf.declared->has_shape()) {
    unbound.push_back(absl::StrCat("input '", name, "' has no shape: bind it with --input-shape ", name, "=..."));
  } else {
    const auto& dims = leaf.declared->shape().dim();
    for (int i = 0; i < dims.size(); ++i) {
      auto binding = bindings.find(dims[i].dim_param());
      if (IsFixed(dims[i])) {
        type.shape.push_back(dims[i].dim_value());
      } else if (IsNamed(dims[i]) && binding != bindings.end()) {
        type.shape.push_back(binding->second.size);
      } else if (IsNamed(dims[i])) {
        const std::string symbol = Printable(dims[i].dim_param());
        unbound.push_back(absl::StrCat("input '", name, "' has symbolic dimension '", symbol, "' at position ", i,
                                       ": bind it with --dim ", symbol, "=1 or --input-shape ", name, "=..."));
      } else {
        unbound.push_back(absl::StrCat("input '", name, "' has an unknown dimension without a name at position ", i,
                                       ": bind it with --input-shape ", name, "=..."));
      }
    }
  }
  absl::Status shape = CheckShape(type.element, type.shape);
  if (shape.ok()) return type;
  return absl::InvalidArgumentError(absl::StrCat("input ", Quoted(leaf.name), ": ", shape.message()));
}

// An option that names an input that isn't there.
absl::Status NoSuchInput(const std::string& option, const std::set<std::string>& names) {
  return absl::InvalidArgumentError(absl::StrCat(
      option, ": the model has no such input; it has: ",
      absl::StrJoin(names, ", ", [](std::string* out, const std::string& s) { out->append(Printable(s)); })));
}

}  // namespace

std::string ElementName(absl::string_view sequence, size_t i) { return absl::StrCat(sequence, "[", i, "]"); }

absl::StatusOr<BoundInputs> BindInputs(const GraphProto& graph, const Options& options) {
  BoundInputs bound;
  std::set<std::string> names, leaf_names;
  std::vector<const TypeProto::Tensor*> types;
  std::vector<Leaf> leaves;
  std::vector<std::string> unbound;
  for (const ValueInfoProto* input : ModelInputs(graph)) {
    if (input->name().empty()) return absl::InvalidArgumentError("a graph input has no name");
    if (!names.insert(input->name()).second) {
      return absl::InvalidArgumentError(absl::StrCat("two graph inputs have the name ", Quoted(input->name())));
    }
    GraphInput form;
    form.name = input->name();
    ASSIGN_OR_RETURN(const TypeProto::Tensor* type, TensorTypeOf(*input, form));
    types.push_back(type);
    RETURN_IF_ERROR(Expand(*input, *type, options, form, leaves, unbound));
    // Sequences without elements have an element type as well.
    ASSIGN_OR_RETURN(form.element, ElementTypeOf(form.name, *type));
    bound.inputs.push_back(std::move(form));
  }
  for (const Leaf& leaf : leaves) {
    if (leaf_names.insert(leaf.name).second && (!leaf.in_sequence || !names.count(leaf.name))) continue;
    return absl::UnimplementedError(absl::StrCat(
        "unsupported: ",
        UnsupportedText(absl::StrCat("two inputs of the name ", Quoted(leaf.name), ", one of them in a sequence"),
                        "names without brackets")));
  }
  for (const auto& [name, count] : options.input_elements) {
    if (!names.count(name)) return NoSuchInput(absl::StrCat("--input-elements ", Printable(name), "=", count), names);
  }
  if (unbound.empty()) {
    for (const auto& [name, shape] : options.input_shapes) {
      const std::string option = absl::StrCat("--input-shape ", Printable(name), "=", reference::ToString(shape));
      if (!leaf_names.count(name)) return NoSuchInput(option, leaf_names);
      if (options.bind_inputs.count(name)) {
        return absl::InvalidArgumentError(absl::StrCat(option, ": --bind-input gives that input its value already"));
      }
    }
    for (const auto& [name, value] : options.bind_inputs) {
      if (!leaf_names.count(name)) return NoSuchInput(absl::StrCat("--bind-input ", Printable(name)), leaf_names);
    }
  }
  Bindings bindings;
  RETURN_IF_ERROR(BindSymbols(types, leaves, options, bindings));
  for (const Leaf& leaf : leaves) {
    ASSIGN_OR_RETURN(reference::TensorType type, BindType(leaf, options, bindings, unbound));
    bound.tensors.push_back({leaf.name, std::move(type)});
  }
  if (!unbound.empty()) return absl::FailedPreconditionError(absl::StrJoin(unbound, "\n"));
  return bound;
}

}  // namespace aot::import::onnx
