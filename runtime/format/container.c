#include "runtime/format/container.h"

#include <string.h>

bool aot_container_plan(uint64_t code_size, uint64_t weights_size, uint64_t manifest_size, uint32_t page_size,
                        aot_container* c) {
  if (!aot_is_power_of_two(page_size) || page_size < AOT_MIN_PAGE_SIZE || page_size > AOT_MAX_PAGE_SIZE) return false;
  uint64_t end;
  c->code_size = code_size;
  c->weights_size = weights_size;
  c->manifest_size = manifest_size;
  c->page_size = page_size;
  return aot_round_up_u64(code_size, page_size, &c->weights_offset) &&
         aot_add_u64(c->weights_offset, weights_size, &end) &&
         aot_round_up_u64(end, AOT_CONTAINER_MANIFEST_ALIGNMENT, &c->manifest_offset) &&
         aot_add_u64(c->manifest_offset, manifest_size, &end) && aot_add_u64(end, AOT_TRAILER_SIZE, &c->total_size);
}

static void StoreU32(uint8_t* p, uint32_t value) {
  for (int i = 0; i < 4; ++i) p[i] = (uint8_t)(value >> (8 * i));
}

static void StoreU64(uint8_t* p, uint64_t value) {
  for (int i = 0; i < 8; ++i) p[i] = (uint8_t)(value >> (8 * i));
}

void aot_container_write_trailer(const aot_container* c, uint8_t trailer[AOT_TRAILER_SIZE]) {
  StoreU64(trailer + AOT_TRAILER_CODE_SIZE, c->code_size);
  StoreU64(trailer + AOT_TRAILER_WEIGHTS_OFFSET, c->weights_offset);
  StoreU64(trailer + AOT_TRAILER_WEIGHTS_SIZE, c->weights_size);
  StoreU64(trailer + AOT_TRAILER_MANIFEST_OFFSET, c->manifest_offset);
  StoreU64(trailer + AOT_TRAILER_MANIFEST_SIZE, c->manifest_size);
  StoreU32(trailer + AOT_TRAILER_PAGE_SIZE, c->page_size);
  StoreU32(trailer + AOT_TRAILER_RESERVED, 0);
  StoreU32(trailer + AOT_TRAILER_VERSION, AOT_FORMAT_VERSION);
  StoreU32(trailer + AOT_TRAILER_TRAILER_SIZE, AOT_TRAILER_SIZE);
  memcpy(trailer + AOT_TRAILER_MAGIC, AOT_TRAILER_MAGIC_TEXT, 8);
}

bool aot_container_open(const void* data, size_t size, aot_container* c, aot_fault* fault) {
  if (size < AOT_TRAILER_SIZE) return aot_fail(fault, AOT_FAULT_TRUNCATED, 0, "artifact", size, AOT_TRAILER_SIZE);
  const uint64_t at = size - AOT_TRAILER_SIZE;
  const uint8_t* p = (const uint8_t*)data + at;
  if (memcmp(p + AOT_TRAILER_MAGIC, AOT_TRAILER_MAGIC_TEXT, 8) != 0) {
    return aot_fail(fault, AOT_FAULT_MAGIC, at + AOT_TRAILER_MAGIC,
                    "end of the artifact (a file that is cut short looks like this too)",
                    aot_load_u64(p + AOT_TRAILER_MAGIC), aot_load_u64((const uint8_t*)AOT_TRAILER_MAGIC_TEXT));
  }
  const uint32_t version = aot_load_u32(p + AOT_TRAILER_VERSION);
  if (version != AOT_FORMAT_VERSION) {
    return aot_fail(fault, AOT_FAULT_VERSION, at + AOT_TRAILER_VERSION, "artifact format", version, AOT_FORMAT_VERSION);
  }
  const uint64_t code_size = aot_load_u64(p + AOT_TRAILER_CODE_SIZE);
  const uint64_t weights_size = aot_load_u64(p + AOT_TRAILER_WEIGHTS_SIZE);
  const uint64_t manifest_size = aot_load_u64(p + AOT_TRAILER_MANIFEST_SIZE);
  if (!aot_container_plan(code_size, weights_size, manifest_size, aot_load_u32(p + AOT_TRAILER_PAGE_SIZE), c)) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at + AOT_TRAILER_PAGE_SIZE, "artifact page size (or a size by it)",
                    aot_load_u32(p + AOT_TRAILER_PAGE_SIZE), AOT_MAX_PAGE_SIZE);
  }
  if (c->total_size != size) return aot_fail(fault, AOT_FAULT_TRUNCATED, at, "artifact", size, c->total_size);
  uint8_t canonical[AOT_TRAILER_SIZE];
  aot_container_write_trailer(c, canonical);
  for (uint32_t i = 0; i < AOT_TRAILER_SIZE; ++i) {
    if (p[i] != canonical[i]) {
      return aot_fail(fault, AOT_FAULT_MALFORMED, at + i, "artifact trailer byte", p[i], canonical[i]);
    }
  }
  return true;
}

static bool CheckZero(const uint8_t* data, uint64_t from, uint64_t to, aot_fault* fault) {
  for (uint64_t i = from; i < to; ++i) {
    if (data[i] != 0) return aot_fail(fault, AOT_FAULT_MALFORMED, i, "padding of the artifact", data[i], 0);
  }
  return true;
}

bool aot_container_check_padding(const void* data, const aot_container* c, aot_fault* fault) {
  const uint8_t* p = (const uint8_t*)data;
  return CheckZero(p, c->code_size, c->weights_offset, fault) &&
         CheckZero(p, c->weights_offset + c->weights_size, c->manifest_offset, fault);
}
