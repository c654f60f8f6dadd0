#include "runtime/format/fault.h"

bool aot_fail(aot_fault* fault, aot_fault_kind kind, uint64_t offset, const char* what, uint64_t found,
              uint64_t wanted) {
  if (fault != NULL) {
    fault->kind = kind;
    fault->offset = offset;
    fault->what = what;
    fault->found = found;
    fault->wanted = wanted;
  }
  return false;
}

void aot_text_begin(aot_text_builder* builder, char* out, size_t capacity) {
  builder->out = out;
  builder->capacity = capacity;
  builder->size = 0;
  if (capacity > 0) out[0] = '\0';
}

void aot_text_add_bytes(aot_text_builder* builder, const char* text, size_t size) {
  for (size_t i = 0; i < size && builder->size + 1 < builder->capacity; ++i) {
    /* Names come from models: control characters must not reach a log. */
    const char c = text[i];
    builder->out[builder->size++] = (unsigned char)c < 0x20 || c == 0x7f ? '?' : c;
  }
  if (builder->capacity > 0) builder->out[builder->size] = '\0';
}

void aot_text_add(aot_text_builder* builder, const char* text) {
  size_t size = 0;
  while (text[size] != '\0') ++size;
  aot_text_add_bytes(builder, text, size);
}

static void AddNumber(aot_text_builder* builder, uint64_t value, unsigned base) {
  char digits[24];
  size_t used = sizeof digits;
  do {
    digits[--used] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0);
  aot_text_add_bytes(builder, digits + used, sizeof digits - used);
}

void aot_text_add_u64(aot_text_builder* builder, uint64_t value) { AddNumber(builder, value, 10); }

void aot_text_add_hex(aot_text_builder* builder, uint64_t value) {
  aot_text_add(builder, "0x");
  AddNumber(builder, value, 16);
}

size_t aot_fault_text(const aot_fault* fault, char* out, size_t capacity) {
  aot_text_builder b;
  aot_text_begin(&b, out, capacity);
  aot_text_add(&b, fault->what != NULL ? fault->what : "the artifact");
  switch (fault->kind) {
    case AOT_FAULT_NONE:
      aot_text_add(&b, ": no fault");
      break;
    case AOT_FAULT_TRUNCATED:
      aot_text_add(&b, " is cut short: ");
      aot_text_add_u64(&b, fault->found);
      aot_text_add(&b, " bytes where ");
      aot_text_add_u64(&b, fault->wanted);
      aot_text_add(&b, " are needed");
      break;
    case AOT_FAULT_MAGIC:
      aot_text_add(&b, ": not an artifact of this product (");
      aot_text_add_hex(&b, fault->found);
      aot_text_add(&b, " where ");
      aot_text_add_hex(&b, fault->wanted);
      aot_text_add(&b, " was expected)");
      break;
    case AOT_FAULT_VERSION:
      aot_text_add(&b, " has version ");
      aot_text_add_u64(&b, fault->found);
      aot_text_add(&b, ", this reader knows version ");
      aot_text_add_u64(&b, fault->wanted);
      break;
    case AOT_FAULT_MALFORMED:
      aot_text_add(&b, " is ");
      aot_text_add_u64(&b, fault->found);
      aot_text_add(&b, ", the bound or expected value is ");
      aot_text_add_u64(&b, fault->wanted);
      break;
    case AOT_FAULT_DIGEST:
      aot_text_add(&b, " doesn't have the SHA-256 digest recorded for it: the bytes were changed or damaged");
      break;
    case AOT_FAULT_UNKNOWN:
      aot_text_add(&b, " ");
      aot_text_add_u64(&b, fault->found);
      aot_text_add(&b, " must be understood and this reader doesn't know it: a newer runtime is needed");
      break;
  }
  aot_text_add(&b, " (at byte ");
  aot_text_add_u64(&b, fault->offset);
  aot_text_add(&b, ")");
  return b.size;
}
