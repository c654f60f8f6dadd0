#include "server/http/transfers.h"

#include <algorithm>
#include <cstddef>

#include "server/monotonic_clock.h"

namespace aot::server {
namespace {

// Small, because a write returns only when all of it is taken, however slowly.
constexpr size_t kPiece = 16 * 1024;

}  // namespace

Pace::Pace(const Transfers& transfers) : transfers_(transfers), start_(MonotonicNow()) {}

bool Pace::SendBody(Exchange& exchange, absl::string_view data) const {
  while (!data.empty()) {
    absl::string_view piece = data.substr(0, kPiece);
    if (!exchange.SendBody(piece)) return false;
    data.remove_prefix(piece.size());
    absl::Duration taken = MonotonicNow() - start_;
    double least = absl::ToDoubleSeconds(taken) * static_cast<double>(transfers_.min_bytes_per_second());
    if (taken > transfers_.grace() && static_cast<double>(exchange.sent()) < least) return false;
  }
  return true;
}

}  // namespace aot::server
