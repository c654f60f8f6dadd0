#include "server/http/http_metrics.h"

#include <sstream>
#include <utility>

#include "prometheus/text_serializer.h"

namespace aot::server {
namespace {

std::shared_ptr<prometheus::Registry> OrNew(std::shared_ptr<prometheus::Registry> registry) {
  return registry ? std::move(registry) : std::make_shared<prometheus::Registry>();
}

}  // namespace

HttpMetrics::HttpMetrics(std::shared_ptr<prometheus::Registry> registry)
    : registry_(OrNew(std::move(registry))),
      requests_(prometheus::BuildCounter()
                    .Name("aot_http_requests_total")
                    .Help("HTTP requests by what they asked for and the status of the answer.")
                    .Register(*registry_)),
      bytes_(prometheus::BuildCounter()
                 .Name("aot_http_sent_bytes_total")
                 .Help("Bytes of bodies sent, by what was asked for.")
                 .Register(*registry_)),
      in_flight_(prometheus::BuildGauge()
                     .Name("aot_http_requests_in_flight")
                     .Help("HTTP requests being answered.")
                     .Register(*registry_)
                     .Add({})) {}

void HttpMetrics::RequestDone(const std::string& kind, int status, uint64_t body_bytes) {
  in_flight_.Decrement();
  requests_.Add({{"object", kind}, {"code", std::to_string(status)}}).Increment();
  bytes_.Add({{"object", kind}}).Increment(static_cast<double>(body_bytes));
}

std::string HttpMetrics::Render() const {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, registry_->Collect());
  return out.str();
}

}  // namespace aot::server
