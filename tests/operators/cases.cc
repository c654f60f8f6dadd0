#include "tests/operators/cases.h"

#include <cmath>
#include <initializer_list>

#include "absl/strings/match.h"

namespace aot::tests {
namespace {

using aot::onnx::AttributeProto;
using reference::ElementType;
using reference::Shape;
using reference::Tensor;
using reference::TensorType;

constexpr const char* kMicrosoft = "com.microsoft";
constexpr const char* kMl = "ai.onnx.ml";

AttributeProto I(const std::string& name, int64_t value) { return import::onnx::IntAttribute(name, value); }
AttributeProto F(const std::string& name, float value) { return import::onnx::FloatAttribute(name, value); }
AttributeProto S(const std::string& name, const std::string& value) {
  return import::onnx::StringAttribute(name, value);
}
AttributeProto Is(const std::string& name, const std::vector<int64_t>& v) {
  return import::onnx::IntsAttribute(name, v);
}
AttributeProto Fs(const std::string& name, const std::vector<float>& v) {
  return import::onnx::FloatsAttribute(name, v);
}

const Tensor kAbsent;

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  std::vector<OperatorCase> All() {
    Fused();
    Normalisation();
    Attention();
    GroupQuery();
    Quantised();
    QuantisedProducts();
    Linear();
    SupportVectors();
    Features();
    Trees();
    return std::move(cases_);
  }

 private:
  int64_t Below(int64_t count) { return std::uniform_int_distribution<int64_t>(0, count - 1)(random_); }
  int64_t Size(int64_t most = 6) { return 1 + Below(most); }
  float Real(float low = -2, float high = 2) { return std::uniform_real_distribution<float>(low, high)(random_); }
  Tensor Reals(const Shape& shape, float low = -2, float high = 2) {
    Tensor tensor(TensorType{ElementType::kFloat32, shape});
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.SetFloat(i, Real(low, high));
    return tensor;
  }
  std::vector<float> List(int64_t count, float low = -2, float high = 2) {
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(Real(low, high));
    return values;
  }
  Tensor Ints(ElementType element, const Shape& shape, int64_t low, int64_t high) {
    Tensor tensor(TensorType{element, shape});
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.SetInt(i, low + Below(high - low + 1));
    return tensor;
  }
  Tensor Bytes(ElementType element, const Shape& shape) {
    return element == ElementType::kInt8 ? Ints(element, shape, -128, 127) : Ints(element, shape, 0, 255);
  }
  Tensor Scalar(float value) { return import::onnx::Floats({}, {value}); }

  OperatorCase& Add(const std::string& name, const char* domain, const std::string& op, std::vector<Tensor> inputs,
                    std::vector<AttributeProto> attributes = {}, int outputs = 1) {
    OperatorCase c;
    c.name = op + "." + name;
    c.domain = domain;
    c.op = op;
    c.inputs = std::move(inputs);
    c.attributes = std::move(attributes);
    c.outputs = outputs;
    cases_.push_back(std::move(c));
    return cases_.back();
  }

  void Fused() {
    const Tensor x = Reals({2, 4, 7, 6}), w = Reals({6, 2, 3, 3}), bias = Reals({6});
    const std::vector<AttributeProto> conv = {I("group", 2), Is("pads", {1, 0, 1, 1}), Is("strides", {2, 1})};
    auto activated = [&](const std::string& name, const std::vector<float>& parameters) {
      std::vector<AttributeProto> all = conv;
      all.push_back(S("activation", name));
      if (!parameters.empty()) all.push_back(Fs("activation_params", parameters));
      Add(name, kMicrosoft, "FusedConv", {x, w, bias}, all);
    };
    activated("Relu", {});
    activated("Sigmoid", {});
    activated("Tanh", {});
    activated("LeakyRelu", {0.2f});
    activated("Clip", {-1, 1.5f});
    activated("HardSigmoid", {0.3f, 0.4f});
    std::vector<AttributeProto> sum = conv;
    sum.push_back(S("activation", "Relu"));
    Add("sum", kMicrosoft, "FusedConv", {x, w, bias, Reals({2, 6, 4, 5})}, sum);
    for (const char* activation : {"Relu", "Tanh", "Sigmoid", "Softplus", "Softsign"}) {
      Add(activation, kMicrosoft, "FusedGemm", {Reals({3, 5}), Reals({3, 4}), Reals({4})},
          {I("transA", 1), F("alpha", 0.5f), F("beta", 2), S("activation", activation)});
    }
    Add("LeakyRelu", kMicrosoft, "FusedGemm", {Reals({3, 5}), Reals({4, 5})},
        {I("transB", 1), S("activation", "LeakyRelu"), F("activation_alpha", 0.1f)});
    Add("plain", kMicrosoft, "FusedMatMul", {Reals({2, 3, 4}), Reals({4, 5})}, {F("alpha", 0.25f)});
    Add("transposed", kMicrosoft, "FusedMatMul", {Reals({2, 4, 3}), Reals({2, 5, 4})},
        {I("transA", 1), I("transB", 1)});
    Add("batch", kMicrosoft, "FusedMatMul", {Reals({3, 2, 4}), Reals({4, 2, 5})},
        {I("transBatchA", 1), I("transBatchB", 1)});
    Add("batch_and_transposed", kMicrosoft, "FusedMatMul", {Reals({4, 2, 6, 3}), Reals({4, 2, 6, 5})},
        {I("transBatchA", 1), I("transA", 1), I("transBatchB", 1)});
    Add("vector", kMicrosoft, "FusedMatMul", {Reals({4}), Reals({5, 4})}, {I("transA", 1), I("transB", 1)});
    Add("", kMicrosoft, "BiasGelu", {Reals({3, 4, 5}), Reals({5})});
    Add("", kMicrosoft, "Gelu", {Reals({3, 4, 5})});
    Add("", kMicrosoft, "FastGelu", {Reals({3, 4, 5})});
    Add("bias", kMicrosoft, "FastGelu", {Reals({3, 4, 5}), Reals({5})});
    Add("", kMicrosoft, "QuickGelu", {Reals({3, 5})});
    Add("alpha", kMicrosoft, "QuickGelu", {Reals({3, 5})}, {F("alpha", 0.7f)});
  }

  void Normalisation() {
    const Tensor x = Reals({2, 3, 8}), gamma = Reals({8}), beta = Reals({8}), bias = Reals({8});
    Add("", kMicrosoft, "SkipLayerNormalization", {x, Reals({2, 3, 8}), gamma, beta}, {F("epsilon", 1e-5f)});
    Add("bias", kMicrosoft, "SkipLayerNormalization", {x, Reals({2, 3, 8}), gamma, beta, bias});
    Add("no_beta", kMicrosoft, "SkipLayerNormalization", {x, Reals({1, 3, 8}), gamma, kAbsent, bias});
    Add("flat_skip", kMicrosoft, "SkipLayerNormalization", {x, Reals({3, 8}), gamma});
    Add("", kMicrosoft, "SkipSimplifiedLayerNormalization", {x, Reals({2, 3, 8}), gamma}, {F("epsilon", 1e-6f)});
    Add("bias", kMicrosoft, "SkipSimplifiedLayerNormalization", {x, Reals({2, 3, 8}), gamma, bias});
    Add("", "", "SimplifiedLayerNormalization", {x, gamma}, {F("epsilon", 1e-4f), I("axis", -1)}, 2);
    const Tensor words = Ints(ElementType::kInt32, {2, 3}, 0, 9), segments = Ints(ElementType::kInt32, {2, 3}, 0, 1);
    const Tensor table = Reals({10, 8}), places = Reals({5, 8}), parts = Reals({2, 8});
    Add("", kMicrosoft, "EmbedLayerNormalization", {words, segments, table, places, parts, gamma, beta}, {}, 2);
    Add("mask", kMicrosoft, "EmbedLayerNormalization",
        {words, segments, table, places, parts, gamma, beta, Ints(ElementType::kInt32, {2, 3}, 0, 1)}, {}, 3);
    Add("positions", kMicrosoft, "EmbedLayerNormalization",
        {words, kAbsent, table, places, kAbsent, gamma, beta, kAbsent, Ints(ElementType::kInt32, {2, 3}, 0, 4)}, {}, 3);
  }

  void Attention() {
    const int64_t batch = 2, length = 3, heads = 2, size = 4, hidden = heads * size;
    const Tensor x = Reals({batch, length, 5}), w = Reals({5, 3 * hidden}), bias = Reals({3 * hidden});
    const AttributeProto n = I("num_heads", heads), causal = I("unidirectional", 1);
    const Tensor lengths = import::onnx::Integers(ElementType::kInt32, {batch}, {2, 3});
    const Tensor ends = import::onnx::Integers(ElementType::kInt32, {2 * batch}, {3, 2, 1, 0});
    Add("", kMicrosoft, "Attention", {x, w, bias}, {n});
    Add("causal", kMicrosoft, "Attention", {x, w, bias}, {n, causal});
    Add("lengths", kMicrosoft, "Attention", {x, w, bias, lengths}, {n});
    Add("left_padding", kMicrosoft, "Attention", {x, w, bias, ends}, {n, causal});
    Add("mask", kMicrosoft, "Attention", {x, w, bias, Ints(ElementType::kInt32, {batch, length}, 0, 1)},
        {n, F("mask_filter_value", -50)});
    Add("mask3", kMicrosoft, "Attention", {x, w, bias, Ints(ElementType::kInt32, {batch, length, length}, 0, 1)},
        {n, causal});
    Add("past", kMicrosoft, "Attention",
        {x, w, bias, Ints(ElementType::kInt32, {batch, length + 2}, 0, 1), Reals({2, batch, heads, 2, size})},
        {n, causal, F("scale", 0.3f)}, 2);
    Add("attention_bias", kMicrosoft, "Attention", {x, w, bias, kAbsent, kAbsent, Reals({1, heads, length, length})},
        {n, causal});
    Add("sizes", kMicrosoft, "Attention", {x, Reals({5, 8 + 8 + 12}), Reals({28})},
        {n, Is("qkv_hidden_sizes", {8, 8, 12})});
    const Tensor q = Reals({batch, length, hidden}), k = Reals({batch, 5, hidden}), v = Reals({batch, 5, hidden + 2});
    Add("", kMicrosoft, "MultiHeadAttention", {q, k, v}, {n});
    Add("bias", kMicrosoft, "MultiHeadAttention", {q, k, v, Reals({3 * hidden + 2})}, {n, F("scale", 0.5f)});
    Add("mask", kMicrosoft, "MultiHeadAttention", {q, k, v, kAbsent, Ints(ElementType::kInt32, {batch, 5}, 0, 1)}, {n});
    Add("lengths", kMicrosoft, "MultiHeadAttention", {q, k, v, kAbsent, lengths}, {n});
    Add("mask3", kMicrosoft, "MultiHeadAttention",
        {q, k, v, kAbsent, Ints(ElementType::kInt32, {batch, length, 5}, 0, 1)}, {n});
    Add("attention_bias", kMicrosoft, "MultiHeadAttention", {q, k, v, kAbsent, kAbsent, Reals({batch, 1, length, 5})},
        {n});
    Add("cross", kMicrosoft, "MultiHeadAttention",
        {q, Reals({batch, heads, 5, size}), Reals({batch, heads, 5, size}), Reals({3 * hidden})}, {n});
    Add("past", kMicrosoft, "MultiHeadAttention",
        {q, Reals({batch, length, hidden}), Reals({batch, length, hidden}), kAbsent, kAbsent, kAbsent,
         Reals({batch, heads, 4, size}), Reals({batch, heads, 4, size})},
        {n, causal}, 3);
    const Tensor cosines = Reals({16, 2}), sines = Reals({16, 2});
    const Tensor positions = Ints(ElementType::kInt64, {batch, length}, 0, 15);
    Add("", kMicrosoft, "RotaryEmbedding", {q, positions, cosines, sines});
    Add("interleaved", kMicrosoft, "RotaryEmbedding",
        {Reals({batch, heads, length, size}), import::onnx::Integers(ElementType::kInt64, {1}, {4}), cosines, sines},
        {I("interleaved", 1)});
    Add("part", kMicrosoft, "RotaryEmbedding", {q, positions, Reals({16, 1}), Reals({16, 1})},
        {n, I("rotary_embedding_dim", 2)});
  }

  void GroupQuery() {
    const int64_t heads = 4, kv = 2, size = 16;  // what rotary angles need
    const std::vector<AttributeProto> base = {I("num_heads", heads), I("kv_num_heads", kv)};
    auto ints = [](std::vector<int64_t> values) {
      return import::onnx::Integers(ElementType::kInt32, {static_cast<int64_t>(values.size())}, values);
    };
    auto total = [](int64_t value) { return import::onnx::Integers(ElementType::kInt32, {}, {value}); };
    auto add = [&](const std::string& name, std::vector<Tensor> inputs, std::vector<AttributeProto> more) {
      std::vector<AttributeProto> all = base;
      all.insert(all.end(), more.begin(), more.end());
      Add(name, kMicrosoft, "GroupQueryAttention", std::move(inputs), all, 3).constants = {6};
    };
    auto cache = [&](int64_t length) { return Reals({2, kv, length, size}); };
    const Tensor q = Reals({2, 3, heads * size}), k = Reals({2, 3, kv * size}), v = Reals({2, 3, kv * size});
    const Tensor cosines = Reals({16, 8}), sines = Reals({16, 8});
    add("prompt", {q, k, v, kAbsent, kAbsent, ints({2, 2}), total(3)}, {});
    add("prompt_rotary", {q, k, v, kAbsent, kAbsent, ints({2, 2}), total(3), cosines, sines}, {I("do_rotary", 1)});
    add("packed", {Reals({2, 3, (heads + 2 * kv) * size}), kAbsent, kAbsent, kAbsent, kAbsent, ints({2, 2}), total(3)},
        {F("softcap", 3), F("scale", 0.4f)});
    const Tensor q1 = Reals({2, 1, heads * size}), k1 = Reals({2, 1, kv * size}), v1 = Reals({2, 1, kv * size});
    add("step", {q1, k1, v1, cache(5), cache(5), ints({5, 5}), total(6)}, {});
    add("step_rotary", {q1, k1, v1, cache(5), cache(5), ints({5, 5}), total(6), cosines, sines},
        {I("do_rotary", 1), I("rotary_interleaved", 1)});
    add("step_window", {q1, k1, v1, cache(5), cache(5), ints({5, 5}), total(6)}, {I("local_window_size", 3)});
    add("step_smooth", {q1, k1, v1, cache(5), cache(5), ints({5, 5}), total(6)}, {I("smooth_softmax", 1)});
    add("step_bias",
        {q1, k1, v1, cache(5), cache(5), ints({5, 5}), total(6), kAbsent, kAbsent, kAbsent, Reals({1, heads, 1, 6})},
        {});
    add("step_sink",
        {q1, k1, v1, cache(5), cache(5), ints({5, 5}), total(6), kAbsent, kAbsent, kAbsent, kAbsent, Reals({heads})},
        {});
  }

  void Quantised() {
    for (ElementType element : {ElementType::kUint8, ElementType::kInt8}) {
      const std::string type(reference::Name(element));
      auto zero = [&] { return Ints(element, {}, element == ElementType::kInt8 ? -9 : 100, 120); };
      auto scale = [&] { return Scalar(Real(0.01f, 0.05f)); };
      auto add = [&](const std::string& op, std::vector<Tensor> inputs, std::vector<AttributeProto> attributes = {}) {
        OperatorCase& c = Add(type, kMicrosoft, op, std::move(inputs), std::move(attributes));
        c.tolerance = 1;  // one step
      };
      const Tensor a = Bytes(element, {2, 3, 5}), b = Bytes(element, {3, 1});
      add("QLinearAdd", {a, scale(), zero(), b, scale(), zero(), scale(), zero()});
      add("QLinearMul", {a, scale(), zero(), b, scale(), zero(), scale(), zero()});
      add("QLinearSigmoid", {a, scale(), zero(), Scalar(1.0f / 256), zero()});
      add("QLinearLeakyRelu", {a, scale(), zero(), scale(), zero()}, {F("alpha", 0.2f)});
      add("QLinearConcat", {scale(), zero(), a, scale(), zero(), Bytes(element, {2, 4, 5}), scale(), zero()},
          {I("axis", 1)});
      const Tensor image = Bytes(element, {1, 3, 6, 5}), last = Bytes(element, {1, 6, 5, 3});
      const std::vector<AttributeProto> window = {Is("kernel_shape", {3, 2}), Is("strides", {2, 1}),
                                                  Is("pads", {1, 0, 1, 1})};
      add("QLinearAveragePool", {image, scale(), zero(), scale(), zero()}, window);
      std::vector<AttributeProto> window_last = window;
      window_last.push_back(I("channels_last", 1));
      window_last.push_back(I("count_include_pad", 1));
      add("QLinearAveragePool", {last, scale(), zero(), scale(), zero()}, window_last);
      add("QLinearGlobalAveragePool", {image, scale(), zero(), scale(), zero()});
      add("QLinearGlobalAveragePool", {last, scale(), zero(), scale(), zero()}, {I("channels_last", 1)});
      cases_.back().name += ".last";
      Add(type, kMicrosoft, "NhwcMaxPool", {last}, window);
    }
  }

  void QuantisedProducts() {
    for (ElementType element : {ElementType::kUint8, ElementType::kInt8}) {
      const std::string type(reference::Name(element));
      const Tensor w = Bytes(element, {6, 4});
      Add(type, kMicrosoft, "DynamicQuantizeMatMul", {Reals({2, 3, 6}), w, Scalar(0.02f), Ints(element, {}, 3, 9)});
      Add(type + ".columns", kMicrosoft, "DynamicQuantizeMatMul",
          {Reals({3, 6}), w, Reals({4}, 0.01f, 0.03f), kAbsent, Reals({4})});
      Add(type, kMicrosoft, "MatMulIntegerToFloat",
          {Bytes(ElementType::kUint8, {3, 6}), w, Scalar(0.1f), Reals({4}, 0.01f, 0.03f),
           Ints(ElementType::kUint8, {}, 99, 130), Ints(element, {4}, 0, 9), Reals({4})});
    }
    for (const auto& [bits, block, k] : {std::tuple<int64_t, int64_t, int64_t>(4, 16, 40), {4, 32, 64}, {8, 32, 64}}) {
      const int64_t n = 5, blocks = (k + block - 1) / block;
      const std::vector<AttributeProto> attributes = {I("K", k), I("N", n), I("bits", bits), I("block_size", block)};
      const Tensor b = Bytes(ElementType::kUint8, {n, blocks, block * bits / 8});
      const Tensor scales = Reals({n, blocks}, 0.01f, 0.1f);
      const std::string name = std::to_string(bits) + "." + std::to_string(block);
      Add(name, kMicrosoft, "MatMulNBits", {Reals({2, 3, k}), b, scales}, attributes).constants = {1, 2};
      Add(name + ".zero", kMicrosoft, "MatMulNBits",
          {Reals({3, k}), b, scales, Bytes(ElementType::kUint8, {n, (blocks * bits + 7) / 8}), kAbsent, Reals({n})},
          attributes)
          .constants = {1, 2, 3};
    }
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      const int64_t d = std::string(direction) == "bidirectional" ? 2 : 1, h = 3;
      OperatorCase& c =
          Add(direction, kMicrosoft, "DynamicQuantizeLSTM",
              {Reals({4, 1, 5}), Bytes(ElementType::kInt8, {d, 5, 4 * h}), Bytes(ElementType::kInt8, {d, h, 4 * h}),
               Reals({d, 8 * h}), kAbsent, Reals({d, 1, h}), Reals({d, 1, h}), kAbsent, Reals({d}, 0.005f, 0.01f),
               Ints(ElementType::kInt8, {d}, 0, 0), Reals({d}, 0.005f, 0.01f), Ints(ElementType::kInt8, {d}, 0, 0)},
              {I("hidden_size", h), S("direction", direction)}, 3);
      c.constants = {1, 2, 3, 8, 9, 10, 11};
      c.tolerance = 1e-3;  // a hidden state at the border between two steps
    }
  }

  void Linear() {
    const Tensor x = Reals({4, 3});
    for (const char* transform : {"NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"}) {
      const bool probit = std::string(transform) == "PROBIT";
      const float low = probit ? 0.05f : -2, high = probit ? 0.2f : 2;  // PROBIT wants probabilities
      const Tensor rows = probit ? Reals({4, 3}, 0.1f, 1) : x;
      Add(transform, kMl, "LinearRegressor", {rows},
          {Fs("coefficients", List(6, low, high)), Fs("intercepts", List(2, low, high)), I("targets", 2),
           S("post_transform", transform)});
      Add(std::string("three.") + transform, kMl, "LinearClassifier", {rows},
          {Fs("coefficients", List(9, low, high)), Fs("intercepts", List(3, low, high)),
           Is("classlabels_ints", {5, 3, 8}), S("post_transform", transform)},
          2);
      if (probit) continue;  // refused
      Add(std::string("one.") + transform, kMl, "LinearClassifier", {rows},
          {Fs("coefficients", List(3, low, high)), Fs("intercepts", List(1, low, high)), Is("classlabels_ints", {5, 3}),
           S("post_transform", transform)},
          2);
    }
  }

  void SupportVectors() {
    for (const char* kernel : {"LINEAR", "POLY", "RBF", "SIGMOID"}) {
      const std::vector<AttributeProto> common = {S("kernel_type", kernel), Fs("kernel_params", {0.3f, 0.2f, 2})};
      auto add = [&](const std::string& name, const char* op, std::vector<AttributeProto> attributes, int outputs) {
        attributes.insert(attributes.end(), common.begin(), common.end());
        OperatorCase& c =
            Add(std::string(kernel) + "." + name, kMl, op, {Reals({5, 3})}, std::move(attributes), outputs);
        c.tolerance = 1e-4;
      };
      add("", "SVMRegressor",
          {Fs("coefficients", List(4)), Fs("support_vectors", List(12)), Fs("rho", List(1)), I("n_supports", 4)}, 1);
      for (int64_t classes : {2, 3}) {
        const int64_t pairs = classes * (classes - 1) / 2, supports = 2 * classes;
        std::vector<int64_t> labels, per_class(static_cast<size_t>(classes), 2);
        for (int64_t i = 0; i < classes; ++i) labels.push_back(7 - i);
        std::vector<AttributeProto> attributes = {Fs("coefficients", List((classes - 1) * supports)),
                                                  Fs("support_vectors", List(3 * supports)), Fs("rho", List(pairs)),
                                                  Is("vectors_per_class", per_class), Is("classlabels_ints", labels)};
        add("votes." + std::to_string(classes), "SVMClassifier", attributes, 2);
        for (const char* transform : {"LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"}) {
          std::vector<AttributeProto> transformed = attributes;
          transformed.push_back(S("post_transform", transform));
          add(std::string(transform) + "." + std::to_string(classes), "SVMClassifier", transformed, 2);
        }
      }
    }
  }

  void Features() {
    const Tensor x = Reals({4, 3});
    Add("", kMl, "Scaler", {x}, {Fs("offset", List(3)), Fs("scale", List(3))});
    Add("one", kMl, "Scaler", {x}, {Fs("offset", List(1)), Fs("scale", List(1))});
    for (const char* norm : {"MAX", "L1", "L2"}) Add(norm, kMl, "Normalizer", {x}, {S("norm", norm)});
    Add("", kMl, "Binarizer", {x}, {F("threshold", 0.3f)});
    Add("", kMl, "Imputer", {import::onnx::Floats({2, 2}, {1, 7, 7, 3})},
        {Fs("imputed_value_floats", {4, 5}), F("replaced_value_float", 7)});
    Add("nan", kMl, "Imputer", {import::onnx::Floats({2, 2}, {1, NAN, NAN, 3})},
        {Fs("imputed_value_floats", {4}), F("replaced_value_float", NAN)});
    Add("ints", kMl, "Imputer", {import::onnx::Integers(ElementType::kInt64, {2, 2}, {1, 7, 7, 3})},
        {Is("imputed_value_int64s", {4, 5}), I("replaced_value_int64", 7)});
    Add("", kMl, "OneHotEncoder", {Ints(ElementType::kInt64, {2, 3}, 0, 3)}, {Is("cats_int64s", {2, 0, 3})});
    Add("ints", kMl, "LabelEncoder", {Ints(ElementType::kInt64, {6}, 0, 4)},
        {Is("keys_int64s", {3, 1, 2}), Fs("values_floats", {0.5f, 2, -1}), F("default_float", 9)});
    Add("floats", kMl, "LabelEncoder", {import::onnx::Floats({4}, {1, 2.5f, -4, 3})},
        {Fs("keys_floats", {2.5f, -4, 1}), Is("values_int64s", {4, 5, 6}), I("default_int64", -7)});
    Add("", kMl, "ArrayFeatureExtractor", {x, import::onnx::Integers(ElementType::kInt64, {2}, {2, 0})});
    Add("", kMl, "FeatureVectorizer", {x, Reals({4, 2})}, {Is("inputdimensions", {3, 2})});
  }

  // Complete trees of three levels with random tests and, in `kind`'s attributes, weights at their leaves.
  std::vector<AttributeProto> RandomTrees(const std::string& kind, int64_t trees, int64_t targets, float least) {
    std::vector<int64_t> tree, node, feature, yes, no, missing, leaf_tree, leaf_node, leaf_id;
    std::vector<float> values, weights;
    std::vector<std::string> modes;
    const char* const kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"};
    const std::string mode = kModes[Below(4)];
    for (int64_t t = 0; t < trees; ++t) {
      for (int64_t i = 0; i < 7; ++i) {
        tree.push_back(t);
        node.push_back(i);
        feature.push_back(Below(3));
        values.push_back(Real());
        modes.push_back(i < 3 ? mode : "LEAF");
        yes.push_back(i < 3 ? 2 * i + 1 : 0);
        no.push_back(i < 3 ? 2 * i + 2 : 0);
        missing.push_back(Below(2));
        if (i < 3) continue;
        leaf_tree.push_back(t);
        leaf_node.push_back(i);
        leaf_id.push_back(Below(targets));
        weights.push_back(Real(least, 2));
      }
    }
    AttributeProto names;
    names.set_name("nodes_modes");
    names.set_type(AttributeProto::STRINGS);
    for (const std::string& name : modes) names.add_strings(name);
    return {Is("nodes_treeids", tree),
            Is("nodes_nodeids", node),
            Is("nodes_featureids", feature),
            Fs("nodes_values", values),
            names,
            Is("nodes_truenodeids", yes),
            Is("nodes_falsenodeids", no),
            Is("nodes_missing_value_tracks_true", missing),
            Is(kind + "_treeids", leaf_tree),
            Is(kind + "_nodeids", leaf_node),
            Is(kind + "_ids", leaf_id),
            Fs(kind + "_weights", weights)};
  }

  void Trees() {
    for (const char* aggregate : {"SUM", "AVERAGE", "MIN", "MAX"}) {
      for (int64_t targets : {1, 2}) {
        std::vector<AttributeProto> attributes = RandomTrees("target", 4, targets, -2);
        attributes.push_back(I("n_targets", targets));
        attributes.push_back(S("aggregate_function", aggregate));
        Tensor rows = Reals({6, 3});
        rows.SetFloat(1, NAN);
        Add(std::string(aggregate) + "." + std::to_string(targets), kMl, "TreeEnsembleRegressor", {rows}, attributes);
      }
    }
    for (const char* transform : {"NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"}) {
      for (int64_t classes : {2, 3}) {
        for (float least : {-2.0f, 0.1f}) {
          if (classes == 2 && absl::StartsWith(transform, "SOFTMAX")) continue;  // refused
          // Two classes: all leaves speak of one of them.
          std::vector<AttributeProto> attributes = RandomTrees("class", 4, classes == 2 ? 1 : classes, least);
          attributes.push_back(
              Is("classlabels_int64s", classes == 2 ? std::vector<int64_t>{5, 9} : std::vector<int64_t>{5, 9, 2}));
          attributes.push_back(S("post_transform", transform));
          Add(std::string(transform) + "." + std::to_string(classes) + (least < 0 ? "" : ".positive"), kMl,
              "TreeEnsembleClassifier", {Reals({6, 3})}, attributes, 2);
        }
      }
    }
  }

  std::mt19937 random_;
  std::vector<OperatorCase> cases_;
};

}  // namespace

std::vector<OperatorCase> OperatorCases(uint32_t seed) { return Generator(seed).All(); }

}  // namespace aot::tests
