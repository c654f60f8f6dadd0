#include "clients/model/native_target.h"

#include <gtest/gtest.h>

#include "compiler/target/target.h"

namespace aot::clients {
namespace {

TEST(NativeTargetTest, NativeIsAKnownTargetThatRunsHere) {
  absl::StatusOr<std::string> name = ResolveTarget("native");
  if (absl::IsNotFound(name.status())) GTEST_SKIP() << name.status();
  ASSERT_TRUE(name.ok()) << name.status();
  EXPECT_TRUE(target::Find(*name).ok());
  EXPECT_TRUE(RunsHere(*name));
}

TEST(NativeTargetTest, NoOtherTargetThatRunsHereHasWiderVectors) {
  absl::StatusOr<std::string> name = ResolveTarget("native");
  if (!name.ok()) GTEST_SKIP() << name.status();
  int bits = (*target::Find(*name))->vector_bits;
  for (const target::Description& description : target::All()) {
    if (RunsHere(description.name)) EXPECT_LE(description.vector_bits, bits) << description.name;
  }
}

TEST(NativeTargetTest, OtherNamesStay) {
  EXPECT_EQ(*ResolveTarget("cortex-a75"), "cortex-a75");
  EXPECT_EQ(*ResolveTarget("no-such"), "no-such");
  EXPECT_FALSE(RunsHere("no-such"));
}

}  // namespace
}  // namespace aot::clients
