// Fuzzes the reader of artifacts: any bytes as a container, as a manifest and as a code object.
//
// A manifest's digest is repaired first: a reader that is fuzzed without that never gets beyond it.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/format/code_object.h"
#include "runtime/format/container.h"
#include "runtime/format/manifest.h"
#include "runtime/format/self_test_input.h"
#include "runtime/format/sha256.h"

namespace {

// A fault must have a text.
void CheckFault(const aot_fault& fault) {
  char text[256];
  if (aot_fault_text(&fault, text, sizeof text) < 10 || std::strlen(text) >= sizeof text) abort();
}

// Reads the last byte of a text, so that a sanitizer sees one that ends outside of the manifest.
void Touch(const aot_text& text) {
  volatile char sink = 0;
  for (uint32_t i = 0; i <= text.size; ++i) sink = text.data[i];  // the NUL behind it is promised as well
  (void)sink;
}

void ReadTensor(const aot_manifest_tensor& tensor) {
  Touch(tensor.name);
  uint64_t bytes = aot_dtype_bytes(tensor.dtype);
  if (bytes == 0 || tensor.rank > AOT_MAX_RANK) abort();
  for (uint32_t i = 0; i < tensor.rank; ++i) bytes *= static_cast<uint64_t>(tensor.dims[i]);
  if (bytes != tensor.bytes) abort();
}

// Whatever a manifest that opened holds can be read, and is what the header promises.
void ReadManifest(const aot_manifest& m) {
  for (const aot_text* text :
       {&m.info.model_name, &m.info.compiler_version, &m.info.options, &m.info.target_name, &m.info.triple}) {
    Touch(*text);
  }
  aot_text text;
  aot_manifest_tensor tensor;
  for (uint32_t i = 0; i < m.features.count; ++i) aot_manifest_feature(&m, i, &text) ? Touch(text) : abort();
  for (uint32_t i = 0; i < m.inputs.count; ++i) aot_manifest_input(&m, i, &tensor) ? ReadTensor(tensor) : abort();
  for (uint32_t i = 0; i < m.outputs.count; ++i) aot_manifest_output(&m, i, &tensor) ? ReadTensor(tensor) : abort();
  for (uint32_t i = 0; i < m.quantizations.count; ++i) {
    aot_manifest_quantization quantization;
    if (!aot_manifest_quantization_at(&m, i, &quantization)) abort();
    for (uint32_t v = 0; v < quantization.count; ++v) {
      double scale = 0;
      int64_t zero_point = 0;
      if (!aot_manifest_quantization_value(&m, quantization.first + v, &scale, &zero_point)) abort();
    }
  }
  for (uint32_t i = 0; i < m.states.count; ++i) {
    aot_manifest_state state;
    if (!aot_manifest_state_at(&m, i, &state)) abort();
    if (state.input >= m.inputs.count || state.output >= m.outputs.count) abort();
  }
  for (uint32_t i = 0; i < m.plan.count; ++i) {
    aot_manifest_plan_entry entry;
    if (!aot_manifest_plan_at(&m, i, &entry)) abort();
    Touch(entry.name);
    if (entry.size > m.info.arena_size || entry.offset > m.info.arena_size - entry.size) abort();
  }
  for (uint32_t i = 0; i < m.operators.count; ++i) {
    aot_manifest_operator op;
    aot_manifest_operator_at(&m, i, &op) ? Touch(op.name) : abort();
  }
  if (m.self_test.size == 0) return;
  uint64_t seed = 0;
  if (!aot_manifest_self_test_seed(&m, &seed)) abort();
  for (uint32_t i = 0; i < m.inputs.count; ++i) {
    aot_self_test_input input;
    if (!aot_manifest_self_test_input(&m, i, &input) || !aot_manifest_input(&m, i, &tensor)) abort();
    const uint64_t bytes = tensor.bytes;
    if (input.kind == AOT_SELF_TEST_DATA) {
      if (input.data.size != bytes) abort();
    } else if (bytes <= 4096) {
      std::vector<uint8_t> data(bytes);  // false for ranges that the type doesn't have, which is fine
      aot_self_test_fill(tensor.dtype, seed, i, input.fraction_bits, input.low, input.high,
                         bytes / aot_dtype_bytes(tensor.dtype), data.data());
    }
  }
  for (uint32_t i = 0; i < m.outputs.count; ++i) {
    aot_self_test_output output;
    if (!aot_manifest_self_test_output(&m, i, &output) || !aot_manifest_output(&m, i, &tensor)) abort();
    for (uint32_t s = 0; s < output.sample_count; ++s) {
      aot_self_test_sample sample;
      if (!aot_manifest_self_test_sample(&m, output.first_sample + s, &sample)) abort();
      if (sample.index >= tensor.bytes / aot_dtype_bytes(tensor.dtype)) abort();
    }
  }
}

void TryManifest(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  if (size >= AOT_HEADER_SIZE + AOT_SHA256_SIZE) {
    const uint32_t total = static_cast<uint32_t>(size);
    std::memcpy(bytes.data() + AOT_HEADER_TOTAL_SIZE, &total, sizeof total);
    aot_sha256(bytes.data(), size - AOT_SHA256_SIZE, bytes.data() + size - AOT_SHA256_SIZE);
  }
  aot_manifest manifest;
  aot_fault fault;
  aot_manifest_open(bytes.data(), size, &manifest, &fault) ? ReadManifest(manifest) : CheckFault(fault);
}

void TryCode(const uint8_t* data, size_t size, uint64_t descriptor_address) {
  aot_code_object object;
  aot_fault fault;
  if (!aot_code_object_open(data, size, &object, &fault)) return CheckFault(fault);
  if (object.segment_count > AOT_CODE_MAX_SEGMENTS) abort();
  for (uint32_t i = 0; i < object.segment_count; ++i) {
    const aot_code_segment& segment = object.segments[i];
    if (segment.size > size || segment.offset > size - segment.size) abort();
    if (segment.size > object.span || segment.address > object.span - segment.size) abort();
    if (i > 0 && segment.address < object.segments[i - 1].address + object.segments[i - 1].size) abort();
  }
  aot_descriptor descriptor;
  uint64_t entry = 0;
  for (uint64_t address : {descriptor_address, uint64_t{0}, object.segments[0].address, object.span - 1}) {
    if (!aot_code_object_descriptor(&object, address, &descriptor, &entry, &fault)) CheckFault(fault);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy that ends where the data ends.
  const std::vector<uint8_t> bytes(data, data + size);
  aot_container container;
  aot_fault fault;
  if (aot_container_open(bytes.data(), size, &container, &fault)) {
    if (!aot_container_check_padding(bytes.data(), &container, &fault)) CheckFault(fault);
    TryManifest(bytes.data() + container.manifest_offset, container.manifest_size);
    uint64_t address = 0;
    if (container.manifest_size >= AOT_HEADER_SIZE + AOT_INFO_SIZE) {
      std::memcpy(&address, bytes.data() + container.manifest_offset + AOT_HEADER_SIZE, sizeof address);
    }
    TryCode(bytes.data(), container.code_size, address);
  } else {
    CheckFault(fault);
  }
  TryManifest(bytes.data(), size);
  TryCode(bytes.data(), size, size > 8 ? bytes[size - 8] : 0);
  return 0;
}
