#include "compiler/tools/reduce_model.h"

#include "compiler/import/onnx/model_builder.h"
#include "compiler/pipeline.h"
#include "gtest/gtest.h"

namespace aot::tools {
namespace {

using aot::onnx::ModelProto;
using aot::onnx::NodeProto;
using import::onnx::FloatTensor;
using import::onnx::IntAttribute;
using import::onnx::ModelBuilder;

bool Imports(const ModelProto& model, const ReduceOptions& options = {}) {
  compiler::Model bytes;
  bytes.bytes = model.SerializeAsString();
  compiler::Options compile;
  compile.dims = options.dims;
  return compiler::Check(bytes, compile).ok();
}

// Whether a node `second` reads what a node `first` gives.
bool HasPair(const ModelProto& model, const std::string& first, const std::string& second) {
  for (const NodeProto& node : model.graph().node()) {
    for (const NodeProto& user : model.graph().node()) {
      if (node.op_type() != first || user.op_type() != second) continue;
      for (const std::string& input : user.input()) {
        if (input == node.output(0)) return true;
      }
    }
  }
  return false;
}

// 60 nodes with the pair in the middle, weights, and an output at each end.
ModelBuilder LongModel() {
  ModelBuilder model(13);
  model.SymbolicInput("x", {"N", "D"}).Output("v59").Output("v3");
  model.Constant(FloatTensor("w", {16, 16}, std::vector<float>(256, 0.5f)));
  std::string previous = "x";
  for (int i = 0; i < 60; ++i) {
    const std::string value = "v" + std::to_string(i);
    if (i == 30) {
      model.Node("MatMul", {previous, "w"}, {value});
    } else if (i == 31) {
      model.Node("Softmax", {previous}, {value}, {IntAttribute("axis", 1)});
    } else if (i % 7 == 0) {
      model.Node("Add", {previous, "x"}, {value});
    } else {
      model.Node("Tanh", {previous}, {value});
    }
    previous = value;
  }
  return model;
}

TEST(ReduceModel, LeavesTheTwoNodesThatMatter) {
  ReduceOptions options;
  options.dims = {{"N", 4}, {"D", 16}};
  int64_t tries = 0;
  const ModelProto small = ReduceModel(LongModel().proto(), options, [&](const ModelProto& candidate) {
    ++tries;
    ReduceOptions own = options;
    // Symbols that are gone may not be bound.
    if (candidate.graph().input_size() == 0) return false;
    bool has_symbols = false;
    for (const auto& input : candidate.graph().input()) {
      for (const auto& dim : input.type().tensor_type().shape().dim())
        has_symbols = has_symbols || !dim.dim_param().empty();
    }
    if (!has_symbols) own.dims.clear();
    return HasPair(candidate, "MatMul", "Softmax") && Imports(candidate, own);
  });
  EXPECT_EQ(small.graph().node_size(), 2);
  EXPECT_EQ(small.graph().output_size(), 1);
  EXPECT_EQ(small.graph().initializer_size(), 0);
  EXPECT_EQ(small.graph().node(1).attribute_size(), 0);
  EXPECT_LT(tries, 300);
}

TEST(ReduceModel, KeepsWhatTheImporterRefuses) {
  ModelBuilder model(13);
  model.Input("x", {4, 4}).Output("v9");
  std::string previous = "x";
  for (int i = 0; i < 10; ++i) {
    const std::string value = "v" + std::to_string(i);
    model.Node(i == 6 ? "NoSuchOperator" : "Relu", {previous}, {value});
    previous = value;
  }
  const ModelProto small = ReduceModel(model.proto(), {}, [](const ModelProto& candidate) {
    compiler::Model bytes;
    bytes.bytes = candidate.SerializeAsString();
    return absl::IsUnimplemented(compiler::Check(bytes, {}).status());
  });
  ASSERT_EQ(small.graph().node_size(), 1);
  EXPECT_EQ(small.graph().node(0).op_type(), "NoSuchOperator");
}

TEST(ReduceModel, StopsAfterItsTries) {
  ReduceOptions options;
  options.most_tries = 5;
  int64_t tries = 0;
  ReduceModel(LongModel().proto(), options, [&](const ModelProto&) { return ++tries, true; });
  EXPECT_LE(tries, 5);
}

}  // namespace
}  // namespace aot::tools
