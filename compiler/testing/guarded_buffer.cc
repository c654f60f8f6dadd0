#include "compiler/testing/guarded_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace aot::testing {
namespace {

constexpr uint8_t kCanary = 0xC5;

}  // namespace

GuardedBuffer::GuardedBuffer(size_t bytes, size_t alignment) : size_(bytes) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // At least one page in front, for the pattern.
  accessible_ = (bytes + page - 1) / page * page + page;
  mapped_ = accessible_ + page;
  void* mapping = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) abort();
  mapping_ = static_cast<uint8_t*>(mapping);
  if (mprotect(mapping_ + accessible_, page, PROT_NONE) != 0) abort();
  std::memset(mapping_, kCanary, accessible_);
  data_ = mapping_ + (accessible_ - bytes) / alignment * alignment;
}

GuardedBuffer::~GuardedBuffer() { munmap(mapping_, mapped_); }

bool GuardedBuffer::Intact() const {
  for (const uint8_t* p = mapping_; p < mapping_ + accessible_; ++p) {
    if ((p < data_ || p >= data_ + size_) && *p != kCanary) return false;
  }
  return true;
}

}  // namespace aot::testing
