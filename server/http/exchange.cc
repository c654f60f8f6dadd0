#include "server/http/exchange.h"

#include "absl/strings/str_cat.h"

namespace aot::server {

absl::string_view Exchange::method() const { return request_->request_method ? request_->request_method : ""; }

absl::string_view Exchange::path() const { return request_->local_uri_raw ? request_->local_uri_raw : ""; }

absl::string_view Exchange::header(const char* name) const {
  const char* value = mg_get_header(connection_, name);
  return value ? value : "";
}

void Exchange::SendHead(int status, uint64_t length, const Headers& headers) {
  status_ = status;
  mg_response_header_start(connection_, status);
  for (const auto& [name, value] : headers) {
    mg_response_header_add(connection_, name, value.data(), static_cast<int>(value.size()));
  }
  // 304 has no body and must not claim one.
  if (status != 304) mg_response_header_add(connection_, "Content-Length", absl::StrCat(length).c_str(), -1);
  mg_response_header_add(connection_, "X-Content-Type-Options", "nosniff", -1);
  mg_response_header_send(connection_);
}

bool Exchange::SendBody(absl::string_view data) {
  int sent = mg_write(connection_, data.data(), data.size());
  if (sent > 0) sent_ += static_cast<uint64_t>(sent);
  return sent >= 0 && static_cast<size_t>(sent) == data.size();
}

void Exchange::Send(int status, absl::string_view content_type, absl::string_view body, const Headers& headers) {
  Headers all = headers;
  all.emplace_back("Content-Type", std::string(content_type));
  SendHead(status, body.size(), all);
  if (!is_head() && !body.empty() && !SendBody(body)) Abort();
}

}  // namespace aot::server
