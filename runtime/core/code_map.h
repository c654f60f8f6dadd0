/* The ELF loader: brings the segments of a checked code object into memory, executable where they are code. */
#ifndef AOT_RUNTIME_CORE_CODE_MAP_H_
#define AOT_RUNTIME_CORE_CODE_MAP_H_

#include "runtime/format/code_object.h"
#include "runtime/port/port.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aot_code_map {
  uint8_t* base; /* address 0 of the code object; NULL: nothing is mapped */
  size_t bytes;
} aot_code_map;

/* Maps the object. `file` is the open file that holds it from offset 0, or NULL if it is in memory, from which it is
 * copied. No page is ever writable and executable at once. Returns 0 or the system's error number; *map is to be ended
 * by aot_code_unmap. */
int aot_code_map_segments(const aot_code_object* object, const aot_port_file* file, aot_code_map* map);

void aot_code_unmap(aot_code_map* map);

#ifdef __cplusplus
}
#endif

#endif
