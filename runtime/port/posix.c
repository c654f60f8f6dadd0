/* The port for Linux with any C library. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/port/port.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14 */
#endif

int aot_port_open(const char* path, aot_port_file* file) {
  struct stat info;
  int descriptor;
  do {
    /* Not to hang on a FIFO that somebody put in the file's place. */
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return errno;
  int error = 0;
  if (fstat(descriptor, &info) != 0) {
    error = errno;
  } else if (!S_ISREG(info.st_mode)) {
    error = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
  } else if ((uint64_t)info.st_size > SIZE_MAX) {
    error = EFBIG;
  }
  if (error != 0) {
    close(descriptor);
    return error;
  }
  file->descriptor = descriptor;
  file->bytes = (uint64_t)info.st_size;
  return 0;
}

void aot_port_close(aot_port_file* file) {
  if (file->descriptor >= 0) close(file->descriptor);
  file->descriptor = -1;
}

int aot_port_read(const aot_port_file* file, uint64_t offset, void* out, size_t bytes, size_t* got) {
  ssize_t count;
  do {
    count = pread(file->descriptor, out, bytes, (off_t)offset);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return errno;
  *got = (size_t)count;
  return 0;
}

int aot_port_map_file(const aot_port_file* file, void** address) {
  static uint8_t nothing[64] __attribute__((aligned(64)));
  if (file->bytes == 0) {
    *address = nothing; /* mmap refuses length 0; aot_port_unmap ignores it */
    return 0;
  }
  void* mapped = mmap(NULL, (size_t)file->bytes, PROT_READ, MAP_SHARED, file->descriptor, 0);
  if (mapped == MAP_FAILED) return errno;
  *address = mapped;
  return 0;
}

void aot_port_unmap(void* address, size_t bytes) {
  if (bytes != 0) munmap(address, bytes);
}

int aot_port_reserve(size_t bytes, void** address) {
  void* mapped = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return errno;
  *address = mapped;
  return 0;
}

int aot_port_map_segment(const aot_port_file* file, uint64_t offset, size_t bytes, void* address, bool executable) {
  const int protection = PROT_READ | (executable ? PROT_EXEC : 0);
  void* mapped = mmap(address, bytes, protection, MAP_PRIVATE | MAP_FIXED, file->descriptor, (off_t)offset);
  return mapped == MAP_FAILED ? errno : 0;
}

int aot_port_make_writable(void* address, size_t bytes) {
  return mprotect(address, bytes, PROT_READ | PROT_WRITE) != 0 ? errno : 0;
}

int aot_port_seal(void* address, size_t bytes, bool executable) {
  if (executable) __builtin___clear_cache((char*)address, (char*)address + bytes);
  return mprotect(address, bytes, PROT_READ | (executable ? PROT_EXEC : 0)) != 0 ? errno : 0;
}

int aot_port_allocate_pages(size_t bytes, void** address) {
  void* mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return errno;
  *address = mapped;
  return 0;
}

void* aot_port_allocate(size_t bytes) { return calloc(1, bytes); }

void aot_port_free(void* memory) { free(memory); }

size_t aot_port_page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

void aot_port_prefault(const void* address, size_t bytes) {
  if (bytes == 0) return;
  const size_t page = aot_port_page_size();
  const uintptr_t start = (uintptr_t)address & ~(uintptr_t)(page - 1);
  const size_t length = (uintptr_t)address + bytes - start;
  if (madvise((void*)start, length, MADV_POPULATE_READ) == 0) return;
  /* Older kernels: ask for read-ahead, then touch one byte of each page. */
  madvise((void*)start, length, MADV_WILLNEED);
  for (size_t i = 0; i < length; i += page) (void)*(const volatile char*)(start + i);
}

uint64_t aot_port_monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int aot_port_entropy(void* out, size_t bytes) {
  uint8_t* p = (uint8_t*)out;
  while (bytes > 0) {
    const ssize_t got = getrandom(p, bytes, 0);
    if (got < 0 && errno != EINTR) return errno;
    if (got > 0) {
      p += got;
      bytes -= (size_t)got;
    }
  }
  return 0;
}

void aot_port_error_text(int error, char* out, size_t capacity) {
  if (capacity == 0) return;
  out[0] = '\0';
#if defined(__GLIBC__)
  const char* text = strerror_r(error, out, capacity); /* the GNU function may return static text instead */
  if (text != out) {
    strncpy(out, text, capacity - 1);
    out[capacity - 1] = '\0';
  }
#else
  strerror_r(error, out, capacity);
#endif
}
