// Small models of the development model set, end to end: compiled for this machine, run, compared with their
// references. The set isn't part of the project: it is found through AOT_TESTDATA or beside the workspace, and where it
// is missing the tests are left out, said aloud.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "clients/model/native_target.h"
#include "tests/models/isolated.h"
#include "tests/models/model_test.h"
#include "tests/models/test_data.h"

namespace aot::tests {
namespace {

namespace fs = std::filesystem;

// Each compiles in a few seconds; together they have convolutions, pooling, normalisation, attention, gather and dense
// layers.
const char* const kModels[] = {"mnist_8",          "robot_go1_policy", "mlperf_tiny_ad_fp32", "mlperf_tiny_ic_fp32",
                               "wakeword_namaste", "bert_toy",         "cct_cifar10"};

class ZooTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ZooTest, ComputesWhatItsReferencesSay) {
  fs::path directory = FindModels() / GetParam();
  std::error_code ignored;
  if (!fs::exists(directory / "model.onnx", ignored)) GTEST_SKIP() << "left out: no test data for " << GetParam();
  absl::StatusOr<std::string> target = clients::ResolveTarget("native");
  ASSERT_TRUE(target.ok()) << target.status();
  ModelTestOptions options;
  options.compile.target = *target;
  options.executor = InProcess();
  ModelResult result;
  RunIsolated(
      1, 1, absl::Minutes(10), [&](size_t) { return ToJson(TestModel(directory.string(), options)); },
      [&](size_t, const IsolatedResult& isolated) {
        ASSERT_EQ(isolated.failure, "");
        result = FromJson(isolated.value);
      });
  EXPECT_EQ(result.verdict, Verdict::kRight) << result.message;
}

INSTANTIATE_TEST_SUITE_P(Models, ZooTest, ::testing::ValuesIn(kModels),
                         [](const auto& info) { return std::string(info.param); });

// Says once, where a log's reader looks, what wasn't tested.
TEST(ZooTestData, SaysWhatIsLeftOut) {
  size_t missing = 0;
  std::error_code ignored;
  for (const char* model : kModels) missing += fs::exists(FindModels() / model / "model.onnx", ignored) ? 0 : 1;
  printf("model tests left out: %zu of %zu%s\n", missing, std::size(kModels),
         missing == 0 ? "" : " (no test data: set AOT_TESTDATA to the directory that holds models/)");
}

}  // namespace
}  // namespace aot::tests
