#include "server/http/entity_tag.h"

#include <gtest/gtest.h>

#include <string>

namespace aot::server {
namespace {

const std::string kTag = EntityTag(registry::Digest::Of("abc"));

TEST(EntityTagTest, IsTheQuotedDigest) {
  EXPECT_EQ(kTag, "\"sha256-ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"");
}

TEST(EntityTagTest, IfNoneMatch) {
  EXPECT_TRUE(NoneMatchHits(kTag, kTag));
  EXPECT_TRUE(NoneMatchHits("W/" + kTag, kTag));
  EXPECT_TRUE(NoneMatchHits("\"other\" , " + kTag, kTag));
  EXPECT_TRUE(NoneMatchHits("*", kTag));
  EXPECT_FALSE(NoneMatchHits("", kTag));
  EXPECT_FALSE(NoneMatchHits("\"other\"", kTag));
  EXPECT_FALSE(NoneMatchHits(kTag.substr(1), kTag));
}

TEST(EntityTagTest, IfRange) {
  EXPECT_TRUE(RangeAllowed("", kTag));
  EXPECT_TRUE(RangeAllowed(kTag, kTag));
  EXPECT_FALSE(RangeAllowed("W/" + kTag, kTag));  // weak tags don't vouch for bytes
  EXPECT_FALSE(RangeAllowed("Wed, 21 Oct 2015 07:28:00 GMT", kTag));
}

}  // namespace
}  // namespace aot::server
