/* Reader of a code object: an ELF shared object held to the artifact's policy. Freestanding; shared by the linker step,
 * which refuses to emit what this refuses, and the loader.
 *
 * The policy: 64-bit little-endian ET_DYN; no relocation, no needed library, no initialiser, no thread-local storage,
 * no interpreter; no segment that is writable, except the dynamic section under RELRO, which only a dynamic linker
 * writes; no segment both writable and executable; memory and file sizes equal. At most one segment lies past the end
 * of the code object: the weights of the `.so` form. */
#ifndef AOT_RUNTIME_FORMAT_CODE_OBJECT_H_
#define AOT_RUNTIME_FORMAT_CODE_OBJECT_H_

#include "runtime/format/bytes.h"
#include "runtime/format/entry.h"
#include "runtime/format/fault.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { AOT_CODE_MAX_SEGMENTS = 8 };

typedef struct aot_code_segment {
  uint64_t offset; /* in the code object */
  uint64_t size;
  uint64_t address; /* relative to the load base */
  bool executable;
} aot_code_segment;

typedef struct aot_code_object {
  aot_span bytes;
  uint32_t machine; /* ELF e_machine */
  uint32_t segment_count;
  aot_code_segment segments[AOT_CODE_MAX_SEGMENTS]; /* ascending, apart */
  uint64_t span;                                    /* address space that the segments take, from 0 */
  uint64_t alignment;      /* of the load base, bytes: the largest page the object was linked for */
  uint64_t weights_offset; /* of the weights segment in the `.so` form; 0: none */
  uint64_t weights_size;
} aot_code_object;

/* Reads and checks the code object. It points into the bytes afterwards. */
bool aot_code_object_open(const void* data, size_t size, aot_code_object* object, aot_fault* fault);

/* Copies the descriptor at `address` (in a readable segment), checked: magic, size, ABI version, and an entry function
 * inside an executable segment, whose address goes to *entry (which may be NULL). */
bool aot_code_object_descriptor(const aot_code_object* object, uint64_t address, aot_descriptor* descriptor,
                                uint64_t* entry, aot_fault* fault);

#ifdef __cplusplus
}
#endif

#endif
