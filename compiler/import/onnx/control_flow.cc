// If, Loop, Scan and SequenceMap. Subgraphs are written out in place: an If whose condition is only known at run time
// computes both branches and selects, loops are unrolled.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/extents.h"
#include "compiler/import/onnx/graph_importer.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/select.h"
#include "compiler/import/onnx/shape_error.h"
#include "compiler/import/onnx/status_macros.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;
using Values = std::vector<Value>;

// Nodes that one loop may become.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
constexpr int64_t kMostUnrolledNodes = 500;
#else
constexpr int64_t kMostUnrolledNodes = 100'000;
#endif

const GraphProto* FindGraph(const NodeProto& node, absl::string_view name) {
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == name && attribute.has_g()) return &attribute.g();
  }
  return nullptr;
}

bool AllKnown(const Values& values) {
  return std::all_of(values.begin(), values.end(), [](const Value& value) { return !value || value.known(); });
}

absl::Status RequireTensor(const Value& value, absl::string_view what) {
  if (value.is_tensor()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " is ", KindName(value), ", a tensor is expected"));
}

absl::Status RequireCondition(const Value& value) {
  RETURN_IF_ERROR(RequireTensor(value, "its condition"));
  if (Elements(value.shape()) == 1) return absl::OkStatus();
  return absl::InvalidArgumentError("its condition must have one element");
}

// A truth value that is known while importing.
std::optional<bool> KnownTruth(const Value& value) {
  if (!value.constant() || value.constant()->size() != 1) return std::nullopt;
  return value.constant()->GetInt(0) != 0;
}

// Entry i of dimension `axis`, which goes away.
Value Entry(Builder& b, const Value& x, int64_t axis, int64_t i) {
  Shape shape = x.shape();
  shape[static_cast<size_t>(axis)] = 1;
  std::vector<int64_t> starts(shape.size(), 0);
  starts[static_cast<size_t>(axis)] = i;
  const Value slice = b.Slice(x, starts, std::vector<int64_t>(shape.size(), 1), shape);
  shape.erase(shape.begin() + axis);
  return b.Reshape(slice, std::move(shape));
}

// Values of one shape side by side along a new dimension.
absl::StatusOr<Value> Stack(Builder& b, const Values& values, int64_t axis) {
  Values parts;
  for (const Value& value : values) {
    RETURN_IF_ERROR(RequireTensor(value, "a scan output"));
    if (!(value.type() == values.front().type())) {
      return Unsupported(
          absl::StrCat("a scan output changes its shape from ", reference::ToString(values.front().shape()), " to ",
                       reference::ToString(value.shape())),
          "scan outputs of one shape");
    }
    Shape shape = value.shape();
    if (axis < 0) axis += static_cast<int64_t>(shape.size()) + 1;
    if (axis < 0 || axis > static_cast<int64_t>(shape.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("a scan output axis is outside of ", shape.size() + 1, " dimensions"));
    }
    shape.insert(shape.begin() + axis, 1);
    parts.push_back(b.Reshape(value, std::move(shape)));
  }
  return b.Concat(parts, axis);
}

}  // namespace

absl::StatusOr<Values> GraphImporter::ImportSubgraph(const GraphProto& graph, const Values& inputs, const Frame& frame,
                                                     const Scope& scope) {
  Frame inner = frame;
  ++inner.depth;
  if (inner.depth > kDeepestCall) {
    return absl::InvalidArgumentError(absl::StrCat("graphs and calls are nested deeper than ", kDeepestCall));
  }
  if (static_cast<int>(inputs.size()) != graph.input_size()) {
    return absl::InvalidArgumentError(absl::StrCat("its graph ", Quoted(graph.name()), " takes ", graph.input_size(),
                                                   " inputs, the operator gives ", inputs.size()));
  }
  Scope own;
  own.outer = &scope;
  RETURN_IF_ERROR(AddInitialisers(graph, own));
  for (size_t i = 0; i < inputs.size(); ++i) {
    RETURN_IF_ERROR(Define(graph.input(static_cast<int>(i)).name(), inputs[i], own));
  }
  std::vector<absl::string_view> outputs;
  for (const ValueInfoProto& output : graph.output()) outputs.push_back(output.name());
  const mlir::Location location = builder_.location();
  RETURN_IF_ERROR(ImportNodes(graph.node(), outputs, inner, own));
  builder_.set_location(location);
  builder_.ClearStatus();
  Values results;
  for (const ValueInfoProto& output : graph.output()) {
    ASSIGN_OR_RETURN(std::optional<Value> value, Find(output.name(), own));
    if (!value || !*value) {
      return absl::InvalidArgumentError(
          absl::StrCat("output ", Quoted(output.name()), " of its graph ", Quoted(graph.name()), " is not defined"));
    }
    results.push_back(*std::move(value));
  }
  return results;
}

absl::StatusOr<Values> GraphImporter::ImportControlFlow(const NodeProto& node, const Values& inputs, const Frame& frame,
                                                        const Scope& scope) {
  if (node.op_type() == "If") return ImportIf(node, inputs, frame, scope);
  if (node.op_type() == "FlexAttention") return ImportFlexAttention(node, inputs, frame, scope);
  const GraphProto* body = FindGraph(node, "body");
  if (!body) return absl::InvalidArgumentError("it needs the attribute body");
  if (!AllKnown(inputs)) {
    ReportUnknownOperators(*body, frame);
    return Values();
  }
  if (node.op_type() == "Loop") return ImportLoop(node, *body, inputs, frame, scope);
  if (node.op_type() == "SequenceMap") return ImportSequenceMap(node, *body, inputs, frame, scope);
  return ImportScan(node, *body, inputs, frame, scope);
}

absl::StatusOr<Values> GraphImporter::ImportIf(const NodeProto& node, const Values& inputs, const Frame& frame,
                                               const Scope& scope) {
  const GraphProto* then_branch = FindGraph(node, "then_branch");
  const GraphProto* else_branch = FindGraph(node, "else_branch");
  if (!then_branch || !else_branch || inputs.size() != 1 || !inputs[0]) {
    return absl::InvalidArgumentError("it needs one input and the attributes then_branch and else_branch");
  }
  for (const GraphProto* branch : {then_branch, else_branch}) {
    if (node.output_size() <= branch->output_size()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("it has ", node.output_size(), " outputs, its branch gives ", branch->output_size()));
  }
  const Value& condition = inputs[0];
  if (!condition.known()) {
    ReportUnknownOperators(*then_branch, frame);
    ReportUnknownOperators(*else_branch, frame);
    return Values();
  }
  RETURN_IF_ERROR(RequireCondition(condition));
  if (auto truth = KnownTruth(condition)) return ImportSubgraph(*truth ? *then_branch : *else_branch, {}, frame, scope);

  // A branch that contradicts the bound shapes can't run: models choose by run-time values what fits other shapes.
  const Value truth = builder_.Reshape(builder_.Cast(condition, ElementType::kBool), {});
  const size_t reported = unsupported_.size();
  absl::StatusOr<Values> chosen = ImportSubgraph(*then_branch, {}, frame, scope);
  if (IsShapeError(chosen.status())) unsupported_.resize(reported);
  const size_t reported_else = unsupported_.size();
  absl::StatusOr<Values> other = ImportSubgraph(*else_branch, {}, frame, scope);
  if (IsShapeError(other.status())) unsupported_.resize(reported_else);
  for (const auto* branch : {&chosen, &other}) {
    if (!branch->ok() && !IsShapeError(branch->status())) return branch->status();
  }
  if (!chosen.ok() && !other.ok()) return chosen.status();
  for (const auto* branch : {&chosen, &other}) {
    if (branch->ok()) RETURN_IF_ERROR(RequireNoExtents(**branch, "a branch's output"));
  }
  Values results;
  for (size_t i = 0; i < static_cast<size_t>(node.output_size()); ++i) {
    const Value known = chosen.ok() ? (*chosen)[i] : (*other)[i];
    if (!known.known() || (other.ok() && !(*other)[i].known())) {
      results.push_back(Builder::Unsupported());
      continue;
    }
    Value a = known, b = known;
    if (chosen.ok() && other.ok()) {
      b = (*other)[i];
    } else {
      const absl::Status& impossible = chosen.ok() ? other.status() : chosen.status();
      ASSIGN_OR_RETURN((chosen.ok() ? b : a), Poison(builder_, known, impossible));
    }
    ASSIGN_OR_RETURN(Value selected, Select(builder_, truth, a, b, absl::StrCat("output ", i), "the condition"));
    results.push_back(std::move(selected));
  }
  return results;
}

absl::Status GraphImporter::CheckUnrolling(int64_t nodes_before, int64_t steps) const {
  const int64_t each = nodes_ - nodes_before;
  if (each == 0 || steps <= kMostUnrolledNodes / each) return absl::OkStatus();
  return Unsupported(absl::StrCat("a loop of ", steps, " steps with ", each, " nodes each, which are unrolled"),
                     absl::StrCat("loops of at most ", kMostUnrolledNodes, " nodes when unrolled"));
}

absl::StatusOr<Values> GraphImporter::ImportLoop(const NodeProto& node, const GraphProto& body, const Values& inputs,
                                                 const Frame& frame, const Scope& scope) {
  const size_t carried = inputs.size() < 2 ? 0 : inputs.size() - 2;
  if (inputs.size() < 2 || body.input_size() != static_cast<int>(carried) + 2 ||
      body.output_size() < static_cast<int>(carried) + 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("it has ", inputs.size(), " inputs; its body takes ", body.input_size(), " and gives ",
                     body.output_size(), "; the trip count, the condition and what is carried must come in all"));
  }
  for (size_t i = 2; i < inputs.size(); ++i) {
    if (!inputs[i]) return absl::InvalidArgumentError(absl::StrCat("input ", i, " is missing"));
  }
  const size_t scans = static_cast<size_t>(body.output_size()) - carried - 1;
  int64_t limit = INT64_MAX;
  if (inputs[0]) {
    RETURN_IF_ERROR(RequireTensor(inputs[0], "its trip count"));
    if (!inputs[0].constant() || inputs[0].constant()->size() != 1) {
      return Unsupported("its trip count is only known at run time",
                         "constant trip counts, and conditions within them");
    }
    limit = std::max<int64_t>(0, inputs[0].constant()->GetInt(0));
  }
  // Whether the next step runs; null: it does.
  Value active;
  if (inputs[1]) {
    RETURN_IF_ERROR(RequireCondition(inputs[1]));
    if (auto truth = KnownTruth(inputs[1])) {
      if (!*truth) limit = 0;
    } else {
      active = builder_.Reshape(inputs[1], {});
    }
  }
  Values values(inputs.begin() + 2, inputs.end());
  std::vector<Values> scanned(scans);
  const int64_t nodes_before = nodes_;
  // A loop without steps still has the types of one.
  const int64_t steps = std::max<int64_t>(limit, scans > 0 ? 1 : 0);
  for (int64_t step = 0; step < steps; ++step) {
    Values given = {builder_.Constant([&] {
                      reference::Tensor number(reference::TensorType{ElementType::kInt64, {}});
                      number.SetInt(0, step);
                      return number;
                    }()),
                    active ? active : builder_.Scalar(ElementType::kBool, 1)};
    given.insert(given.end(), values.begin(), values.end());
    ASSIGN_OR_RETURN(Values results, ImportSubgraph(body, given, frame, scope));
    if (!AllKnown(results)) return Values();
    RETURN_IF_ERROR(RequireNoExtents(results, "the body's output"));
    for (size_t s = 0; s < scans; ++s) scanned[s].push_back(results[1 + carried + s]);
    if (limit == 0) break;
    if (active && scans > 0) {
      return Unsupported("the size of its scan outputs depends on a condition that is only known at run time",
                         "loops without scan outputs, or with a constant number of steps");
    }
    for (size_t i = 0; i < carried; ++i) {
      if (!active) {
        values[i] = results[1 + i];
        continue;
      }
      ASSIGN_OR_RETURN(values[i], Select(builder_, active, results[1 + i], values[i], absl::StrCat("output ", i),
                                         "the number of steps"));
    }
    RETURN_IF_ERROR(RequireCondition(results[0]));
    if (auto truth = KnownTruth(results[0])) {
      if (!*truth) break;
    } else {
      const Value next = builder_.Reshape(results[0], {});
      active = active ? builder_.Binary("logical_and", active, next) : next;
    }
    // A condition that is only known at run time ends no unrolling, so all steps count.
    if (step == 0 && active) RETURN_IF_ERROR(CheckUnrolling(nodes_before, limit));
    if (nodes_ - nodes_before > kMostUnrolledNodes || step >= kMostUnrolledNodes) {
      return Unsupported("a loop without an end that is known",
                         absl::StrCat("loops of at most ", kMostUnrolledNodes, " nodes when unrolled"));
    }
  }
  for (size_t s = 0; s < scans; ++s) {
    ASSIGN_OR_RETURN(Value stacked, Stack(builder_, scanned[s], 0));
    if (limit == 0) {
      Shape empty = stacked.shape();
      empty[0] = 0;
      stacked = builder_.Constant(reference::Tensor(reference::TensorType{stacked.element(), std::move(empty)}));
    }
    values.push_back(stacked);
  }
  return values;
}

absl::StatusOr<Values> GraphImporter::ImportScan(const NodeProto& node, const GraphProto& body, const Values& inputs,
                                                 const Frame& frame, const Scope& scope) {
  Builder& b = builder_;
  const int64_t opset = frame.opsets.find("")->second;
  Node n(node, opset, opset < 9 ? 8 : 9, inputs, frame.attributes, storage_, builder_);
  // Version 8 had the lengths of the sequences first, and a batch in dimension 0 of everything.
  const bool batched = opset < 9;
  const size_t skip = batched ? 1 : 0;
  if (batched && n.Has(0)) return Unsupported("sequence_lens", "sequences of one length");
  const int64_t scan_count = n.Int("num_scan_inputs", 0);
  RETURN_IF_ERROR(n.attribute_status());
  const int64_t given = static_cast<int64_t>(inputs.size()) - static_cast<int64_t>(skip);
  const int64_t state_count = given - scan_count;
  if (scan_count < 1 || state_count < 0 || body.input_size() != given || body.output_size() < state_count) {
    return absl::InvalidArgumentError(absl::StrCat("num_scan_inputs is ", scan_count, ", it has ", inputs.size(),
                                                   " inputs, its body takes ", body.input_size(), " and gives ",
                                                   body.output_size()));
  }
  for (size_t i = skip; i < inputs.size(); ++i) {
    if (!inputs[i]) return absl::InvalidArgumentError(absl::StrCat("input ", i, " is missing"));
    RETURN_IF_ERROR(RequireTensor(inputs[i], absl::StrCat("input ", i)));
  }
  const auto states = static_cast<size_t>(state_count), scans = static_cast<size_t>(scan_count);
  const size_t outputs = static_cast<size_t>(body.output_size()) - states;
  auto ints = [&](absl::string_view name, size_t count) -> absl::StatusOr<std::vector<int64_t>> {
    std::vector<int64_t> values = n.Ints(name);
    if (values.empty()) values.assign(count, 0);
    if (values.size() == count) return values;
    return absl::InvalidArgumentError(absl::StrCat(name, " has ", values.size(), " entries, ", count, " are expected"));
  };
  ASSIGN_OR_RETURN(std::vector<int64_t> axes, ints("scan_input_axes", scans));
  ASSIGN_OR_RETURN(const std::vector<int64_t> input_directions,
                   ints(batched ? "directions" : "scan_input_directions", scans));
  ASSIGN_OR_RETURN(const std::vector<int64_t> output_axes, ints("scan_output_axes", outputs));
  ASSIGN_OR_RETURN(const std::vector<int64_t> output_directions, ints("scan_output_directions", outputs));
  RETURN_IF_ERROR(n.attribute_status());

  const int64_t batch = batched ? (inputs[skip].rank() > 0 ? inputs[skip].dim(0) : 0) : 1;
  if (batch < 1) return Unsupported("an empty batch", "batches of at least 1");
  const int64_t nodes_before = nodes_;
  std::vector<Values> finals(states + outputs);  // by output, then by batch entry
  for (int64_t entry = 0; entry < batch; ++entry) {
    Values state, scanned;
    for (size_t i = 0; i < states + scans; ++i) {
      Value value = inputs[skip + i];
      if (batched) {
        if (value.rank() < 1 || value.dim(0) != batch) {
          return absl::InvalidArgumentError(absl::StrCat("input ", skip + i, " must have a batch of ", batch));
        }
        value = Entry(b, value, 0, entry);
      }
      (i < states ? state : scanned).push_back(value);
    }
    int64_t steps = 0;
    for (size_t s = 0; s < scans; ++s) {
      int64_t& axis = axes[s];
      ASSIGN_OR_RETURN(axis, n.Axis(axis, scanned[s].rank(), "scan_input_axes"));
      if (s > 0 && scanned[s].dim(axis) != steps) {
        return absl::InvalidArgumentError("scan inputs have different numbers of steps");
      }
      steps = scanned[s].dim(axis);
    }
    if (steps == 0) return Unsupported("a scan without steps", "at least one step");
    std::vector<Values> collected(outputs);
    for (int64_t step = 0; step < steps; ++step) {
      Values arguments = state;
      for (size_t s = 0; s < scans; ++s) {
        const int64_t at = input_directions[s] != 0 ? steps - 1 - step : step;
        arguments.push_back(Entry(b, scanned[s], axes[s], at));
      }
      ASSIGN_OR_RETURN(Values results, ImportSubgraph(body, arguments, frame, scope));
      if (!AllKnown(results)) return Values();
      RETURN_IF_ERROR(RequireNoExtents(results, "the body's output"));
      if (entry == 0 && step == 0) RETURN_IF_ERROR(CheckUnrolling(nodes_before, steps * batch));
      state.assign(results.begin(), results.begin() + state_count);
      for (const Value& value : state) RETURN_IF_ERROR(RequireTensor(value, "a state"));
      for (size_t o = 0; o < outputs; ++o) {
        Values& list = collected[o];
        list.insert(output_directions[o] != 0 ? list.begin() : list.end(), results[states + o]);
      }
    }
    for (size_t i = 0; i < states; ++i) finals[i].push_back(state[i]);
    for (size_t o = 0; o < outputs; ++o) {
      ASSIGN_OR_RETURN(Value stacked, Stack(b, collected[o], output_axes[o]));
      finals[states + o].push_back(stacked);
    }
  }
  Values results;
  for (Values& entries : finals) {
    if (!batched) {
      results.push_back(entries.front());
      continue;
    }
    ASSIGN_OR_RETURN(Value joined, Stack(b, entries, 0));
    results.push_back(joined);
  }
  return results;
}

}  // namespace aot::import::onnx
