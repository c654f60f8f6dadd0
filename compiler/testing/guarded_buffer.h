// Memory that ends where it must not be read or written beyond: a page without access follows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace aot::testing {

// `bytes` of memory, the last of which is the last of an accessible page as far as `alignment` (a power of two) allows.
// An access beyond the page ends the process; what lies between the end and the page's is filled with a pattern that
// Intact checks. The same pattern lies in front.
class GuardedBuffer {
 public:
  GuardedBuffer(size_t bytes, size_t alignment);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  // Whether nobody wrote beside the buffer.
  bool Intact() const;

 private:
  uint8_t* mapping_;
  size_t mapped_;
  uint8_t* data_;
  size_t size_;
  size_t accessible_;  // of the mapping, from its start
};

}  // namespace aot::testing
