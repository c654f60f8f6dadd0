// How many blobs are sent at once, and how slow their readers may be.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/http/exchange.h"

namespace aot::server {

// Thread-safe.
class Transfers {
 public:
  // A reader gets `grace` before its rate counts.
  Transfers(int most, absl::Duration grace, int64_t min_bytes_per_second)
      : free_(most), grace_(grace), min_bytes_per_second_(min_bytes_per_second) {}

  // One transfer, while it lives.
  class Slot {
   public:
    explicit Slot(std::atomic<int>* free) : free_(free) {}
    Slot(Slot&& other) noexcept : free_(std::exchange(other.free_, nullptr)) {}
    Slot& operator=(Slot&& other) noexcept {
      std::swap(free_, other.free_);
      return *this;
    }
    ~Slot() {
      if (free_ != nullptr) free_->fetch_add(1);
    }

   private:
    std::atomic<int>* free_;
  };
  // Nothing when as many as may are under way.
  std::optional<Slot> TryBegin() {
    if (free_.fetch_sub(1) > 0) return Slot(&free_);
    free_.fetch_add(1);
    return std::nullopt;
  }

  absl::Duration grace() const { return grace_; }
  int64_t min_bytes_per_second() const { return min_bytes_per_second_; }

 private:
  std::atomic<int> free_;
  const absl::Duration grace_;
  const int64_t min_bytes_per_second_;
};

// Sends one body and watches how fast it is taken. Starts its clock when made.
class Pace {
 public:
  explicit Pace(const Transfers& transfers);
  // False: the client is gone or too slow on the whole.
  bool SendBody(Exchange& exchange, absl::string_view data) const;

 private:
  const Transfers& transfers_;
  const absl::Duration start_;  // monotonic
};

}  // namespace aot::server
