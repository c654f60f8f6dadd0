#include "registry/signing/canonical_json.h"

#include <gtest/gtest.h>

#include <string>

namespace aot::registry {
namespace {

using Json = nlohmann::json;

TEST(CanonicalJsonTest, SortsMembersAndDropsWhiteSpace) {
  Json value = Json::parse(R"( { "b" : [ 1 , -2, true, null ], "a" : { "z" : "", "Z" : false } } )");
  EXPECT_EQ(CanonicalJson(value).value(), R"({"a":{"Z":false,"z":""},"b":[1,-2,true,null]})");
}

TEST(CanonicalJsonTest, EscapesOnlyQuotesAndBackslashes) {
  // Control characters and everything beyond ASCII stand for themselves.
  Json value = Json::array({"\"\\/\n\t\x01", "\xc3\xa9\xf0\x9f\x98\x80"});
  EXPECT_EQ(CanonicalJson(value).value(), "[\"\\\"\\\\/\n\t\x01\",\"\xc3\xa9\xf0\x9f\x98\x80\"]");
}

TEST(CanonicalJsonTest, KeepsTheWholeRangeOfIntegers) {
  Json value = Json::array({INT64_MIN, UINT64_MAX, 0});
  EXPECT_EQ(CanonicalJson(value).value(), "[-9223372036854775808,18446744073709551615,0]");
}

TEST(CanonicalJsonTest, RefusesWhatHasNoCanonicalForm) {
  EXPECT_EQ(CanonicalJson(Json(1.5)).status().code(), absl::StatusCode::kInvalidArgument);
  for (const char* text : {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"}) {
    EXPECT_EQ(CanonicalJson(Json(text)).status().code(), absl::StatusCode::kInvalidArgument);
  }
  Json deep = 1;
  for (int i = 0; i < 100; ++i) deep = Json::array({deep});
  EXPECT_EQ(CanonicalJson(deep).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace aot::registry
