/* What a reader of this folder found wrong, without allocation: a kind, a place, a phrase, and two numbers. */
#ifndef AOT_RUNTIME_FORMAT_FAULT_H_
#define AOT_RUNTIME_FORMAT_FAULT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum aot_fault_kind {
  AOT_FAULT_NONE = 0,
  AOT_FAULT_TRUNCATED, /* fewer bytes than the format needs; found and wanted are byte counts */
  AOT_FAULT_MAGIC,     /* not this kind of file; found and wanted are the words */
  AOT_FAULT_VERSION,   /* another format version; found and wanted are the versions */
  AOT_FAULT_MALFORMED, /* a field contradicts the format or another field; found and wanted are the values */
  AOT_FAULT_DIGEST,    /* the bytes don't have the digest that vouches for them */
  AOT_FAULT_UNKNOWN    /* a section that must be understood is not known here; found is its tag */
} aot_fault_kind;

typedef struct aot_fault {
  aot_fault_kind kind;
  uint64_t offset;  /* byte in the part (manifest, code object or file) at which the field starts */
  const char* what; /* names the field; static storage */
  uint64_t found;
  uint64_t wanted;
} aot_fault;

/* Fills *fault (which may be NULL) and returns false, so that a reader can `return aot_fail(...)`. */
bool aot_fail(aot_fault* fault, aot_fault_kind kind, uint64_t offset, const char* what, uint64_t found,
              uint64_t wanted);

/* Writes the sentence for *fault, NUL-terminated and cut to `capacity` (which is above 0); returns its length. */
size_t aot_fault_text(const aot_fault* fault, char* out, size_t capacity);

/* The text builder behind it, for others that must make messages without a C library. Never writes past capacity and
 * always terminates. */
typedef struct aot_text_builder {
  char* out;
  size_t capacity;
  size_t size;
} aot_text_builder;

void aot_text_begin(aot_text_builder* builder, char* out, size_t capacity);
void aot_text_add(aot_text_builder* builder, const char* text);
void aot_text_add_bytes(aot_text_builder* builder, const char* text, size_t size);
void aot_text_add_u64(aot_text_builder* builder, uint64_t value);
void aot_text_add_hex(aot_text_builder* builder, uint64_t value);

#ifdef __cplusplus
}
#endif

#endif
