#include <stddef.h>
#include <string.h>

#include "runtime/core/error.h"
#include "runtime/core/model.h"

/* The members of the first version. */
#define LEAST_ARGS_SIZE offsetof(aot_run_args, trace)

/* A caller newer than this runtime may know more members; they must ask for nothing. */
static aot_status CheckArgsSize(const aot_run_args* args) {
  if (args->size < LEAST_ARGS_SIZE) {
    return AOT_INVALID_ARGUMENT; /* `error` may not be there */
  }
  const uint8_t* bytes = (const uint8_t*)args;
  for (size_t i = sizeof *args; i < args->size; ++i) {
    if (bytes[i] != 0) {
      return AOT_REPORT(args->error, AOT_UNSUPPORTED, NULL, AOT_NO_OFFSET,
                        AOT_TEXT("the run's arguments use a member that this runtime doesn't know, at byte "),
                        AOT_NUMBER(i));
    }
  }
  return AOT_OK;
}

static aot_status CheckBuffer(const aot_run_args* args, const char* what, uint32_t index, const void* pointer,
                              const uint64_t* sizes, const aot_manifest_tensor* tensor) {
  uint32_t alignment = aot_dtype_bytes(tensor->dtype);
  if (tensor->dtype == AOT_COMPLEX64 || tensor->dtype == AOT_COMPLEX128) alignment /= 2;
  if (pointer == NULL && tensor->bytes != 0) {
    return AOT_REPORT(args->error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT(what), AOT_NUMBER(index),
                      AOT_TEXT(" ("), AOT_TEXT(tensor->name.data), AOT_TEXT(") has no buffer: NULL"));
  }
  if (((uintptr_t)pointer & (alignment - 1)) != 0) {
    return AOT_REPORT(args->error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT(what), AOT_NUMBER(index),
                      AOT_TEXT(" ("), AOT_TEXT(tensor->name.data), AOT_TEXT(") is not aligned to "),
                      AOT_NUMBER(alignment), AOT_TEXT(" bytes"));
  }
  if (sizes != NULL && sizes[index] != tensor->bytes) {
    return AOT_REPORT(args->error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT(what), AOT_NUMBER(index),
                      AOT_TEXT(" ("), AOT_TEXT(tensor->name.data), AOT_TEXT(") has "), AOT_NUMBER(sizes[index]),
                      AOT_TEXT(" bytes, "), AOT_NUMBER(tensor->bytes), AOT_TEXT(" are needed"));
  }
  return AOT_OK;
}

/* Whether the input or the output is that of a state. */
static bool IsState(const aot_manifest* m, uint32_t input, uint32_t output) {
  aot_manifest_state state;
  for (uint32_t i = 0; aot_manifest_state_at(m, i, &state); ++i) {
    if (state.input == input || state.output == output) return true;
  }
  return false;
}

static aot_status CheckBuffers(const aot_model* model, const aot_manifest* m, const aot_run_args* args) {
  if (args->input_count != m->inputs.count || args->output_count != m->outputs.count ||
      (args->inputs == NULL && m->inputs.count != 0) || (args->outputs == NULL && m->outputs.count != 0)) {
    return AOT_REPORT(args->error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT("the run has "),
                      AOT_NUMBER(args->input_count), AOT_TEXT(" inputs and "), AOT_NUMBER(args->output_count),
                      AOT_TEXT(" outputs, the model "), AOT_NUMBER(m->inputs.count), AOT_TEXT(" and "),
                      AOT_NUMBER(m->outputs.count));
  }
  aot_manifest_tensor tensor;
  aot_status status = AOT_OK;
  aot_manifest_state state;
  for (uint32_t i = 0; status == AOT_OK && aot_manifest_state_at(m, i, &state); ++i) {
    if (args->inputs[state.input] != args->outputs[state.output]) {
      status = AOT_REPORT(args->error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT("input "),
                          AOT_NUMBER(state.input), AOT_TEXT(" and output "), AOT_NUMBER(state.output),
                          AOT_TEXT(" are a state: they must be the same buffer"));
    }
  }
  const bool kept = model->states.pages != NULL;
  for (uint32_t i = 0; status == AOT_OK && aot_manifest_input(m, i, &tensor); ++i) {
    if (kept && args->inputs[i] == NULL && IsState(m, i, AOT_NO_STATE)) continue;
    status = CheckBuffer(args, "input ", i, args->inputs[i], args->input_bytes, &tensor);
  }
  for (uint32_t i = 0; status == AOT_OK && aot_manifest_output(m, i, &tensor); ++i) {
    if (kept && args->outputs[i] == NULL && IsState(m, AOT_NO_STATE, i)) continue;
    status = CheckBuffer(args, "output ", i, args->outputs[i], args->output_bytes, &tensor);
  }
  return status;
}

static aot_status CheckArena(const aot_manifest* m, const void* arena, uint64_t bytes, aot_error* error) {
  if (bytes < m->info.arena_size) {
    return AOT_REPORT(error, AOT_ARENA_TOO_SMALL, NULL, AOT_NO_OFFSET, AOT_TEXT("an arena of "), AOT_NUMBER(bytes),
                      AOT_TEXT(" bytes; the model needs "), AOT_NUMBER(m->info.arena_size));
  }
  if (((uintptr_t)arena & (m->info.arena_alignment - 1)) != 0) {
    return AOT_REPORT(error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT("the arena must be aligned to "),
                      AOT_NUMBER(m->info.arena_alignment), AOT_TEXT(" bytes"));
  }
  return AOT_OK;
}

static aot_status Call(const aot_model* model, uint32_t bucket, const aot_run_args* args, void* arena) {
  const int has_trace = args->size >= offsetof(aot_run_args, input_dims);
  const aot_code_args code = {sizeof code,
                              args->inputs,
                              args->outputs,
                              arena,
                              model->weights,
                              args->parallel_for,
                              args->pool,
                              has_trace ? args->trace : NULL,
                              has_trace ? args->trace_context : NULL,
                              bucket};
  const int32_t result = model->entry(&code);
  if (result == 0) return AOT_OK;
  return AOT_REPORT(args->error, AOT_EXECUTION_FAILED, NULL, AOT_NO_OFFSET,
                    AOT_TEXT("the model's code reported an error: "), AOT_NUMBER((uint32_t)result));
}

/* A run on memory of the model's own: its arena, its states or both. One at a time. */
static aot_status RunOnOwn(aot_model* model, uint32_t bucket, const aot_run_args* args, bool own_states) {
  if (atomic_flag_test_and_set_explicit(&model->in_use, memory_order_acquire)) {
    return AOT_REPORT(args->error, AOT_BUSY, NULL, AOT_NO_OFFSET,
                      own_states
                          ? AOT_TEXT("another run uses the model's own states; give each concurrent run states "
                                     "and an arena")
                          : AOT_TEXT("another run uses the model's own arena; give each concurrent run an arena"));
  }
  aot_run_args own = {0};
  memcpy(&own, args, args->size < sizeof own ? args->size : sizeof own);
  if (own_states) aot_states_use(model, bucket, &own);
  const aot_status status = Call(model, bucket, &own, args->arena != NULL ? args->arena : model->arena);
  atomic_flag_clear_explicit(&model->in_use, memory_order_release);
  return status;
}

/* The bucket of a run: the one that has the shapes it states, or the one it names. */
static aot_status FindBucket(const aot_model* model, const aot_run_args* args, uint32_t* bucket) {
  *bucket = 0;
  if (args->size < sizeof *args) return AOT_OK;
  if (args->input_dims != NULL) {
    const aot_status status = aot_find_bucket(model, args->input_dims, args->input_count, bucket);
    if (status == AOT_OK) return AOT_OK;
    return AOT_REPORT(args->error, status, NULL, AOT_NO_OFFSET,
                      AOT_TEXT("no bucket of the model has inputs of the shapes that the run states; it has "),
                      AOT_NUMBER(model->bucket_count));
  }
  if (args->bucket >= model->bucket_count) {
    return AOT_REPORT(args->error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT("bucket "),
                      AOT_NUMBER(args->bucket), AOT_TEXT(" of a model with "), AOT_NUMBER(model->bucket_count));
  }
  *bucket = args->bucket;
  return AOT_OK;
}

aot_status aot_run(aot_model* model, const aot_run_args* args) {
  if (model == NULL || args == NULL) return AOT_INVALID_ARGUMENT;
  uint32_t bucket = 0;
  aot_status status = CheckArgsSize(args);
  if (status == AOT_OK) status = FindBucket(model, args, &bucket);
  if (status != AOT_OK) return status;
  const aot_manifest* m = &model->buckets[bucket];
  status = CheckBuffers(model, m, args);
  if (status != AOT_OK) return status;
  const bool own_arena = args->arena == NULL && model->arena != NULL;
  if (!own_arena) status = CheckArena(m, args->arena, args->arena != NULL ? args->arena_bytes : 0, args->error);
  if (status != AOT_OK) return status;
  const bool own_states = aot_states_wanted(model, args);
  return own_arena || own_states ? RunOnOwn(model, bucket, args, own_states) : Call(model, bucket, args, args->arena);
}
