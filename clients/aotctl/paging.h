// Lists come from the server in pages.
#pragma once

#include <cstdint>

#include "absl/status/status.h"

namespace aot::clients {

// Calls `fetch` (Request -> Status, fills the response) page by page and `take` for each response, until the list ends
// or `limit` entries were asked for. `take` returns how many entries the page had.
template <typename Request, typename Response, typename Fetch, typename Take>
absl::Status ForEachPage(Request request, int64_t limit, Fetch fetch, Take take) {
  constexpr int64_t kPage = 500;
  while (limit > 0) {
    request.set_page_size(static_cast<int32_t>(limit < kPage ? limit : kPage));
    Response response;
    if (absl::Status status = fetch(request, &response); !status.ok()) return status;
    limit -= take(response);
    if (response.next_page_token().empty()) break;
    request.set_page_token(response.next_page_token());
  }
  return absl::OkStatus();
}

}  // namespace aot::clients
