/* The states that a model keeps between runs: one buffer for the input and the output of each pair. */
#include <string.h>

#include "runtime/core/error.h"
#include "runtime/core/model.h"

/* Takes `bytes` at a cache line from a cursor. */
static bool Take(uint64_t* cursor, uint64_t bytes, uint64_t* place) {
  return aot_round_up_u64(*cursor, 64, place) && aot_add_u64(*place, bytes, cursor);
}

static bool SameShape(const aot_manifest_tensor* a, const aot_manifest_tensor* b) {
  return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof a->dims[0]) == 0;
}

/* The first bucket in which the input has the shape that it has in this one. */
static uint32_t FirstOfShape(const aot_model* model, uint32_t bucket, uint32_t input,
                             const aot_manifest_tensor* tensor) {
  aot_manifest_tensor other;
  uint32_t first = 0;
  while (first < bucket && !(aot_manifest_input(&model->buckets[first], input, &other) && SameShape(&other, tensor))) {
    ++first;
  }
  return first;
}

uint8_t* aot_state_buffer(const aot_model* model, uint32_t bucket, uint32_t state) {
  return model->states.buffers[(size_t)bucket * model->manifest.states.count + state];
}

/* Lays everything out at `base`; with NULL only the size is found. */
static bool Lay(const aot_model* model, uint8_t* base, aot_states* states, uint64_t* total) {
  const aot_manifest* m = &model->manifest;
  const uint64_t buffer_count = (uint64_t)m->states.count * model->bucket_count;
  uint64_t cursor = 0, inputs, outputs, buffers, values, place;
  if (!Take(&cursor, (uint64_t)m->inputs.count * sizeof(void*), &inputs) ||
      !Take(&cursor, (uint64_t)m->outputs.count * sizeof(void*), &outputs) ||
      !Take(&cursor, buffer_count * sizeof(void*), &buffers) || !Take(&cursor, 0, &values)) {
    return false;
  }
  if (base != NULL) {
    states->inputs = (const void**)(void*)(base + inputs);
    states->outputs = (void**)(void*)(base + outputs);
    states->buffers = (uint8_t**)(void*)(base + buffers);
    states->values = base + values;
  }
  aot_manifest_state state;
  aot_manifest_tensor tensor;
  for (uint32_t b = 0; b < model->bucket_count; ++b) {
    for (uint32_t i = 0; aot_manifest_state_at(m, i, &state); ++i) {
      if (!aot_manifest_input(&model->buckets[b], state.input, &tensor)) return false;
      const uint32_t first = FirstOfShape(model, b, state.input, &tensor);
      if (first == b && !Take(&cursor, tensor.bytes, &place)) return false;
      if (base == NULL) continue;
      states->buffers[(size_t)b * m->states.count + i] = first == b ? base + place : aot_state_buffer(model, first, i);
    }
  }
  if (base != NULL) states->value_bytes = (size_t)(cursor - values);
  *total = cursor;
  return cursor <= SIZE_MAX;
}

aot_status aot_states_allocate(aot_model* model, aot_error* error) {
  aot_states* states = &model->states;
  uint64_t total;
  if (model->manifest.states.count == 0) return AOT_OK;
  if (!Lay(model, NULL, states, &total)) {
    return AOT_REPORT(error, AOT_OUT_OF_MEMORY, NULL, AOT_NO_OFFSET,
                      AOT_TEXT("the model's states don't fit the address space"));
  }
  const int failure = aot_port_allocate_pages((size_t)total, &states->pages);
  if (failure != 0) return aot_report_system(error, NULL, "allocate the model's states", failure);
  states->bytes = (size_t)total;
  Lay(model, (uint8_t*)states->pages, states, &total);
  return AOT_OK;
}

void aot_states_free(aot_model* model) {
  if (model->states.pages != NULL) aot_port_unmap(model->states.pages, model->states.bytes);
}

bool aot_states_wanted(const aot_model* model, const aot_run_args* args) {
  aot_manifest_state state;
  for (uint32_t i = 0; model->states.pages != NULL && aot_manifest_state_at(&model->manifest, i, &state); ++i) {
    if (args->inputs[state.input] == NULL && args->outputs[state.output] == NULL) return true;
  }
  return false;
}

void aot_states_use(aot_model* model, uint32_t bucket, aot_run_args* args) {
  const aot_states* own = &model->states;
  memcpy(own->inputs, args->inputs, (size_t)args->input_count * sizeof(void*));
  memcpy(own->outputs, args->outputs, (size_t)args->output_count * sizeof(void*));
  aot_manifest_state state;
  for (uint32_t i = 0; aot_manifest_state_at(&model->manifest, i, &state); ++i) {
    if (own->inputs[state.input] != NULL || own->outputs[state.output] != NULL) continue;
    own->inputs[state.input] = own->outputs[state.output] = aot_state_buffer(model, bucket, i);
  }
  args->inputs = own->inputs;
  args->outputs = own->outputs;
}

/* Takes the model's memory; aot_run has the other end. */
static aot_status Hold(aot_model* model, aot_error* error) {
  if (!atomic_flag_test_and_set_explicit(&model->in_use, memory_order_acquire)) return AOT_OK;
  return AOT_REPORT(error, AOT_BUSY, NULL, AOT_NO_OFFSET, AOT_TEXT("a run uses the model's own memory"));
}

static void Release(aot_model* model) { atomic_flag_clear_explicit(&model->in_use, memory_order_release); }

static aot_status CheckKept(const aot_model* model, aot_error* error) {
  if (model == NULL) {
    return AOT_REPORT(error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT("the model is NULL"));
  }
  if (model->states.pages != NULL) return AOT_OK;
  return AOT_REPORT(error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET,
                    model->manifest.states.count == 0
                        ? AOT_TEXT("the model has no states: none was named when it was compiled")
                        : AOT_TEXT("the model keeps no states: it was loaded with AOT_LOAD_NO_STATE"));
}

/* The buffer of an input that is a state. */
static aot_status Find(const aot_model* model, uint32_t bucket, uint32_t input, const void* other, uint64_t bytes,
                       uint8_t** buffer, aot_error* error) {
  const aot_status status = CheckKept(model, error);
  if (status != AOT_OK) return status;
  if (bucket >= model->bucket_count) {
    return AOT_REPORT(error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT("bucket "), AOT_NUMBER(bucket),
                      AOT_TEXT(" of "), AOT_NUMBER(model->bucket_count));
  }
  aot_manifest_state state;
  uint32_t i = 0;
  while (aot_manifest_state_at(&model->manifest, i, &state) && state.input != input) ++i;
  aot_manifest_tensor tensor;
  if (i == model->manifest.states.count || !aot_manifest_input(&model->buckets[bucket], input, &tensor)) {
    return AOT_REPORT(error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT("input "), AOT_NUMBER(input),
                      AOT_TEXT(" is no state"));
  }
  if (bytes != tensor.bytes || (other == NULL && bytes != 0)) {
    return AOT_REPORT(error, AOT_INVALID_ARGUMENT, NULL, AOT_NO_OFFSET, AOT_TEXT("the state of input "),
                      AOT_NUMBER(input), AOT_TEXT(" ("), AOT_TEXT(tensor.name.data), AOT_TEXT(") has "),
                      AOT_NUMBER(tensor.bytes), AOT_TEXT(" bytes, the buffer "), AOT_NUMBER(other != NULL ? bytes : 0));
  }
  *buffer = aot_state_buffer(model, bucket, i);
  return AOT_OK;
}

aot_status aot_reset_states(aot_model* model, aot_error* error) {
  aot_status status = CheckKept(model, error);
  if (status == AOT_OK) status = Hold(model, error);
  if (status != AOT_OK) return status;
  memset(model->states.values, 0, model->states.value_bytes);
  Release(model);
  return AOT_OK;
}

aot_status aot_read_state(aot_model* model, uint32_t bucket, uint32_t input, void* to, uint64_t bytes,
                          aot_error* error) {
  uint8_t* buffer = NULL;
  aot_status status = Find(model, bucket, input, to, bytes, &buffer, error);
  if (status == AOT_OK) status = Hold(model, error);
  if (status != AOT_OK) return status;
  if (bytes != 0) memcpy(to, buffer, (size_t)bytes);
  Release(model);
  return AOT_OK;
}

aot_status aot_write_state(aot_model* model, uint32_t bucket, uint32_t input, const void* from, uint64_t bytes,
                           aot_error* error) {
  uint8_t* buffer = NULL;
  aot_status status = Find(model, bucket, input, from, bytes, &buffer, error);
  if (status == AOT_OK) status = Hold(model, error);
  if (status != AOT_OK) return status;
  if (bytes != 0) memcpy(buffer, from, (size_t)bytes);
  Release(model);
  return AOT_OK;
}
