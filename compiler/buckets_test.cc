// Several bindings of the symbolic dimensions in one artifact: each computes what the model says at its shapes, on one
// copy of the weights, chosen by number or by shapes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "absl/strings/match.h"
#include "compiler/import/onnx/model_builder.h"
#include "compiler/pipeline.h"
#include "compiler/testing/compiled_function.h"
#include "compiler/testing/compiled_model.h"
#include "runtime/include/aot/aot.hpp"

namespace aot::compiler {
namespace {

using import::onnx::FloatTensor;
using import::onnx::ModelBuilder;

std::vector<float> Ramp(size_t count, float scale) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) values.push_back(scale * static_cast<float>((i * 37) % 101) - scale * 50);
  return values;
}

// h' = tanh(x w + h), y = relu(h') v.
compiler::Model Network() {
  ModelBuilder model(18);
  model.SymbolicInput("x", {"batch", "width"}).SymbolicInput("h", {"batch", "size"});
  model.Constant(FloatTensor("w", {48, 80}, Ramp(48 * 80, 0.004f)));
  model.Constant(FloatTensor("v", {80, 40}, Ramp(80 * 40, 0.003f)));
  model.Node("MatMul", {"x", "w"}, {"p"}).Node("Add", {"p", "h"}, {"s"}).Node("Tanh", {"s"}, {"h_next"});
  model.Node("Relu", {"h_next"}, {"r"}).Node("MatMul", {"r", "v"}, {"y"});
  model.Output("y").Output("h_next");
  return model.Model();
}

Options At(std::vector<int64_t> batches) {
  Options options;
  options.target = testing::HostTarget();
  options.dims = {{"width", 48}, {"size", 80}};
  if (batches.size() == 1) {
    options.dims["batch"] = batches[0];
    return options;
  }
  for (int64_t batch : batches) options.buckets.push_back({{"batch", batch}});
  return options;
}

// A loaded artifact and the memory it lies in.
struct Loaded {
  std::unique_ptr<unsigned char, decltype(&free)> memory{nullptr, &free};
  aot::Model model;
  std::string manifest;
};

Loaded Load(const Options& options) {
  Loaded loaded;
  auto artifact = Compile(Network(), options);
  EXPECT_TRUE(artifact.ok()) << artifact.status();
  if (!artifact.ok()) return loaded;
  loaded.manifest = artifact->manifest;
  auto file = SharedObject(*artifact);
  EXPECT_TRUE(file.ok()) << file.status();
  loaded.memory.reset(static_cast<unsigned char*>(std::aligned_alloc(64, (file->size() + 63) / 64 * 64)));
  file->copy(reinterpret_cast<char*>(loaded.memory.get()), file->size());
  aot_error error = {};
  EXPECT_EQ(loaded.model.LoadMemory({loaded.memory.get(), file->size()}, &error), AOT_OK) << error.message;
  return loaded;
}

std::vector<reference::Tensor> Inputs(int64_t batch) {
  return {import::onnx::Floats({batch, 48}, Ramp(static_cast<size_t>(batch) * 48, 0.02f)),
          import::onnx::Floats({batch, 80}, Ramp(static_cast<size_t>(batch) * 80, 0.01f))};
}

TEST(Buckets, EachComputesWhatTheModelSays) {
  Loaded loaded = Load(At({1, 8, 3}));
  ASSERT_TRUE(loaded.model);
  ASSERT_EQ(aot_bucket_count(loaded.model.get()), 3u);
  aot_error error = {};
  EXPECT_EQ(loaded.model.SelfTest(&error), AOT_OK) << error.message;
  uint64_t most = 0;
  for (uint32_t b = 0; b < 3; ++b) {
    const int64_t batch = std::vector<int64_t>{1, 8, 3}[b];
    aot_bucket_info info = {};
    info.size = sizeof info;
    ASSERT_EQ(aot_get_bucket_info(loaded.model.get(), b, &info), AOT_OK);
    EXPECT_EQ(info.name, "batch=" + std::to_string(batch));
    most = std::max(most, info.arena_bytes);
    auto inputs = Inputs(batch);
    auto want = RunReference(Network(), At({batch}), inputs);
    ASSERT_TRUE(want.ok()) << want.status();
    for (bool by_shape : {false, true}) {
      std::vector<reference::Tensor> got;
      std::vector<void*> out;
      for (const reference::Tensor& tensor : *want) {
        got.emplace_back(tensor.type());
        out.push_back(got.back().mutable_bytes().data());
      }
      const void* in[] = {inputs[0].bytes().data(), inputs[1].bytes().data()};
      const int64_t* dims[] = {inputs[0].shape().data(), nullptr};
      const uint64_t sizes[] = {inputs[0].bytes().size(), inputs[1].bytes().size()};
      aot_run_args args = {};
      args.size = sizeof args;
      args.inputs = in;
      args.input_count = 2;
      args.input_bytes = sizes;
      args.outputs = out.data();
      args.output_count = 2;
      args.error = &error;
      args.bucket = b;
      if (by_shape) {
        args.input_dims = dims;
        args.bucket = 99;  // not looked at
      }
      ASSERT_EQ(aot_run(loaded.model.get(), &args), AOT_OK) << error.message;
      EXPECT_LE(testing::Distance(got, *want), 1e-5) << "batch " << batch;
    }
  }
  EXPECT_EQ(loaded.model.arena_bytes(), most);
}

TEST(Buckets, ShareTheirWeights) {
  auto one = Compile(Network(), At({8})), other = Compile(Network(), At({16})), both = Compile(Network(), At({8, 16}));
  ASSERT_TRUE(one.ok() && other.ok() && both.ok()) << both.status();
  EXPECT_LT(both->weights.size(), (one->weights.size() + other->weights.size()) * 3 / 4);
  EXPECT_NE(one->key, both->key);
}

TEST(Buckets, TheSameBytesEachTime) {
  Options options = At({4, 1});
  auto once = Compile(Network(), options);
  options.threads = 1;
  auto again = Compile(Network(), options);
  ASSERT_TRUE(once.ok() && again.ok());
  EXPECT_EQ(once->manifest, again->manifest);
  EXPECT_EQ(once->code, again->code);
  EXPECT_EQ(once->weights, again->weights);
}

TEST(Buckets, WrongChoices) {
  Loaded loaded = Load(At({1, 8}));
  ASSERT_TRUE(loaded.model);
  auto inputs = Inputs(2);
  std::vector<float> y(8 * 40), h(8 * 80);
  const void* in[] = {inputs[0].bytes().data(), inputs[1].bytes().data()};
  void* out[] = {y.data(), h.data()};
  const int64_t* dims[] = {inputs[0].shape().data(), inputs[1].shape().data()};
  aot_error error = {};
  aot_run_args args = {};
  args.size = sizeof args;
  args.inputs = in;
  args.outputs = out;
  args.input_count = args.output_count = 2;
  args.error = &error;
  args.bucket = 2;
  EXPECT_EQ(aot_run(loaded.model.get(), &args), AOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "bucket 2 of a model with 2");
  args.input_dims = dims;
  EXPECT_EQ(aot_run(loaded.model.get(), &args), AOT_NOT_FOUND);
  uint32_t bucket = 7;
  EXPECT_EQ(aot_find_bucket(loaded.model.get(), dims, 1, &bucket), AOT_INVALID_ARGUMENT);
  aot_tensor_info info = {};
  info.size = sizeof info;
  EXPECT_EQ(aot_bucket_input_info(loaded.model.get(), 2, 0, &info), AOT_INVALID_ARGUMENT);
  ASSERT_EQ(aot_bucket_input_info(loaded.model.get(), 1, 0, &info), AOT_OK);
  EXPECT_EQ(info.dims[0], 8);
}

// A state has a buffer for each of its shapes.
TEST(Buckets, WithStates) {
  Options options = At({2, 5});
  options.states = {{"h", "h_next"}};
  Loaded loaded = Load(options);
  ASSERT_TRUE(loaded.model);
  for (uint32_t b = 0; b < 2; ++b) {
    const int64_t batch = b == 0 ? 2 : 5;
    auto inputs = Inputs(batch);
    inputs[1] = reference::Tensor(inputs[1].type());
    for (int run = 0; run < 3; ++run) {
      auto want = RunReference(Network(), At({batch}), inputs);
      ASSERT_TRUE(want.ok()) << want.status();
      std::vector<reference::Tensor> got = {reference::Tensor((*want)[0].type()), reference::Tensor((*want)[1].type())};
      std::vector<const void*> in = {inputs[0].bytes().data(), nullptr};
      std::vector<void*> out = {got[0].mutable_bytes().data(), nullptr};
      aot_error error = {};
      ASSERT_EQ(loaded.model.Run(in, out, &error, {}, b), AOT_OK) << error.message;
      absl::Span<uint8_t> state = got[1].mutable_bytes();
      ASSERT_EQ(loaded.model.ReadState(1, {state.data(), state.size()}, &error, b), AOT_OK) << error.message;
      EXPECT_LE(testing::Distance(got, *want), 1e-5) << "bucket " << b << ", run " << run;
      inputs[1] = (*want)[1];
    }
  }
}

TEST(Buckets, WrongOptions) {
  const auto refusal = [](Options options) { return std::string(Check(Network(), options).status().message()); };
  Options twice = At({1, 1});
  EXPECT_EQ(refusal(twice), "bucket batch=1 is given twice");
  Options bound = At({1, 2});
  bound.dims["batch"] = 1;
  EXPECT_EQ(refusal(bound), "bucket batch=1: dimension 'batch' is bound for all buckets too");
  Options uneven = At({1, 2});
  uneven.buckets.push_back({{"length", 3}});
  EXPECT_TRUE(absl::StrContains(refusal(uneven), "all buckets bind the same dimensions")) << refusal(uneven);
  Options many = At({1, 2});
  for (int64_t batch = 3; batch < 40; ++batch) many.buckets.push_back({{"batch", batch}});
  EXPECT_EQ(refusal(many), "39 buckets; at most 32 are allowed");
  Options unknown = At({1, 2});
  for (auto& bucket : unknown.buckets) bucket["nothing"] = 1;
  EXPECT_TRUE(absl::StartsWith(refusal(unknown), "bucket batch=1,nothing=1: ")) << refusal(unknown);
  Options state = At({1, 2});
  state.states = {{"x", "y"}};
  EXPECT_EQ(refusal(state),
            "bucket batch=1: state 'x' = 'y': the input is float32 1x48, the output float32 1x40; a state keeps its "
            "type and shape");
  state.states = {{"g", "y"}};
  EXPECT_EQ(refusal(state), "bucket batch=1: state 'g' = 'y': the model has no input 'g'; inputs: 'x', 'h'");
  state.states = {{"x", "h_next"}, {"h", "h_next"}};
  EXPECT_TRUE(absl::StrContains(refusal(state), "each output can be the state of one")) << refusal(state);
}

}  // namespace
}  // namespace aot::compiler
