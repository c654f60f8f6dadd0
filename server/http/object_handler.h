// Answers a request for an object of the signed repository: ranges, entity tags, caching.
#pragma once

#include "registry/registry.h"
#include "server/http/exchange.h"
#include "server/http/transfers.h"

namespace aot::server {

// Sends the answer to a GET or HEAD. The answer to a path that isn't an object is 404, whatever the reason.
// Gives what it was for the metrics: "metadata", "blob" or "none".
const char* HandleObject(registry::Registry& registry, Transfers& transfers, Exchange& exchange);

}  // namespace aot::server
