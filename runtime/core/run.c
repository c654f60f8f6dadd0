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

static aot_status CheckBuffers(const aot_manifest* m, const aot_run_args* args) {
  if (args->input_count != m->inputs.count || args->output_count != m->outputs.count ||
      (args->inputs == NULL && m->inputs.count != 0) || (args->outputs == NULL && m->outputs.count != 0)) {
    return AOT_REPORT(args->error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT("the run has "),
                      AOT_NUMBER(args->input_count), AOT_TEXT(" inputs and "), AOT_NUMBER(args->output_count),
                      AOT_TEXT(" outputs, the model "), AOT_NUMBER(m->inputs.count), AOT_TEXT(" and "),
                      AOT_NUMBER(m->outputs.count));
  }
  aot_manifest_tensor tensor;
  aot_status status = AOT_OK;
  for (uint32_t i = 0; status == AOT_OK && aot_manifest_input(m, i, &tensor); ++i) {
    status = CheckBuffer(args, "input ", i, args->inputs[i], args->input_bytes, &tensor);
  }
  for (uint32_t i = 0; status == AOT_OK && aot_manifest_output(m, i, &tensor); ++i) {
    status = CheckBuffer(args, "output ", i, args->outputs[i], args->output_bytes, &tensor);
  }
  aot_manifest_state state;
  for (uint32_t i = 0; status == AOT_OK && aot_manifest_state_at(m, i, &state); ++i) {
    if (args->inputs[state.input] != args->outputs[state.output]) {
      status = AOT_REPORT(args->error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT("input "),
                          AOT_NUMBER(state.input), AOT_TEXT(" and output "), AOT_NUMBER(state.output),
                          AOT_TEXT(" are a state: they must be the same buffer"));
    }
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

static aot_status Call(const aot_model* model, const aot_run_args* args, void* arena) {
  const int has_trace = args->size >= sizeof *args;
  const aot_code_args code = {sizeof code,
                              args->inputs,
                              args->outputs,
                              arena,
                              model->weights,
                              args->parallel_for,
                              args->pool,
                              has_trace ? args->trace : NULL,
                              has_trace ? args->trace_context : NULL};
  const int32_t result = model->entry(&code);
  if (result == 0) return AOT_OK;
  return AOT_REPORT(args->error, AOT_EXECUTION_FAILED, NULL, AOT_NO_OFFSET,
                    AOT_TEXT("the model's code reported an error: "), AOT_NUMBER((uint32_t)result));
}

aot_status aot_run(aot_model* model, const aot_run_args* args) {
  if (model == NULL || args == NULL) return AOT_INVALID_ARGUMENT;
  aot_status status = CheckArgsSize(args);
  if (status == AOT_OK) status = CheckBuffers(&model->manifest, args);
  if (status != AOT_OK) return status;
  if (args->arena != NULL || model->manifest.info.arena_size == 0) {
    status = CheckArena(&model->manifest, args->arena, args->arena_bytes, args->error);
    return status == AOT_OK ? Call(model, args, args->arena) : status;
  }
  if (model->arena == NULL) return CheckArena(&model->manifest, NULL, 0, args->error);
  if (atomic_flag_test_and_set_explicit(&model->arena_in_use, memory_order_acquire)) {
    return AOT_REPORT(args->error, AOT_BUSY, NULL, AOT_NO_OFFSET,
                      AOT_TEXT("another run uses the model's own arena; give each concurrent run an arena"));
  }
  status = Call(model, args, model->arena);
  atomic_flag_clear_explicit(&model->arena_in_use, memory_order_release);
  return status;
}
