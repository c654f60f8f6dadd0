// Real models: imported with the dimensions of their data sets, the small ones run through the reference and compared.
//
// The models are not part of the repository: AOT_TESTDATA names the directory that holds `models/`, by default
// shared/testdata beside the workspace. Without it the tests are skipped.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/import.h"
#include "compiler/import/onnx/tensor_data.h"
#include "compiler/ir/reference_bridge.h"
#include "gtest/gtest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace aot::import::onnx {
namespace {

namespace fs = std::filesystem;
using reference::Tensor;

struct Expectation {
  const char* name;
  bool run;  // small enough for the reference
};

// The models of the first release.
constexpr Expectation kModels[] = {
    {"mnist_8", true},
    {"ultraface_rfb_320", true},
    {"mlperf_tiny_ic_fp32", true},
    {"mlperf_tiny_ad_fp32", true},
    {"oww_embedding", true},
    {"oww_melspectrogram", true},
    {"super_resolution_espcn", false},
    {"wakeword_namaste", true},
    {"cct_cifar10", true},
    {"robot_go1_policy", true},
    {"yolox_nano", false},
    {"ppocrv4_det", false},
    {"ppocrv4_rec", false},
    {"bert_toy", true},
    {"magika_v3_3", true},
};

fs::path TestData() {
  if (const char* directory = std::getenv("AOT_TESTDATA")) return directory;
  // The test runs among links to the sources: following one leads to the workspace.
  std::error_code error;
  const fs::path source = fs::canonical("compiler/import/onnx/import.h", error);
  if (error) return {};
  return source.parent_path().parent_path().parent_path().parent_path().parent_path() / "shared" / "testdata";
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The tensors of one data set with what holds their bytes.
struct DataSet {
  std::vector<std::shared_ptr<TensorProto>> protos;
  std::vector<Tensor> tensors;
};

DataSet ReadDataSet(const fs::path& directory, const std::string& kind) {
  DataSet set;
  for (int i = 0;; ++i) {
    const fs::path path = directory / absl::StrCat(kind, "_", i, ".pb");
    if (!fs::exists(path)) return set;
    auto proto = std::make_shared<TensorProto>();
    EXPECT_TRUE(proto->ParseFromString(ReadFile(path))) << path;
    auto tensor = ReadTensor(*proto, {proto, nullptr});
    EXPECT_TRUE(tensor.ok()) << tensor.status();
    if (!tensor.ok()) return set;
    set.protos.push_back(proto);
    set.tensors.push_back(*tensor);
  }
}

// Largest difference relative to the largest magnitude.
double RelativeError(const Tensor& actual, const Tensor& expected) {
  double largest = 0, worst = 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::fabs(expected.GetFloat(i)));
    worst = std::max(worst, std::fabs(actual.GetFloat(i) - expected.GetFloat(i)));
  }
  return largest > 0 ? worst / largest : worst;
}

class Models : public ::testing::TestWithParam<Expectation> {};

TEST_P(Models, ImportAndRun) {
  const fs::path directory = TestData() / "models" / GetParam().name;
  if (!fs::exists(directory / "model.onnx")) {
    GTEST_SKIP() << "no " << directory / "model.onnx"
                 << "; set AOT_TESTDATA to the directory with the models";
  }
  compiler::Model model;
  model.bytes = ReadFile(directory / "model.onnx");
  const DataSet inputs = ReadDataSet(directory / "test_data_set_0", "input");
  const DataSet outputs = ReadDataSet(directory / "test_data_set_0", "output");
  compiler::Options options;
  for (size_t i = 0; i < inputs.tensors.size(); ++i) {
    options.input_shapes[inputs.protos[i]->name()] = inputs.tensors[i].shape();
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto imported = Import(context, model, options);
  ASSERT_TRUE(imported.ok()) << imported.status();
  ASSERT_EQ(imported->outputs.size(), outputs.tensors.size());
  for (size_t i = 0; i < outputs.tensors.size(); ++i)
    EXPECT_EQ(imported->outputs[i].type.shape, outputs.tensors[i].shape());
  if (!GetParam().run) return;
  auto results = nn::Interpret(*imported->module->getOps<mlir::func::FuncOp>().begin(), inputs.tensors);
  ASSERT_TRUE(results.ok()) << results.status();
  for (size_t i = 0; i < outputs.tensors.size(); ++i) {
    EXPECT_LT(RelativeError((*results)[i], outputs.tensors[i]), 1e-4) << imported->outputs[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, Models, ::testing::ValuesIn(kModels),
                         [](const ::testing::TestParamInfo<Expectation>& info) { return info.param.name; });

TEST(Truncation, NeverCrashes) {
  const fs::path path = TestData() / "models" / "mnist_8" / "model.onnx";
  if (!fs::exists(path)) GTEST_SKIP() << "no " << path << "; set AOT_TESTDATA to the directory with the models";
  const std::string bytes = ReadFile(path);
  for (size_t size = 0; size < bytes.size(); ++size) {
    compiler::Model model;
    model.bytes = bytes.substr(0, size);
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    auto imported = Import(context, model, {});
    if (!imported.ok()) continue;  // a cut between fields may leave a model
    EXPECT_FALSE(imported->outputs.empty());
  }
}

}  // namespace
}  // namespace aot::import::onnx
