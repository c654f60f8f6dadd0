// Lists in pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace aot::server {

struct Page {
  size_t first = 0, count = 0;  // which elements of the list to send, at most
};

// Cuts a page out of a list of `total` elements, newest first. A token holds how many elements come after the page
// before it, so that what is added at the front between two calls shifts nothing. INVALID_ARGUMENT: page_size is
// negative, or the token isn't one of ours.
absl::StatusOr<Page> MakePage(size_t total, int32_t page_size, absl::string_view token);

// A page ends where it has so many bytes, however few elements that are: one message must hold it, with room for one
// more element.
inline constexpr size_t kMaxPageBytes = 4 << 20;

// The token of the page after one that ends before element `end`.
std::string TokenAfter(size_t total, size_t end);

// Calls `add` for the elements of the page that `request` asks for, in order, until it is full, and sets the token of
// the next one. `add` puts an element into the response and gives its bytes. Errors of MakePage.
template <typename Request, typename Response, typename Add>
absl::Status FillPage(size_t total, const Request& request, Response& response, Add add) {
  absl::StatusOr<Page> page = MakePage(total, request.page_size(), request.page_token());
  if (!page.ok()) return page.status();
  size_t i = page->first;
  for (size_t bytes = 0; i < page->first + page->count && bytes < kMaxPageBytes; ++i) bytes += add(i);
  response.set_next_page_token(TokenAfter(total, i));
  return absl::OkStatus();
}

}  // namespace aot::server
