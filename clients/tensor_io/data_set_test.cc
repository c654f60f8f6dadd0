#include "clients/tensor_io/data_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "clients/tensor_io/file.h"
#include "clients/tensor_io/random_tensor.h"
#include "clients/tensor_io/tensor_file.h"

namespace aot::clients {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DataSetTest, SetsComeInOrderOfTheirNumbers) {
  std::string model = absl::StrCat(::testing::TempDir(), "/model");
  NamedTensor tensor{"x", RandomTensor({reference::ElementType::kFloat32, {2}}, 1)};
  for (int index : {10, 2}) {
    std::string directory = absl::StrCat(model, "/test_data_set_", index);
    std::filesystem::create_directories(directory);
    ASSERT_TRUE(WriteTensorFile(absl::StrCat(directory, "/input_0.pb"), tensor).ok());
    ASSERT_TRUE(WriteTensorFile(absl::StrCat(directory, "/output_1.pb"), tensor).ok());
    ASSERT_TRUE(WriteFile(absl::StrCat(directory, "/output_0.seqmap.json"), "[]").ok());
  }
  absl::StatusOr<std::vector<DataSet>> sets = ReadDataSets(model);
  ASSERT_TRUE(sets.ok()) << sets.status();
  ASSERT_EQ(sets->size(), 2u);
  EXPECT_EQ((*sets)[0].index, 2);
  EXPECT_EQ((*sets)[1].index, 10);
  EXPECT_EQ((*sets)[0].inputs.at(0).name, "x");
  EXPECT_EQ((*sets)[0].outputs.count(0), 0u);
  EXPECT_EQ((*sets)[0].outputs.count(1), 1u);
  EXPECT_THAT((*sets)[0].not_tensors, ElementsAre("output_0.seqmap.json"));

  ASSERT_TRUE(WriteFile(absl::StrCat(model, "/test_data_set_2/input_0.pb"), "rubbish").ok());
  EXPECT_THAT(std::string(ReadDataSets(model).status().message()), HasSubstr("test_data_set_2/input_0.pb"));
}

TEST(DataSetTest, AModelWithoutSetsHasNone) { EXPECT_TRUE(ReadDataSets(::testing::TempDir())->empty()); }

}  // namespace
}  // namespace aot::clients
