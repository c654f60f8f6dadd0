#include "server/http/byte_range.h"

#include <gtest/gtest.h>

namespace aot::server {
namespace {

void ExpectPart(const char* header, uint64_t size, uint64_t first, uint64_t length) {
  ByteRange range = ParseByteRange(header, size);
  EXPECT_EQ(range.kind, ByteRange::Kind::kPart) << header;
  EXPECT_EQ(range.first, first) << header;
  EXPECT_EQ(range.length, length) << header;
}

TEST(ByteRangeTest, Parts) {
  ExpectPart("bytes=0-0", 10, 0, 1);
  ExpectPart("bytes=3-5", 10, 3, 3);
  ExpectPart("bytes=3-", 10, 3, 7);
  ExpectPart("bytes=-4", 10, 6, 4);
  ExpectPart("bytes=-40", 10, 0, 10);
  ExpectPart("bytes=9-99", 10, 9, 1);
  ExpectPart("Bytes= 1 - 2 ", 10, 1, 2);
  ExpectPart("bytes=1-99999999999999999999999", 10, 1, 9);
}

TEST(ByteRangeTest, Unsatisfiable) {
  for (const char* header : {"bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999999-"}) {
    EXPECT_EQ(ParseByteRange(header, 10).kind, ByteRange::Kind::kUnsatisfiable) << header;
  }
  EXPECT_EQ(ParseByteRange("bytes=0-", 0).kind, ByteRange::Kind::kUnsatisfiable);
  EXPECT_EQ(ParseByteRange("bytes=-1", 0).kind, ByteRange::Kind::kUnsatisfiable);
}

TEST(ByteRangeTest, WhatIsNoSingleRangeIsIgnored) {
  for (const char* header : {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-3", "bytes=0-1,3-4", "items=0-1",
                             "bytes=+1-2", "bytes=--2", "bytes=1-2-3", "bytes=0x1-2"}) {
    ByteRange range = ParseByteRange(header, 10);
    EXPECT_EQ(range.kind, ByteRange::Kind::kWhole) << header;
    EXPECT_EQ(range.length, 10u) << header;
  }
}

}  // namespace
}  // namespace aot::server
