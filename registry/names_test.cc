#include "registry/names.h"

#include <gtest/gtest.h>

#include <string>

#include "registry/digest.h"

namespace aot::registry {
namespace {

TEST(NamesTest, AllowsWhatIsHarmlessInPathsAndUrls) {
  for (const char* name : {"stable", "ppocr-rec", "cortex-a75", "x86_64.v3", "A", "-", "_", "a..b"}) {
    EXPECT_TRUE(CheckName("channel", name).ok()) << name;
  }
  EXPECT_TRUE(CheckName("channel", std::string(128, 'a')).ok());
}

TEST(NamesTest, RefusesTheRestAndSaysWhy) {
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string(".hidden"), std::string("a/b"),
        std::string("a\\b"), std::string("a b"), std::string("a\nb"), std::string("a\0b", 3), std::string("\xc3\xa9"),
        std::string("a%2e"), std::string(129, 'a')}) {
    absl::Status status = CheckName("channel", name);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_NE(status.message().find("channel"), absl::string_view::npos);
  }
}

TEST(DigestTest, HasOneSpelling) {
  // FIPS 180-2, appendix B.1.
  const std::string abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(Digest::Of("abc").Hex(), abc);
  EXPECT_EQ(Digest::FromHex(abc).value(), Digest::Of("abc"));
  std::string upper = abc;
  upper[0] = 'B';
  for (const std::string& wrong : {upper, abc.substr(1), abc + "0", std::string(64, 'g'), std::string()}) {
    EXPECT_EQ(Digest::FromHex(wrong).status().code(), absl::StatusCode::kInvalidArgument) << wrong;
  }
}

TEST(DigestTest, OfPiecesIsThatOfTheWhole) {
  DigestBuilder builder;
  for (const char* piece : {"a", "", "bc"}) builder.Append(piece);
  EXPECT_EQ(builder.Finish(), Digest::Of("abc"));
}

}  // namespace
}  // namespace aot::registry
