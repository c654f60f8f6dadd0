#include "runtime/format/manifest.h"

#include <string.h>

#include "runtime/format/manifest_check.h"
#include "runtime/format/sha256.h"

/* Finds the section's bytes; false if its place is wrong. */
static bool CheckSection(const aot_manifest* m, uint64_t entry, aot_span* section, aot_fault* fault) {
  const uint8_t* p = m->bytes.data + entry;
  const uint32_t offset = aot_load_u32(p + AOT_SECTION_OFFSET);
  const uint32_t size = aot_load_u32(p + AOT_SECTION_SIZE);
  const uint64_t end = m->bytes.size - AOT_MANIFEST_DIGEST_SIZE;
  if (!aot_range_fits(offset, size, end)) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, entry + AOT_SECTION_OFFSET, "manifest section end",
                    (uint64_t)offset + size, end);
  }
  if (offset % 8 != 0) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, entry + AOT_SECTION_OFFSET, "manifest section alignment", offset % 8,
                    0);
  }
  section->data = m->bytes.data + offset;
  section->size = size;
  return true;
}

/* Header and digest. The version comes first: nothing else is known to mean anything before. */
static bool CheckFrame(const void* data, size_t size, aot_manifest* m, aot_fault* fault) {
  m->bytes.data = (const uint8_t*)data;
  m->bytes.size = size;
  if (size < AOT_HEADER_SIZE + AOT_MANIFEST_DIGEST_SIZE) {
    return aot_fail(fault, AOT_FAULT_TRUNCATED, 0, "manifest", size, AOT_HEADER_SIZE + AOT_MANIFEST_DIGEST_SIZE);
  }
  const uint32_t magic = aot_load_u32(m->bytes.data + AOT_HEADER_MAGIC);
  if (magic != AOT_MANIFEST_MAGIC) {
    return aot_fail(fault, AOT_FAULT_MAGIC, AOT_HEADER_MAGIC, "manifest", magic, AOT_MANIFEST_MAGIC);
  }
  m->version = aot_load_u32(m->bytes.data + AOT_HEADER_VERSION);
  if (m->version != AOT_FORMAT_VERSION) {
    return aot_fail(fault, AOT_FAULT_VERSION, AOT_HEADER_VERSION, "artifact format", m->version, AOT_FORMAT_VERSION);
  }
  const uint32_t total = aot_load_u32(m->bytes.data + AOT_HEADER_TOTAL_SIZE);
  if (total > size) return aot_fail(fault, AOT_FAULT_TRUNCATED, AOT_HEADER_TOTAL_SIZE, "manifest", size, total);
  if (total < size || total > AOT_MANIFEST_MAX_SIZE) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, AOT_HEADER_TOTAL_SIZE, "manifest size", total,
                    total < size ? size : AOT_MANIFEST_MAX_SIZE);
  }
  uint8_t digest[AOT_SHA256_SIZE];
  aot_sha256(data, size - AOT_MANIFEST_DIGEST_SIZE, digest);
  if (memcmp(digest, m->bytes.data + size - AOT_MANIFEST_DIGEST_SIZE, sizeof digest) != 0) {
    return aot_fail(fault, AOT_FAULT_DIGEST, size - AOT_MANIFEST_DIGEST_SIZE, "manifest", 0, 0);
  }
  return true;
}

/* Reads the section table into sections[tag]; unknown sections are skipped unless they are marked as required. */
static bool ReadSectionTable(const aot_manifest* m, aot_span sections[AOT_TAG_COUNT], aot_fault* fault) {
  const uint8_t* p = m->bytes.data;
  const uint32_t start = aot_load_u32(p + AOT_HEADER_HEADER_SIZE);
  const uint32_t count = aot_load_u32(p + AOT_HEADER_SECTION_COUNT);
  const uint32_t entry_size = aot_load_u32(p + AOT_HEADER_SECTION_ENTRY_SIZE);
  if (start < AOT_HEADER_SIZE) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, AOT_HEADER_HEADER_SIZE, "manifest header size", start, AOT_HEADER_SIZE);
  }
  if (count > AOT_MAX_SECTIONS) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, AOT_HEADER_SECTION_COUNT, "manifest section count", count,
                    AOT_MAX_SECTIONS);
  }
  if (entry_size < AOT_SECTION_ENTRY_SIZE ||
      !aot_range_fits(start, (uint64_t)count * entry_size, m->bytes.size - AOT_MANIFEST_DIGEST_SIZE)) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, AOT_HEADER_SECTION_ENTRY_SIZE, "manifest section entry size",
                    entry_size, AOT_SECTION_ENTRY_SIZE);
  }
  memset(sections, 0, AOT_TAG_COUNT * sizeof sections[0]);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t entry = start + (uint64_t)i * entry_size;
    const uint32_t tag = aot_load_u32(p + entry + AOT_SECTION_TAG);
    const uint32_t flags = aot_load_u32(p + entry + AOT_SECTION_FLAGS);
    aot_span section;
    if (!CheckSection(m, entry, &section, fault)) return false;
    if (tag == 0 || tag >= AOT_TAG_COUNT) {
      if ((flags & AOT_SECTION_REQUIRED) == 0) continue;
      return aot_fail(fault, AOT_FAULT_UNKNOWN, entry, "manifest section", tag, 0);
    }
    if (sections[tag].data != NULL) {
      return aot_fail(fault, AOT_FAULT_MALFORMED, entry, "manifest section given twice: its tag", tag, 0);
    }
    sections[tag] = section;
  }
  return true;
}

static bool OpenArray(const aot_manifest* m, aot_span section, uint32_t least, uint32_t most, aot_manifest_array* array,
                      aot_fault* fault) {
  memset(array, 0, sizeof *array);
  if (section.data == NULL) return true; /* an absent array is empty */
  const uint64_t at = (uint64_t)(section.data - m->bytes.data);
  if (section.size < AOT_ARRAY_HEADER_SIZE) {
    return aot_fail(fault, AOT_FAULT_TRUNCATED, at, "manifest array section", section.size, AOT_ARRAY_HEADER_SIZE);
  }
  array->count = aot_load_u32(section.data + AOT_ARRAY_COUNT);
  array->record_size = aot_load_u32(section.data + AOT_ARRAY_RECORD_SIZE);
  array->records = section.data + AOT_ARRAY_HEADER_SIZE;
  if (array->record_size < least || array->record_size % 8 != 0) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at + AOT_ARRAY_RECORD_SIZE, "manifest record size", array->record_size,
                    least);
  }
  if (array->count > most) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at + AOT_ARRAY_COUNT, "manifest record count", array->count, most);
  }
  const uint64_t need = (uint64_t)array->count * array->record_size;
  if (need > section.size - AOT_ARRAY_HEADER_SIZE) {
    return aot_fail(fault, AOT_FAULT_TRUNCATED, at, "manifest array section", section.size,
                    need + AOT_ARRAY_HEADER_SIZE);
  }
  return true;
}

static void LoadText(const aot_manifest* m, const uint8_t* p, aot_text* out) {
  out->data = (const char*)m->strings.data + aot_load_u32(p);
  out->size = aot_load_u32(p + 4);
}

bool aot_manifest_check_text(const aot_manifest* m, const uint8_t* p, aot_fault* fault) {
  const uint64_t at = (uint64_t)(p - m->bytes.data);
  const uint64_t offset = aot_load_u32(p), size = aot_load_u32(p + 4);
  if (!aot_range_fits(offset, size + 1, m->strings.size)) {
    return aot_fail(fault, AOT_FAULT_MALFORMED, at, "manifest text end", offset + size + 1, m->strings.size);
  }
  const uint8_t* text = m->strings.data + offset;
  for (uint64_t i = 0; i <= size; ++i) {
    if ((text[i] == 0) != (i == size)) {
      return aot_fail(fault, AOT_FAULT_MALFORMED, at, "manifest text length up to its NUL", i, size);
    }
  }
  return true;
}

static bool ReadInfo(aot_manifest* m, aot_span section, aot_fault* fault) {
  if (section.data == NULL || section.size < AOT_INFO_SIZE) {
    return aot_fail(fault, AOT_FAULT_TRUNCATED, 0, "manifest section INFO", section.size, AOT_INFO_SIZE);
  }
  const uint8_t* p = section.data;
  aot_manifest_info* info = &m->info;
  memcpy(info->key, p + AOT_INFO_KEY, sizeof info->key);
  memcpy(info->model_sha256, p + AOT_INFO_MODEL_SHA256, sizeof info->model_sha256);
  memcpy(info->code_sha256, p + AOT_INFO_CODE_SHA256, sizeof info->code_sha256);
  memcpy(info->weights_sha256, p + AOT_INFO_WEIGHTS_SHA256, sizeof info->weights_sha256);
  info->code_size = aot_load_u64(p + AOT_INFO_CODE_SIZE);
  info->weights_size = aot_load_u64(p + AOT_INFO_WEIGHTS_SIZE);
  info->arena_size = aot_load_u64(p + AOT_INFO_ARENA_SIZE);
  info->scratch_size = aot_load_u64(p + AOT_INFO_SCRATCH_SIZE);
  info->descriptor_address = aot_load_u64(p + AOT_INFO_DESCRIPTOR_ADDRESS);
  info->arena_alignment = aot_load_u32(p + AOT_INFO_ARENA_ALIGNMENT);
  info->page_size = aot_load_u32(p + AOT_INFO_PAGE_SIZE);
  info->code_abi_version = aot_load_u32(p + AOT_INFO_CODE_ABI_VERSION);
  info->vector_bits = aot_load_u32(p + AOT_INFO_VECTOR_BITS);
  for (uint32_t text = AOT_INFO_MODEL_NAME; text < AOT_INFO_SIZE; text += 8) {
    if (!aot_manifest_check_text(m, p + text, fault)) return false;
  }
  LoadText(m, p + AOT_INFO_MODEL_NAME, &info->model_name);
  LoadText(m, p + AOT_INFO_COMPILER_VERSION, &info->compiler_version);
  LoadText(m, p + AOT_INFO_OPTIONS, &info->options);
  LoadText(m, p + AOT_INFO_TARGET_NAME, &info->target_name);
  LoadText(m, p + AOT_INFO_TRIPLE, &info->triple);
  return aot_manifest_check_info(m, (uint64_t)(p - m->bytes.data), fault);
}

/* Records may share text, and every text is walked over: without this bound a manifest could make that take hours. */
static bool CheckNameBytes(aot_manifest* m, aot_fault* fault) {
  const struct {
    const aot_manifest_array* array;
    uint32_t name;
  } named[] = {{&m->features, AOT_FEATURE_NAME}, {&m->inputs, AOT_TENSOR_NAME},      {&m->outputs, AOT_TENSOR_NAME},
               {&m->plan, AOT_PLAN_NAME},        {&m->operators, AOT_OPERATOR_NAME}, {&m->buckets, AOT_BUCKET_NAME}};
  uint64_t total = 0;
  for (size_t k = 0; k < sizeof named / sizeof named[0]; ++k) {
    const aot_manifest_array* array = named[k].array;
    for (uint32_t i = 0; i < array->count; ++i) {
      total += aot_load_u32(array->records + (size_t)i * array->record_size + named[k].name + 4);
    }
  }
  m->name_bytes = total;
  if (total <= AOT_MAX_NAME_BYTES) return true;
  return aot_fail(fault, AOT_FAULT_MALFORMED, 0, "bytes of all names in the manifest", total, AOT_MAX_NAME_BYTES);
}

/* Everything but the buckets. */
static bool Open(const void* data, size_t size, aot_manifest* m, aot_fault* fault) {
  aot_span sections[AOT_TAG_COUNT];
  memset(m, 0, sizeof *m);
  if (!CheckFrame(data, size, m, fault) || !ReadSectionTable(m, sections, fault)) return false;
  m->strings = sections[AOT_TAG_STRINGS];
  m->self_test = sections[AOT_TAG_SELF_TEST];
  m->bucket_section = sections[AOT_TAG_BUCKETS];
  const uint32_t any = AOT_MANIFEST_MAX_SIZE;
  return ReadInfo(m, sections[AOT_TAG_INFO], fault) &&
         OpenArray(m, sections[AOT_TAG_CPU_FEATURES], AOT_FEATURE_SIZE, AOT_MAX_CPU_FEATURES, &m->features, fault) &&
         OpenArray(m, sections[AOT_TAG_INPUTS], AOT_TENSOR_SIZE, AOT_MAX_TENSORS, &m->inputs, fault) &&
         OpenArray(m, sections[AOT_TAG_OUTPUTS], AOT_TENSOR_SIZE, AOT_MAX_TENSORS, &m->outputs, fault) &&
         OpenArray(m, sections[AOT_TAG_DIMS], AOT_DIM_SIZE, any, &m->dims, fault) &&
         OpenArray(m, sections[AOT_TAG_QUANTIZATIONS], AOT_QUANTIZATION_SIZE, any, &m->quantizations, fault) &&
         OpenArray(m, sections[AOT_TAG_QUANTIZATION_VALUES], AOT_QUANTIZATION_VALUE_SIZE, any, &m->quantization_values,
                   fault) &&
         OpenArray(m, sections[AOT_TAG_STATES], AOT_STATE_SIZE, AOT_MAX_TENSORS, &m->states, fault) &&
         OpenArray(m, sections[AOT_TAG_BOUNDS], AOT_BOUND_SIZE, AOT_MAX_TENSORS, &m->bounds, fault) &&
         OpenArray(m, sections[AOT_TAG_PLAN], AOT_PLAN_SIZE, any, &m->plan, fault) &&
         OpenArray(m, sections[AOT_TAG_OPERATORS], AOT_OPERATOR_SIZE, any, &m->operators, fault) &&
         OpenArray(m, sections[AOT_TAG_BUCKETS], AOT_BUCKET_SIZE, AOT_MAX_BUCKETS, &m->buckets, fault) &&
         CheckNameBytes(m, fault) && aot_manifest_check_records(m, fault) && aot_manifest_check_self_test(m, fault);
}

/* The bytes of a bucket's manifest, or nothing if its place is wrong. */
static aot_span BucketBytes(const aot_manifest* m, const uint8_t* record) {
  const uint32_t offset = aot_load_u32(record + AOT_BUCKET_OFFSET), size = aot_load_u32(record + AOT_BUCKET_BYTES);
  aot_span bytes = {NULL, 0};
  if (offset % 8 == 0 && aot_range_fits(offset, size, m->bucket_section.size)) {
    bytes.data = m->bucket_section.data + offset;
    bytes.size = size;
  }
  return bytes;
}

static bool CheckBuckets(aot_manifest* m, aot_fault* fault) {
  for (uint32_t i = 0; i < m->buckets.count; ++i) {
    const uint8_t* record = m->buckets.records + (size_t)i * m->buckets.record_size;
    const uint64_t at = (uint64_t)(record - m->bytes.data);
    if (!aot_manifest_check_text(m, record + AOT_BUCKET_NAME, fault)) return false;
    const aot_span bytes = BucketBytes(m, record);
    if (bytes.data == NULL) {
      return aot_fail(fault, AOT_FAULT_MALFORMED, at + AOT_BUCKET_OFFSET, "place of a bucket's manifest",
                      aot_load_u32(record + AOT_BUCKET_OFFSET), m->bucket_section.size);
    }
    const uint64_t base = (uint64_t)(bytes.data - m->bytes.data);
    aot_manifest bucket;
    if (!Open(bytes.data, bytes.size, &bucket, fault)) {
      if (fault != NULL) fault->offset += base;
      return false;
    }
    m->name_bytes += bucket.name_bytes;
    if (m->name_bytes > AOT_MAX_NAME_BYTES) {
      return aot_fail(fault, AOT_FAULT_MALFORMED, at, "bytes of all names in the manifest and its buckets",
                      m->name_bytes, AOT_MAX_NAME_BYTES);
    }
    if (!aot_manifest_check_bucket(m, &bucket, base, fault)) return false;
  }
  return true;
}

bool aot_manifest_open(const void* data, size_t size, aot_manifest* m, aot_fault* fault) {
  return Open(data, size, m, fault) && CheckBuckets(m, fault);
}

/* The record at `index`, or NULL if there is none. */
static const uint8_t* Record(const aot_manifest_array* array, uint32_t index) {
  return index < array->count ? array->records + (size_t)index * array->record_size : NULL;
}

bool aot_manifest_feature(const aot_manifest* m, uint32_t index, aot_text* out) {
  const uint8_t* p = Record(&m->features, index);
  if (p == NULL) return false;
  LoadText(m, p + AOT_FEATURE_NAME, out);
  return true;
}

static bool LoadTensor(const aot_manifest* m, const uint8_t* p, aot_manifest_tensor* out) {
  if (p == NULL) return false;
  memset(out, 0, sizeof *out);
  LoadText(m, p + AOT_TENSOR_NAME, &out->name);
  out->dtype = aot_load_u32(p + AOT_TENSOR_DTYPE);
  out->rank = aot_load_u32(p + AOT_TENSOR_RANK);
  out->bytes = aot_load_u64(p + AOT_TENSOR_BYTES);
  out->quantization = aot_load_u32(p + AOT_TENSOR_QUANTIZATION);
  const uint32_t first = aot_load_u32(p + AOT_TENSOR_FIRST_DIM);
  for (uint32_t i = 0; i < out->rank; ++i) out->dims[i] = (int64_t)aot_load_u64(Record(&m->dims, first + i));
  return true;
}

bool aot_manifest_input(const aot_manifest* m, uint32_t index, aot_manifest_tensor* out) {
  return LoadTensor(m, Record(&m->inputs, index), out);
}

bool aot_manifest_output(const aot_manifest* m, uint32_t index, aot_manifest_tensor* out) {
  return LoadTensor(m, Record(&m->outputs, index), out);
}

bool aot_manifest_quantization_at(const aot_manifest* m, uint32_t index, aot_manifest_quantization* out) {
  const uint8_t* p = Record(&m->quantizations, index);
  if (p == NULL) return false;
  out->axis = (int32_t)aot_load_u32(p + AOT_QUANTIZATION_AXIS);
  out->first = aot_load_u32(p + AOT_QUANTIZATION_FIRST);
  out->count = aot_load_u32(p + AOT_QUANTIZATION_COUNT);
  return true;
}

static double LoadDouble(const uint8_t* p) {
  const uint64_t bits = aot_load_u64(p);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

bool aot_manifest_quantization_value(const aot_manifest* m, uint32_t index, double* scale, int64_t* zero_point) {
  const uint8_t* p = Record(&m->quantization_values, index);
  if (p == NULL) return false;
  *scale = LoadDouble(p + AOT_QUANTIZATION_VALUE_SCALE);
  *zero_point = (int64_t)aot_load_u64(p + AOT_QUANTIZATION_VALUE_ZERO);
  return true;
}

bool aot_manifest_state_at(const aot_manifest* m, uint32_t index, aot_manifest_state* out) {
  const uint8_t* p = Record(&m->states, index);
  if (p == NULL) return false;
  out->input = aot_load_u32(p + AOT_STATE_INPUT);
  out->output = aot_load_u32(p + AOT_STATE_OUTPUT);
  return true;
}

bool aot_manifest_bound_at(const aot_manifest* m, uint32_t index, aot_manifest_bound* out) {
  const uint8_t* p = Record(&m->bounds, index);
  if (p == NULL) return false;
  out->output = aot_load_u32(p + AOT_BOUND_OUTPUT);
  out->dims = aot_load_u32(p + AOT_BOUND_DIMS);
  return true;
}

bool aot_manifest_plan_at(const aot_manifest* m, uint32_t index, aot_manifest_plan_entry* out) {
  const uint8_t* p = Record(&m->plan, index);
  if (p == NULL) return false;
  LoadText(m, p + AOT_PLAN_NAME, &out->name);
  out->offset = aot_load_u64(p + AOT_PLAN_OFFSET);
  out->size = aot_load_u64(p + AOT_PLAN_BYTES);
  out->first_step = aot_load_u32(p + AOT_PLAN_FIRST);
  out->last_step = aot_load_u32(p + AOT_PLAN_LAST);
  return true;
}

bool aot_manifest_operator_at(const aot_manifest* m, uint32_t index, aot_manifest_operator* out) {
  const uint8_t* p = Record(&m->operators, index);
  if (p == NULL) return false;
  LoadText(m, p + AOT_OPERATOR_NAME, &out->name);
  out->count = aot_load_u32(p + AOT_OPERATOR_COUNT);
  return true;
}

bool aot_manifest_bucket(const aot_manifest* m, uint32_t index, aot_text* name, aot_manifest* out) {
  const uint8_t* p = Record(&m->buckets, index);
  if (p == NULL) return false;
  LoadText(m, p + AOT_BUCKET_NAME, name);
  const aot_span bytes = BucketBytes(m, p);
  return Open(bytes.data, bytes.size, out, NULL);
}

bool aot_manifest_self_test_seed(const aot_manifest* m, uint64_t* seed) {
  if (m->self_test.size == 0) return false;
  *seed = aot_load_u64(m->self_test.data + AOT_SELF_TEST_SEED);
  return true;
}

bool aot_manifest_self_test_input(const aot_manifest* m, uint32_t index, aot_self_test_input* out) {
  const aot_self_test_places places = aot_self_test_find(m);
  if (index >= places.input_count) return false;
  const uint8_t* p = places.inputs + (size_t)index * AOT_SELF_TEST_INPUT_SIZE;
  out->kind = (aot_self_test_kind)aot_load_u32(p + AOT_SELF_TEST_INPUT_KIND);
  out->fraction_bits = aot_load_u32(p + AOT_SELF_TEST_INPUT_FRACTION_BITS);
  out->low = (int64_t)aot_load_u64(p + AOT_SELF_TEST_INPUT_LOW);
  out->high = (int64_t)aot_load_u64(p + AOT_SELF_TEST_INPUT_HIGH);
  out->data.data = places.data + aot_load_u32(p + AOT_SELF_TEST_INPUT_DATA_OFFSET);
  out->data.size = aot_load_u32(p + AOT_SELF_TEST_INPUT_DATA_SIZE);
  return true;
}

bool aot_manifest_self_test_output(const aot_manifest* m, uint32_t index, aot_self_test_output* out) {
  const aot_self_test_places places = aot_self_test_find(m);
  if (index >= places.output_count) return false;
  const uint8_t* p = places.outputs + (size_t)index * AOT_SELF_TEST_OUTPUT_SIZE;
  out->tolerance = (aot_tolerance_class)aot_load_u32(p + AOT_SELF_TEST_OUTPUT_TOLERANCE);
  out->first_sample = aot_load_u32(p + AOT_SELF_TEST_OUTPUT_FIRST_SAMPLE);
  out->sample_count = aot_load_u32(p + AOT_SELF_TEST_OUTPUT_SAMPLE_COUNT);
  out->relative = LoadDouble(p + AOT_SELF_TEST_OUTPUT_RELATIVE);
  out->absolute = LoadDouble(p + AOT_SELF_TEST_OUTPUT_ABSOLUTE);
  return true;
}

bool aot_manifest_self_test_sample(const aot_manifest* m, uint32_t index, aot_self_test_sample* out) {
  const aot_self_test_places places = aot_self_test_find(m);
  if (index >= places.sample_count) return false;
  const uint8_t* p = places.samples + (size_t)index * AOT_SELF_TEST_SAMPLE_SIZE;
  out->index = aot_load_u64(p + AOT_SELF_TEST_SAMPLE_INDEX);
  out->int_value = (int64_t)aot_load_u64(p + AOT_SELF_TEST_SAMPLE_VALUE);
  out->float_value = LoadDouble(p + AOT_SELF_TEST_SAMPLE_VALUE);
  return true;
}
