// A flag that can be waited for together with file descriptors.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace aot::server {

// Set once, never cleared. Thread-safe; must outlive those who wait for it.
class CancelSignal {
 public:
  CancelSignal() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~CancelSignal() {
    if (fd_ >= 0) close(fd_);
  }
  CancelSignal(const CancelSignal&) = delete;
  CancelSignal& operator=(const CancelSignal&) = delete;

  void Cancel() {
    if (cancelled_.exchange(true)) return;
    uint64_t one = 1;
    if (fd_ >= 0 && write(fd_, &one, sizeof(one)) < 0) {
      // The counter is at its limit, so the descriptor is readable already.
    }
  }
  bool cancelled() const { return cancelled_.load(); }
  // Becomes readable when cancelled, and stays so. -1 if the process had no descriptor left: then poll cancelled().
  int fd() const { return fd_; }

 private:
  std::atomic<bool> cancelled_{false};
  int fd_;
};

}  // namespace aot::server
