#include "runtime/format/manifest.h"

typedef struct Type {
  const char* name;
  uint32_t bytes;
} Type;

/* Indexed by onnx.TensorProto.DataType. Strings (8) have no fixed size and can't be in an artifact. */
static const Type kTypes[] = {
    {0, 0},
    {"float32", 4},
    {"uint8", 1},
    {"int8", 1},
    {"uint16", 2},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {0, 0},
    {"bool", 1},
    {"float16", 2},
    {"float64", 8},
    {"uint32", 4},
    {"uint64", 8},
    {"complex64", 8},
    {"complex128", 16},
    {"bfloat16", 2},
    {"float8e4m3fn", 1},
    {"float8e4m3fnuz", 1},
    {"float8e5m2", 1},
    {"float8e5m2fnuz", 1},
    {"uint4", 1},
    {"int4", 1},
    {"float4e2m1", 1},
    {"float8e8m0", 1},
    {"uint2", 1},
    {"int2", 1},
};
enum { kTypeCount = sizeof kTypes / sizeof kTypes[0] };

uint32_t aot_dtype_bytes(uint32_t dtype) { return dtype < kTypeCount ? kTypes[dtype].bytes : 0; }

const char* aot_dtype_name(uint32_t dtype) {
  return dtype < kTypeCount && kTypes[dtype].name != NULL ? kTypes[dtype].name : "unknown";
}

bool aot_dtype_is_float(uint32_t dtype) {
  return dtype == AOT_FLOAT32 || dtype == AOT_FLOAT16 || dtype == AOT_FLOAT64 || dtype == AOT_BFLOAT16;
}
