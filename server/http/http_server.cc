#include "server/http/http_server.h"

#include <arpa/inet.h>
#include <civetweb.h>

#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/http/exchange.h"
#include "server/http/http_metrics.h"
#include "server/http/object_handler.h"

namespace aot::server {
namespace {

// An idle connection holds a thread: long enough for the next request of a download, not longer.
constexpr char kKeepAliveMs[] = "2000";
constexpr int kThreadsForSmallAnswers = 2;

absl::Status CheckOptions(const HttpOptions& options) {
  in_addr address;
  if (inet_pton(AF_INET, options.address.c_str(), &address) != 1) {
    return absl::InvalidArgumentError(absl::StrCat("HTTP address \"", options.address,
                                                   "\" is not a numeric IPv4 address such as 127.0.0.1; with another, "
                                                   "turn the HTTP side off (--http-port -1)"));
  }
  if (options.threads <= kThreadsForSmallAnswers || options.threads > 1024) {
    return absl::InvalidArgumentError(
        absl::StrCat("HTTP threads must be ", kThreadsForSmallAnswers + 1, " to 1024, not ", options.threads));
  }
  if (options.min_bytes_per_second < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the least rate of an HTTP reader is ", options.min_bytes_per_second, ", below zero"));
  }
  if (options.queue < 1 || options.queue > 65535) {
    return absl::InvalidArgumentError(absl::StrCat("HTTP queue must be 1 to 65535, not ", options.queue));
  }
  if (options.max_header_bytes < 1024 || options.max_header_bytes > 1 << 20) {
    return absl::InvalidArgumentError(
        absl::StrCat("HTTP header limit must be 1024 to 1048576 bytes, not ", options.max_header_bytes));
  }
  if (options.request_timeout < absl::Milliseconds(100) || options.request_timeout > absl::Hours(1)) {
    return absl::InvalidArgumentError("HTTP request timeout must be 100 ms to 1 h");
  }
  return absl::OkStatus();
}

}  // namespace

struct HttpServer::State {
  State(registry::Registry& registry, const HttpOptions& options)
      : registry(registry),
        metrics(options.metrics),
        transfers(options.threads - kThreadsForSmallAnswers, options.request_timeout, options.min_bytes_per_second) {}

  // Answers one request; runs on CivetWeb's threads.
  void Handle(Exchange& exchange);

  registry::Registry& registry;
  HttpMetrics metrics;
  Transfers transfers;
  std::mutex mutex;  // guards context: Stop may be called twice
  mg_context* context = nullptr;
  uint16_t port = 0;
};

void HttpServer::State::Handle(Exchange& exchange) {
  metrics.RequestStarted();
  const char* kind = "none";
  if (exchange.method() != "GET" && !exchange.is_head()) {
    // A body may follow that nobody reads: the connection can't be used again.
    exchange.Abort();
    exchange.Send(405, "text/plain", "only GET and HEAD\n", {{"Allow", "GET, HEAD"}});
  } else if (exchange.path() == "/healthz") {
    kind = "health";
    exchange.Send(200, "text/plain", "ok\n", {{"Cache-Control", "no-store"}});
  } else if (exchange.path() == "/metrics") {
    kind = "metrics";
    exchange.Send(200, "text/plain; version=0.0.4", metrics.Render(), {{"Cache-Control", "no-store"}});
  } else {
    kind = HandleObject(registry, transfers, exchange);
  }
  metrics.RequestDone(kind, exchange.status(), exchange.sent());
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

HttpServer::~HttpServer() { Stop(); }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpOptions& options,
                                                              registry::Registry& registry) {
  if (absl::Status s = CheckOptions(options); !s.ok()) return s;
  // Counts its own calls, so one for each server is right.
  mg_init_library(MG_FEATURES_DEFAULT);
  auto state = std::make_unique<State>(registry, options);

  std::string address = absl::StrCat(options.address, ":", options.port);
  std::string threads = absl::StrCat(options.threads);
  std::string queue = absl::StrCat(options.queue);
  std::string header_bytes = absl::StrCat(options.max_header_bytes);
  std::string timeout = absl::StrCat(absl::ToInt64Milliseconds(options.request_timeout));
  const char* settings[] = {"listening_ports", address.c_str(), "num_threads", threads.c_str(), "connection_queue",
                            queue.c_str(), "listen_backlog", queue.c_str(), "max_request_size", header_bytes.c_str(),
                            "request_timeout_ms", timeout.c_str(), "enable_keep_alive", "yes", "keep_alive_timeout_ms",
                            kKeepAliveMs,
                            // Paths are compared as they came: what needs decoding isn't ours.
                            "decode_url", "no", "enable_directory_listing", "no", "tcp_nodelay", "1", nullptr};

  mg_callbacks callbacks = {};
  callbacks.begin_request = [](mg_connection* connection) -> int {
    auto* self = static_cast<State*>(mg_get_user_data(mg_get_context(connection)));
    Exchange exchange(connection);
    self->Handle(exchange);
    return exchange.status();  // handled: CivetWeb must not look for a file
  };
  // CivetWeb would write to stderr; what it has to say about a client's malformed request is of no use to anyone.
  callbacks.log_message = [](const mg_connection*, const char*) { return 1; };

  char text[256] = "";
  unsigned code = 0;
  mg_init_data init = {&callbacks, state.get(), settings};
  mg_error_data error = {&code, text, sizeof(text)};
  state->context = mg_start2(&init, &error);
  if (state->context == nullptr) {
    mg_exit_library();
    return absl::UnavailableError(absl::StrCat("cannot serve HTTP on ", address, ": ", text,
                                               "; is the port in use? Name another one, or 0 for any"));
  }
  // With port 0 CivetWeb reports the port that the system chose.
  mg_server_port ports[2] = {};
  int count = mg_get_server_ports(state->context, 2, ports);
  state->port = count > 0 ? static_cast<uint16_t>(ports[0].port) : 0;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

uint16_t HttpServer::port() const { return state_->port; }

void HttpServer::Stop() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->context == nullptr) return;
  mg_stop(state_->context);
  mg_exit_library();
  state_->context = nullptr;
}

}  // namespace aot::server
