#include "compiler/import/onnx/model_mutator.h"

#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using aot::onnx::AttributeProto;
using aot::onnx::GraphProto;
using aot::onnx::ModelProto;
using aot::onnx::NodeProto;
using aot::onnx::TensorProto;
using aot::onnx::ValueInfoProto;

class Mutator {
 public:
  Mutator(ModelProto& model, const ModelProto& other, std::minstd_rand& random)
      : model_(model), other_(other), random_(random) {
    Collect(*model_.mutable_graph());
    for (auto& function : *model_.mutable_functions()) CollectNodes(*function.mutable_node());
  }

  void Change() {
    switch (Below(16)) {
      case 0:
        return ChangeOperator();
      case 1:
      case 2:
        return ChangeOperand();
      case 3:
      case 4:
      case 5:
        return ChangeAttribute();
      case 6:
        return AddAttribute();
      case 7:
      case 8:
        return ChangeTensor();
      case 9:
        return ChangeValueInfo();
      case 10:
        return ChangeOpset();
      case 11:
        return AddNode();
      case 12:
        return TakeFromOther();
      case 13:
        return RemoveSomething();
      case 14:
        return ChangeName();
      default:
        return WrapInSubgraph();
    }
  }

 private:
  size_t Below(size_t end) { return end == 0 ? 0 : std::uniform_int_distribution<size_t>(0, end - 1)(random_); }
  template <typename Container>
  auto& AnyOf(Container& container) {
    return container[static_cast<int>(Below(static_cast<size_t>(container.size())))];
  }

  // Small numbers mostly, those at which arithmetic breaks now and then.
  int64_t Number() {
    static constexpr int64_t kEdges[] = {INT64_MIN, INT64_MIN + 1, INT32_MIN, -2,        -1,        0,
                                         255,       65536,         INT32_MAX, INT64_MAX, 1LL << 40, 1LL << 62};
    return Below(4) != 0 ? static_cast<int64_t>(Below(9)) - 2 : kEdges[Below(std::size(kEdges))];
  }
  float Real() {
    static constexpr float kEdges[] = {0.0f, -0.0f, 1e-45f, 3.4e38f, -3.4e38f, 1e30f, -1e10f, 0.5f};
    switch (Below(10)) {
      case 0:
        return std::numeric_limits<float>::quiet_NaN();
      case 1:
        return std::numeric_limits<float>::infinity();
      default:
        return Below(2) != 0 ? kEdges[Below(std::size(kEdges))] : static_cast<float>(Number());
    }
  }
  std::string Text() {
    static const char* const kWords[] = {
        "",           "constant",   "reflect",       "edge",    "wrap",    "linear",     "cubic", "nearest",
        "half_pixel", "SAME_UPPER", "VALID",         "NOTSET",  "add",     "mul",        "max",   "none",
        "ij,jk->ik",  "...i->i",    "bidirectional", "reverse", "Sigmoid", "tanh",       "floor", "SOFTMAX",
        "LOGISTIC",   "BRANCH_LEQ", "LEAF",          "DCR",     "CRD",     "\xff\x00\n'"};
    return kWords[Below(std::size(kWords))];
  }
  std::string ValueName() { return names_.empty() || Below(20) == 0 ? Text() : AnyOf(names_); }

  void CollectNodes(google::protobuf::RepeatedPtrField<NodeProto>& nodes) {
    for (NodeProto& node : nodes) {
      nodes_.push_back(&node);
      for (const std::string& output : node.output()) names_.push_back(output);
      for (AttributeProto& attribute : *node.mutable_attribute()) {
        if (attribute.has_t()) tensors_.push_back(attribute.mutable_t());
        if (attribute.has_g()) Collect(*attribute.mutable_g());
      }
    }
  }
  void Collect(GraphProto& graph) {
    graphs_.push_back(&graph);
    for (TensorProto& tensor : *graph.mutable_initializer()) {
      names_.push_back(tensor.name());
      tensors_.push_back(&tensor);
    }
    for (ValueInfoProto& input : *graph.mutable_input()) {
      names_.push_back(input.name());
      infos_.push_back(&input);
    }
    CollectNodes(*graph.mutable_node());
  }

  void ChangeOperator() {
    if (nodes_.empty()) return;
    static const auto* const operators = [] {
      auto* all = new std::vector<std::pair<std::string, std::string>>();
      for (const Family& family : Families()) {
        for (const Operator& op : family.operators) all->emplace_back(std::string(family.domain), std::string(op.name));
      }
      return all;
    }();
    NodeProto& node = *AnyOf(nodes_);
    const auto& [domain, name] = AnyOf(*operators);
    node.set_domain(domain);
    node.set_op_type(name);
    if (!domain.empty()) {
      auto& import = *model_.add_opset_import();
      import.set_domain(domain);
      import.set_version(static_cast<int64_t>(Below(6)));
    }
  }
  void ChangeOperand() {
    if (nodes_.empty()) return;
    NodeProto& node = *AnyOf(nodes_);
    if (node.input_size() == 0 || Below(4) == 0) {
      node.add_input(ValueName());
    } else if (Below(5) == 0) {
      node.mutable_input()->RemoveLast();
    } else {
      AnyOf(*node.mutable_input()) = ValueName();
    }
    if (Below(10) == 0) node.add_output("extra" + std::to_string(Below(5)));
  }
  void ChangeAttribute() {
    if (nodes_.empty()) return;
    NodeProto& node = *AnyOf(nodes_);
    if (node.attribute_size() == 0) return;
    AttributeProto& attribute = AnyOf(*node.mutable_attribute());
    if (Below(30) == 0) attribute.set_type(static_cast<int>(Below(16)));
    if (attribute.has_i()) attribute.set_i(Number());
    if (attribute.has_f()) attribute.set_f(Real());
    if (attribute.has_s()) attribute.set_s(Text());
    if (attribute.ints_size() > 0) AnyOf(*attribute.mutable_ints()) = Number();
    if (attribute.floats_size() > 0) AnyOf(*attribute.mutable_floats()) = Real();
    if (attribute.strings_size() > 0) AnyOf(*attribute.mutable_strings()) = Text();
    if (attribute.ints_size() > 0 && Below(5) == 0) attribute.mutable_ints()->RemoveLast();
    if (attribute.type() == AttributeProto::INTS && Below(5) == 0) attribute.add_ints(Number());
  }
  void AddAttribute() {
    if (nodes_.empty()) return;
    static const char* const kNames[] = {
        "axis",     "axes",      "pads",         "strides",    "dilations", "kernel_shape", "group",       "mode",
        "auto_pad", "to",        "alpha",        "keepdims",   "perm",      "split",        "num_outputs", "k",
        "value",    "ceil_mode", "output_shape", "block_size", "direction", "hidden_size"};
    AttributeProto& attribute = *AnyOf(nodes_)->add_attribute();
    attribute.set_name(kNames[Below(std::size(kNames))]);
    switch (Below(4)) {
      case 0:
        attribute.set_type(AttributeProto::INT);
        return attribute.set_i(Number());
      case 1:
        attribute.set_type(AttributeProto::FLOAT);
        return attribute.set_f(Real());
      case 2:
        attribute.set_type(AttributeProto::STRING);
        return attribute.set_s(Text());
      default:
        attribute.set_type(AttributeProto::INTS);
        for (size_t i = Below(6); i > 0; --i) attribute.add_ints(Number());
    }
  }
  void ChangeTensor() {
    if (tensors_.empty()) return;
    TensorProto& tensor = *AnyOf(tensors_);
    switch (Below(6)) {
      case 0:
        return tensor.set_data_type(static_cast<int>(Below(28)));
      case 1:
        return tensor.dims_size() > 0 && Below(2) != 0          ? AnyOf(*tensor.mutable_dims()) = Number(),
                                                         void() : tensor.add_dims(static_cast<int64_t>(Below(3)));
      case 2: {
        if (tensor.raw_data().empty()) return;
        AnyOf(*tensor.mutable_raw_data()) = static_cast<char>(Below(256));
        return;
      }
      case 3:
        if (tensor.int64_data_size() > 0) AnyOf(*tensor.mutable_int64_data()) = Number();
        if (tensor.float_data_size() > 0) AnyOf(*tensor.mutable_float_data()) = Real();
        if (tensor.int32_data_size() > 0) AnyOf(*tensor.mutable_int32_data()) = static_cast<int32_t>(Number());
        return;
      case 4: {  // another number of int64 values, as shapes and axes have
        tensor.Clear();
        const size_t count = Below(5);
        tensor.set_data_type(TensorProto::INT64);
        tensor.add_dims(static_cast<int64_t>(count));
        for (size_t i = 0; i < count; ++i) tensor.add_int64_data(Number());
        return;
      }
      default: {
        tensor.set_data_location(TensorProto::EXTERNAL);
        auto& entry = *tensor.add_external_data();
        entry.set_key(Below(2) != 0 ? "location" : Below(2) != 0 ? "offset" : "length");
        entry.set_value(entry.key() == "location" ? "blob" : std::to_string(Number()));
        return;
      }
    }
  }
  void ChangeValueInfo() {
    if (infos_.empty()) return;
    auto& tensor = *AnyOf(infos_)->mutable_type()->mutable_tensor_type();
    if (Below(3) == 0) return tensor.set_elem_type(static_cast<int>(Below(28)));
    auto& dims = *tensor.mutable_shape()->mutable_dim();
    if (dims.empty() || Below(4) == 0) {
      dims.Add()->set_dim_value(static_cast<int64_t>(Below(4)));
    } else if (Below(4) == 0) {
      dims.RemoveLast();
    } else {
      AnyOf(dims).set_dim_value(Below(8) == 0 ? Number() : static_cast<int64_t>(Below(5)));
    }
  }
  void ChangeOpset() {
    if (model_.opset_import_size() > 0)
      AnyOf(*model_.mutable_opset_import()).set_version(static_cast<int64_t>(Below(29)));
  }
  void AddNode() {
    if (nodes_.empty()) return;
    const NodeProto& source = *AnyOf(nodes_);
    GraphProto& graph = *AnyOf(graphs_);
    NodeProto node = source;
    for (std::string& output : *node.mutable_output()) output += "x";
    if (node.output_size() > 0 && Below(2) != 0 && graph.output_size() > 0) {
      AnyOf(*graph.mutable_output()).set_name(node.output(0));
    }
    *graph.add_node() = std::move(node);
  }
  void TakeFromOther() {
    if (other_.graph().node_size() == 0) return;
    GraphProto& graph = *model_.mutable_graph();
    const NodeProto& node = AnyOf(other_.graph().node());
    *graph.add_node() = node;
    for (const std::string& input : node.input()) {
      if (Below(3) == 0 && !names_.empty()) {
        for (std::string& own : *graph.mutable_node(graph.node_size() - 1)->mutable_input()) {
          if (own == input) own = AnyOf(names_);
        }
      }
      for (const TensorProto& tensor : other_.graph().initializer()) {
        if (tensor.name() == input) *graph.add_initializer() = tensor;
      }
      for (const ValueInfoProto& info : other_.graph().input()) {
        if (info.name() == input) *graph.add_input() = info;
      }
    }
    if (node.output_size() > 0) graph.add_output()->set_name(node.output(0));
  }
  void RemoveSomething() {
    GraphProto& graph = *AnyOf(graphs_);
    switch (Below(4)) {
      case 0:
        if (graph.node_size() > 1) graph.mutable_node()->DeleteSubrange(static_cast<int>(Below(graph.node_size())), 1);
        return;
      case 1:
        if (graph.initializer_size() > 0) graph.mutable_initializer()->RemoveLast();
        return;
      case 2:
        if (graph.input_size() > 0) graph.mutable_input()->RemoveLast();
        return;
      default:
        for (NodeProto& node : *graph.mutable_node()) {
          if (node.attribute_size() > 0 && Below(2) != 0) node.mutable_attribute()->RemoveLast();
        }
    }
  }
  void ChangeName() {
    if (nodes_.empty()) return;
    NodeProto& node = *AnyOf(nodes_);
    if (node.output_size() > 0 && Below(2) != 0) AnyOf(*node.mutable_output()) = ValueName();
    if (model_.graph().output_size() > 0) AnyOf(*model_.mutable_graph()->mutable_output()).set_name(ValueName());
  }
  // An If around a node of the main graph, or a Loop: names from outside stay visible within.
  void WrapInSubgraph() {
    GraphProto& graph = *model_.mutable_graph();
    if (graph.node_size() == 0 || graph.ByteSizeLong() > 4096) return;
    NodeProto& node = AnyOf(*graph.mutable_node());
    if (node.output_size() == 0) return;
    GraphProto body;
    *body.add_node() = node;
    for (const std::string& output : node.output()) body.add_output()->set_name(output);
    NodeProto outer;
    outer.mutable_output()->CopyFrom(node.output());
    outer.add_input(ValueName());
    auto add_graph = [&](const char* name) {
      AttributeProto& attribute = *outer.add_attribute();
      attribute.set_name(name);
      attribute.set_type(AttributeProto::GRAPH);
      *attribute.mutable_g() = body;
    };
    if (Below(2) != 0) {
      outer.set_op_type("If");
      add_graph("then_branch");
      add_graph("else_branch");
    } else {
      outer.set_op_type("Loop");
      outer.add_input("");
      body.add_input()->set_name("step");
      body.add_input()->set_name("go");
      auto* go = body.mutable_output()->Add();
      go->set_name("go");
      for (int i = body.output_size() - 1; i > 0; --i) body.mutable_output()->SwapElements(i, i - 1);
      add_graph("body");
    }
    node = std::move(outer);
  }

  ModelProto& model_;
  const ModelProto& other_;
  std::minstd_rand& random_;
  std::vector<NodeProto*> nodes_;
  std::vector<GraphProto*> graphs_;
  std::vector<TensorProto*> tensors_;
  std::vector<ValueInfoProto*> infos_;
  std::vector<std::string> names_;
};

}  // namespace

void MutateModel(ModelProto& model, const ModelProto& other, std::minstd_rand& random) {
  for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes) {
    Mutator(model, other, random).Change();
  }
}

}  // namespace aot::import::onnx
