/* The `.so` form: code | padding | weights | padding | manifest | trailer, in one file. Freestanding. */
#ifndef AOT_RUNTIME_FORMAT_CONTAINER_H_
#define AOT_RUNTIME_FORMAT_CONTAINER_H_

#include "runtime/format/bytes.h"
#include "runtime/format/fault.h"
#include "runtime/format/manifest_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the parts lie. The layout follows from the three sizes and the page size alone; the trailer repeats it so that
 * a damaged or partial file is never taken for a whole one. */
typedef struct aot_container {
  uint64_t code_size; /* the code object starts at 0 */
  uint64_t weights_offset, weights_size;
  uint64_t manifest_offset, manifest_size;
  uint64_t total_size; /* with the trailer */
  uint32_t page_size;
} aot_container;

/* Computes the layout. False if a size overflows or the page size is none that the format allows. */
bool aot_container_plan(uint64_t code_size, uint64_t weights_size, uint64_t manifest_size, uint32_t page_size,
                        aot_container* container);

/* Writes the trailer. */
void aot_container_write_trailer(const aot_container* container, uint8_t trailer[AOT_TRAILER_SIZE]);

/* Reads the trailer of a whole file of `size` bytes at `data`. Fault offsets count from the file's start. */
bool aot_container_open(const void* data, size_t size, aot_container* container, aot_fault* fault);

/* Whether the padding between the parts is zero, as a writer makes it. */
bool aot_container_check_padding(const void* data, const aot_container* container, aot_fault* fault);

#ifdef __cplusplus
}
#endif

#endif
