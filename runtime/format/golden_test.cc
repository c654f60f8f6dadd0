// Old artifacts stay readable: the golden files of every format version, and damaged copies of them.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
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

TEST_P(GoldenTest, ReadsBounds) {
  const std::string file = Golden(std::string("bounded.") + GetParam() + ".v1.so");
  aot_manifest m;
  aot_fault fault;
  ASSERT_TRUE(ReadAll(file.data(), file.size(), &m, &fault)) << fault.what;
  EXPECT_EQ(m.version, 1u);
  aot_manifest_bound bound;
  ASSERT_TRUE(aot_manifest_bound_at(&m, 0, &bound));
  EXPECT_EQ(bound.output, 0u);
  EXPECT_EQ(bound.dims, 1u);
  EXPECT_FALSE(aot_manifest_bound_at(&m, 1, &bound));
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

void Store32(std::string* bytes, size_t at, uint32_t value) { std::memcpy(bytes->data() + at, &value, sizeof value); }

// A manifest of STRINGS with one text of `size` bytes, and `count` operators that all have it as their name.
std::string ManifestOfOneText(uint32_t size, uint32_t count) {
  const uint32_t info = AOT_HEADER_SIZE + 3 * AOT_SECTION_ENTRY_SIZE;
  const uint32_t strings = info + AOT_INFO_SIZE, strings_size = (size + 8) / 8 * 8;
  const uint32_t operators = strings + strings_size, operators_size = AOT_ARRAY_HEADER_SIZE + count * AOT_OPERATOR_SIZE;
  std::string bytes(operators + operators_size, '\0');
  const uint32_t header[] = {
      AOT_MANIFEST_MAGIC,    AOT_FORMAT_VERSION, static_cast<uint32_t>(bytes.size()) + 32, AOT_HEADER_SIZE, 3,
      AOT_SECTION_ENTRY_SIZE};
  for (size_t i = 0; i < std::size(header); ++i) Store32(&bytes, 4 * i, header[i]);
  const uint32_t table[] = {AOT_TAG_INFO,      1, info,      AOT_INFO_SIZE, AOT_TAG_STRINGS, 1, strings, strings_size,
                            AOT_TAG_OPERATORS, 0, operators, operators_size};
  for (size_t i = 0; i < std::size(table); ++i) Store32(&bytes, AOT_HEADER_SIZE + 4 * i, table[i]);
  Store32(&bytes, info + AOT_INFO_ARENA_ALIGNMENT, 64);
  Store32(&bytes, info + AOT_INFO_PAGE_SIZE, 4096);
  for (uint32_t text = AOT_INFO_MODEL_NAME; text < AOT_INFO_SIZE; text += 8) Store32(&bytes, info + text, size);
  std::memset(bytes.data() + strings, 'x', size);
  Store32(&bytes, operators + AOT_ARRAY_COUNT, count);
  Store32(&bytes, operators + AOT_ARRAY_RECORD_SIZE, AOT_OPERATOR_SIZE);
  for (uint32_t i = 0; i < count; ++i)
    Store32(&bytes, operators + AOT_ARRAY_HEADER_SIZE + i * AOT_OPERATOR_SIZE + 4, size);
  uint8_t digest[32];
  aot_sha256(bytes.data(), bytes.size(), digest);
  return bytes.append(reinterpret_cast<const char*>(digest), 32);
}

TEST(Manifest, SharedTextCanNotMakeReadingSlow) {
  aot_manifest m;
  aot_fault fault;
  std::string bytes = ManifestOfOneText(1 << 16, 1000);
  EXPECT_TRUE(aot_manifest_open(bytes.data(), bytes.size(), &m, &fault)) << fault.what;
  bytes = ManifestOfOneText(1 << 20, 100000);  // 100 GB to walk over
  ASSERT_FALSE(aot_manifest_open(bytes.data(), bytes.size(), &m, &fault));
  EXPECT_STREQ(fault.what, "bytes of all names in the manifest");
}

// Code objects that a linker of ours never makes. Each is the good one with a single lie.
class HostileCodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = Golden("affine.x86-64-v2.v1.so");
    aot_container container;
    ASSERT_TRUE(aot_container_open(file_.data(), file_.size(), &container, nullptr));
    ASSERT_TRUE(
        aot_manifest_open(file_.data() + container.manifest_offset, container.manifest_size, &manifest_, nullptr));
    code_ = file_.substr(0, container.code_size);
  }
  uint64_t Load(size_t at, size_t size) const {
    uint64_t value = 0;
    std::memcpy(&value, code_.data() + at, size);
    return value;
  }
  // Where the program header of the `skip`-th segment with this type, and these flags if they aren't 0, stands.
  size_t Header(uint32_t type, uint32_t flags = 0, int skip = 0) const {
    const size_t table = Load(32, 8), count = Load(56, 2);
    for (size_t at = table; at < table + count * 56; at += 56)
      if (Load(at, 4) == type && (flags == 0 || Load(at + 4, 4) == flags) && skip-- == 0) return at;
    ADD_FAILURE() << "no program header of type " << type;
    return table;
  }
  // What is said of the code object with `size` bytes at `at` replaced.
  std::string Refusal(size_t at, uint64_t value, size_t size) const {
    std::string code = code_;
    std::memcpy(code.data() + at, &value, size);
    aot_code_object object;
    aot_descriptor descriptor;
    aot_fault fault = {};
    const bool good =
        aot_code_object_open(code.data(), code.size(), &object, &fault) &&
        aot_code_object_descriptor(&object, manifest_.info.descriptor_address, &descriptor, nullptr, &fault);
    return good ? "accepted" : fault.what;
  }

  static constexpr uint32_t kLoad = 1, kDynamic = 2, kStack = 0x6474e551;
  std::string file_, code_;
  aot_manifest manifest_;
};

TEST_F(HostileCodeTest, SegmentsThatAreWrittenOrLie) {
  const size_t text = Header(kLoad, 5);
  EXPECT_EQ(Refusal(text, kLoad, 4), "accepted");
  EXPECT_EQ(Refusal(text + 4, 7, 4), "writable segment in the code object: its flags");
  EXPECT_EQ(Refusal(Header(kLoad, 4) + 4, 6, 4), "writable segment in the code object: its flags");
  EXPECT_EQ(Refusal(text + 40, Load(text + 40, 8) + 4096, 8), "segment size in memory");
  EXPECT_EQ(Refusal(text + 16, Load(text + 16, 8) + 1, 8), "segment alignment");
  EXPECT_EQ(Refusal(text + 48, 3, 8), "segment alignment");
  EXPECT_EQ(Refusal(text + 48, 1 << 20, 8), "segment alignment");
  // Over the one before it.
  const uint64_t page = Load(text + 48, 8);
  EXPECT_EQ(Refusal(text + 16, Load(text + 8, 8) % page, 8), "segment address");
  EXPECT_EQ(Refusal(text + 16, Load(text + 16, 8) + (uint64_t{1} << 40), 8), "segment address");
  // Its first byte may still be inside.
  EXPECT_EQ(Refusal(Header(kLoad, 4) + 32, uint64_t{1} << 40, 8), "segment size in memory");
}

TEST_F(HostileCodeTest, WhatOnlyADynamicLinkerCouldServe) {
  const size_t stack = Header(kStack);
  EXPECT_EQ(Refusal(stack, 3, 4), "program header type in the code object");  // PT_INTERP
  EXPECT_EQ(Refusal(stack, 7, 4), "program header type in the code object");  // PT_TLS
  const size_t dynamic = Load(Header(kDynamic) + 8, 8);
  ASSERT_NE(Load(dynamic, 8), 0u);
  EXPECT_EQ(Refusal(dynamic, 1, 8), "needed library in the code object: tag");
  for (const uint64_t tag : {2, 7, 17, 23, 36})
    EXPECT_NE(Refusal(dynamic, tag, 8).find("relocations"), std::string::npos);
  for (const uint64_t tag : {12, 25, 32}) EXPECT_NE(Refusal(dynamic, tag, 8).find("initialiser"), std::string::npos);
  for (const uint64_t tag : {13, 26}) EXPECT_NE(Refusal(dynamic, tag, 8).find("finaliser"), std::string::npos);
  EXPECT_EQ(Refusal(Header(kDynamic) + 8, uint64_t{1} << 40, 8), "code object's dynamic section");
}

TEST_F(HostileCodeTest, AnEntryOutsideTheCode) {
  aot_code_object object;
  ASSERT_TRUE(aot_code_object_open(code_.data(), code_.size(), &object, nullptr));
  const uint64_t address = manifest_.info.descriptor_address;
  size_t at = 0;
  for (uint32_t i = 0; i < object.segment_count; ++i) {
    const aot_code_segment& s = object.segments[i];
    if (address >= s.address && address - s.address < s.size) at = s.offset + (address - s.address);
  }
  EXPECT_EQ(Refusal(at + 12, 0, 4), "address of the entry function");  // the descriptor itself: data
  EXPECT_EQ(Refusal(at + 12, 0x7fffffff, 4), "address of the entry function");
  EXPECT_EQ(Refusal(at + 12, 0x80000000, 4), "address of the entry function");
  EXPECT_EQ(Refusal(at + 4, 8, 4), "descriptor size");
  EXPECT_EQ(Refusal(at, 0, 4), "descriptor");
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
