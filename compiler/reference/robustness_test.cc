// Operations with operands, attributes and results that don't fit each other: every mistake must come back as a status.
// Meant to run under the sanitizers as well.
#include "compiler/reference/testing.h"

namespace aot::reference {
namespace {

const char* const kOperations[] = {"abs",         "relu",
                                   "logical_not", "is_inf",
                                   "leaky_relu",  "selu",
                                   "gelu",        "add",
                                   "div",         "pow",
                                   "mod",         "equal",
                                   "logical_and", "shift_left",
                                   "where",       "cast",
                                   "bitcast",     "matmul",
                                   "conv",        "conv_transpose",
                                   "max_pool",    "avg_pool",
                                   "lp_pool",     "reduce_sum",
                                   "reduce_max",  "reduce_mean",
                                   "arg_max",     "cumsum",
                                   "softmax",     "hardmax",
                                   "layer_norm",  "rms_norm",
                                   "batch_norm",  "instance_norm",
                                   "group_norm",  "lrn",
                                   "reshape",     "transpose",
                                   "broadcast",   "slice",
                                   "concat",      "pad",
                                   "gather",      "gather_elements",
                                   "gather_nd",   "scatter_elements",
                                   "scatter_nd",  "one_hot",
                                   "topk",        "resize",
                                   "quantize",    "dequantize"};

const ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat32, ElementType::kFloat32,
                              ElementType::kInt64,   ElementType::kInt64,   ElementType::kInt8,
                              ElementType::kBool,    ElementType::kFloat16, ElementType::kFloat64,
                              ElementType::kString,  ElementType::kUint64,  ElementType::kInt4};

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  int64_t Between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  bool Chance(int percent) { return Between(0, 99) < percent; }

  // Small values mostly; now and then something absurd.
  int64_t Number() {
    constexpr int64_t kAbsurd[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX, -1000000007, int64_t{1} << 31, 0, -1};
    return Chance(90) ? Between(0, 3) : kAbsurd[Between(0, 6)];
  }
  std::vector<int64_t> Numbers(size_t count) {
    std::vector<int64_t> numbers(count);
    for (int64_t& number : numbers) number = Number();
    return numbers;
  }
  Shape AnyShape(size_t rank) {
    Shape shape(rank);
    for (int64_t& size : shape) size = Between(0, 9) == 0 ? 0 : Between(1, 4);
    return shape;
  }
  Tensor AnyTensor(ElementType type, const Shape& shape) {
    Tensor tensor = RandomTensor(type, shape, static_cast<uint32_t>(Between(1, 1000)), -5, 5);
    return tensor;
  }
  ElementType AnyType() { return kTypes[Between(0, static_cast<int64_t>(std::size(kTypes)) - 1)]; }
  std::string AnyOf(std::initializer_list<const char*> names) {
    return *(names.begin() + Between(0, static_cast<int64_t>(names.size()) - 1));
  }

 private:
  std::minstd_rand random_;
};

Attributes AnyAttributes(Generator& g, size_t rank) {
  size_t spatial = rank >= 2 ? rank - 2 : 0;
  Attributes a;
  for (const char* flag :
       {"trans_a", "trans_b", "channels_last", "fmod", "approximate", "saturate", "select_last", "exclusive", "reverse",
        "largest", "antialias", "exclude_outside", "count_include_pad", "detect_negative", "detect_positive"}) {
    if (g.Chance(50)) a[flag] = g.Chance(50);
  }
  for (const char* number : {"axis", "group", "groups", "batch_dims", "size", "p"}) {
    if (g.Chance(95)) a[number] = g.Chance(80) ? g.Between(0, 2) : g.Number();
  }
  for (const char* real :
       {"alpha", "beta", "gamma", "bias", "lambd", "epsilon", "cubic_coeff_a", "extrapolation_value"})
    a[real] = 0.5;
  for (const char* list : {"strides", "dilations", "kernel"}) {
    a[list] = g.Chance(80) ? std::vector<int64_t>(spatial, 1) : g.Numbers(spatial);
  }
  a["pads"] = g.Numbers(2 * spatial);
  a["axes"] = g.Numbers(static_cast<size_t>(g.Between(0, 2)));
  for (const char* list : {"starts", "steps", "begins", "perm"}) a[list] = g.Numbers(g.Chance(90) ? rank : rank + 1);
  a["mode"] = g.AnyOf({"constant", "reflect", "edge", "wrap", "nearest", "linear", "cubic", "rubbish"});
  a["coordinates"] =
      g.AnyOf({"half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize", "half_pixel_symmetric"});
  a["nearest"] = g.AnyOf({"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"});
  a["reduction"] = g.AnyOf({"none", "add", "mul", "min", "max", "rubbish"});
  std::vector<double> scales(rank), roi(2 * rank);
  for (double& scale : scales) scale = g.Chance(95) ? 0.5 * static_cast<double>(g.Between(1, 6)) : -1e300;
  for (double& edge : roi) edge = g.Chance(95) ? 0.25 * static_cast<double>(g.Between(-2, 6)) : 1e300;
  a["scales"] = scales;
  a["roi"] = roi;
  return a;
}

TEST(Robustness, MisfitsGiveAStatus) {
  Generator g(20240607);
  int successes = 0;
  for (int round = 0; round < 60000; ++round) {
    size_t rank = static_cast<size_t>(g.Between(0, 5));
    ElementType type = g.AnyType();
    Shape shape = g.AnyShape(rank);
    std::vector<Tensor> tensors;
    for (int64_t i = g.Between(0, 5); i > 0; --i) {
      bool similar = g.Chance(80);
      tensors.push_back(g.AnyTensor(similar ? type : g.AnyType(),
                                    g.Chance(70) ? shape : g.AnyShape(static_cast<size_t>(g.Between(0, 4)))));
    }
    std::vector<const Tensor*> operands;
    for (const Tensor& tensor : tensors) operands.push_back(g.Chance(95) ? &tensor : nullptr);
    Operation operation;
    operation.name = kOperations[g.Between(0, static_cast<int64_t>(std::size(kOperations)) - 1)];
    operation.attributes = AnyAttributes(g, rank);
    for (int64_t i = g.Between(0, 9) == 0 ? 0 : g.Between(1, 2); i > 0; --i) {
      Shape result = g.Chance(60) ? shape : g.AnyShape(rank);
      operation.results.push_back({g.Chance(80) ? type : g.AnyType(), result});
    }
    absl::StatusOr<std::vector<Tensor>> run = Evaluate(operation, operands);
    if (!run.ok()) {
      EXPECT_EQ(run.status().message().substr(0, operation.name.size()), operation.name) << run.status();
      continue;
    }
    ++successes;
    ASSERT_LE(run->size(), operation.results.size()) << operation.name;
    for (size_t i = 0; i < run->size(); ++i) {
      EXPECT_TRUE((*run)[i].type() == operation.results[i]) << operation.name << " result " << i;
    }
  }
  // The generator must not be so wild that nothing gets past the checks.
  EXPECT_GT(successes, 2000);
}

TEST(Robustness, DataThatDoesNotMatchItsType) {
  std::vector<uint8_t> bytes(7);
  Tensor torn({ElementType::kFloat32, {2}}, nullptr, bytes);
  EXPECT_EQ(RunFailing("abs", {}, {&torn}, torn.type()),
            "abs: operand 0 of shape 2 and type float32 has 7 bytes of data, which does not match");
  Tensor untyped;
  EXPECT_NE(RunFailing("abs", {}, {&untyped}, {ElementType::kFloat32, {}}), "");
}

}  // namespace
}  // namespace aot::reference
