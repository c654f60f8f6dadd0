#include "tests/models/meta.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "clients/tensor_io/file.h"

namespace aot::tests {
namespace {

using reference::ElementType;

TEST(MetaTest, NoiseWidensTheToleranceOnlyWhereItIsLarger) {
  Meta meta;
  meta.noise_relative_to_max = 3e-7;
  meta.noise_max_abs = 0.0017;
  EXPECT_DOUBLE_EQ(ToleranceFor(meta, ElementType::kFloat32).relative_to_max, 1e-4);
  meta.noise_relative_to_max = 2e-3;
  EXPECT_DOUBLE_EQ(ToleranceFor(meta, ElementType::kFloat32).relative_to_max, 2e-2);
}

TEST(MetaTest, OnlyEightBitOutputsMayDifferBySteps) {
  Meta meta;
  EXPECT_EQ(ToleranceFor(meta, ElementType::kInt8).integer_steps, 0);
  meta.noise_max_abs = 14;
  EXPECT_EQ(ToleranceFor(meta, ElementType::kInt8).integer_steps, 14);
  EXPECT_EQ(ToleranceFor(meta, ElementType::kInt64).integer_steps, 0);
}

TEST(MetaTest, AMissingFileStatesNothingAndRubbishIsAnError) {
  std::string directory = absl::StrCat(::testing::TempDir(), "/meta");
  std::filesystem::create_directories(directory);
  EXPECT_EQ(ReadMeta(directory)->noise_max_abs, 0);
  ASSERT_TRUE(clients::WriteFile(absl::StrCat(directory, "/meta.json"), "{\"ort_all_vs_ref_max_abs\": 2}").ok());
  EXPECT_EQ(ReadMeta(directory)->noise_max_abs, 2);
  ASSERT_TRUE(clients::WriteFile(absl::StrCat(directory, "/meta.json"), "rubbish").ok());
  EXPECT_FALSE(ReadMeta(directory).ok());
}

}  // namespace
}  // namespace aot::tests
