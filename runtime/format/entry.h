/* The contract between generated code and the runtime: the descriptor that a code object exports and the arguments
 * of its entry function. Shared by compiler/codegen (which emits both) and runtime/core (which calls them).
 *
 * Everything is little-endian and naturally aligned. Pointers are those of the target, so the structure's offsets on
 * a 64-bit target are 8 times the member's index after `size`. */
#ifndef AOT_RUNTIME_FORMAT_ENTRY_H_
#define AOT_RUNTIME_FORMAT_ENTRY_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this contract. A code object runs only on a runtime of the same version. */
#define AOT_CODE_ABI_VERSION 1u

/* "AOTD" read as a little-endian 32-bit word. */
#define AOT_DESCRIPTOR_MAGIC 0x44544f41u

/* The only symbol that a code object exports. */
#define AOT_DESCRIPTOR_SYMBOL "aot_descriptor"

/* Runs task(task_context, index) for each index in [0, count) and returns when all are done. */
typedef void (*aot_code_task)(void* task_context, uint32_t index);
typedef void (*aot_code_parallel_for)(void* pool, uint32_t count, aot_code_task task, void* task_context);

/* Called on the calling thread after each step of a run, in order, with the step's number from 0. */
typedef void (*aot_code_trace)(void* trace_context, uint32_t step);

/* What the entry function gets. Members are only added at the end; `size` tells how many are there.
 * inputs, outputs: one pointer for each input or output of the manifest, in its order. A state output that aliases its
 * input has the same pointer. arena: aligned to the manifest's arena alignment, with its arena size in bytes;
 * weights: base of the weight segment, aligned to 64 bytes (to a page where it is mapped from a file). */
typedef struct aot_code_args {
  uintptr_t size;                     /* sizeof(aot_code_args) of the caller */
  const void* const* inputs;          /* member 1 */
  void* const* outputs;               /* member 2 */
  void* arena;                        /* member 3 */
  const void* weights;                /* member 4 */
  aot_code_parallel_for parallel_for; /* member 5; NULL: run on the calling thread */
  void* pool;                         /* member 6: first argument of parallel_for */
  aot_code_trace trace;               /* member 7; NULL: none */
  void* trace_context;                /* member 8: its first argument */
  uintptr_t bucket;                   /* member 9: number of the binding that runs; without it, the first */
} aot_code_args;

/* Returns 0. Other values are reserved. */
typedef int32_t (*aot_code_entry)(const aot_code_args* args);

/* Relative-addressed, so that the same bytes serve an ELF object, a blob in flash and wasm memory. 64 bytes. */
typedef struct aot_descriptor {
  uint32_t magic;        /* AOT_DESCRIPTOR_MAGIC */
  uint32_t size;         /* sizeof(aot_descriptor) of the writer: 64 */
  uint32_t abi_version;  /* AOT_CODE_ABI_VERSION of the writer */
  int32_t entry_offset;  /* address of the entry function minus the address of this descriptor */
  uint64_t arena_size;   /* bytes; the manifest states the same */
  uint64_t weights_size; /* bytes; the manifest states the same */
  uint8_t key[32];       /* artifact key; the manifest states the same, so parts of two artifacts can't be mixed */
} aot_descriptor;

#ifdef __cplusplus
}
#endif

#endif
