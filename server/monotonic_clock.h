// The clock for timeouts.
#pragma once

#include <time.h>

#include "absl/time/time.h"

namespace aot::server {

// Time since some fixed moment; not moved when somebody sets the clock.
inline absl::Duration MonotonicNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::DurationFromTimespec(now);
}

}  // namespace aot::server
