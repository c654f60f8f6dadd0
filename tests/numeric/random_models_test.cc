// What compiled code gives for random models is what the reference gives, at -O0 and -O3.
#include "compiler/testing/compiled_function.h"
#include "gtest/gtest.h"
#include "tests/numeric/check_random_model.h"

namespace aot::numeric {
namespace {

constexpr uint32_t kSeeds = 24;

TEST(RandomModels, GiveWhatTheReferenceGives) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const RandomModel model = MakeRandomModel(seed);
    EXPECT_EQ(CheckRandomModel(model, testing::HostTarget()), "") << "seed " << seed << "\n" << model.text;
  }
}

TEST(RandomModels, CoverTheOperators) {
  std::map<std::string, int> operators;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    for (const auto& [name, count] : MakeRandomModel(seed).operators) operators[name] += count;
  }
  EXPECT_GT(operators.size(), 80u);
  // The generator takes back what the importer refuses: none of the main ones may get lost that way.
  for (const char* name : {"Conv",
                           "ConvTranspose",
                           "MaxPool",
                           "AveragePool",
                           "MatMul",
                           "Gemm",
                           "Softmax",
                           "LayerNormalization",
                           "Resize",
                           "Pad",
                           "Slice",
                           "Gather",
                           "TopK",
                           "Concat",
                           "Split",
                           "Transpose",
                           "Cast",
                           "Div",
                           "Mod",
                           "Where",
                           "QuantizeLinear",
                           "BatchNormalization",
                           "ReduceSum",
                           "ArgMax",
                           "CumSum",
                           "Tile"}) {
    EXPECT_GT(operators[name], 0) << name;
  }
}

}  // namespace
}  // namespace aot::numeric
