#include "server/services/paging.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace aot::server {
namespace {

constexpr size_t kMaxPage = 1000;

}  // namespace

absl::StatusOr<Page> MakePage(size_t total, int32_t page_size, absl::string_view token) {
  if (page_size < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("page_size is ", page_size, "; 0 (the server's choice) to ", kMaxPage));
  }
  size_t left = total;
  if (!token.empty()) {
    uint64_t value;
    if (!absl::SimpleAtoi(token, &value)) {
      return absl::InvalidArgumentError("page_token isn't a next_page_token of this server");
    }
    left = std::min<uint64_t>(value, total);
  }
  Page page;
  page.first = total - left;
  page.count = std::min(left, page_size == 0 ? kMaxPage : std::min<size_t>(page_size, kMaxPage));
  return page;
}

std::string TokenAfter(size_t total, size_t end) { return end < total ? absl::StrCat(total - end) : ""; }

}  // namespace aot::server
