#include "runtime/format/manifest_check.h"

static uint64_t PlaceOf(const aot_manifest* m, const uint8_t* p) { return (uint64_t)(p - m->bytes.data); }

static const uint8_t* RecordAt(const aot_manifest_array* array, uint32_t index) {
  return array->records + (size_t)index * array->record_size;
}

bool aot_manifest_check_info(const aot_manifest* m, uint64_t at, aot_fault* fault) {
  const aot_manifest_info* info = &m->info;
  if (!aot_is_power_of_two(info->arena_alignment) || info->arena_alignment > AOT_MAX_ARENA_ALIGNMENT) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at + AOT_INFO_ARENA_ALIGNMENT, "arena alignment", info->arena_alignment,
                    AOT_MAX_ARENA_ALIGNMENT);
  }
  if (!aot_is_power_of_two(info->page_size) || info->page_size < AOT_MIN_PAGE_SIZE ||
      info->page_size > AOT_MAX_PAGE_SIZE) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at + AOT_INFO_PAGE_SIZE, "page size", info->page_size,
                    AOT_MAX_PAGE_SIZE);
  }
  /* 2^62 leaves room for sums of any two sizes and offsets. */
  const uint64_t most = UINT64_C(1) << 62;
  if (info->arena_size > most || info->scratch_size > info->arena_size) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at + AOT_INFO_ARENA_SIZE, "arena size", info->arena_size, most);
  }
  if (info->code_size > most || info->weights_size > most) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at + AOT_INFO_CODE_SIZE, "code or weights size", info->code_size, most);
  }
  return true;
}

static bool CheckTensor(const aot_manifest* m, const uint8_t* p, aot_fault* fault) {
  const uint64_t at = PlaceOf(m, p);
  if (!aot_manifest_check_text(m, p + AOT_TENSOR_NAME, fault)) return false;
  const uint32_t dtype = aot_load_u32(p + AOT_TENSOR_DTYPE);
  uint64_t bytes = aot_dtype_bytes(dtype);
  if (bytes == 0) return aot_fail(fault, AOT_FAULT_MALFORMED, at + AOT_TENSOR_DTYPE, "tensor type", dtype, AOT_INT2);
  const uint32_t rank = aot_load_u32(p + AOT_TENSOR_RANK);
  if (rank > AOT_MAX_RANK) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at + AOT_TENSOR_RANK, "tensor rank", rank, AOT_MAX_RANK);
  }
  const uint32_t first = aot_load_u32(p + AOT_TENSOR_FIRST_DIM);
  if (!aot_range_fits(first, rank, m->dims.count)) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at + AOT_TENSOR_FIRST_DIM, "last dimension of a tensor",
                    (uint64_t)first + rank, m->dims.count);
  }
  for (uint32_t i = 0; i < rank; ++i) {
    const uint8_t* dim = RecordAt(&m->dims, first + i);
    const uint64_t value = aot_load_u64(dim);
    if (value > INT64_MAX || !aot_multiply_u64(bytes, value, &bytes) || bytes > INT64_MAX) {
      return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, dim), "dimension (or the tensor's size by it)", value,
                      INT64_MAX);
    }
  }
  const uint64_t stated = aot_load_u64(p + AOT_TENSOR_BYTES);
  if (stated != bytes) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at + AOT_TENSOR_BYTES, "tensor size in bytes", stated, bytes);
  }
  const uint32_t quantization = aot_load_u32(p + AOT_TENSOR_QUANTIZATION);
  if (quantization != AOT_NO_INDEX && quantization >= m->quantizations.count) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at + AOT_TENSOR_QUANTIZATION, "tensor quantization index", quantization,
                    m->quantizations.count);
  }
  return true;
}

static bool CheckQuantization(const aot_manifest* m, const uint8_t* p, aot_fault* fault) {
  const uint32_t first = aot_load_u32(p + AOT_QUANTIZATION_FIRST), count = aot_load_u32(p + AOT_QUANTIZATION_COUNT);
  const int32_t axis = (int32_t)aot_load_u32(p + AOT_QUANTIZATION_AXIS);
  if (axis < -1 || axis >= AOT_MAX_RANK || (axis == -1 && count != 1)) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, p), "quantization axis", (uint64_t)(int64_t)axis,
                    AOT_MAX_RANK);
  }
  if (!aot_range_fits(first, count, m->quantization_values.count)) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, p) + AOT_QUANTIZATION_FIRST, "last quantization value",
                    (uint64_t)first + count, m->quantization_values.count);
  }
  return true;
}

static bool CheckState(const aot_manifest* m, const uint8_t* p, aot_fault* fault) {
  const uint32_t input = aot_load_u32(p + AOT_STATE_INPUT), output = aot_load_u32(p + AOT_STATE_OUTPUT);
  if (input >= m->inputs.count || output >= m->outputs.count) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, p), "state input or output index",
                    input >= m->inputs.count ? input : output, m->inputs.count);
  }
  const uint64_t in = aot_load_u64(RecordAt(&m->inputs, input) + AOT_TENSOR_BYTES);
  const uint64_t out = aot_load_u64(RecordAt(&m->outputs, output) + AOT_TENSOR_BYTES);
  if (in != out) return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, p), "state output size", out, in);
  return true;
}

/* What tells the dimensions is an output of its own: int64, one element for each of them. */
static bool CheckBound(const aot_manifest* m, const uint8_t* p, aot_fault* fault) {
  const uint32_t output = aot_load_u32(p + AOT_BOUND_OUTPUT), dims = aot_load_u32(p + AOT_BOUND_DIMS);
  if (output >= m->outputs.count || dims >= m->outputs.count || output == dims) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, p), "output of a bound",
                    output < m->outputs.count ? dims : output, m->outputs.count);
  }
  /* Ascending, so that each output has one. */
  if (p != m->bounds.records && output <= aot_load_u32(p - m->bounds.record_size + AOT_BOUND_OUTPUT)) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, p), "output of a bound that must be above the one before",
                    output, aot_load_u32(p - m->bounds.record_size + AOT_BOUND_OUTPUT));
  }
  const uint64_t rank = aot_load_u32(RecordAt(&m->outputs, output) + AOT_TENSOR_RANK);
  const uint8_t* tensor = RecordAt(&m->outputs, dims);
  const uint32_t dtype = aot_load_u32(tensor + AOT_TENSOR_DTYPE);
  if (dtype != AOT_INT64 || aot_load_u32(tensor + AOT_TENSOR_RANK) != 1 ||
      aot_load_u64(tensor + AOT_TENSOR_BYTES) != rank * 8) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, p) + AOT_BOUND_DIMS,
                    "output with a bound's dimensions, which must be int64 and have one for each: its size in bytes",
                    aot_load_u64(tensor + AOT_TENSOR_BYTES), rank * 8);
  }
  return true;
}

static bool CheckPlan(const aot_manifest* m, const uint8_t* p, aot_fault* fault) {
  if (!aot_manifest_check_text(m, p + AOT_PLAN_NAME, fault)) return false;
  const uint64_t offset = aot_load_u64(p + AOT_PLAN_OFFSET), size = aot_load_u64(p + AOT_PLAN_BYTES);
  if (!aot_range_fits(offset, size, m->info.arena_size)) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, p) + AOT_PLAN_OFFSET,
                    "arena offset of a value that must end within the arena", offset, m->info.arena_size);
  }
  const uint32_t first = aot_load_u32(p + AOT_PLAN_FIRST), last = aot_load_u32(p + AOT_PLAN_LAST);
  if (first > last) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, p) + AOT_PLAN_FIRST, "first step of a value", first, last);
  }
  return true;
}

static bool CheckName(const aot_manifest* m, const uint8_t* p, aot_fault* fault) {
  return aot_manifest_check_text(m, p, fault); /* CPU features and operators start with their name */
}

typedef bool (*RecordCheck)(const aot_manifest* m, const uint8_t* p, aot_fault* fault);

static bool CheckEach(const aot_manifest* m, const aot_manifest_array* array, RecordCheck check, aot_fault* fault) {
  for (uint32_t i = 0; i < array->count; ++i) {
    if (!check(m, RecordAt(array, i), fault)) return false;
  }
  return true;
}

bool aot_manifest_check_records(const aot_manifest* m, aot_fault* fault) {
  return CheckEach(m, &m->features, CheckName, fault) && CheckEach(m, &m->operators, CheckName, fault) &&
         CheckEach(m, &m->quantizations, CheckQuantization, fault) && CheckEach(m, &m->inputs, CheckTensor, fault) &&
         CheckEach(m, &m->outputs, CheckTensor, fault) && CheckEach(m, &m->states, CheckState, fault) &&
         CheckEach(m, &m->bounds, CheckBound, fault) && CheckEach(m, &m->plan, CheckPlan, fault);
}

aot_self_test_places aot_self_test_find(const aot_manifest* m) {
  aot_self_test_places places = {0};
  const uint8_t* p = m->self_test.data;
  if (m->self_test.size == 0) return places;
  places.input_count = aot_load_u32(p + AOT_SELF_TEST_INPUT_COUNT);
  places.output_count = aot_load_u32(p + AOT_SELF_TEST_OUTPUT_COUNT);
  places.sample_count = aot_load_u32(p + AOT_SELF_TEST_SAMPLE_COUNT);
  places.data_size = aot_load_u32(p + AOT_SELF_TEST_DATA_SIZE);
  places.inputs = p + AOT_SELF_TEST_HEADER_SIZE;
  places.outputs = places.inputs + (size_t)places.input_count * AOT_SELF_TEST_INPUT_SIZE;
  places.samples = places.outputs + (size_t)places.output_count * AOT_SELF_TEST_OUTPUT_SIZE;
  places.data = places.samples + (size_t)places.sample_count * AOT_SELF_TEST_SAMPLE_SIZE;
  return places;
}

static bool CheckSelfTestInput(const aot_manifest* m, const aot_self_test_places* places, uint32_t index,
                               aot_fault* fault) {
  const uint8_t* p = places->inputs + (size_t)index * AOT_SELF_TEST_INPUT_SIZE;
  const uint64_t bytes = aot_load_u64(RecordAt(&m->inputs, index) + AOT_TENSOR_BYTES);
  const uint32_t kind = aot_load_u32(p + AOT_SELF_TEST_INPUT_KIND);
  if (kind > AOT_SELF_TEST_DATA) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, p), "self-test input kind", kind, AOT_SELF_TEST_DATA);
  }
  const uint32_t bits = aot_load_u32(p + AOT_SELF_TEST_INPUT_FRACTION_BITS);
  if (bits > 32) return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, p), "self-test fraction bits", bits, 32);
  const int64_t low = (int64_t)aot_load_u64(p + AOT_SELF_TEST_INPUT_LOW);
  const int64_t high = (int64_t)aot_load_u64(p + AOT_SELF_TEST_INPUT_HIGH);
  if (low > high) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, p) + AOT_SELF_TEST_INPUT_LOW, "self-test lowest value",
                    (uint64_t)low, (uint64_t)high);
  }
  const uint32_t offset = aot_load_u32(p + AOT_SELF_TEST_INPUT_DATA_OFFSET);
  const uint32_t size = aot_load_u32(p + AOT_SELF_TEST_INPUT_DATA_SIZE);
  if (!aot_range_fits(offset, size, places->data_size) || (kind == AOT_SELF_TEST_DATA && size != bytes)) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, p) + AOT_SELF_TEST_INPUT_DATA_SIZE, "self-test input size",
                    size, bytes);
  }
  return true;
}

static bool CheckSelfTestOutput(const aot_manifest* m, const aot_self_test_places* places, uint32_t index,
                                aot_fault* fault) {
  const uint8_t* p = places->outputs + (size_t)index * AOT_SELF_TEST_OUTPUT_SIZE;
  const uint8_t* tensor = RecordAt(&m->outputs, index);
  const uint32_t dtype = aot_load_u32(tensor + AOT_TENSOR_DTYPE);
  const uint64_t elements = aot_load_u64(tensor + AOT_TENSOR_BYTES) / aot_dtype_bytes(dtype);
  const uint32_t tolerance = aot_load_u32(p + AOT_SELF_TEST_OUTPUT_TOLERANCE);
  if (tolerance > AOT_TOLERANCE_QUANTIZED) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, p), "self-test tolerance class", tolerance,
                    AOT_TOLERANCE_QUANTIZED);
  }
  const uint32_t first = aot_load_u32(p + AOT_SELF_TEST_OUTPUT_FIRST_SAMPLE);
  const uint32_t count = aot_load_u32(p + AOT_SELF_TEST_OUTPUT_SAMPLE_COUNT);
  if (!aot_range_fits(first, count, places->sample_count)) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, p) + AOT_SELF_TEST_OUTPUT_FIRST_SAMPLE,
                    "last self-test sample", (uint64_t)first + count, places->sample_count);
  }
  if (count != 0 && (dtype == AOT_COMPLEX64 || dtype == AOT_COMPLEX128)) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, p) + AOT_SELF_TEST_OUTPUT_SAMPLE_COUNT,
                    "number of self-test samples of a complex output", count, 0);
  }
  for (uint32_t i = first; i < first + count; ++i) {
    const uint8_t* sample = places->samples + (size_t)i * AOT_SELF_TEST_SAMPLE_SIZE;
    const uint64_t element = aot_load_u64(sample + AOT_SELF_TEST_SAMPLE_INDEX);
    if (element >= elements) {
      return aot_fail(fault, AOT_FAULT_MALFORMED, PlaceOf(m, sample), "self-test sample index", element, elements);
    }
  }
  return true;
}

bool aot_manifest_check_self_test(const aot_manifest* m, aot_fault* fault) {
  if (m->self_test.size == 0) return true;
  const uint64_t at = PlaceOf(m, m->self_test.data);
  if (m->self_test.size < AOT_SELF_TEST_HEADER_SIZE || m->self_test.size > AOT_MAX_SELF_TEST_SIZE) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at, "self-test section size", m->self_test.size,
                    AOT_MAX_SELF_TEST_SIZE);
  }
  const uint8_t* p = m->self_test.data;
  const uint64_t inputs = aot_load_u32(p + AOT_SELF_TEST_INPUT_COUNT);
  const uint64_t outputs = aot_load_u32(p + AOT_SELF_TEST_OUTPUT_COUNT);
  if (inputs != m->inputs.count || outputs != m->outputs.count) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at + AOT_SELF_TEST_INPUT_COUNT, "self-test input and output count",
                    inputs + outputs, (uint64_t)m->inputs.count + m->outputs.count);
  }
  /* Counts are 32-bit and record sizes small: the sum can't overflow 64 bits. */
  const uint64_t need = AOT_SELF_TEST_HEADER_SIZE + inputs * AOT_SELF_TEST_INPUT_SIZE +
                        outputs * AOT_SELF_TEST_OUTPUT_SIZE +
                        (uint64_t)aot_load_u32(p + AOT_SELF_TEST_SAMPLE_COUNT) * AOT_SELF_TEST_SAMPLE_SIZE +
                        aot_load_u32(p + AOT_SELF_TEST_DATA_SIZE);
  if (need != m->self_test.size) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at, "self-test section size", m->self_test.size, need);
  }
  const aot_self_test_places places = aot_self_test_find(m);
  for (uint32_t i = 0; i < places.input_count; ++i) {
    if (!CheckSelfTestInput(m, &places, i, fault)) return false;
  }
  for (uint32_t i = 0; i < places.output_count; ++i) {
    if (!CheckSelfTestOutput(m, &places, i, fault)) return false;
  }
  return true;
}
