// The seam to a network: one request with a byte range, a bounded body, and nothing else. curl_transport.h is the
// implementation on Linux; a board with its own stack writes another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/ota/status.h"

namespace aot::ota {

struct HttpRequest {
  std::string url;
  int64_t max_bytes = 0;    // of the body: a server that sends more is cut off with kLimit
  int64_t range_start = 0;  // above 0: ask for the bytes from here on ...
  std::string if_range;     // ... if the object's ETag is still this one
  int64_t timeout_ms = 0;   // for the whole request; 0: as long as data keeps coming (the low-speed limit holds)
};

struct HttpResponse {
  int status = 0;            // 200, 206 or 416
  std::string etag;          // empty where the server sent none
  int64_t range_start = -1;  // of a 206, from Content-Range
  int64_t range_total = -1;  // the object's length, from Content-Range; -1 where unknown
};

// Receives a body.
class BodySink {
 public:
  virtual ~BodySink() = default;
  // The header of a successful response, before any byte of its body, or of a 416 (the object has no such range), which
  // has none. An error ends the transfer with that error.
  virtual Status Begin(const HttpResponse& response) = 0;
  virtual Status Write(const char* data, size_t size) = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Fetches request.url into sink. kNotFound for 403, 404 and 410, kLimit for a body that is too long, kNetwork for all
  // other failures, the URL in each message. Part of the body may have reached the sink before an error.
  virtual Status Get(const HttpRequest& request, BodySink* sink) = 0;
  // Whether all further requests will fail because the time is over.
  virtual bool Expired() const { return false; }
};

// Gives all requests together so much time: a server that sends just fast enough can't draw an update out for days.
class DeadlineTransport : public Transport {
 public:
  // `transport` outlives this object; the time runs from now.
  DeadlineTransport(Transport* transport, int64_t total_ms);
  // kNetwork when the time is over, also in the middle of a body.
  Status Get(const HttpRequest& request, BodySink* sink) override;
  bool Expired() const override;

 private:
  Transport* transport_;
  const int64_t total_ms_;
  const int64_t end_ms_;  // of the monotonic clock
};

// Fetches a small object into memory.
Status GetToMemory(Transport* transport, const std::string& url, int64_t max_bytes, std::string* out);

}  // namespace aot::ota
