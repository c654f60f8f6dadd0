// Old artifacts stay readable: the golden files of every format version, and damaged copies of them.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/format/code_object.h"
#include "runtime/format/container.h"
#include "runtime/format/manifest.h"
#include "runtime/format/sha256.h"

namespace aot::format {
namespace {

std::string Golden(const std::string& name) {
  std::ifstream file("runtime/format/testdata/" + name, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  EXPECT_FALSE(bytes.str().empty()) << name;
  return bytes.str();
}

std::string Text(const aot_text& text) { return std::string(text.data, text.size); }

// All that a reader checks: container, manifest, digests of the parts, padding, code object, descriptor.
bool ReadAll(const char* data, size_t size, aot_manifest* manifest, aot_fault* fault) {
  aot_container container;
  aot_code_object object;
  aot_descriptor descriptor;
  if (!aot_container_open(data, size, &container, fault) ||
      !aot_manifest_open(data + container.manifest_offset, container.manifest_size, manifest, fault) ||
      !aot_container_check_padding(data, &container, fault)) {
    return false;
  }
  uint8_t digest[32];
  aot_sha256(data, container.code_size, digest);
  if (std::memcmp(digest, manifest->info.code_sha256, 32) != 0)
    return aot_fail(fault, AOT_FAULT_DIGEST, 0, "code", 0, 0);
  aot_sha256(data + container.weights_offset, container.weights_size, digest);
  if (std::memcmp(digest, manifest->info.weights_sha256, 32) != 0) {
    return aot_fail(fault, AOT_FAULT_DIGEST, 0, "weights", 0, 0);
  }
  return aot_code_object_open(data, container.code_size, &object, fault) &&
         aot_code_object_descriptor(&object, manifest->info.descriptor_address, &descriptor, nullptr, fault);
}

class GoldenTest : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenTest, Reads) {
  const std::string file = Golden(std::string("affine.") + GetParam() + ".v1.so");
  aot_manifest m;
  aot_fault fault;
  ASSERT_TRUE(ReadAll(file.data(), file.size(), &m, &fault)) << fault.what;
  EXPECT_EQ(m.version, 1u);
  EXPECT_EQ(Text(m.info.model_name), "affine");
  EXPECT_EQ(Text(m.info.compiler_version), "0.1.0");
  EXPECT_EQ(Text(m.info.options), "opt=3\n");
  EXPECT_EQ(Text(m.info.target_name), GetParam());
  EXPECT_EQ(m.info.key[31], 31);
  EXPECT_EQ(m.info.model_sha256[0], 0xaa);
  EXPECT_EQ(m.info.arena_size, 64u);
  EXPECT_EQ(m.info.scratch_size, 32u);
  EXPECT_EQ(m.info.arena_alignment, 64u);
  EXPECT_EQ(m.info.page_size, 16384u);
  EXPECT_EQ(m.info.weights_size, 32u);
  EXPECT_EQ(m.info.code_abi_version, 1u);
  EXPECT_EQ(m.info.vector_bits, 128u);
  aot_manifest_tensor tensor;
  ASSERT_TRUE(aot_manifest_input(&m, 0, &tensor));
  EXPECT_EQ(Text(tensor.name), "x");
  EXPECT_EQ(tensor.dims[1], 4);
  ASSERT_TRUE(aot_manifest_output(&m, 1, &tensor));
  EXPECT_EQ(Text(tensor.name), "count_out");
  aot_manifest_state state;
  ASSERT_TRUE(aot_manifest_state_at(&m, 0, &state));
  EXPECT_EQ(state.output, 1u);
  aot_manifest_plan_entry entry;
  ASSERT_TRUE(aot_manifest_plan_at(&m, 0, &entry));
  EXPECT_EQ(Text(entry.name), "product");
  aot_self_test_output output;
  ASSERT_TRUE(aot_manifest_self_test_output(&m, 0, &output));
  EXPECT_EQ(output.sample_count, 8u);
  EXPECT_EQ(output.relative, 1e-5);
}

TEST_P(GoldenTest, TruncationAtEveryByteIsRefused) {
  const std::string file = Golden(std::string("affine.") + GetParam() + ".v1.so");
  for (size_t size = 0; size < file.size(); ++size) {
    // A copy of exactly this size where a sanitizer can see a read beyond it; all of the short ones, some of the long.
    const bool copied = size < 2000 || size % 1000 == 0;
    const std::vector<char> cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(copied ? size : 0));
    aot_manifest manifest;
    aot_fault fault;
    ASSERT_FALSE(ReadAll(copied ? cut.data() : file.data(), size, &manifest, &fault)) << size;
  }
}

TEST_P(GoldenTest, RandomBitFlipsAreRefused) {
  std::string file = Golden(std::string("affine.") + GetParam() + ".v1.so");
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    // Half of them in the manifest and the trailer, which are a few per cent of the file.
    const size_t at = round % 2 == 0 ? random() % file.size() : file.size() - 1 - random() % 1500;
    const char flip = static_cast<char>(1u << random() % 8);
    file[at] ^= flip;
    aot_manifest manifest;
    aot_fault fault;
    ASSERT_FALSE(ReadAll(file.data(), file.size(), &manifest, &fault)) << at;
    char text[256];
    ASSERT_GT(aot_fault_text(&fault, text, sizeof text), 20u);
    file[at] ^= flip;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, GoldenTest, ::testing::Values("x86-64-v2", "cortex-a53"));

TEST(Container, SizesThatOverflowAreRefused) {
  aot_container container;
  EXPECT_TRUE(aot_container_plan(1, 0, 1, 4096, &container));
  EXPECT_FALSE(aot_container_plan(UINT64_MAX, 0, 0, 4096, &container));
  EXPECT_FALSE(aot_container_plan(1, UINT64_MAX - 4096, 0, 4096, &container));
  EXPECT_FALSE(aot_container_plan(1, 1, UINT64_MAX - 4000, 4096, &container));
  EXPECT_FALSE(aot_container_plan(1, 1, 1, 1000, &container));
  EXPECT_FALSE(aot_container_plan(1, 1, 1, 0, &container));
  EXPECT_FALSE(aot_container_plan(1, 1, 1, 1 << 20, &container));
}

TEST(Sha256, KnownAnswers) {
  const auto hex = [](const std::string& text) {
    uint8_t digest[32];
    aot_sha256_state state;
    aot_sha256_begin(&state);
    for (size_t i = 0; i < text.size(); i += 37)
      aot_sha256_update(&state, text.data() + i, std::min<size_t>(37, text.size() - i));
    aot_sha256_end(&state, digest);
    std::string out;
    for (uint8_t byte : digest) {
      out += "0123456789abcdef"[byte >> 4];
      out += "0123456789abcdef"[byte & 15];
    }
    return out;
  };
  // FIPS 180-4 examples, and a million letters a.
  EXPECT_EQ(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace aot::format
