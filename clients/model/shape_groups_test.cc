#include "clients/model/shape_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aot::clients {
namespace {

using ::testing::HasSubstr;

DataSet Set(int index, std::vector<reference::Shape> shapes) {
  DataSet set;
  set.index = index;
  set.directory = "dir";
  for (size_t i = 0; i < shapes.size(); ++i) {
    set.inputs[static_cast<int>(i)] = {"", reference::Tensor({reference::ElementType::kFloat32, shapes[i]})};
  }
  return set;
}

TEST(ShapeGroupsTest, EqualShapesShareAnArtifact) {
  std::vector<DataSet> sets = {Set(0, {{1, 2}, {}}), Set(1, {{1, 3}, {}}), Set(2, {{1, 2}, {}})};
  absl::StatusOr<std::vector<ShapeGroup>> groups = GroupByShape(sets, {"x", "s"});
  ASSERT_TRUE(groups.ok()) << groups.status();
  ASSERT_EQ(groups->size(), 2u);
  EXPECT_EQ((*groups)[0].input_shapes.at("x"), (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE((*groups)[0].input_shapes.at("s").empty());
  ASSERT_EQ((*groups)[0].sets.size(), 2u);
  EXPECT_EQ((*groups)[0].sets[1]->index, 2);
}

TEST(ShapeGroupsTest, AnInputBeyondTheModelsIsTold) {
  std::vector<DataSet> sets = {Set(0, {{1}, {1}})};
  EXPECT_THAT(std::string(GroupByShape(sets, {"x"}).status().message()), HasSubstr("dir/input_1.pb"));
}

}  // namespace
}  // namespace aot::clients
