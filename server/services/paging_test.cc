#include "server/services/paging.h"

#include <gtest/gtest.h>

namespace aot::server {
namespace {

TEST(Paging, WalksAList) {
  absl::StatusOr<Page> page = MakePage(5, 2, "");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->first, 0u);
  EXPECT_EQ(page->count, 2u);
  page = MakePage(5, 2, page->next_token);
  EXPECT_EQ(page->first, 2u);
  page = MakePage(5, 2, page->next_token);
  EXPECT_EQ(page->first, 4u);
  EXPECT_EQ(page->count, 1u);
  EXPECT_EQ(page->next_token, "");
}

TEST(Paging, NewElementsInFrontShiftNothing) {
  absl::StatusOr<Page> page = MakePage(5, 2, "");
  page = MakePage(6, 2, page->next_token);
  EXPECT_EQ(page->first, 3u) << "the element that was at 2 is now at 3";
}

TEST(Paging, ShrunkListsEnd) {
  absl::StatusOr<Page> page = MakePage(1, 2, "4");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->count, 1u);
  EXPECT_EQ(MakePage(0, 0, "")->count, 0u);
}

TEST(Paging, RefusesRubbish) {
  EXPECT_TRUE(absl::IsInvalidArgument(MakePage(5, -1, "").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(MakePage(5, 1, "next").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(MakePage(5, 1, "-3").status()));
}

}  // namespace
}  // namespace aot::server
