#include "runtime/ota/transport.h"

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

}  // namespace

Status GetToMemory(Transport* transport, const std::string& url, int64_t max_bytes, std::string* out) {
  HttpRequest request;
  request.url = url;
  request.max_bytes = max_bytes;
  request.timeout_ms = kSmallObjectTimeoutMs;
  MemorySink sink(out);
  return transport->Get(request, &sink);
}

}  // namespace aot::ota
