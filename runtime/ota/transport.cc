#include "runtime/ota/transport.h"

#include <algorithm>
#include <ctime>

namespace aot::ota {
namespace {

constexpr int64_t kSmallObjectTimeoutMs = 60000;

class MemorySink : public BodySink {
 public:
  explicit MemorySink(std::string* out) : out_(out) {}
  Status Begin(const HttpResponse&) override {
    out_->clear();
    return Status();
  }
  Status Write(const char* data, size_t size) override {
    out_->append(data, size);
    return Status();
  }

 private:
  std::string* out_;
};

int64_t MonotonicMs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

}  // namespace

DeadlineTransport::DeadlineTransport(Transport* transport, int64_t total_ms)
    : transport_(transport), total_ms_(total_ms), end_ms_(MonotonicMs() + total_ms) {}

bool DeadlineTransport::Expired() const { return MonotonicMs() >= end_ms_; }

Status DeadlineTransport::Get(const HttpRequest& request, BodySink* sink) {
  HttpRequest bounded = request;
  const int64_t left_ms = end_ms_ - MonotonicMs();
  if (left_ms > 0) {
    bounded.timeout_ms = request.timeout_ms > 0 ? std::min(request.timeout_ms, left_ms) : left_ms;
    const Status status = transport_->Get(bounded, sink);
    if (status.code() != Code::kNetwork || !Expired()) return status;
  }
  return Status(Code::kNetwork, request.url + ": the update took longer than " + std::to_string(total_ms_ / 1000) +
                                    " s; the next one goes on from here");
}

Status GetToMemory(Transport* transport, const std::string& url, int64_t max_bytes, std::string* out) {
  HttpRequest request;
  request.url = url;
  request.max_bytes = max_bytes;
  request.timeout_ms = kSmallObjectTimeoutMs;
  MemorySink sink(out);
  return transport->Get(request, &sink);
}

}  // namespace aot::ota
