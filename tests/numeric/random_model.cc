#include "tests/numeric/random_model.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/onnx/model_builder.h"

namespace aot::numeric {
namespace {

using aot::onnx::AttributeProto;
using aot::onnx::GraphProto;
using aot::onnx::ModelProto;
using aot::onnx::NodeProto;
using aot::onnx::TensorProto;
using import::onnx::FloatAttribute;
using import::onnx::FloatTensor;
using import::onnx::Int64Tensor;
using import::onnx::IntAttribute;
using import::onnx::IntsAttribute;
using import::onnx::StringAttribute;
using reference::ElementType;
using reference::Shape;

using Attributes = std::vector<AttributeProto>;
using Names = std::vector<std::string>;

struct Value {
  std::string name;
  ElementType element;
  Shape shape;
  bool exact;  // the same bits at any optimisation level
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
};

bool IsInteger(ElementType element) {
  return reference::IsSignedInteger(element) || reference::IsUnsignedInteger(element);
}

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {
    proto_.set_ir_version(8);
    proto_.add_opset_import()->set_version(19);
    proto_.mutable_graph()->set_name("random");
  }

  RandomModel Make() {
    AddInput(ElementType::kFloat32, {1, 2 * (1 + Below(3)), 3 + Below(6), 3 + Below(6)});
    AddInput(ElementType::kFloat32, {2, 1 + Below(9), 8});
    AddInput(Below(2) ? ElementType::kInt32 : ElementType::kInt64, {1 + Below(4), 1 + Below(8)});
    if (Below(3) == 0) AddInput(ElementType::kFloat32, {1 + Below(40)});
    const int64_t wanted = 8 + Below(13);
    for (int tries = 0; tries < 120 && proto_.graph().node_size() < wanted; ++tries) Step();
    // All that nothing uses, and one value that is used as well.
    std::map<std::string, bool> outputs;
    for (const NodeProto& node : proto_.graph().node()) {
      for (const std::string& output : node.output()) outputs.emplace(output, true);
      for (const std::string& input : node.input()) outputs.erase(input);
    }
    if (proto_.graph().node_size() > 0) {
      outputs.emplace(proto_.graph().node(static_cast<int>(Below(proto_.graph().node_size()))).output(0), true);
    }
    for (const auto& [name, unused] : outputs) proto_.mutable_graph()->add_output()->set_name(name);
    result_.model.bytes = proto_.SerializeAsString();
    return std::move(result_);
  }

 private:
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  float Real() { return static_cast<float>(Below(2001)) / 1000.0f - 1.0f; }
  template <typename T>
  T AnyOf(std::initializer_list<T> values) {
    return *(values.begin() + Below(static_cast<int64_t>(values.size())));
  }

  // A value of that kind, recent ones more often; null if there is none.
  template <typename Predicate>
  const Value* Pick(Predicate fits) {
    std::vector<const Value*> found;
    for (const Value& value : values_) {
      if (fits(value)) found.push_back(&value);
    }
    if (found.empty()) return nullptr;
    const int64_t size = static_cast<int64_t>(found.size());
    return found[static_cast<size_t>(Below(3) ? size - 1 - Below(std::min<int64_t>(size, 3)) : Below(size))];
  }
  const Value* PickFloat(int64_t least_rank = 0, int64_t most_rank = 6) {
    return Pick([&](const Value& v) {
      return v.element == ElementType::kFloat32 && v.rank() >= least_rank && v.rank() <= most_rank;
    });
  }
  const Value* PickExact(bool floats) {
    return Pick([&](const Value& v) {
      return v.exact && (v.element == ElementType::kFloat32) == floats && v.element != ElementType::kBool;
    });
  }
  const Value* PickInteger() {
    return Pick([&](const Value& v) { return IsInteger(v.element); });
  }

  void AddInput(ElementType element, Shape shape) {
    const std::string name = absl::StrCat("in", result_.inputs.size());
    auto& input = *proto_.mutable_graph()->add_input();
    input.set_name(name);
    auto& type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(static_cast<int>(element));
    for (int64_t dim : shape) type.mutable_shape()->add_dim()->set_dim_value(dim);
    reference::Tensor tensor(reference::TensorType{element, shape});
    for (int64_t i = 0; i < tensor.size(); ++i) {
      if (reference::IsFloat(element)) {
        tensor.SetFloat(i, Real());
      } else {
        tensor.SetInt(i, Below(19) - 9);
      }
    }
    result_.inputs.push_back(std::move(tensor));
    values_.push_back({name, element, std::move(shape), true});
  }

  std::string Floats(const Shape& shape, float scale = 1, float offset = 0) {
    int64_t count = 1;
    for (int64_t dim : shape) count *= dim;
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = Real() * scale + offset;
    *proto_.mutable_graph()->add_initializer() = FloatTensor(FreshName("w"), shape, values);
    return last_name_;
  }
  std::string Int64s(const std::vector<int64_t>& values, bool scalar = false) {
    *proto_.mutable_graph()->add_initializer() =
        Int64Tensor(FreshName("i"), scalar ? Shape() : Shape{static_cast<int64_t>(values.size())}, values);
    return last_name_;
  }
  std::string FreshName(const char* prefix) { return last_name_ = absl::StrCat(prefix, ++names_); }

  // Adds a node; takes it back if the importer refuses it, which random attributes may well be.
  bool Add(const std::string& op, const Names& inputs, const Attributes& attributes, bool exact = false,
           int outputs = 1) {
    GraphProto& graph = *proto_.mutable_graph();
    Names names;
    for (int i = 0; i < outputs; ++i) names.push_back(FreshName("v"));
    NodeProto& node = import::onnx::AddNode(graph, op, inputs, names, attributes);
    node.set_name(names.front());
    for (const std::string& name : names) graph.add_output()->set_name(name);
    compiler::Model model;
    model.bytes = proto_.SerializeAsString();
    auto info = compiler::Check(model, {});
    graph.clear_output();
    bool fits = info.ok();
    for (size_t i = 0; fits && i < names.size(); ++i) {
      int64_t elements = 1;
      for (int64_t dim : info->outputs[i].type.shape) elements *= dim;
      fits = elements <= 8192;
    }
    if (!fits) {
      graph.mutable_node()->RemoveLast();
      return false;
    }
    for (size_t i = 0; i < names.size(); ++i) {
      values_.push_back({names[i], info->outputs[i].type.element, info->outputs[i].type.shape, exact});
    }
    ++result_.operators[op];
    absl::StrAppend(&result_.text, absl::StrJoin(names, ","), " = ", op, "(", absl::StrJoin(inputs, ", "), ") ",
                    reference::ToString(info->outputs[0].type.shape), " ",
                    reference::Name(info->outputs[0].type.element), "\n");
    return true;
  }

  // A shape that broadcasts against `shape`: some leading dimensions gone, some 1.
  Shape Broadcastable(const Shape& shape) {
    Shape result(shape.begin() + Below(static_cast<int64_t>(shape.size()) + 1), shape.end());
    for (int64_t& dim : result) {
      if (Below(3) == 0) dim = 1;
    }
    return result;
  }

  void Step() {
    switch (Below(20)) {
      case 0:
      case 1:
        return Unary();
      case 2:
      case 3:
        return Binary();
      case 4:
        return Integers();
      case 5:
        return Truth();
      case 6:
      case 7:
        return Move();
      case 8:
        return PadOrSlice();
      case 9:
        return Join();
      case 10:
      case 11:
        return Convolve();
      case 12:
        return Pool();
      case 13:
        return Normalise();
      case 14:
      case 15:
        return Multiply();
      case 16:
        return Reduce();
      case 17:
        return Resize();
      case 18:
        return Index();
      default:
        return Quantise();
    }
  }

  void Unary() {
    const Value* x = PickFloat();
    if (Below(4) == 0 && (x = PickExact(true))) {
      Add(AnyOf({"Floor", "Ceil", "Round", "Sign", "Relu", "Abs", "Neg"}), {x->name}, {}, true);
    } else if (x) {
      Attributes attributes;
      const std::string op =
          AnyOf({"Relu", "Tanh", "Sigmoid", "Neg", "Abs", "Erf", "LeakyRelu", "Elu", "Selu", "HardSigmoid", "HardSwish",
                 "Softplus", "Softsign", "Celu", "Mish", "Sin", "Cos", "Atan", "ThresholdedRelu"});
      if (op == "ThresholdedRelu") return;  // jumps at its threshold
      if (op == "LeakyRelu" || op == "Elu") attributes.push_back(FloatAttribute("alpha", 0.3f));
      Add(op, {x->name}, attributes, x->exact && (op == "Relu" || op == "Neg" || op == "Abs"));
    }
  }

  void Binary() {
    const Value* x = PickFloat();
    if (!x) return;
    const std::string op = AnyOf({"Add", "Sub", "Mul", "Max", "Min", "Div", "PRelu", "Pow", "Clip"});
    if (op == "Pow") return void(Add(op, {x->name, Floats({}, 0, 2)}, {}));
    if (op == "PRelu") return void(Add(op, {x->name, Floats(Broadcastable(x->shape))}, {}));
    if (op == "Clip")
      return void(Add(op, {x->name, Floats({}, 0.1f, -0.5f), Below(2) ? Floats({}, 0.1f, 0.5f) : ""}, {}, x->exact));
    if (op == "Div") return void(Add(op, {x->name, Floats(Broadcastable(x->shape), 0.5f, 2)}, {}));
    const Value* other = Below(2) ? PickFloat() : nullptr;
    const std::string y = other ? other->name : Floats(Broadcastable(x->shape));
    if (op == "Max" || op == "Min") {
      Names operands = {x->name, y};
      if (Below(3) == 0) operands.push_back(Floats({}));
      return void(Add(op, operands, {}, x->exact && (!other || other->exact)));
    }
    Below(4) == 0 ? Add(op, {y, x->name}, {}) : Add(op, {x->name, y}, {});
  }

  void Integers() {
    const Value* x = PickInteger();
    if (!x) return;
    if (Below(4) == 0) return void(Add(AnyOf({"Abs", "Neg", "Sign", "BitwiseNot"}), {x->name}, {}, true));
    if (Below(4) == 0) {
      const Value* exact = PickExact(Below(2));
      if (exact) {
        Add("Cast", {exact->name}, {IntAttribute("to", AnyOf<int64_t>({1, 2, 3, 5, 6, 7, 9}))}, true);
      }
      return;
    }
    const Value* y = Pick([&](const Value& v) { return v.element == x->element; });
    std::string other = y->name;
    if (Below(2)) {  // a constant, zero among them: division by it has a defined result
      std::vector<int64_t> values;
      const int64_t count = x->rank() > 0 ? x->shape.back() : 1;
      for (int64_t i = 0; i < count; ++i) values.push_back(Below(7) - 3);
      other = Int64s(values);
      if (x->element != ElementType::kInt64) {
        if (!Add("Cast", {other}, {IntAttribute("to", static_cast<int64_t>(x->element))}, true)) return;
        other = values_.back().name;
      }
      x = Pick([&](const Value& v) { return IsInteger(v.element) && v.element == values_.back().element; });
      if (!x) return;
    }
    Add(AnyOf({"Add", "Sub", "Mul", "Div", "Mod", "Min", "Max", "BitwiseAnd", "BitwiseOr", "BitwiseXor"}),
        {x->name, other}, {}, true);
  }

  void Truth() {
    const Value* truth = Pick([](const Value& v) { return v.element == ElementType::kBool; });
    if (truth && Below(2)) {
      const Value* x = PickFloat();
      if (x && Below(2)) return void(Add("Where", {truth->name, x->name, Floats(Broadcastable(x->shape))}, {}));
      if (Below(3) == 0) return void(Add("Cast", {truth->name}, {IntAttribute("to", AnyOf<int64_t>({1, 6, 7}))}, true));
      const Value* other = Pick([](const Value& v) { return v.element == ElementType::kBool; });
      if (Below(3) == 0) return void(Add("Not", {truth->name}, {}, true));
      return void(Add(AnyOf({"And", "Or", "Xor", "Equal"}), {truth->name, other->name}, {}, true));
    }
    const Value* x = PickExact(true);
    if (x)
      Add(AnyOf({"Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"}),
          {x->name, Floats(Broadcastable(x->shape))}, {}, true);
  }

  void Move() {
    const Value* x = Pick([](const Value&) { return true; });
    const int64_t rank = x->rank();
    switch (Below(7)) {
      case 0: {
        std::vector<int64_t> perm(static_cast<size_t>(rank));
        for (int64_t i = 0; i < rank; ++i) perm[static_cast<size_t>(i)] = i;
        for (int64_t i = rank; i > 1; --i)
          std::swap(perm[static_cast<size_t>(i - 1)], perm[static_cast<size_t>(Below(i))]);
        return void(Add("Transpose", {x->name}, {IntsAttribute("perm", perm)}, x->exact));
      }
      case 1:
        return void(Add("Flatten", {x->name}, {IntAttribute("axis", Below(rank + 1))}, x->exact));
      case 2:
        return void(Add("Unsqueeze", {x->name, Int64s({Below(rank + 1)})}, {}, x->exact));
      case 3:
        return void(Add("Squeeze", {x->name}, {}, x->exact));
      case 4: {
        Shape shape = x->shape;
        if (shape.size() >= 2) {
          shape[0] *= shape[1];
          shape.erase(shape.begin() + 1);
        }
        if (!shape.empty()) shape[static_cast<size_t>(Below(static_cast<int64_t>(shape.size())))] = -1;
        return void(Add("Reshape", {x->name, Int64s(shape)}, {}, x->exact));
      }
      case 5:
        return void(Add(AnyOf({"DepthToSpace", "SpaceToDepth"}), {x->name}, {IntAttribute("blocksize", 2)}, x->exact));
      default: {
        std::vector<int64_t> repeats;
        for (int64_t i = 0; i < rank; ++i) repeats.push_back(1 + Below(2));
        return void(Add("Tile", {x->name, Int64s(repeats)}, {}, x->exact));
      }
    }
  }

  void PadOrSlice() {
    const Value* x = Pick([](const Value& v) { return v.rank() > 0; });
    if (!x) return;
    const int64_t rank = x->rank();
    if (Below(2)) {
      std::vector<int64_t> pads;
      for (int64_t i = 0; i < 2 * rank; ++i) pads.push_back(Below(4) ? Below(3) : -1);
      return void(Add("Pad", {x->name, Int64s(pads)},
                      {StringAttribute("mode", AnyOf({"constant", "reflect", "edge", "wrap"}))}, x->exact));
    }
    std::vector<int64_t> starts, ends, axes, steps;
    for (int64_t axis = 0; axis < rank; ++axis) {
      if (Below(2)) continue;
      const int64_t step = AnyOf<int64_t>({1, 1, 2, 3, -1, -2});
      axes.push_back(Below(2) ? axis : axis - rank);
      steps.push_back(step);
      starts.push_back(step > 0 ? Below(3) - 1 : -1 - Below(2));
      ends.push_back(step > 0 ? AnyOf<int64_t>({INT64_MAX, 5, -1}) : INT64_MIN);
    }
    if (axes.empty()) return;
    Add("Slice", {x->name, Int64s(starts), Int64s(ends), Int64s(axes), Int64s(steps)}, {}, x->exact);
  }

  void Join() {
    const Value* x = Pick([](const Value& v) { return v.rank() > 0; });
    if (!x) return;
    const int64_t axis = Below(x->rank());
    if (Below(2))
      return void(Add("Split", {x->name}, {IntAttribute("axis", axis), IntAttribute("num_outputs", 2)}, x->exact, 2));
    const Value* y = Pick([&](const Value& v) { return v.element == x->element && v.rank() == x->rank(); });
    Names operands = {x->name, y->name};
    if (Below(3) == 0) operands.push_back(x->name);
    Add("Concat", operands, {IntAttribute("axis", Below(2) ? axis : axis - x->rank())}, x->exact && y->exact);
  }

  void Convolve() {
    const Value* x = PickFloat(3, 5);
    if (!x) return;
    const int64_t spatial = x->rank() - 2, channels = x->shape[1];
    const int64_t group = AnyOf<int64_t>({1, 1, 2, channels});
    if (group == 0 || channels % group != 0) return;
    const bool transposed = Below(4) == 0;
    const int64_t features = group * (1 + Below(3));
    Shape filter = transposed ? Shape{channels, features / group} : Shape{features, channels / group};
    std::vector<int64_t> strides, dilations, pads;
    for (int64_t i = 0; i < spatial; ++i) {
      filter.push_back(1 + Below(3));
      strides.push_back(1 + Below(2));
      dilations.push_back(1 + (Below(4) == 0));
    }
    for (int64_t i = 0; i < 2 * spatial; ++i) pads.push_back(Below(3));
    Attributes attributes = {IntAttribute("group", group), IntsAttribute("strides", strides),
                             IntsAttribute("dilations", dilations)};
    if (Below(3) == 0) {
      attributes.push_back(StringAttribute("auto_pad", AnyOf({"SAME_UPPER", "SAME_LOWER", "VALID"})));
    } else {
      attributes.push_back(IntsAttribute("pads", pads));
    }
    Names inputs = {x->name, Floats(filter, 0.5f)};
    if (Below(2)) inputs.push_back(Floats({features}));
    if (!Add(transposed ? "ConvTranspose" : "Conv", inputs, attributes)) return;
    // What follows convolutions most often.
    if (Below(3) == 0) BatchNorm(values_.back());
    if (Below(2)) Add(AnyOf({"Relu", "HardSwish", "Sigmoid"}), {values_.back().name}, {});
  }

  void BatchNorm(const Value& value) {
    const Value x = value;
    const Shape c = {x.shape[1]};
    Add("BatchNormalization", {x.name, Floats(c), Floats(c), Floats(c), Floats(c, 0.3f, 1)},
        {FloatAttribute("epsilon", 0.01f)});
  }

  void Pool() {
    const Value* x = PickFloat(3, 5);
    if (!x) return;
    if (Below(4) == 0) return void(Add(AnyOf({"GlobalAveragePool", "GlobalMaxPool"}), {x->name}, {}));
    std::vector<int64_t> kernel, strides, pads;
    for (int64_t i = 0; i < x->rank() - 2; ++i) {
      kernel.push_back(1 + Below(3));
      strides.push_back(1 + Below(3));
    }
    for (int64_t i = 0; i < 2 * (x->rank() - 2); ++i)
      pads.push_back(Below(kernel[static_cast<size_t>(i) % kernel.size()]));
    Attributes attributes = {IntsAttribute("kernel_shape", kernel), IntsAttribute("strides", strides),
                             IntsAttribute("pads", pads), IntAttribute("ceil_mode", Below(2))};
    const bool average = Below(2);
    if (average) attributes.push_back(IntAttribute("count_include_pad", Below(2)));
    Add(average ? "AveragePool" : "MaxPool", {x->name}, attributes, !average && x->exact);
  }

  void Normalise() {
    const Value* x = PickFloat(2);
    if (!x) return;
    const int64_t last = x->shape.back();
    switch (Below(5)) {
      case 0:
        return BatchNorm(*x);
      case 1:
        return void(
            Add("LayerNormalization", {x->name, Floats({last}), Floats({last})}, {FloatAttribute("epsilon", 0.05f)}));
      case 2:
        return void(Add("InstanceNormalization", {x->name, Floats({x->shape[1]}), Floats({x->shape[1]})},
                        {FloatAttribute("epsilon", 0.05f)}));
      case 3:
        return void(Add(AnyOf({"Softmax", "LogSoftmax"}), {x->name}, {IntAttribute("axis", Below(x->rank()))}));
      default:
        return void(Add("LRN", {x->name}, {IntAttribute("size", 1 + Below(4))}));
    }
  }

  void Multiply() {
    const Value* x = PickFloat(1, 4);
    if (!x) return;
    const int64_t k = x->shape.back(), n = AnyOf<int64_t>({1, 3, 8, 17});
    if (x->rank() == 2 && Below(2)) {
      const bool transposed = Below(2);
      return void(
          Add("Gemm", {x->name, Floats(transposed ? Shape{n, k} : Shape{k, n}), Floats(Below(2) ? Shape{n} : Shape{1})},
              {IntAttribute("transB", transposed), FloatAttribute("alpha", 0.5f), FloatAttribute("beta", 2.0f)}));
    }
    if (x->rank() >= 2 && Below(3) == 0) {  // both at run time
      std::vector<int64_t> perm;
      for (int64_t i = 0; i < x->rank(); ++i) perm.push_back(i);
      std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
      const Value copy = *x;
      if (!Add("Transpose", {copy.name}, {IntsAttribute("perm", perm)}, copy.exact)) return;
      return void(Add("MatMul", {copy.name, values_.back().name}, {}));
    }
    Add("MatMul", {x->name, Floats(Below(4) ? Shape{k, n} : Shape{k}, 0.5f)}, {});
  }

  void Reduce() {
    const Value* x = PickFloat(1);
    if (!x) return;
    std::vector<int64_t> axes;
    for (int64_t i = 0; i < x->rank(); ++i) {
      if (Below(2)) axes.push_back(Below(2) ? i : i - x->rank());
    }
    const std::string op = AnyOf({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceSumSquare",
                                  "ReduceLogSumExp", "CumSum"});
    if (op == "CumSum") {
      return void(Add(op, {x->name, Int64s({Below(x->rank())}, true)},
                      {IntAttribute("exclusive", Below(2)), IntAttribute("reverse", Below(2))}));
    }
    Names inputs = {x->name};
    if (!axes.empty()) inputs.push_back(Int64s(axes));
    Add(op, inputs, {IntAttribute("keepdims", Below(2))});
    const Value* exact = PickExact(true);
    if (exact && exact->rank() > 0 && Below(3) == 0) {
      Add(AnyOf({"ArgMax", "ArgMin"}), {exact->name},
          {IntAttribute("axis", Below(exact->rank())), IntAttribute("select_last_index", Below(2))}, true);
    }
  }

  void Resize() {
    const Value* x = PickFloat(3, 4);
    if (!x) return;
    std::vector<float> scales = {1, 1};
    for (int64_t i = 2; i < x->rank(); ++i) scales.push_back(AnyOf({0.5f, 0.75f, 1.0f, 1.5f, 2.0f, 2.3f}));
    const std::string mode = AnyOf({"nearest", "linear", "cubic"});
    *proto_.mutable_graph()->add_initializer() = FloatTensor(FreshName("w"), {x->rank()}, scales);
    const std::string scales_name = last_name_;
    Add("Resize", {x->name, "", scales_name},
        {StringAttribute("mode", mode),
         StringAttribute("coordinate_transformation_mode", AnyOf({"half_pixel", "align_corners", "asymmetric",
                                                                  "pytorch_half_pixel", "half_pixel_symmetric"})),
         StringAttribute("nearest_mode", AnyOf({"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"})),
         IntAttribute("exclude_outside", mode == "cubic" && Below(2)),
         IntAttribute("antialias", mode != "nearest" && Below(3) == 0)});
  }

  void Index() {
    const Value* x = Pick([](const Value& v) { return v.rank() > 0; });
    if (!x) return;
    const int64_t axis = Below(x->rank()), size = x->shape[static_cast<size_t>(axis)];
    if (size == 0) return;
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < 3; ++i) indices.push_back(Below(2 * size) - size);
    if (Below(3)) return void(Add("Gather", {x->name, Int64s(indices)}, {IntAttribute("axis", axis)}, x->exact));
    const Value* exact = PickExact(true);
    if (exact && exact->rank() > 0) {
      Add("TopK", {exact->name, Int64s({1 + Below(std::max<int64_t>(1, exact->shape.back()))})},
          {IntAttribute("largest", Below(2))}, true, 2);
    }
  }

  void Quantise() {
    // Of exact values only: a step at a boundary would be a whole quantum.
    const Value* x = PickExact(true);
    if (!x) return;
    const std::string scale = Floats({}, 0, 0.0625f);
    if (!Add("QuantizeLinear", {x->name, scale}, {}, true)) return;
    Add("DequantizeLinear", {values_.back().name, scale}, {}, true);
  }

  std::mt19937 random_;
  ModelProto proto_;
  RandomModel result_;
  std::vector<Value> values_;
  int names_ = 0;
  std::string last_name_;
};

}  // namespace

RandomModel MakeRandomModel(uint32_t seed) { return Generator(seed).Make(); }

}  // namespace aot::numeric
