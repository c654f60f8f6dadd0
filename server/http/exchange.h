// One request and its answer on a CivetWeb connection.
#pragma once

#include <civetweb.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace aot::server {

// Lives for the time of one request, on its thread.
class Exchange {
 public:
  explicit Exchange(mg_connection* connection) : connection_(connection), request_(mg_get_request_info(connection)) {}

  absl::string_view method() const;
  // Not percent-decoded: no path of ours has an escape. Without the query. Empty for "*".
  absl::string_view path() const;
  // The value of a request header, empty when it isn't there.
  absl::string_view header(const char* name) const;
  bool is_head() const { return method() == "HEAD"; }

  using Headers = std::vector<std::pair<const char*, std::string>>;
  // Sends the head of the answer. `length`: of the body that would follow a GET. Calls come once.
  void SendHead(int status, uint64_t length, const Headers& headers);
  // Sends a piece of the body. False: the client is gone or too slow.
  bool SendBody(absl::string_view data);
  // The whole answer; the body is left out for HEAD.
  void Send(int status, absl::string_view content_type, absl::string_view body, const Headers& headers = {});
  // The body can't be completed: closes the connection so that the client doesn't take it for whole.
  void Abort() { mg_disable_connection_keep_alive(connection_); }

  int status() const { return status_; }
  uint64_t sent() const { return sent_; }

 private:
  mg_connection* connection_;
  const mg_request_info* request_;
  int status_ = 0;
  uint64_t sent_ = 0;
};

}  // namespace aot::server
