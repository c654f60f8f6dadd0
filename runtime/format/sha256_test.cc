// SHA-256 against the examples of FIPS 180-4 and NIST's test vectors, on the processor's instructions and without
// (BUILD.bazel builds this file for both).
#include "runtime/format/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace {

std::string Hex(const uint8_t (&digest)[AOT_SHA256_SIZE]) {
  std::string text;
  for (uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string Sha256(const std::string& data) {
  uint8_t digest[AOT_SHA256_SIZE];
  aot_sha256(data.data(), data.size(), digest);
  return Hex(digest);
}

TEST(Sha256, Examples) {
  EXPECT_EQ(Sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Pieces of any length, at any alignment, give what the whole gives.
TEST(Sha256, PiecesAreTheWhole) {
  std::string data;
  for (int i = 0; i < 1000; ++i) data += static_cast<char>(i * 7 + i / 256);
  for (size_t first : {0, 1, 55, 56, 63, 64, 65, 127, 128, 200, 999}) {
    for (size_t second : {0, 1, 63, 64, 130}) {
      if (first + second > data.size()) continue;
      aot_sha256_state state;
      uint8_t digest[AOT_SHA256_SIZE];
      aot_sha256_begin(&state);
      aot_sha256_update(&state, data.data(), first);
      aot_sha256_update(&state, data.data() + first, second);
      aot_sha256_update(&state, data.data() + first + second, data.size() - first - second);
      aot_sha256_end(&state, digest);
      EXPECT_EQ(Hex(digest), Sha256(data)) << first << " " << second;
    }
  }
}

}  // namespace
