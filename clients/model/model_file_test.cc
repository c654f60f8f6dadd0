#include "clients/model/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "clients/tensor_io/file.h"
#include "third_party/onnx/onnx.pb.h"

namespace aot::clients {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ModelFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ =
        absl::StrCat(::testing::TempDir(), "/", ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(absl::StrCat(directory_, "/model/sub"));
    path_ = absl::StrCat(directory_, "/model/model.onnx");
  }

  // Writes a model whose initializer is external at `location`.
  void WriteModelWith(const std::string& location) {
    onnx::ModelProto model;
    onnx::TensorProto* tensor = model.mutable_graph()->add_initializer();
    tensor->set_name("w");
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    onnx::StringStringEntryProto* entry = tensor->add_external_data();
    entry->set_key("location");
    entry->set_value(location);
    ASSERT_TRUE(WriteFile(path_, model.SerializeAsString()).ok());
  }

  std::string directory_, path_;
};

TEST_F(ModelFileTest, ReadsExternalFilesBesideTheModelAndBelow) {
  WriteModelWith("sub/w.bin");
  ASSERT_TRUE(WriteFile(absl::StrCat(directory_, "/model/sub/w.bin"), "weights").ok());
  absl::StatusOr<compiler::Model> model = ReadModel(path_);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->external.at("sub/w.bin"), "weights");
}

TEST_F(ModelFileTest, FindsExternalTensorsInSubgraphsAndFunctions) {
  onnx::ModelProto proto;
  auto external = [](onnx::TensorProto* tensor, const std::string& location) {
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    tensor->add_external_data()->set_key("location");
    tensor->mutable_external_data(0)->set_value(location);
  };
  onnx::GraphProto* branch = proto.mutable_graph()->add_node()->add_attribute()->mutable_g();
  external(branch->add_node()->add_attribute()->mutable_t(), "branch");
  external(proto.add_functions()->add_node()->add_attribute()->add_tensors(), "function");
  ASSERT_TRUE(WriteFile(path_, proto.SerializeAsString()).ok());
  for (absl::string_view name : {"branch", "function"}) {
    ASSERT_TRUE(WriteFile(absl::StrCat(directory_, "/model/", name), name).ok());
  }
  absl::StatusOr<compiler::Model> model = ReadModel(path_);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->external.size(), 2u);
}

TEST_F(ModelFileTest, NothingOutsideTheModelsDirectoryIsRead) {
  ASSERT_TRUE(WriteFile(absl::StrCat(directory_, "/secret"), "secret").ok());
  std::filesystem::create_symlink("../secret", absl::StrCat(directory_, "/model/link"));
  std::filesystem::create_directory_symlink("..", absl::StrCat(directory_, "/model/up"));
  for (const std::string& location :
       {std::string("../secret"), absl::StrCat(directory_, "/secret"), std::string("link"), std::string("up/secret"),
        std::string("sub/../../secret"), std::string("a\0b", 3), std::string()}) {
    WriteModelWith(location);
    absl::Status status = ReadModel(path_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << location << ": " << status;
  }
}

TEST_F(ModelFileTest, AMissingFileIsNamed) {
  WriteModelWith("absent.bin");
  absl::Status status = ReadModel(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("absent.bin"));
}

TEST_F(ModelFileTest, RubbishIsLeftToTheCompiler) {
  ASSERT_TRUE(WriteFile(path_, "location of rubbish").ok());
  EXPECT_EQ(ReadModel(path_)->bytes, "location of rubbish");
}

TEST(GraphInputsTest, LeavesOutInitializers) {
  onnx::ModelProto proto;
  for (const char* name : {"x", "w", "y"}) proto.mutable_graph()->add_input()->set_name(name);
  proto.mutable_graph()->add_initializer()->set_name("w");
  EXPECT_THAT(*GraphInputs({proto.SerializeAsString(), {}}), ElementsAre("x", "y"));
  EXPECT_FALSE(GraphInputs({"rubbish", {}}).ok());
}

TEST(ModelNameTest, IsTheDirectorysOrTheFiles) {
  EXPECT_EQ(ModelName("zoo/mnist_8/model.onnx"), "mnist_8");
  EXPECT_EQ(ModelName("mnist.onnx"), "mnist");
  EXPECT_EQ(ModelName("model.onnx"), "model");
}

}  // namespace
}  // namespace aot::clients
