#include "tests/models/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "clients/tensor_io/file.h"

namespace aot::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SelectionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = absl::StrCat(::testing::TempDir(), "/zoo");
    for (const auto& [name, size] : std::vector<std::pair<std::string, size_t>>{{"a", 30}, {"b", 10}, {"c", 20}}) {
      std::filesystem::create_directories(absl::StrCat(directory_, "/", name));
      ASSERT_TRUE(clients::WriteFile(absl::StrCat(directory_, "/", name, "/model.onnx"), std::string(size, 'x')).ok());
    }
    std::filesystem::create_directories(absl::StrCat(directory_, "/not_a_model"));
  }
  std::string Path(const std::string& name) { return absl::StrCat(directory_, "/", name); }

  std::string directory_;
};

TEST_F(SelectionTest, AllByNameOrThoseAskedForInTheirOrder) {
  EXPECT_THAT(*SelectModels(directory_, {}), ElementsAre(Path("a"), Path("b"), Path("c")));
  EXPECT_THAT(*SelectModels(directory_, {{"c", "a"}, 0}), ElementsAre(Path("c"), Path("a")));
}

TEST_F(SelectionTest, TheSmallestKeepTheirOrder) {
  EXPECT_THAT(*SelectModels(directory_, {{}, 2}), ElementsAre(Path("b"), Path("c")));
  EXPECT_THAT(*SelectModels(directory_, {{"c", "a"}, 1}), ElementsAre(Path("c")));
  EXPECT_THAT(*SelectModels(directory_, {{"c", "a"}, 9}), ElementsAre(Path("c"), Path("a")));
}

TEST_F(SelectionTest, AnUnknownNameIsToldWithThoseThatExist) {
  EXPECT_THAT(std::string(SelectModels(directory_, {{"d"}, 0}).status().message()), HasSubstr("a, b, c"));
  EXPECT_FALSE(SelectModels(absl::StrCat(directory_, "/none"), {}).ok());
}

}  // namespace
}  // namespace aot::tests
