#include "tests/models/record.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace aot::tests {
namespace {

TEST(Record, KeepsWhatWasAddedAndReadsItBack) {
  const std::filesystem::path directory = std::filesystem::path(::testing::TempDir()) / "tiny";
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "model.onnx") << "12345";
  std::ofstream(directory / "meta.json") << R"({"category": "a toy"})";
  ModelResult result;
  result.model = "tiny";
  result.verdict = Verdict::kRight;
  result.data_sets = 2;
  result.max_error = 1.26e-7;
  Record record;
  ASSERT_TRUE(AddResult(directory.string(), RunName("x86-64-v2", 0), result, &record).ok());
  result.verdict = Verdict::kUnsupported;
  result.message = "why";
  ASSERT_TRUE(AddResult(directory.string(), RunName("cortex-a75", 3), result, &record).ok());

  auto read = ParseRecord(FormatRecord(record));
  ASSERT_TRUE(read.ok()) << read.status();
  const RecordedModel& model = (*read)["tiny"];
  EXPECT_EQ(model.what, "a toy");
  EXPECT_EQ(model.bytes, 5);
  EXPECT_EQ(model.data_sets, 2);
  ASSERT_EQ(model.runs.size(), 2u);
  EXPECT_EQ(model.runs.at("x86-64-v2 -O0").verdict, Verdict::kRight);
  EXPECT_DOUBLE_EQ(model.runs.at("x86-64-v2 -O0").max_error, 1e-7);
  EXPECT_EQ(model.runs.at("cortex-a75 -O3").message, "why");
}

TEST(Record, SaysWhatIsNoRecord) {
  EXPECT_FALSE(ParseRecord("[1]").ok());
  EXPECT_FALSE(ParseRecord("{").ok());
}

TEST(Record, NeedsTheModel) {
  Record record;
  EXPECT_TRUE(absl::IsNotFound(AddResult("/nowhere", "x", {}, &record)));
}

}  // namespace
}  // namespace aot::tests
