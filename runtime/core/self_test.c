#include <string.h>

#include "runtime/core/error.h"
#include "runtime/core/model.h"
#include "runtime/format/self_test_input.h"

/* Buffers of one self-test, cut from one allocation. */
typedef struct Buffers {
  const void** inputs;
  void** outputs;
  void* arena;
  void* memory;
  size_t bytes;
} Buffers;

/* Takes `bytes` at `alignment` from a cursor. */
static bool Take(uint64_t* cursor, uint64_t bytes, uint64_t alignment, uint64_t* place) {
  return aot_round_up_u64(*cursor, alignment, place) && aot_add_u64(*place, bytes, cursor);
}

/* Lays all buffers out; with base NULL only the size is found. State outputs are their inputs. An arena is among them
 * where the model has none of its own. */
static bool Lay(const aot_model* model, const aot_manifest* m, uint8_t* base, Buffers* b, uint64_t* total) {
  uint64_t cursor = 0, place;
  const uint64_t pointers = (uint64_t)m->inputs.count + m->outputs.count;
  aot_manifest_tensor tensor;
  if (!Take(&cursor, pointers * sizeof(void*), 64, &place)) return false;
  if (base != NULL) {
    b->inputs = (const void**)(void*)base;
    b->outputs = (void**)(void*)base + m->inputs.count;
  }
  if (model->arena == NULL) {
    if (!Take(&cursor, m->info.arena_size, m->info.arena_alignment, &place)) return false;
    if (base != NULL) b->arena = base + place;
  }
  for (uint32_t i = 0; aot_manifest_input(m, i, &tensor); ++i) {
    if (!Take(&cursor, tensor.bytes, 64, &place)) return false;
    if (base != NULL) b->inputs[i] = base + place;
  }
  for (uint32_t i = 0; aot_manifest_output(m, i, &tensor); ++i) {
    if (!Take(&cursor, tensor.bytes, 64, &place)) return false;
    if (base != NULL) b->outputs[i] = base + place;
  }
  aot_manifest_state state;
  for (uint32_t i = 0; base != NULL && aot_manifest_state_at(m, i, &state); ++i) {
    b->outputs[state.output] = (void*)(uintptr_t)b->inputs[state.input];
  }
  *total = cursor;
  return cursor <= SIZE_MAX;
}

static aot_status FillInputs(const aot_manifest* m, const Buffers* b, aot_error* error) {
  uint64_t seed = 0;
  aot_manifest_self_test_seed(m, &seed);
  aot_manifest_tensor tensor;
  aot_self_test_input input;
  for (uint32_t i = 0; aot_manifest_input(m, i, &tensor) && aot_manifest_self_test_input(m, i, &input); ++i) {
    void* buffer = (void*)(uintptr_t)b->inputs[i];
    if (input.kind == AOT_SELF_TEST_DATA) {
      memcpy(buffer, input.data.data, input.data.size);
    } else if (!aot_self_test_fill(tensor.dtype, seed, i, input.fraction_bits, input.low, input.high,
                                   tensor.bytes / aot_dtype_bytes(tensor.dtype), buffer)) {
      return AOT_REPORT(error, AOT_MALFORMED, NULL, AOT_NO_OFFSET, AOT_TEXT("self-test input "), AOT_NUMBER(i),
                        AOT_TEXT(" ("), AOT_TEXT(tensor.name.data), AOT_TEXT(") has a range that its type "),
                        AOT_TEXT(aot_dtype_name(tensor.dtype)), AOT_TEXT(" can't hold"));
    }
  }
  return AOT_OK;
}

static double HalfToDouble(uint32_t bits) {
  const uint32_t exponent = (bits >> 10) & 31, mantissa = bits & 0x3ff;
  double value = exponent == 31 ? (mantissa != 0 ? __builtin_nan("") : __builtin_inf())
                                : (double)(exponent != 0 ? mantissa | 0x400 : mantissa) / 16777216.0;
  for (uint32_t i = 1; exponent != 31 && i < exponent; ++i) value *= 2;
  return (bits & 0x8000) != 0 ? -value : value;
}

static double ReadFloat(uint32_t dtype, const uint8_t* p) {
  if (dtype == AOT_FLOAT16) return HalfToDouble(aot_load_u16(p));
  if (dtype == AOT_FLOAT64) {
    double value;
    memcpy(&value, p, sizeof value);
    return value;
  }
  const uint32_t bits = dtype == AOT_BFLOAT16 ? (uint32_t)aot_load_u16(p) << 16 : aot_load_u32(p);
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static int64_t ReadInteger(uint32_t dtype, const uint8_t* p) {
  switch (dtype) {
    case AOT_INT2:
    case AOT_INT4:
    case AOT_INT8:
      return (int8_t)p[0];
    case AOT_INT16:
      return (int16_t)aot_load_u16(p);
    case AOT_INT32:
      return (int32_t)aot_load_u32(p);
    case AOT_UINT16:
      return aot_load_u16(p);
    case AOT_UINT32:
      return aot_load_u32(p);
    case AOT_INT64:
    case AOT_UINT64:
      return (int64_t)aot_load_u64(p);
    default:
      return p[0];
  }
}

static bool FloatsAgree(double got, double want, const aot_self_test_output* rule) {
  if (got != got || want != want) return got != got && want != want; /* NaN only for NaN */
  if (got == want) return true;                                      /* infinities */
  const double difference = got > want ? got - want : want - got;
  return difference <= rule->absolute + rule->relative * (want < 0 ? -want : want);
}

static bool IntegersAgree(int64_t got, int64_t want, const aot_self_test_output* rule) {
  const uint64_t difference = got > want ? (uint64_t)got - (uint64_t)want : (uint64_t)want - (uint64_t)got;
  return difference == 0 || (rule->tolerance == AOT_TOLERANCE_QUANTIZED && (double)difference <= rule->absolute);
}

/* Seven significant digits, as in -1.234567e-12. */
static void AddFloat(aot_text_builder* b, double value) {
  if (value != value) {
    aot_text_add(b, "NaN");
    return;
  }
  if (value < 0) aot_text_add(b, "-");
  if (value < 0) value = -value;
  if (value > 1.7976931348623157e308) {
    aot_text_add(b, "infinity");
    return;
  }
  int exponent = 0;
  for (; value >= 10; ++exponent) value /= 10;
  for (; value != 0 && value < 1; --exponent) value *= 10;
  const uint64_t digits = (uint64_t)(value * 1e6 + 0.5);
  aot_text_add_u64(b, digits / 1000000);
  aot_text_add(b, ".");
  for (uint64_t unit = 100000; unit != 0; unit /= 10) aot_text_add_u64(b, digits / unit % 10);
  aot_text_add(b, exponent < 0 ? "e-" : "e");
  aot_text_add_u64(b, (uint64_t)(exponent < 0 ? -exponent : exponent));
}

static void AddInteger(aot_text_builder* b, int64_t value) {
  if (value < 0) aot_text_add(b, "-");
  aot_text_add_u64(b, value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value);
}

static aot_status CompareOutput(const aot_manifest* m, uint32_t index, const uint8_t* buffer, aot_error* error) {
  aot_manifest_tensor tensor;
  aot_self_test_output rule;
  aot_manifest_output(m, index, &tensor);
  aot_manifest_self_test_output(m, index, &rule);
  const uint32_t element = aot_dtype_bytes(tensor.dtype);
  for (uint32_t i = 0; i < rule.sample_count; ++i) {
    aot_self_test_sample sample;
    aot_manifest_self_test_sample(m, rule.first_sample + i, &sample);
    const uint8_t* p = buffer + sample.index * element;
    char got[40], want[40];
    aot_text_builder got_text, want_text;
    aot_text_begin(&got_text, got, sizeof got);
    aot_text_begin(&want_text, want, sizeof want);
    if (aot_dtype_is_float(tensor.dtype)) {
      const double value = ReadFloat(tensor.dtype, p);
      if (FloatsAgree(value, sample.float_value, &rule)) continue;
      AddFloat(&got_text, value);
      AddFloat(&want_text, sample.float_value);
    } else {
      const int64_t value = ReadInteger(tensor.dtype, p);
      if (IntegersAgree(value, sample.int_value, &rule)) continue;
      AddInteger(&got_text, value);
      AddInteger(&want_text, sample.int_value);
    }
    return AOT_REPORT(error, AOT_SELF_TEST_FAILED, NULL, AOT_NO_OFFSET, AOT_TEXT("self-test: output "),
                      AOT_NUMBER(index), AOT_TEXT(" ("), AOT_TEXT(tensor.name.data), AOT_TEXT("), element "),
                      AOT_NUMBER(sample.index), AOT_TEXT(" is "), AOT_TEXT(got), AOT_TEXT(", the reference has "),
                      AOT_TEXT(want));
  }
  return AOT_OK;
}

static aot_status RunAndCompare(aot_model* model, uint32_t bucket, const Buffers* b, aot_error* error) {
  const aot_manifest* m = &model->buckets[bucket];
  aot_status status = FillInputs(m, b, error);
  if (status != AOT_OK) return status;
  aot_run_args args;
  memset(&args, 0, sizeof args);
  args.size = sizeof args;
  args.inputs = b->inputs;
  args.outputs = b->outputs;
  args.input_count = m->inputs.count;
  args.output_count = m->outputs.count;
  args.arena = b->arena; /* NULL: the model's own */
  args.arena_bytes = b->arena != NULL ? m->info.arena_size : 0;
  args.error = error;
  args.bucket = bucket;
  status = aot_run(model, &args);
  for (uint32_t i = 0; status == AOT_OK && i < m->outputs.count; ++i) {
    status = CompareOutput(m, i, (const uint8_t*)b->outputs[i], error);
  }
  return status;
}

static aot_status TestBucket(aot_model* model, uint32_t bucket, aot_error* error) {
  const aot_manifest* m = &model->buckets[bucket];
  uint64_t total = 0;
  Buffers buffers;
  memset(&buffers, 0, sizeof buffers);
  if (!Lay(model, m, NULL, &buffers, &total)) {
    return AOT_REPORT(error, AOT_OUT_OF_MEMORY, NULL, AOT_NO_OFFSET,
                      AOT_TEXT("the self-test's buffers don't fit the address space"));
  }
  buffers.bytes = (size_t)total + 1; /* never nothing */
  const int failure = aot_port_allocate_pages(buffers.bytes, &buffers.memory);
  if (failure != 0) return aot_report_system(error, NULL, "allocate the self-test's buffers", failure);
  Lay(model, m, (uint8_t*)buffers.memory, &buffers, &total);
  const aot_status status = RunAndCompare(model, bucket, &buffers, error);
  aot_port_unmap(buffers.memory, buffers.bytes);
  return status;
}

aot_status aot_self_test(aot_model* model, aot_error* error) {
  uint64_t seed;
  bool tested = false;
  for (uint32_t bucket = 0; bucket < model->bucket_count; ++bucket) {
    if (!aot_manifest_self_test_seed(&model->buckets[bucket], &seed)) continue;
    tested = true;
    const aot_status status = TestBucket(model, bucket, error);
    if (status != AOT_OK) return status;
  }
  if (tested) return AOT_OK;
  return AOT_REPORT(error, AOT_NO_SELF_TEST, NULL, AOT_NO_OFFSET, AOT_TEXT("the artifact has no self-test vector"));
}
