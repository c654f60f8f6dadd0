// The HTTP side: the signed repository as static objects, metrics and health.
//
//   GET /tuf/...              signed metadata and artifact manifests     (docs/formats/repository.md)
//   GET /blobs/sha256/<hex>   content parts that a release names
//   GET /metrics              Prometheus text format
//   GET /healthz              "ok"
//
// Only GET and HEAD. Objects named by digest are immutable and may be cached for ever; every object has an ETag and
// accepts a single byte range. Any CDN or proxy may stand in front.
//
// Blobs are sent on all threads but two, so that slow readers of large files keep nobody from metadata, metrics and
// health; one blob more is answered with 503 and Retry-After.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "prometheus/registry.h"
#include "registry/registry.h"

namespace aot::server {

struct HttpOptions {
  // Address to listen on, a numeric IPv4 one (Debian's CivetWeb is built without IPv6). Content is signed but not
  // encrypted.
  std::string address = "127.0.0.1";
  uint16_t port = 0;  // 0: any free one, see HttpServer::port()
  int threads = 64;   // connections served at once
  int queue = 64;     // connections that may wait for a thread; beyond them the system refuses
  int max_header_bytes = 16 * 1024;
  absl::Duration request_timeout = absl::Seconds(30);  // for the header to arrive and for each stalled write
  // A reader slower than this on average, once the timeout has passed, is cut off; it can go on with a range.
  int64_t min_bytes_per_second = 16 * 1024;
  // Metrics to publish besides the HTTP side's own; may be null.
  std::shared_ptr<prometheus::Registry> metrics;
};

// Thread-safe. Serves from Start until Stop or destruction.
class HttpServer {
 public:
  // `registry` must outlive the server. INVALID_ARGUMENT: an option is out of range. UNAVAILABLE: the address can't be
  // listened on; the message names it.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HttpOptions& options, registry::Registry& registry);
  ~HttpServer();

  uint16_t port() const;
  // Closes the listener and waits for running requests. Idempotent.
  void Stop();

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace aot::server
