#include "runtime/format/code_object.h"

#include <string.h>

/* ELF-64 (System V gABI, chapters 4 and 5). */
enum {
  kHeaderSize = 64,
  kProgramHeaderSize = 56,
  kMaxProgramHeaders = 16,
  kTypeShared = 3,
  kLoad = 1,
  kDynamic = 2,
  kInterpreter = 3,
  kThreadLocal = 7,
  kExecute = 1,
  kWrite = 2,
};
static const uint32_t kRelro = 0x6474e552;
/* Code of 1 GiB is beyond what 32-bit relative addresses reach safely. */
static const uint64_t kMaxSpan = UINT64_C(1) << 30;

typedef struct Header {
  uint32_t type, flags;
  uint64_t offset, address, file_size, memory_size, alignment;
  uint64_t at; /* where it stands in the file */
} Header;

static Header LoadHeader(const uint8_t* data, uint64_t at) {
  Header h;
  const uint8_t* p = data + at;
  h.type = aot_load_u32(p);
  h.flags = aot_load_u32(p + 4);
  h.offset = aot_load_u64(p + 8);
  h.address = aot_load_u64(p + 16);
  h.file_size = aot_load_u64(p + 32);
  h.memory_size = aot_load_u64(p + 40);
  h.alignment = aot_load_u64(p + 48);
  h.at = at;
  return h;
}

static bool CheckIdentity(const uint8_t* p, size_t size, aot_fault* fault) {
  if (size < kHeaderSize) return aot_fail(fault, AOT_FAULT_TRUNCATED, 0, "code object", size, kHeaderSize);
  if (memcmp(p, "\177ELF", 4) != 0) {
    return aot_fail(fault, AOT_FAULT_MAGIC, 0, "code object", aot_load_u32(p), 0x464c457f);
  }
  if (p[4] != 2) return aot_fail(fault, AOT_FAULT_MALFORMED, 4, "code object ELF class", p[4], 2);
  if (p[5] != 1) return aot_fail(fault, AOT_FAULT_MALFORMED, 5, "code object byte order", p[5], 1);
  if (aot_load_u16(p + 16) != kTypeShared) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, 16, "code object ELF type", aot_load_u16(p + 16), kTypeShared);
  }
  return true;
}

/* Tags that would make a dynamic linker do more than map the file. */
static bool CheckDynamic(const uint8_t* data, size_t size, const Header* h, aot_fault* fault) {
  static const struct {
    uint64_t tag;
    const char* what;
  } kForbidden[] = {
      {1, "needed library in the code object: tag"},    {2, "procedure-linkage relocations in the code object: tag"},
      {7, "relocations in the code object: tag"},       {12, "initialiser in the code object: tag"},
      {13, "finaliser in the code object: tag"},        {17, "relocations in the code object: tag"},
      {22, "text relocations in the code object: tag"}, {23, "procedure-linkage relocations in the code object: tag"},
      {25, "initialisers in the code object: tag"},     {26, "finalisers in the code object: tag"},
      {32, "pre-initialisers in the code object: tag"}, {36, "relocations in the code object: tag"},
  };
  if (!aot_range_fits(h->offset, h->file_size, size)) {
    return aot_fail(fault, AOT_FAULT_TRUNCATED, h->at, "code object's dynamic section", size, h->offset);
  }
  for (uint64_t i = 0; i + 16 <= h->file_size; i += 16) {
    const uint64_t tag = aot_load_u64(data + h->offset + i);
    if (tag == 0) return true;
    for (size_t k = 0; k < sizeof kForbidden / sizeof kForbidden[0]; ++k) {
      if (tag == kForbidden[k].tag) {
        return aot_fail(fault, AOT_FAULT_MALFORMED, h->offset + i, kForbidden[k].what, tag, 0);
      }
    }
  }
  return true;
}

static bool AddWeights(aot_code_object* object, const Header* h, aot_fault* fault) {
  uint64_t offset;
  if (object->weights_offset != 0 || (h->flags & (kWrite | kExecute)) != 0 ||
      !aot_round_up_u64(object->bytes.size, h->alignment, &offset) || h->offset != offset) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, h->at, "segment past the end of the code object: its offset", h->offset,
                    object->bytes.size);
  }
  object->weights_offset = h->offset;
  object->weights_size = h->file_size;
  return true;
}

static bool AddSegment(aot_code_object* object, const Header* h, const Header* relro, aot_fault* fault) {
  if (!aot_is_power_of_two(h->alignment) || h->alignment > 65536 || (h->offset - h->address) % h->alignment != 0) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, h->at, "segment alignment", h->alignment, 65536);
  }
  if (h->file_size != h->memory_size) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, h->at, "segment size in memory", h->memory_size, h->file_size);
  }
  if (h->alignment > object->alignment) object->alignment = h->alignment;
  if (h->offset >= object->bytes.size) return AddWeights(object, h, fault);
  if (!aot_range_fits(h->offset, h->file_size, object->bytes.size)) {
    return aot_fail(fault, AOT_FAULT_TRUNCATED, h->at, "code object's segment", object->bytes.size,
                    h->offset + h->file_size);
  }
  if ((h->flags & kWrite) != 0 && ((h->flags & kExecute) != 0 || relro->type != kRelro || h->address < relro->address ||
                                   !aot_range_fits(h->address - relro->address, h->memory_size, relro->memory_size))) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, h->at, "writable segment in the code object: its flags", h->flags, 4);
  }
  if (h->address < object->span || h->address > kMaxSpan || h->memory_size > kMaxSpan - h->address) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, h->at, "segment address", h->address, object->span);
  }
  if (object->segment_count == AOT_CODE_MAX_SEGMENTS) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, h->at, "segment count", object->segment_count + 1u,
                    AOT_CODE_MAX_SEGMENTS);
  }
  aot_code_segment* segment = &object->segments[object->segment_count++];
  segment->offset = h->offset;
  segment->size = h->file_size;
  segment->address = h->address;
  segment->executable = (h->flags & kExecute) != 0;
  object->span = h->address + h->memory_size;
  return true;
}

bool aot_code_object_open(const void* data, size_t size, aot_code_object* object, aot_fault* fault) {
  const uint8_t* p = (const uint8_t*)data;
  memset(object, 0, sizeof *object);
  if (!CheckIdentity(p, size, fault)) return false;
  object->bytes.data = p;
  object->bytes.size = size;
  object->machine = aot_load_u16(p + 18);
  object->alignment = 1;
  const uint64_t table = aot_load_u64(p + 32);
  const uint32_t entry_size = aot_load_u16(p + 54), count = aot_load_u16(p + 56);
  if (entry_size != kProgramHeaderSize || count > kMaxProgramHeaders ||
      !aot_range_fits(table, (uint64_t)count * kProgramHeaderSize, size)) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, 54, "code object's program header count", count, kMaxProgramHeaders);
  }
  Header relro = {0};
  for (uint32_t i = 0; i < count; ++i) {
    const Header h = LoadHeader(p, table + (uint64_t)i * kProgramHeaderSize);
    if (h.type == kRelro) relro = h;
    if (h.type == kInterpreter || h.type == kThreadLocal) {
      return aot_fail(fault, AOT_FAULT_MALFORMED, h.at, "program header type in the code object", h.type, kLoad);
    }
    if (h.type == kDynamic && !CheckDynamic(p, size, &h, fault)) return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const Header h = LoadHeader(p, table + (uint64_t)i * kProgramHeaderSize);
    if (h.type == kLoad && !AddSegment(object, &h, &relro, fault)) return false;
  }
  if (object->segment_count == 0) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, table, "code object's segment count", 0, 1);
  }
  return true;
}

/* The segment that holds [address, address + size), or NULL. */
static const aot_code_segment* FindSegment(const aot_code_object* object, uint64_t address, uint64_t size) {
  for (uint32_t i = 0; i < object->segment_count; ++i) {
    const aot_code_segment* s = &object->segments[i];
    if (address >= s->address && aot_range_fits(address - s->address, size, s->size)) return s;
  }
  return NULL;
}

bool aot_code_object_descriptor(const aot_code_object* object, uint64_t address, aot_descriptor* descriptor,
                                uint64_t* entry, aot_fault* fault) {
  const aot_code_segment* home = FindSegment(object, address, sizeof *descriptor);
  if (home == NULL || address % 8 != 0) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, 0, "address of the descriptor", address, object->span);
  }
  const uint64_t at = home->offset + (address - home->address);
  const uint8_t* p = object->bytes.data + at;
  descriptor->magic = aot_load_u32(p);
  descriptor->size = aot_load_u32(p + 4);
  descriptor->abi_version = aot_load_u32(p + 8);
  descriptor->entry_offset = (int32_t)aot_load_u32(p + 12);
  descriptor->arena_size = aot_load_u64(p + 16);
  descriptor->weights_size = aot_load_u64(p + 24);
  memcpy(descriptor->key, p + 32, sizeof descriptor->key);
  if (descriptor->magic != AOT_DESCRIPTOR_MAGIC) {
    return aot_fail(fault, AOT_FAULT_MAGIC, at, "descriptor", descriptor->magic, AOT_DESCRIPTOR_MAGIC);
  }
  if (descriptor->abi_version != AOT_CODE_ABI_VERSION) {
    return aot_fail(fault, AOT_FAULT_VERSION, at + 8, "code ABI", descriptor->abi_version, AOT_CODE_ABI_VERSION);
  }
  if (descriptor->size < sizeof *descriptor) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at + 4, "descriptor size", descriptor->size, sizeof *descriptor);
  }
  const uint64_t target = address + (uint64_t)(int64_t)descriptor->entry_offset;
  const aot_code_segment* code = FindSegment(object, target, 1);
  if (code == NULL || !code->executable) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at + 12, "address of the entry function", target, object->span);
  }
  if (entry != NULL) *entry = target;
  return true;
}
