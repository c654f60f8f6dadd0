// What a manifest says, as plain data: the compiler fills it, the manifest writer turns it into bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/target/target.h"
#include "runtime/format/manifest.h"

namespace aot::emit {

struct Quantization {
  int axis = -1;  // -1: one scale and zero point for the tensor
  std::vector<double> scales;
  std::vector<int64_t> zero_points;  // as many as scales
};

struct Tensor {
  std::string name;
  aot_dtype dtype = AOT_FLOAT32;  // the numbers of onnx.TensorProto.DataType
  std::vector<int64_t> dims;
  std::optional<Quantization> quantization;
};

// The output is written over the input: both have one buffer.
struct State {
  uint32_t input = 0;
  uint32_t output = 0;
};

// Dimensions of `output` are bounds: a run writes the ones it found to the output `dims`.
struct Bound {
  uint32_t output = 0;
  uint32_t dims = 0;
};

struct PlanEntry {
  std::string name;  // of the value
  uint64_t offset = 0, size = 0;
  uint32_t first_step = 0, last_step = 0;  // inclusive
};

struct Operator {
  std::string name;  // "Conv"
  uint32_t count = 0;
};

// How a device makes an input of the self-test: see runtime/format/self_test_input.h; `data` for AOT_SELF_TEST_DATA.
struct SelfTestInput {
  aot_self_test_kind kind = AOT_SELF_TEST_GENERATED;
  uint32_t fraction_bits = 0;
  int64_t low = 0, high = 0;
  std::string data;
};

struct SelfTestSample {
  uint64_t index = 0;      // element of the output
  double float_value = 0;  // for float types
  int64_t int_value = 0;   // for all others
};

struct SelfTestOutput {
  aot_tolerance_class tolerance = AOT_TOLERANCE_EXACT;
  double relative = 0, absolute = 0;
  std::vector<SelfTestSample> samples;
};

// One entry for each input and each output of the manifest.
struct SelfTest {
  uint64_t seed = 0;
  std::vector<SelfTestInput> inputs;
  std::vector<SelfTestOutput> outputs;
};

struct Bucket;

struct ManifestData {
  // SHA-256, 64 hexadecimal digits.
  std::string key;
  std::string model_digest;

  std::string model_name;
  std::string compiler_version;
  std::string options;  // canonical text

  std::string target_name;
  std::string triple;
  std::vector<std::string> cpu_features;  // names of runtime/format/cpu_features.h
  uint32_t vector_bits = 128;
  uint32_t page_size = 16384;  // alignment of the weights in the `.so` form, bytes

  uint64_t arena_size = 0;  // exact, bytes
  uint32_t arena_alignment = 64;
  uint64_t scratch_size = 0;  // the part of the arena that no plan entry names

  std::vector<Tensor> inputs, outputs;
  std::vector<State> states;
  std::vector<Bound> bounds;  // ascending by output
  std::vector<PlanEntry> plan;
  std::vector<Operator> operators;
  std::optional<SelfTest> self_test;
  // Empty: one binding of the dimensions, which the members above describe. Else their tensors, states and bounds are
  // those of the first bucket, arena_size is the largest, and plan and self_test are the buckets'.
  std::vector<Bucket> buckets;

  // Copies what a description says about the target.
  void SetTarget(const target::Description& target);
};

// One binding of the symbolic dimensions; what artifacts have once (key, target, texts, features, operators) is taken
// from the whole.
struct Bucket {
  std::string name;
  ManifestData data;  // without buckets
};

}  // namespace aot::emit
