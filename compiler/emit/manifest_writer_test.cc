#include "compiler/emit/manifest_writer.h"

#include <random>

#include "gtest/gtest.h"
#include "runtime/format/self_test_input.h"
#include "runtime/format/sha256.h"

namespace aot::emit {
namespace {

std::string Text(const aot_text& text) { return std::string(text.data, text.size); }

ManifestData Example() {
  ManifestData data;
  data.SetTarget(**target::Find("cortex-a75"));
  data.key = std::string(62, '0') + "5a";
  data.model_digest = std::string(64, 'b');
  data.model_name = "déjà vu \"quoted\"\n";
  data.compiler_version = "1.2.3";
  data.options = "dim.batch=1\nopt=3\n";
  data.arena_size = 4096;
  data.arena_alignment = 128;
  data.scratch_size = 100;
  data.inputs = {{"x", AOT_UINT8, {1, 3, 2}, Quantization{-1, {0.5}, {128}}}, {"h", AOT_FLOAT32, {}, {}}};
  data.outputs = {{"y", AOT_INT8, {2, 2}, Quantization{1, {0.25, 0.125}, {0, -3}}}, {"h_out", AOT_FLOAT32, {}, {}}};
  data.states = {{1, 1}};
  data.plan = {{"conv1", 0, 1024, 0, 1}, {"conv2", 1024, 3072, 1, 2}};
  data.operators = {{"Conv", 2}, {"Relu", 1}};
  SelfTest test;
  test.seed = 42;
  test.inputs = {{AOT_SELF_TEST_GENERATED, 0, 0, 255, ""},
                 {AOT_SELF_TEST_DATA, 0, 0, 0, std::string("\0\0\x80\x3f", 4)}};
  test.outputs = {{AOT_TOLERANCE_QUANTIZED, 0, 1, {{0, 0, -7}, {3, 0, 9}}},
                  {AOT_TOLERANCE_FLOAT, 1e-4, 1e-6, {{0, 0.75, 0}}}};
  data.self_test = test;
  return data;
}

PartFacts Parts() {
  PartFacts parts;
  parts.code_size = 1000;
  parts.weights_size = 2000;
  parts.code_digest = std::string(32, 'c');
  parts.weights_digest = std::string(32, 'w');
  parts.descriptor_address = 720;
  return parts;
}

// Two bindings: the second with half of the memory.
ManifestData WithBuckets() {
  ManifestData data = Example();
  data.buckets = {{"n=3", data}, {"n=2", data}};
  data.plan.clear();
  data.self_test.reset();
  ManifestData& second = data.buckets[1].data;
  second.arena_size = 2048;
  second.plan.pop_back();
  second.inputs[0].dims[1] = 2;
  return data;
}

TEST(ManifestWriter, Buckets) {
  const absl::StatusOr<std::string> bytes = WriteManifest(WithBuckets(), Parts());
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  aot_manifest m, bucket;
  aot_fault fault;
  ASSERT_TRUE(aot_manifest_open(bytes->data(), bytes->size(), &m, &fault)) << fault.what;
  EXPECT_EQ(m.buckets.count, 2u);
  EXPECT_EQ(m.info.arena_size, 4096u);
  EXPECT_EQ(m.self_test.size, 0u);
  aot_text name;
  ASSERT_TRUE(aot_manifest_bucket(&m, 1, &name, &bucket));
  EXPECT_EQ(Text(name), "n=2");
  EXPECT_EQ(bucket.info.arena_size, 2048u);
  EXPECT_EQ(bucket.plan.count, 1u);
  EXPECT_GT(bucket.self_test.size, 0u);
  aot_manifest_tensor tensor;
  ASSERT_TRUE(aot_manifest_input(&bucket, 0, &tensor));
  EXPECT_EQ(tensor.dims[1], 2);
  ASSERT_TRUE(aot_manifest_input(&m, 0, &tensor));
  EXPECT_EQ(tensor.dims[1], 3);
  EXPECT_FALSE(aot_manifest_bucket(&m, 2, &name, &bucket));
}

TEST(ManifestWriter, RefusesBucketsThatDontFitTheWhole) {
  const auto refused = [](const ManifestData& data) {
    return std::string(WriteManifest(data, Parts()).status().message());
  };
  ManifestData larger = WithBuckets();
  larger.arena_size = 3000;
  EXPECT_NE(refused(larger).find("arena size of a bucket"), std::string::npos) << refused(larger);
  ManifestData type = WithBuckets();
  type.buckets[1].data.outputs[1].dtype = AOT_INT32;
  type.buckets[1].data.self_test.reset();
  type.buckets[1].data.states.clear();
  EXPECT_NE(refused(type).find("inputs and outputs of a bucket"), std::string::npos) << refused(type);
  ManifestData nested = WithBuckets();
  nested.buckets[1].data = WithBuckets();
  EXPECT_NE(refused(nested).find("buckets in a bucket"), std::string::npos) << refused(nested);
  ManifestData many = WithBuckets();
  many.buckets.resize(33, many.buckets[0]);
  EXPECT_NE(refused(many).find("33"), std::string::npos) << refused(many);
}

TEST(ManifestWriter, Bounds) {
  ManifestData data = Example();
  data.outputs.push_back({"y.dims", AOT_INT64, {2}, {}});
  data.self_test->outputs.push_back({AOT_TOLERANCE_EXACT, 0, 0, {}});
  data.bounds = {{0, 2}};
  const absl::StatusOr<std::string> bytes = WriteManifest(data, Parts());
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  aot_manifest m;
  aot_fault fault;
  ASSERT_TRUE(aot_manifest_open(bytes->data(), bytes->size(), &m, &fault)) << fault.what;
  aot_manifest_bound bound;
  ASSERT_TRUE(aot_manifest_bound_at(&m, 0, &bound));
  EXPECT_EQ(bound.output, 0u);
  EXPECT_EQ(bound.dims, 2u);
  EXPECT_FALSE(aot_manifest_bound_at(&m, 1, &bound));
}

TEST(ManifestWriter, RoundTrip) {
  const absl::StatusOr<std::string> bytes = WriteManifest(Example(), Parts());
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  aot_manifest m;
  aot_fault fault;
  ASSERT_TRUE(aot_manifest_open(bytes->data(), bytes->size(), &m, &fault)) << fault.what;
  EXPECT_EQ(m.info.key[31], 0x5a);
  EXPECT_EQ(m.info.model_sha256[0], 0xbb);
  EXPECT_EQ(m.info.code_sha256[5], 'c');
  EXPECT_EQ(m.info.weights_sha256[5], 'w');
  EXPECT_EQ(m.info.code_size, 1000u);
  EXPECT_EQ(m.info.weights_size, 2000u);
  EXPECT_EQ(m.info.arena_size, 4096u);
  EXPECT_EQ(m.info.arena_alignment, 128u);
  EXPECT_EQ(m.info.scratch_size, 100u);
  EXPECT_EQ(m.info.descriptor_address, 720u);
  EXPECT_EQ(m.info.vector_bits, 128u);
  EXPECT_EQ(m.info.page_size, 16384u);
  EXPECT_EQ(Text(m.info.model_name), Example().model_name);
  EXPECT_EQ(Text(m.info.options), Example().options);
  EXPECT_EQ(Text(m.info.target_name), "cortex-a75");
  EXPECT_EQ(Text(m.info.triple), "aarch64-linux-gnu");

  aot_text feature;
  ASSERT_EQ(m.features.count, Example().cpu_features.size());
  ASSERT_TRUE(aot_manifest_feature(&m, 1, &feature));
  EXPECT_EQ(Text(feature), Example().cpu_features[1]);
  EXPECT_FALSE(aot_manifest_feature(&m, m.features.count, &feature));

  aot_manifest_tensor tensor;
  ASSERT_TRUE(aot_manifest_output(&m, 0, &tensor));
  EXPECT_EQ(Text(tensor.name), "y");
  EXPECT_EQ(tensor.dtype, AOT_INT8);
  EXPECT_EQ(tensor.rank, 2u);
  EXPECT_EQ(tensor.dims[1], 2);
  EXPECT_EQ(tensor.bytes, 4u);
  aot_manifest_quantization quantization;
  ASSERT_TRUE(aot_manifest_quantization_at(&m, tensor.quantization, &quantization));
  EXPECT_EQ(quantization.axis, 1);
  ASSERT_EQ(quantization.count, 2u);
  double scale;
  int64_t zero;
  ASSERT_TRUE(aot_manifest_quantization_value(&m, quantization.first + 1, &scale, &zero));
  EXPECT_EQ(scale, 0.125);
  EXPECT_EQ(zero, -3);
  ASSERT_TRUE(aot_manifest_input(&m, 1, &tensor));
  EXPECT_EQ(tensor.rank, 0u);
  EXPECT_EQ(tensor.bytes, 4u);
  EXPECT_EQ(tensor.quantization, AOT_NO_INDEX);

  aot_manifest_state state;
  ASSERT_TRUE(aot_manifest_state_at(&m, 0, &state));
  EXPECT_EQ(state.input, 1u);
  aot_manifest_plan_entry entry;
  ASSERT_TRUE(aot_manifest_plan_at(&m, 1, &entry));
  EXPECT_EQ(Text(entry.name), "conv2");
  EXPECT_EQ(entry.offset, 1024u);
  EXPECT_EQ(entry.last_step, 2u);
  aot_manifest_operator op;
  ASSERT_TRUE(aot_manifest_operator_at(&m, 0, &op));
  EXPECT_EQ(Text(op.name), "Conv");
  EXPECT_EQ(op.count, 2u);

  uint64_t seed = 0;
  ASSERT_TRUE(aot_manifest_self_test_seed(&m, &seed));
  EXPECT_EQ(seed, 42u);
  aot_self_test_input input;
  ASSERT_TRUE(aot_manifest_self_test_input(&m, 1, &input));
  EXPECT_EQ(input.kind, AOT_SELF_TEST_DATA);
  ASSERT_EQ(input.data.size, 4u);
  EXPECT_EQ(input.data.data[3], 0x3f);
  aot_self_test_output output;
  ASSERT_TRUE(aot_manifest_self_test_output(&m, 1, &output));
  EXPECT_EQ(output.relative, 1e-4);
  aot_self_test_sample sample;
  ASSERT_TRUE(aot_manifest_self_test_sample(&m, output.first_sample, &sample));
  EXPECT_EQ(sample.float_value, 0.75);
  ASSERT_TRUE(aot_manifest_self_test_sample(&m, 1, &sample));
  EXPECT_EQ(sample.index, 3u);
  EXPECT_EQ(sample.int_value, 9);
}

TEST(ManifestWriter, SameDataSameBytes) {
  EXPECT_EQ(*WriteManifest(Example(), Parts()), *WriteManifest(Example(), Parts()));
}

TEST(ManifestWriter, RefusesWhatAReaderWouldRefuse) {
  const auto code = [](auto change) {
    ManifestData data = Example();
    change(data);
    const absl::Status status = WriteManifest(data, Parts()).status();
    EXPECT_FALSE(status.message().empty());
    return status.code();
  };
  using absl::StatusCode;
  EXPECT_EQ(code([](ManifestData& d) { d.key = "12"; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.model_digest[3] = 'x'; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.inputs[0].name = std::string("a\0b", 3); }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.inputs[0].dims = {-1}; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.inputs[0].dims = {INT64_MAX, INT64_MAX}; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.inputs[0].dims.resize(17, 1); }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.inputs[0].dtype = static_cast<aot_dtype>(8); }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.states[0].input = 2; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.states[0].input = 0; }), StatusCode::kInvalidArgument);
  const auto bound = [&](uint32_t output, uint32_t dims, aot_dtype dtype, std::vector<int64_t> shape) {
    return code([&](ManifestData& d) {
      d.outputs.push_back({"y.dims", dtype, shape, {}});
      d.self_test->outputs.push_back({AOT_TOLERANCE_EXACT, 0, 0, {}});
      d.bounds = {{output, dims}};
    });
  };
  EXPECT_EQ(bound(0, 2, AOT_INT32, {2}), StatusCode::kInvalidArgument);
  EXPECT_EQ(bound(0, 2, AOT_INT64, {3}), StatusCode::kInvalidArgument);
  EXPECT_EQ(bound(0, 2, AOT_INT64, {2, 1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(bound(0, 3, AOT_INT64, {2}), StatusCode::kInvalidArgument);
  EXPECT_EQ(bound(2, 2, AOT_INT64, {1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) {
              d.outputs.push_back({"y.dims", AOT_INT64, {2}, {}});
              d.self_test->outputs.push_back({AOT_TOLERANCE_EXACT, 0, 0, {}});
              d.bounds = {{0, 2}, {0, 2}};
            }),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.plan[1].size = 3073; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.plan[1].offset = UINT64_MAX; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.arena_alignment = 48; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.page_size = 512; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.inputs[0].quantization->zero_points = {}; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.self_test->outputs.pop_back(); }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.self_test->outputs[0].samples[0].index = 4; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.self_test->inputs[1].data += "x"; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](ManifestData& d) { d.self_test->outputs[0].samples.resize(5000); }),
            StatusCode::kResourceExhausted);
}

// Bytes with a digest that fits, as an attacker without the signing key, or a writer with a fault, could make them.
std::string Sealed(std::string bytes) {
  bytes.resize(bytes.size() - AOT_SHA256_SIZE);
  uint8_t digest[AOT_SHA256_SIZE];
  aot_sha256(bytes.data(), bytes.size(), digest);
  return bytes.append(reinterpret_cast<const char*>(digest), sizeof digest);
}

// Reads everything that an opened manifest offers.
void Touch(const aot_manifest& m) {
  aot_manifest_tensor tensor;
  aot_text text;
  for (uint32_t i = 0; aot_manifest_input(&m, i, &tensor); ++i) EXPECT_EQ(tensor.name.data[tensor.name.size], '\0');
  for (uint32_t i = 0; aot_manifest_output(&m, i, &tensor); ++i) EXPECT_EQ(tensor.name.data[tensor.name.size], '\0');
  for (uint32_t i = 0; aot_manifest_feature(&m, i, &text); ++i) EXPECT_EQ(text.data[text.size], '\0');
  aot_manifest_plan_entry entry;
  for (uint32_t i = 0; aot_manifest_plan_at(&m, i, &entry); ++i)
    EXPECT_LE(entry.offset + entry.size, m.info.arena_size);
  aot_manifest_operator op;
  for (uint32_t i = 0; aot_manifest_operator_at(&m, i, &op); ++i) EXPECT_EQ(op.name.data[op.name.size], '\0');
  aot_self_test_input input;
  unsigned sum = 0;
  for (uint32_t i = 0; aot_manifest_self_test_input(&m, i, &input); ++i) {
    for (size_t k = 0; k < input.data.size; ++k) sum += input.data.data[k];
  }
  aot_self_test_sample sample;
  for (uint32_t i = 0; aot_manifest_self_test_sample(&m, i, &sample); ++i) sum += static_cast<unsigned>(sample.index);
  aot_manifest_quantization quantization;
  for (uint32_t i = 0; aot_manifest_quantization_at(&m, i, &quantization); ++i) sum += quantization.count;
  EXPECT_GE(sum, 0u);
}

TEST(ManifestReader, TruncationAtEveryByteIsRefused) {
  const std::string whole = *WriteManifest(Example(), Parts());
  for (size_t size = 0; size < whole.size(); ++size) {
    // A heap copy of exactly this size, so that a sanitizer sees any read beyond.
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    aot_manifest m;
    aot_fault fault;
    ASSERT_FALSE(aot_manifest_open(cut.data(), cut.size(), &m, &fault)) << size;
    if (size < 64) EXPECT_EQ(fault.kind, AOT_FAULT_TRUNCATED) << size;
  }
}

TEST(ManifestReader, EveryFlippedBitIsRefused) {
  std::string bytes = *WriteManifest(Example(), Parts());
  for (size_t i = 0; i < bytes.size() * 8; ++i) {
    bytes[i / 8] ^= static_cast<char>(1 << (i % 8));
    aot_manifest m;
    ASSERT_FALSE(aot_manifest_open(bytes.data(), bytes.size(), &m, nullptr)) << i;
    bytes[i / 8] ^= static_cast<char>(1 << (i % 8));
  }
}

TEST(ManifestReader, ChangedBytesUnderARightDigestNeverCrash) {
  const std::string whole = *WriteManifest(Example(), Parts());
  std::mt19937 random(1);
  int opened = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = whole;
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % 4 == 0   ? random()
                                                         : random() % 3 == 0 ? 0xff
                                                                             : random() % 40);
    }
    bytes = Sealed(bytes);
    aot_manifest m;
    aot_fault fault;
    if (aot_manifest_open(bytes.data(), bytes.size(), &m, &fault)) {
      Touch(m);
      ++opened;
    } else {
      char text[300];
      EXPECT_GT(aot_fault_text(&fault, text, sizeof text), 10u);
    }
  }
  EXPECT_GT(opened, 100);  // names and the like may change
}

TEST(ManifestReader, TheVersionIsCheckedBeforeAnythingElse) {
  std::string bytes = *WriteManifest(Example(), Parts());
  bytes[4] = 2;  // and the digest is wrong now
  aot_manifest m;
  aot_fault fault;
  ASSERT_FALSE(aot_manifest_open(bytes.data(), bytes.size(), &m, &fault));
  EXPECT_EQ(fault.kind, AOT_FAULT_VERSION);
  char text[200];
  aot_fault_text(&fault, text, sizeof text);
  EXPECT_STREQ(text, "artifact format has version 2, this reader knows version 1 (at byte 4)");
}

// Appends a section of a tag that this version doesn't know.
std::string WithUnknownSection(uint32_t flags) {
  std::string bytes = *WriteManifest(Example(), Parts());
  const auto word = [&](size_t at) { return reinterpret_cast<uint32_t*>(bytes.data() + at); };
  // Room for one entry: the last one (STRINGS) can't move, so the table moves behind everything.
  const uint32_t count = *word(AOT_HEADER_SECTION_COUNT);
  const std::string table = bytes.substr(AOT_HEADER_SIZE, count * AOT_SECTION_ENTRY_SIZE);
  bytes.resize(bytes.size() - AOT_SHA256_SIZE);
  const uint32_t start = static_cast<uint32_t>(bytes.size());
  bytes += table;
  const uint32_t entry[4] = {1000, flags, 0, 8};
  bytes.append(reinterpret_cast<const char*>(entry), sizeof entry);
  bytes.append(AOT_SHA256_SIZE, '\0');
  *word(AOT_HEADER_HEADER_SIZE) = start;
  *word(AOT_HEADER_SECTION_COUNT) = count + 1;
  *word(AOT_HEADER_TOTAL_SIZE) = static_cast<uint32_t>(bytes.size());
  return Sealed(bytes);
}

TEST(ManifestReader, UnknownSectionsAreSkippedUnlessRequired) {
  aot_manifest m;
  aot_fault fault;
  std::string bytes = WithUnknownSection(0);
  ASSERT_TRUE(aot_manifest_open(bytes.data(), bytes.size(), &m, &fault)) << fault.what;
  EXPECT_EQ(m.inputs.count, 2u);
  bytes = WithUnknownSection(AOT_SECTION_REQUIRED);
  ASSERT_FALSE(aot_manifest_open(bytes.data(), bytes.size(), &m, &fault));
  EXPECT_EQ(fault.kind, AOT_FAULT_UNKNOWN);
  EXPECT_EQ(fault.found, 1000u);
}

TEST(SelfTestInput, IsTheSameEverywhere) {
  float values[4];
  ASSERT_TRUE(aot_self_test_fill(AOT_FLOAT32, 42, 0, 8, -256, 256, 4, values));
  for (float value : values) {
    EXPECT_LE(value, 1.0f);
    EXPECT_GE(value, -1.0f);
    EXPECT_EQ(value * 256, static_cast<float>(static_cast<int>(value * 256)));
  }
  // The sequence is part of the format.
  int32_t numbers[4];
  ASSERT_TRUE(aot_self_test_fill(AOT_INT32, 42, 1, 0, 0, 999, 4, numbers));
  double doubles[64];
  ASSERT_TRUE(aot_self_test_fill(AOT_FLOAT64, 42, 0, 8, -256, 256, 4, doubles));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(doubles[i], values[i]);
  EXPECT_FALSE(aot_self_test_fill(AOT_INT8, 1, 0, 0, -129, 0, 1, values));
  EXPECT_FALSE(aot_self_test_fill(AOT_INT8, 1, 0, 1, 0, 1, 1, values));
  EXPECT_FALSE(aot_self_test_fill(AOT_FLOAT16, 1, 0, 15, 0, 1, 1, values));
  EXPECT_FALSE(aot_self_test_fill(AOT_COMPLEX64, 1, 0, 0, 0, 1, 1, values));
  bool flags[64];
  ASSERT_TRUE(aot_self_test_fill(AOT_BOOL, 7, 0, 0, 0, 1, 64, flags));
  int set = 0;
  for (bool flag : flags) set += flag;
  EXPECT_GT(set, 16);
  EXPECT_LT(set, 48);
}

}  // namespace
}  // namespace aot::emit
