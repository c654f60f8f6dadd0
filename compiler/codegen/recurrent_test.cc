// Recurrent layers against reference/: directions, lengths, every optional operand, every activation, sizes with tails,
// and weights that are constants or inputs.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/testing/compiled_function.h"

namespace aot::codegen {
namespace {

struct Layer {
  std::string op = "lstm", activations = "sigmoid,tanh,tanh", alphas = "0.0, 0.0, 0.0", betas = "0.0, 0.0, 0.0";
  std::string attributes = "input_forget = false, ";
  int gates = 4, steps = 3, batch = 2, size = 5;
  std::vector<std::string> optional;  // "h", "c", "peephole", "bias", "lengths" in the operation's order
  bool reverse = false, constant_weights = false;
  double clip = 0;
  std::string results = "all";  // or the number of one
};

// Weights as a constant: a short run of values that doesn't repeat along rows or columns.
std::string Constant(int rows, int columns) {
  std::string text = "dense<[";
  for (int r = 0; r < rows; ++r) {
    absl::StrAppend(&text, r ? ", [" : "[");
    for (int c = 0; c < columns; ++c) absl::StrAppend(&text, c ? ", " : "", ((r * 7 + c * 3) % 11 - 5) * 0.11 + 1e-3);
    absl::StrAppend(&text, "]");
  }
  return text + "]>";
}

std::string Module(const Layer& l) {
  const std::string state = absl::StrCat("tensor<", l.batch, "x", l.size, "xf32>");
  const std::string x = absl::StrCat("tensor<", l.steps, "x", l.batch, "x", l.gates * l.size, "xf32>");
  const std::string w = absl::StrCat("tensor<", l.gates * l.size, "x", l.size, "xf32>");
  const std::string hidden = absl::StrCat("tensor<", l.steps, "x", l.batch, "x", l.size, "xf32>");
  std::string arguments = "%x: " + x, operands = "%x, %w", types = x + ", " + w, body;
  if (l.constant_weights) {
    body = absl::StrCat("%w = nn.constant ", Constant(l.gates * l.size, l.size), " : ", w, "\n");
  } else {
    arguments += ", %w: " + w;
  }
  for (const std::string& name : l.optional) {
    std::string type = state;
    if (name == "peephole") type = absl::StrCat("tensor<", 3 * l.size, "xf32>");
    if (name == "bias") type = absl::StrCat("tensor<", l.size, "xf32>");
    if (name == "lengths") type = absl::StrCat("tensor<", l.batch, "xi32>");
    absl::StrAppend(&arguments, ", %", name, ": ", type);
    absl::StrAppend(&operands, " ", name, " %", name);
    absl::StrAppend(&types, ", ", type);
  }
  std::vector<std::string> results = {hidden, state};
  if (l.op == "lstm") results.push_back(state);
  const std::string all = results.size() == 3 ? hidden + ", " + state + ", " + state : hidden + ", " + state;
  absl::StrAppend(&body, "%r:", results.size(), " = nn.", l.op, " ", operands, " {activations = \"", l.activations,
                  "\", alphas = array<f32: ", l.alphas, ">, betas = array<f32: ", l.betas,
                  ">, clip = ", l.clip == 0 ? "0.0" : absl::StrCat(l.clip), " : f32, ", l.attributes,
                  "reverse = ", l.reverse ? "true" : "false", "} : (", types, ") -> (", all, ")\n");
  std::string returned = results.size() == 3 ? "%r#0, %r#1, %r#2" : "%r#0, %r#1", result_types = all;
  if (l.results != "all") {
    returned = "%r#" + l.results;
    result_types = l.results == "0" ? hidden : state;
  }
  return absl::StrCat("func.func @main(", arguments, ") -> (", result_types, ") {\n", body, "return ", returned, " : ",
                      result_types, "\n}\n");
}

std::vector<Layer> Layers() {
  std::vector<Layer> layers;
  auto lstm = [] { return Layer(); };
  auto gru = [](bool linear) {
    Layer l;
    l.op = "gru";
    l.gates = 3;
    l.activations = "sigmoid,tanh";
    l.alphas = l.betas = "0.0, 0.0";
    l.attributes = absl::StrCat("linear_before_reset = ", linear ? "true" : "false", ", ");
    return l;
  };
  auto rnn = [] {
    Layer l;
    l.op = "rnn";
    l.gates = 1;
    l.activations = "tanh";
    l.alphas = l.betas = "0.0";
    l.attributes = "";
    return l;
  };
  for (Layer base : {lstm(), gru(false), gru(true), rnn()}) {
    layers.push_back(base);
    base.reverse = true;
    base.optional = {"h"};
    if (base.op == "lstm") base.optional.push_back("c");
    base.optional.push_back("lengths");
    layers.push_back(base);
    base.constant_weights = true;
    for (int size : {1, 16, 21}) {
      base.size = size;
      layers.push_back(base);
    }
    base.clip = 0.4;
    base.batch = 1;
    base.results = "1";
    layers.push_back(base);
    base.steps = 1;
    base.results = "0";
    layers.push_back(base);
  }
  Layer peephole = lstm();
  peephole.optional = {"h", "c", "peephole", "lengths"};
  layers.push_back(peephole);
  peephole.attributes = "input_forget = true, ";
  peephole.optional = {"c", "peephole"};
  peephole.results = "2";
  layers.push_back(peephole);
  Layer biased = gru(true);
  biased.optional = {"h", "bias", "lengths"};
  layers.push_back(biased);
  for (const char* activation : {"affine", "elu", "hard_sigmoid", "leaky_relu", "relu", "scaled_tanh", "sigmoid",
                                 "softplus", "softsign", "thresholded_relu"}) {
    Layer l = rnn();
    l.activations = activation;
    l.alphas = "0.3";
    l.betas = "0.6";
    l.optional = {"h"};
    layers.push_back(l);
  }
  return layers;
}

class RecurrentTest : public ::testing::TestWithParam<std::string> {};

TEST_P(RecurrentTest, AgreesWithReference) {
  uint64_t seed = 1;
  for (const Layer& layer : Layers()) {
    const std::string module = Module(layer);
    SCOPED_TRACE(module);
    // Level 0 leaves the operation as it is, like level 3: once is enough.
    const int level = GetParam() == testing::HostTarget() && seed % 2 == 0 ? 0 : 3;
    auto result = testing::CompileAndCompare(module, GetParam(), level, seed++);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_LE(result->error, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RecurrentTest, ::testing::ValuesIn(testing::RunnableTargets()), [](const auto& info) {
  return absl::StrReplaceAll(info.param, {{"-", "_"}});
});

}  // namespace
}  // namespace aot::codegen
