/* Element types of tensors. Included by aot.h; apart from it because the artifact format names the same numbers. */
#ifndef AOT_DTYPE_H_
#define AOT_DTYPE_H_

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are those of onnx.TensorProto.DataType. Each element takes whole bytes: sub-byte types take one. */
typedef enum aot_dtype {
  AOT_FLOAT32 = 1,
  AOT_UINT8 = 2,
  AOT_INT8 = 3,
  AOT_UINT16 = 4,
  AOT_INT16 = 5,
  AOT_INT32 = 6,
  AOT_INT64 = 7,
  AOT_BOOL = 9,
  AOT_FLOAT16 = 10,
  AOT_FLOAT64 = 11,
  AOT_UINT32 = 12,
  AOT_UINT64 = 13,
  AOT_COMPLEX64 = 14,
  AOT_COMPLEX128 = 15,
  AOT_BFLOAT16 = 16,
  AOT_FLOAT8E4M3FN = 17,
  AOT_FLOAT8E4M3FNUZ = 18,
  AOT_FLOAT8E5M2 = 19,
  AOT_FLOAT8E5M2FNUZ = 20,
  AOT_UINT4 = 21,
  AOT_INT4 = 22,
  AOT_FLOAT4E2M1 = 23,
  AOT_FLOAT8E8M0 = 24,
  AOT_UINT2 = 25,
  AOT_INT2 = 26
} aot_dtype;

#ifdef __cplusplus
}
#endif

#endif
