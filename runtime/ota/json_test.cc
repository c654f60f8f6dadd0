#include "runtime/ota/json.h"

#include <gtest/gtest.h>

#include "runtime/ota/canonical_json.h"
#include "runtime/ota/utc_time.h"

namespace aot::ota {
namespace {

Code ParseCode(const std::string& text) {
  JsonTree tree;
  return ParseJson(text, &tree).code();
}

std::string Canonical(const std::string& text) {
  JsonTree tree;
  const Status status = ParseJson(text, &tree);
  return status.ok() ? CanonicalJson(tree.get()) : status.message();
}

TEST(JsonTest, CanonicalFormSortsKeysAndDropsSpace) {
  EXPECT_EQ(Canonical(R"( { "b" : [ 1 , -2, true, false , null ], "a": {} , "A": "x" } )"),
            R"({"A":"x","a":{},"b":[1,-2,true,false,null]})");
}

TEST(JsonTest, CanonicalStringsEscapeOnlyQuoteAndBackslash) {
  EXPECT_EQ(Canonical(R"("a\"b\\c\/d\n\u00e9\ud83d\ude00")"), "\"a\\\"b\\\\c/d\n\xC3\xA9\xF0\x9F\x98\x80\"");
}

TEST(JsonTest, CanonicalKeyOrderIsThatOfCodePoints) {
  // U+FFFD sorts before U+1F600, though not in UTF-16.
  EXPECT_EQ(Canonical("{\"\xF0\x9F\x98\x80\":1,\"\xEF\xBF\xBD\":2,\"z\":3}"),
            "{\"z\":3,\"\xEF\xBF\xBD\":2,\"\xF0\x9F\x98\x80\":1}");
}

TEST(JsonTest, ErrorsTellForeignTextWithoutItsTricks) {
  EXPECT_EQ(Printable("cortex-a75 \"x\""), "cortex-a75 \"x\"");
  EXPECT_EQ(Printable("a\nb\x1b[2J\x7f\xC3\xA9"), "a\\x0ab\\x1b[2J\\x7f\\xc3\\xa9");
  EXPECT_EQ(Printable(std::string(100000, 'x')), std::string(200, 'x') + "...");
  JsonTree tree;
  const std::string message = ParseJson(R"({"a\nforged line":1,"a\nforged line":2})", &tree).message();
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST(JsonTest, IntegersKeepEveryDigit) {
  EXPECT_EQ(Canonical("[9007199254740991,-9007199254740991,0,-0]"), "[9007199254740991,-9007199254740991,0,0]");
}

TEST(JsonTest, RefusesWhatTwoReadersCouldReadDifferently) {
  for (const char* text : {"",
                           "{",
                           "[1,]",
                           "{\"a\":1,}",
                           "{\"a\":1} x",
                           "nul",
                           "01",
                           "1.5",
                           "1e3",
                           "9007199254740992",
                           "99999999999999999999999",
                           "\"\\u0000\"",
                           "\"\\ud800\"",
                           "\"\\udc00\\ud800\"",
                           "\"\xC0\x80\"",
                           "\"\xED\xA0\x80\"",
                           "\"\xF5\x80\x80\x80\"",
                           "\"\xE2\x82\"",
                           "\"a\nb\"",
                           "'a'",
                           "{a:1}",
                           "+1",
                           "-",
                           "NaN",
                           "\"\\x41\"",
                           "[1 2]",
                           "\xEF\xBB\xBF{}"})
    EXPECT_EQ(ParseCode(text), Code::kMalformed) << text;
  EXPECT_EQ(ParseCode(std::string("[\"a\0b\"]", 7)), Code::kMalformed);
}

TEST(JsonTest, RefusesDuplicateKeysAtAnyDepth) {
  EXPECT_EQ(ParseCode(R"({"a":1,"b":2,"a":3})"), Code::kMalformed);
  EXPECT_EQ(ParseCode(R"([{"x":{"a":1,"\u0061":2}}])"), Code::kMalformed);
  EXPECT_EQ(ParseCode(R"([{"a":1},{"a":1,"A":1}])"), Code::kOk);
}

TEST(JsonTest, RefusesDeepNestingAndTooManyValues) {
  EXPECT_EQ(ParseCode(std::string(100000, '[')), Code::kLimit);
  EXPECT_EQ(ParseCode(std::string(32, '[') + std::string(32, ']')), Code::kOk);
  std::string many = "[0";
  for (int i = 0; i < 300000; ++i) many += ",0";
  EXPECT_EQ(ParseCode(many + "]"), Code::kLimit);
}

TEST(JsonTest, EveryTruncationIsRefused) {
  const std::string text = R"({"a":[1,"x\u00e9",{"b":true}],"c":null})";
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_EQ(ParseCode(text.substr(0, size)), Code::kMalformed) << size;
}

TEST(UtcTimeTest, ParsesAndFormats) {
  int64_t seconds = 0;
  ASSERT_TRUE(ParseUtcTime("1970-01-01T00:00:00Z", &seconds));
  EXPECT_EQ(seconds, 0);
  ASSERT_TRUE(ParseUtcTime("2024-02-29T23:59:59Z", &seconds));
  EXPECT_EQ(seconds, 1709251199);
  EXPECT_EQ(FormatUtcTime(seconds), "2024-02-29T23:59:59Z");
  ASSERT_TRUE(ParseUtcTime("9999-12-31T00:00:00Z", &seconds));
  EXPECT_EQ(FormatUtcTime(seconds), "9999-12-31T00:00:00Z");
}

TEST(UtcTimeTest, RefusesOtherForms) {
  int64_t seconds = 0;
  for (const char* text :
       {"", "2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00",
        "2024-01-01 00:00:00Z", "2024-01-01T00:00:00+00:00", "2024-01-01T00:00:00.5Z", "2024-1-1T00:00:00Z"})
    EXPECT_FALSE(ParseUtcTime(text, &seconds)) << text;
}

TEST(DigestTest, KnownValueAndParsing) {
  const Digest digest = Sha256Of("abc");
  EXPECT_EQ(digest.Hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Digest parsed;
  EXPECT_TRUE(ParseDigest("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD", &parsed));
  EXPECT_EQ(parsed, digest);
  EXPECT_FALSE(ParseDigest("ba78", &parsed));
  EXPECT_FALSE(ParseDigest(std::string(64, 'g'), &parsed));
}

}  // namespace
}  // namespace aot::ota
