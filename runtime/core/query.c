#include <stddef.h>
#include <string.h>

#include "runtime/core/model.h"

uint32_t aot_input_count(const aot_model* model) { return model->manifest.inputs.count; }

uint32_t aot_output_count(const aot_model* model) { return model->manifest.outputs.count; }

uint64_t aot_arena_bytes(const aot_model* model) { return model->manifest.info.arena_size; }

uint32_t aot_arena_alignment(const aot_model* model) { return model->manifest.info.arena_alignment; }

/* A caller from before dims_output was added has a structure that ends before it. */
static bool HasRoom(const aot_tensor_info* info) {
  return info != NULL && info->size >= offsetof(aot_tensor_info, dims_output);
}

static void SetDimsOutput(aot_tensor_info* info, uint32_t dims_output) {
  if (info->size >= sizeof *info) info->dims_output = dims_output;
}

/* The number of the output that tells the dimensions of this one, or AOT_NO_DIMS. */
static uint32_t DimsOutput(const aot_manifest* m, uint32_t output) {
  aot_manifest_bound bound;
  for (uint32_t i = 0; aot_manifest_bound_at(m, i, &bound); ++i) {
    if (bound.output == output) return bound.dims;
  }
  return AOT_NO_DIMS;
}

static void FillTensor(const aot_manifest* m, const aot_manifest_tensor* tensor, aot_tensor_info* info) {
  info->name = tensor->name.data;
  info->dtype = tensor->dtype;
  info->rank = tensor->rank;
  memcpy(info->dims, tensor->dims, sizeof info->dims);
  info->bytes = tensor->bytes;
  info->state = AOT_NO_STATE;
  SetDimsOutput(info, AOT_NO_DIMS);
  info->quantized = 0;
  info->scale = 0;
  info->zero_point = 0;
  aot_manifest_quantization quantization;
  if (aot_manifest_quantization_at(m, tensor->quantization, &quantization) && quantization.axis == -1) {
    info->quantized = 1;
    aot_manifest_quantization_value(m, quantization.first, &info->scale, &info->zero_point);
  }
}

static const aot_manifest* BucketOf(const aot_model* model, uint32_t bucket) {
  return model != NULL && bucket < model->bucket_count ? &model->buckets[bucket] : NULL;
}

uint32_t aot_bucket_count(const aot_model* model) { return model->bucket_count; }

aot_status aot_get_bucket_info(const aot_model* model, uint32_t bucket, aot_bucket_info* info) {
  const aot_manifest* m = BucketOf(model, bucket);
  if (m == NULL || info == NULL || info->size < sizeof *info) return AOT_INVALID_ARGUMENT;
  aot_text name = {"", 0};
  aot_manifest unused;
  aot_manifest_bucket(&model->manifest, bucket, &name, &unused);
  info->name = name.data;
  info->arena_bytes = m->info.arena_size;
  return AOT_OK;
}

aot_status aot_find_bucket(const aot_model* model, const int64_t* const* input_dims, uint32_t input_count,
                           uint32_t* bucket) {
  if (model == NULL || input_dims == NULL || bucket == NULL || input_count != model->manifest.inputs.count) {
    return AOT_INVALID_ARGUMENT;
  }
  for (uint32_t b = 0; b < model->bucket_count; ++b) {
    aot_manifest_tensor tensor;
    uint32_t i = 0;
    while (aot_manifest_input(&model->buckets[b], i, &tensor) &&
           (input_dims[i] == NULL || memcmp(input_dims[i], tensor.dims, tensor.rank * sizeof tensor.dims[0]) == 0)) {
      ++i;
    }
    if (i < input_count) continue;
    *bucket = b;
    return AOT_OK;
  }
  return AOT_NOT_FOUND;
}

aot_status aot_input_info(const aot_model* model, uint32_t index, aot_tensor_info* info) {
  return aot_bucket_input_info(model, 0, index, info);
}

aot_status aot_output_info(const aot_model* model, uint32_t index, aot_tensor_info* info) {
  return aot_bucket_output_info(model, 0, index, info);
}

aot_status aot_actual_output_info(const aot_model* model, uint32_t index, void* const* outputs, aot_tensor_info* info) {
  return aot_bucket_actual_output_info(model, 0, index, outputs, info);
}

aot_status aot_bucket_input_info(const aot_model* model, uint32_t bucket, uint32_t index, aot_tensor_info* info) {
  const aot_manifest* m = BucketOf(model, bucket);
  aot_manifest_tensor tensor;
  if (m == NULL) return AOT_INVALID_ARGUMENT;
  if (!HasRoom(info) || !aot_manifest_input(m, index, &tensor)) return AOT_INVALID_ARGUMENT;
  FillTensor(m, &tensor, info);
  aot_manifest_state state;
  for (uint32_t i = 0; aot_manifest_state_at(m, i, &state); ++i) {
    if (state.input == index) info->state = state.output;
  }
  return AOT_OK;
}

aot_status aot_bucket_output_info(const aot_model* model, uint32_t bucket, uint32_t index, aot_tensor_info* info) {
  const aot_manifest* m = BucketOf(model, bucket);
  aot_manifest_tensor tensor;
  if (m == NULL) return AOT_INVALID_ARGUMENT;
  if (!HasRoom(info) || !aot_manifest_output(m, index, &tensor)) return AOT_INVALID_ARGUMENT;
  FillTensor(m, &tensor, info);
  SetDimsOutput(info, DimsOutput(m, index));
  aot_manifest_state state;
  for (uint32_t i = 0; aot_manifest_state_at(m, i, &state); ++i) {
    if (state.output == index) info->state = state.input;
  }
  return AOT_OK;
}

aot_status aot_bucket_actual_output_info(const aot_model* model, uint32_t bucket, uint32_t index, void* const* outputs,
                                         aot_tensor_info* info) {
  if (model == NULL || outputs == NULL) return AOT_INVALID_ARGUMENT;
  const aot_status status = aot_bucket_output_info(model, bucket, index, info);
  if (status != AOT_OK) return status;
  const uint32_t dims_output = DimsOutput(&model->manifest, index);
  if (dims_output == AOT_NO_DIMS) return AOT_OK;
  const int64_t* dims = (const int64_t*)outputs[dims_output];
  if (dims == NULL && info->rank != 0) return AOT_INVALID_ARGUMENT;
  uint64_t bytes = aot_dtype_bytes(info->dtype);
  for (uint32_t i = 0; i < info->rank; ++i) {
    if (dims[i] < 0 || dims[i] > info->dims[i]) return AOT_INVALID_ARGUMENT;
    info->dims[i] = dims[i];
    bytes *= (uint64_t)dims[i];
  }
  info->bytes = bytes;
  return AOT_OK;
}

typedef bool (*TensorAt)(const aot_manifest* m, uint32_t index, aot_manifest_tensor* out);

static aot_status Find(const aot_model* model, TensorAt at, const char* name, uint32_t* index) {
  if (name == NULL || index == NULL) return AOT_INVALID_ARGUMENT;
  aot_manifest_tensor tensor;
  for (uint32_t i = 0; at(&model->manifest, i, &tensor); ++i) {
    if (strcmp(tensor.name.data, name) == 0) {
      *index = i;
      return AOT_OK;
    }
  }
  return AOT_NOT_FOUND;
}

aot_status aot_input_index(const aot_model* model, const char* name, uint32_t* index) {
  return Find(model, aot_manifest_input, name, index);
}

aot_status aot_output_index(const aot_model* model, const char* name, uint32_t* index) {
  return Find(model, aot_manifest_output, name, index);
}

static void Hex(const uint8_t digest[32], char out[65]) {
  for (int i = 0; i < 32; ++i) {
    out[2 * i] = "0123456789abcdef"[digest[i] >> 4];
    out[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
  }
  out[64] = '\0';
}

aot_status aot_get_model_info(const aot_model* model, aot_model_info* info) {
  if (info == NULL || info->size < sizeof *info) return AOT_INVALID_ARGUMENT;
  const aot_manifest_info* from = &model->manifest.info;
  info->model_name = from->model_name.data;
  info->target_name = from->target_name.data;
  info->triple = from->triple.data;
  info->compiler_version = from->compiler_version.data;
  info->options = from->options.data;
  info->format_version = model->manifest.version;
  info->code_abi_version = from->code_abi_version;
  info->vector_bits = from->vector_bits;
  info->code_bytes = from->code_size;
  info->weights_bytes = from->weights_size;
  Hex(from->key, info->key);
  Hex(from->model_sha256, info->model_sha256);
  return AOT_OK;
}
