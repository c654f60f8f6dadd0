#include "runtime/ota/curl_transport.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include <curl/curl.h>
#include <strings.h>

namespace aot::ota {
namespace {

// Bytes of an error page that are waited for, so that the connection can be used again.
constexpr int64_t kMaxErrorPage = 65536;

// What the callbacks of one request share.
struct Transfer {
  CURL* handle = nullptr;
  BodySink* sink = nullptr;
  HttpResponse response;
  int64_t max_bytes = 0;
  int64_t received = 0;
  bool begun = false;
  Status error;  // why a callback ended the transfer
};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  return text;
}

// "bytes 100-199/200" or "bytes 100-199/*". Leaves -1 where the text is something else.
void ParseContentRange(const std::string& text, HttpResponse* response) {
  if (text.compare(0, 6, "bytes ") != 0) return;
  char* end = nullptr;
  errno = 0;
  const long long start = strtoll(text.c_str() + 6, &end, 10);
  if (errno != 0 || *end != '-' || start < 0) return;
  response->range_start = start;
  const size_t slash = text.find('/');
  if (slash == std::string::npos || text.compare(slash, 2, "/*") == 0) return;
  const long long total = strtoll(text.c_str() + slash + 1, &end, 10);
  if (errno == 0 && *end == '\0' && total >= 0) response->range_total = total;
}

size_t OnHeader(char* data, size_t, size_t size, void* context) {
  auto* transfer = static_cast<Transfer*>(context);
  const std::string_view line = Trim(std::string_view(data, size));
  // Each response of a redirect chain starts anew.
  if (line.substr(0, 5) == "HTTP/") transfer->response = HttpResponse();
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  const std::string name(line.substr(0, colon));
  const std::string value(Trim(line.substr(colon + 1)));
  if (strcasecmp(name.c_str(), "etag") == 0) transfer->response.etag = value;
  if (strcasecmp(name.c_str(), "content-range") == 0) ParseContentRange(value, &transfer->response);
  return size;
}

// Passes the header on once, when the status is a success.
bool BeginBody(Transfer* transfer) {
  if (transfer->begun) return true;
  long code = 0;
  curl_easy_getinfo(transfer->handle, CURLINFO_RESPONSE_CODE, &code);
  transfer->response.status = static_cast<int>(code);
  transfer->begun = true;
  transfer->error = transfer->sink->Begin(transfer->response);
  return transfer->error.ok();
}

size_t OnBody(char* data, size_t, size_t size, void* context) {
  auto* transfer = static_cast<Transfer*>(context);
  long code = 0;
  curl_easy_getinfo(transfer->handle, CURLINFO_RESPONSE_CODE, &code);
  transfer->received += static_cast<int64_t>(size);
  // The text of an error page: of no interest beyond the status, and no part of the object's bytes.
  if (code != 200 && code != 206) return transfer->received <= kMaxErrorPage ? size : 0;
  if (transfer->received > transfer->max_bytes) {
    transfer->error = Status(Code::kLimit, "the body is longer than the " + std::to_string(transfer->max_bytes) +
                                               " bytes announced or allowed");
    return 0;
  }
  if (!BeginBody(transfer)) return 0;
  transfer->error = transfer->sink->Write(data, size);
  return transfer->error.ok() ? size : 0;
}

class CurlTransport : public Transport {
 public:
  CurlTransport(CURL* handle, const CurlOptions& options) : handle_(handle), options_(options) {}
  ~CurlTransport() override { curl_easy_cleanup(handle_); }

  Status Get(const HttpRequest& request, BodySink* sink) override;

 private:
  void Configure(const HttpRequest& request, Transfer* transfer);
  static Status Judge(CURLcode code, Transfer* transfer);

  CURL* handle_;
  const CurlOptions options_;
};

void CurlTransport::Configure(const HttpRequest& request, Transfer* transfer) {
  curl_easy_reset(handle_);
  curl_easy_setopt(handle_, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle_, CURLOPT_PROTOCOLS_STR, "http,https");
  const bool secure = request.url.compare(0, 6, "https:") == 0;
  curl_easy_setopt(handle_, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
  curl_easy_setopt(handle_, CURLOPT_FOLLOWLOCATION, options_.max_redirects > 0 ? 1L : 0L);
  curl_easy_setopt(handle_, CURLOPT_MAXREDIRS, static_cast<long>(options_.max_redirects));
  curl_easy_setopt(handle_, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(handle_, CURLOPT_SSL_VERIFYHOST, 2L);
  if (!options_.ca_file.empty()) curl_easy_setopt(handle_, CURLOPT_CAINFO, options_.ca_file.c_str());
  curl_easy_setopt(handle_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle_, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout_ms));
  curl_easy_setopt(handle_, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_ms));
  curl_easy_setopt(handle_, CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(options_.low_speed_bytes_per_second));
  curl_easy_setopt(handle_, CURLOPT_LOW_SPEED_TIME, static_cast<long>(options_.low_speed_seconds));
  curl_easy_setopt(handle_, CURLOPT_USERAGENT, "aot-ota/1");
  curl_easy_setopt(handle_, CURLOPT_HEADERFUNCTION, OnHeader);
  curl_easy_setopt(handle_, CURLOPT_HEADERDATA, transfer);
  curl_easy_setopt(handle_, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(handle_, CURLOPT_WRITEDATA, transfer);
}

Status CurlTransport::Judge(CURLcode code, Transfer* transfer) {
  if (!transfer->error.ok()) return transfer->error;
  long status = 0;
  curl_easy_getinfo(transfer->handle, CURLINFO_RESPONSE_CODE, &status);
  // Our own end of an error page is none of the transfer.
  const bool cut_short = code == CURLE_WRITE_ERROR && transfer->received > kMaxErrorPage && status >= 300;
  if (code != CURLE_OK && !cut_short) return Status(Code::kNetwork, curl_easy_strerror(code));
  const std::string http = "HTTP " + std::to_string(status);
  if (status == 200 || status == 206) return BeginBody(transfer) ? Status() : transfer->error;
  if (status == 416 && !BeginBody(transfer)) return transfer->error;
  if (status == 403 || status == 404 || status == 410) return Status(Code::kNotFound, http);
  if (status >= 300 && status < 400) return Status(Code::kNetwork, http + ": redirects are not followed");
  return Status(Code::kNetwork, http);
}

Status CurlTransport::Get(const HttpRequest& request, BodySink* sink) {
  Transfer transfer;
  transfer.handle = handle_;
  transfer.sink = sink;
  transfer.max_bytes = request.max_bytes;
  Configure(request, &transfer);
  curl_slist* headers = nullptr;
  if (request.range_start > 0) {
    headers = curl_slist_append(headers, ("Range: bytes=" + std::to_string(request.range_start) + "-").c_str());
    if (!request.if_range.empty()) headers = curl_slist_append(headers, ("If-Range: " + request.if_range).c_str());
    curl_easy_setopt(handle_, CURLOPT_HTTPHEADER, headers);
  }
  const CURLcode code = curl_easy_perform(handle_);
  curl_slist_free_all(headers);
  return Judge(code, &transfer).At(request.url);
}

}  // namespace

std::unique_ptr<Transport> MakeCurlTransport(const CurlOptions& options) {
  // curl_global_init is not thread-safe in every build of libcurl.
  static std::once_flag once;
  static CURLcode global = CURLE_FAILED_INIT;
  std::call_once(once, [] { global = curl_global_init(CURL_GLOBAL_DEFAULT); });
  if (global != CURLE_OK) return nullptr;
  CURL* handle = curl_easy_init();
  if (handle == nullptr) return nullptr;
  return std::make_unique<CurlTransport>(handle, options);
}

}  // namespace aot::ota
