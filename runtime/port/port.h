/* The seam to a platform: all that the runtime asks of an operating system. A port is one file that implements it
 * (posix.c).
 *
 * Functions that can fail return 0 or the system's error number (errno's values). Everything may be called from any
 * thread. */
#ifndef AOT_RUNTIME_PORT_PORT_H_
#define AOT_RUNTIME_PORT_PORT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/format/cpu_features.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An open, regular file. */
typedef struct aot_port_file {
  int descriptor;
  uint64_t bytes;
} aot_port_file;

/* Opens for reading. Not a regular file: EINVAL (a directory: EISDIR). */
int aot_port_open(const char* path, aot_port_file* file);
void aot_port_close(aot_port_file* file);
/* Reads up to `bytes` bytes at `offset`; *got is 0 at the end of the file. A block that the medium can't give back is
 * EIO here, where touching a mapping of it would end the process. */
int aot_port_read(const aot_port_file* file, uint64_t offset, void* out, size_t bytes, size_t* got);
/* Maps the whole file, read-only and shared with other processes. The mapping outlives closing. An empty file maps to a
 * valid address. */
int aot_port_map_file(const aot_port_file* file, void** address);
/* Ends any mapping or reservation of this file. */
void aot_port_unmap(void* address, size_t bytes);

/* Reserves address space without access, for code segments, at a page boundary. */
int aot_port_reserve(size_t bytes, void** address);
/* Maps part of the file over a reservation; offset and address are multiples of the page size. Read-only, or read and
 * execute. */
int aot_port_map_segment(const aot_port_file* file, uint64_t offset, size_t bytes, void* address, bool executable);
/* Makes reserved pages writable, for copying code into; address is a multiple of the page size. */
int aot_port_make_writable(void* address, size_t bytes);
/* And back to read-only or read and execute, with the instruction cache in step. */
int aot_port_seal(void* address, size_t bytes, bool executable);

/* Zeroed pages, readable and writable. */
int aot_port_allocate_pages(size_t bytes, void** address);
/* Small memory for handles, zeroed; NULL if there is none. */
void* aot_port_allocate(size_t bytes);
void aot_port_free(void* memory);

/* Bytes, a power of two. */
size_t aot_port_page_size(void);
/* Brings pages of a mapping, all of them readable, into memory and into the page table, without changing them; best
 * effort. */
void aot_port_prefault(const void* address, size_t bytes);
/* What this processor and the operating system offer to code. */
void aot_port_detect_cpu(aot_cpu* cpu);
/* Nanoseconds since some fixed point; never goes back. */
uint64_t aot_port_monotonic_ns(void);
/* Unpredictable bytes. */
int aot_port_entropy(void* out, size_t bytes);
/* The text for an error number, NUL-terminated and cut to capacity. */
void aot_port_error_text(int error, char* out, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
