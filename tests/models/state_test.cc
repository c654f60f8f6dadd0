// Streaming models as a device runs them: the state stays in the runtime's buffer from frame to frame, and each frame's
// outputs are those that the model gave when every state was handed over. The models are of the development set; where
// it is missing the tests are left out, said aloud.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "clients/model/model_file.h"
#include "clients/model/native_target.h"
#include "clients/tensor_io/compare.h"
#include "clients/tensor_io/random_tensor.h"
#include "compiler/pipeline.h"
#include "runtime/include/aot/aot.hpp"
#include "tests/models/test_data.h"

namespace aot::tests {
namespace {

struct Streaming {
  const char* model;
  std::map<std::string, std::string> states;
  std::map<std::string, std::vector<int64_t>> shapes;
  std::map<std::string, int64_t> scalars;  // inputs that are the same in every frame
};

// A loaded artifact with the memory it lies in.
class StateTest : public ::testing::TestWithParam<Streaming> {
 protected:
  void SetUp() override {
    const std::string directory = (FindModels() / GetParam().model).string();
    absl::StatusOr<compiler::Model> model = clients::ReadModel(directory + "/model.onnx");
    if (!model.ok()) GTEST_SKIP() << "left out: no test data for " << GetParam().model;
    model_bytes_ = *std::move(model);
    absl::StatusOr<std::string> target = clients::ResolveTarget("native");
    ASSERT_TRUE(target.ok()) << target.status();
    options_.target = *target;
    options_.states = GetParam().states;
    options_.input_shapes = GetParam().shapes;
    absl::StatusOr<compiler::Artifact> artifact = compiler::Compile(model_bytes_, options_);
    ASSERT_TRUE(artifact.ok()) << artifact.status();
    absl::StatusOr<std::string> file = compiler::SharedObject(*artifact);
    ASSERT_TRUE(file.ok()) << file.status();
    memory_.reset(static_cast<unsigned char*>(std::aligned_alloc(64, (file->size() + 63) / 64 * 64)));
    file->copy(reinterpret_cast<char*>(memory_.get()), file->size());
    aot_error error = {};
    ASSERT_EQ(model_.LoadMemory({memory_.get(), file->size()}, &error), AOT_OK) << error.message;
    ASSERT_EQ(model_.SelfTest(&error), AOT_OK) << error.message;
  }

  // One frame on the kept states. `inputs` has all inputs of the model; those that are states aren't looked at.
  std::vector<reference::Tensor> Frame(const std::vector<reference::Tensor>& inputs) {
    std::vector<const void*> in;
    std::vector<void*> out;
    std::vector<reference::Tensor> outputs;
    for (uint32_t i = 0; i < model_.input_count(); ++i)
      in.push_back(model_.input(i).state == AOT_NO_STATE ? inputs[i].bytes().data() : nullptr);
    for (uint32_t i = 0; i < model_.output_count(); ++i) {
      const aot_tensor_info info = model_.output(i);
      outputs.emplace_back(reference::TensorType{static_cast<reference::ElementType>(info.dtype),
                                                 std::vector<int64_t>(info.dims, info.dims + info.rank)});
      out.push_back(info.state == AOT_NO_STATE ? outputs.back().mutable_bytes().data() : nullptr);
    }
    aot_error error = {};
    EXPECT_EQ(model_.Run(in, out, &error), AOT_OK) << error.message;
    for (uint32_t i = 0; i < model_.output_count(); ++i) {
      if (model_.output(i).state == AOT_NO_STATE) continue;
      absl::Span<uint8_t> bytes = outputs[i].mutable_bytes();
      EXPECT_EQ(model_.ReadState(model_.output(i).state, {bytes.data(), bytes.size()}, &error), AOT_OK);
    }
    return outputs;
  }

  struct Free {
    void operator()(void* memory) const { free(memory); }
  };
  std::unique_ptr<unsigned char, Free> memory_;
  Model model_;
  compiler::Model model_bytes_;
  compiler::Options options_;
};

void ExpectClose(const std::vector<reference::Tensor>& got, const std::vector<reference::Tensor>& want, int frame) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const clients::Comparison comparison = clients::Compare(got[i], want[i], clients::Tolerance{});
    EXPECT_TRUE(comparison.equal) << "frame " << frame << ", output " << i << ": " << comparison.difference;
  }
}

// From a start that is all zero, random frames, against the reference.
TEST_P(StateTest, FramesFollowEachOther) {
  std::vector<reference::Tensor> inputs;
  for (uint32_t i = 0; i < model_.input_count(); ++i) {
    const aot_tensor_info info = model_.input(i);
    inputs.emplace_back(reference::TensorType{static_cast<reference::ElementType>(info.dtype),
                                              std::vector<int64_t>(info.dims, info.dims + info.rank)});
  }
  const auto run = [&](uint64_t first_seed) {
    for (uint32_t i = 0; i < model_.input_count(); ++i)
      if (model_.input(i).state != AOT_NO_STATE) inputs[i] = reference::Tensor(inputs[i].type());
    for (int frame = 0; frame < 4; ++frame) {
      for (uint32_t i = 0; i < model_.input_count(); ++i) {
        if (auto scalar = GetParam().scalars.find(model_.input(i).name); scalar != GetParam().scalars.end())
          inputs[i].SetInt(0, scalar->second);
        else if (model_.input(i).state == AOT_NO_STATE)
          inputs[i] = clients::RandomTensor(inputs[i].type(), first_seed + static_cast<uint64_t>(frame));
      }
      absl::StatusOr<std::vector<reference::Tensor>> want = compiler::RunReference(model_bytes_, options_, inputs);
      ASSERT_TRUE(want.ok()) << want.status();
      ExpectClose(Frame(inputs), *want, frame);
      for (uint32_t i = 0; i < model_.input_count(); ++i)
        if (model_.input(i).state != AOT_NO_STATE) inputs[i] = (*want)[model_.input(i).state];
    }
  };
  run(100);
  ASSERT_EQ(model_.ResetStates(), AOT_OK);
  run(200);
}

INSTANTIATE_TEST_SUITE_P(Models, StateTest,
                         ::testing::Values(Streaming{"gtcrn_stream",
                                                     {{"conv_cache", "conv_cache_out"},
                                                      {"tra_cache", "tra_cache_out"},
                                                      {"inter_cache", "inter_cache_out"}},
                                                     {},
                                                     {}},
                                           Streaming{"silero_vad_v6",
                                                     {{"state", "stateN"}},
                                                     {{"input", {1, 576}}, {"state", {2, 1, 128}}, {"sr", {}}},
                                                     {{"sr", 16000}}}),
                         [](const auto& info) { return std::string(info.param.model); });

}  // namespace
}  // namespace aot::tests
