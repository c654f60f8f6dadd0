#include "runtime/core/code_map.h"

#include <string.h>

/* Whether the file's pages can stand in memory as they are: each segment must have pages of its own, at the same place
 * within a page. Not so for a kernel with larger pages than the object was linked for. */
static bool FitsPages(const aot_code_object* object, uint64_t page) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < object->segment_count; ++i) {
    const aot_code_segment* s = &object->segments[i];
    if (s->address % page != s->offset % page) return false;
    if (s->size != 0 && s->address / page * page < end) return false;
    end = (s->address + s->size + page - 1) / page * page;
  }
  return true;
}

static int MapFromFile(const aot_code_object* object, const aot_port_file* file, uint64_t page, uint8_t* base) {
  for (uint32_t i = 0; i < object->segment_count; ++i) {
    const aot_code_segment* s = &object->segments[i];
    if (s->size == 0) continue;
    const uint64_t before = s->address % page;
    const int error = aot_port_map_segment(file, s->offset - before, (size_t)(s->size + before),
                                           base + (s->address - before), s->executable);
    if (error != 0) return error;
  }
  return 0;
}

static int Copy(const aot_code_object* object, uint64_t page, bool own_pages, uint8_t* base, size_t bytes) {
  int error = aot_port_make_writable(base, bytes);
  if (error != 0) return error;
  for (uint32_t i = 0; i < object->segment_count; ++i) {
    const aot_code_segment* s = &object->segments[i];
    memcpy(base + s->address, object->bytes.data + s->offset, (size_t)s->size);
  }
  /* Segments that share a page can only be sealed together. */
  if (!own_pages) return aot_port_seal(base, bytes, true);
  error = aot_port_seal(base, bytes, false);
  for (uint32_t i = 0; i < object->segment_count && error == 0; ++i) {
    const aot_code_segment* s = &object->segments[i];
    const uint64_t before = s->address % page;
    if (s->executable && s->size != 0) {
      error = aot_port_seal(base + (s->address - before), (size_t)(s->size + before), true);
    }
  }
  return error;
}

int aot_code_map_segments(const aot_code_object* object, const aot_port_file* file, aot_code_map* map) {
  const uint64_t page = aot_port_page_size();
  const size_t bytes = (size_t)((object->span + page - 1) / page * page); /* span is at most 1 GiB */
  void* base;
  map->base = NULL;
  map->bytes = 0;
  int error = aot_port_reserve(bytes, &base);
  if (error != 0) return error;
  map->base = (uint8_t*)base;
  map->bytes = bytes;
  const bool own_pages = FitsPages(object, page);
  error = file != NULL && own_pages ? MapFromFile(object, file, page, map->base)
                                    : Copy(object, page, own_pages, map->base, bytes);
  if (error != 0) aot_code_unmap(map);
  return error;
}

void aot_code_unmap(aot_code_map* map) {
  if (map->base != NULL) aot_port_unmap(map->base, map->bytes);
  map->base = NULL;
  map->bytes = 0;
}
