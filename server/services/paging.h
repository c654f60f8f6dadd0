// Lists in pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace aot::server {

struct Page {
  size_t first = 0, count = 0;  // which elements of the list to send
  std::string next_token;       // empty: the last page
};

// Cuts a page out of a list of `total` elements, newest first. A token holds how many elements come after the page
// before it, so that what is added at the front between two calls shifts nothing. INVALID_ARGUMENT: page_size is
// negative, or the token isn't one of ours.
absl::StatusOr<Page> MakePage(size_t total, int32_t page_size, absl::string_view token);

}  // namespace aot::server
