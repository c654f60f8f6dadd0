#include "server/services/paging.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace aot::server {
namespace {

TEST(Paging, WalksAList) {
  absl::StatusOr<Page> page = MakePage(5, 2, "");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->first, 0u);
  EXPECT_EQ(page->count, 2u);
  page = MakePage(5, 2, TokenAfter(5, 2));
  EXPECT_EQ(page->first, 2u);
  page = MakePage(5, 2, TokenAfter(5, 4));
  EXPECT_EQ(page->first, 4u);
  EXPECT_EQ(page->count, 1u);
  EXPECT_EQ(TokenAfter(5, 5), "");
}

struct Request {
  std::string token;
  int32_t page_size() const { return 0; }
  const std::string& page_token() const { return token; }
};
struct Response {
  std::string token;
  void set_next_page_token(std::string next) { token = std::move(next); }
};

TEST(Paging, APageEndsWhereItIsFull) {
  Request request;
  std::vector<size_t> pages;
  do {
    Response response;
    size_t count = 0;
    ASSERT_TRUE(FillPage(10, request, response, [&](size_t i) {
                  EXPECT_EQ(i, (pages.empty() ? 0 : pages.back()) + count);
                  ++count;
                  return kMaxPageBytes / 3 + 1;
                }).ok());
    pages.push_back((pages.empty() ? 0 : pages.back()) + count);
    request.token = response.token;
  } while (!request.token.empty());
  EXPECT_EQ(pages, (std::vector<size_t>{3, 6, 9, 10}));
}

TEST(Paging, NewElementsInFrontShiftNothing) {
  absl::StatusOr<Page> page = MakePage(5, 2, "");
  page = MakePage(6, 2, TokenAfter(5, page->first + page->count));
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
