// A hand-written stand-in for generated code: y = x * w + b over float32[2x4], and a state "count" that each run
// increments in place. Weights: w[4], then b[4]. The arena (64 bytes) holds x * w in between, so that a test sees it
// used.
#include <stddef.h>

#include "runtime/format/entry.h"

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN int32_t aot_entry(const aot_code_args* args);
HIDDEN void add_bias(void* context, uint32_t row);

// Read-only data, so that the object has a .rodata to place.
static const float kScale[4] = {1, 1, 1, 1};

typedef struct Rows {
  const float* product;
  const float* bias;
  float* out;
} Rows;

void add_bias(void* context, uint32_t row) {
  const Rows* rows = context;
  for (int i = 0; i < 4; ++i) rows->out[4 * row + i] = rows->product[4 * row + i] * kScale[i] + rows->bias[i];
}

int32_t aot_entry(const aot_code_args* args) {
  const float* x = args->inputs[0];
  const float* weights = args->weights;
  float* product = args->arena;
  size_t bytes = 32;
  __asm__("" : "+r"(bytes));  // not a constant: a call of memcpy remains
  __builtin_memcpy(product, x, bytes);
  for (int i = 0; i < 8; ++i) product[i] *= weights[i % 4];
  Rows rows = {product, weights + 4, args->outputs[0]};
  if (args->parallel_for != NULL) {
    args->parallel_for(args->pool, 2, add_bias, &rows);
  } else {
    for (uint32_t row = 0; row < 2; ++row) add_bias(&rows, row);
  }
  *(int64_t*)args->outputs[1] = *(const int64_t*)args->inputs[1] + 1;
  return 0;
}

// The key is the bytes 0 to 31. C has no constant for the distance of two symbols; assembly does.
__asm__(
    ".section .rodata.aot_descriptor,\"a\",%progbits\n"
    ".globl " AOT_DESCRIPTOR_SYMBOL
    "\n"
    ".type " AOT_DESCRIPTOR_SYMBOL
    ",%object\n"
    ".size " AOT_DESCRIPTOR_SYMBOL
    ",64\n"
    ".p2align 3\n" AOT_DESCRIPTOR_SYMBOL
    ":\n"
    ".4byte 0x44544f41\n"
    ".4byte 64\n"
    ".4byte 1\n"
    ".4byte aot_entry - " AOT_DESCRIPTOR_SYMBOL
    "\n"
    ".8byte 64\n"
    ".8byte 32\n"
    ".byte 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
    ".text\n");
