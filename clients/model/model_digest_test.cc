#include "clients/model/model_digest.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace aot::clients {
namespace {

TEST(ModelDigestTest, WithoutExternalDataItIsTheFilesDigest) {
  ModelDigests digests = DigestsOf({"abc", {}});
  // FIPS 180-4's example.
  EXPECT_EQ(digests.model.hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digests.model.size, 3);
  EXPECT_EQ(digests.file.hash, digests.model.hash);
}

TEST(ModelDigestTest, WithExternalDataItIsTheDigestOfTheList) {
  ModelDigests digests = DigestsOf({"abc", {{"b.bin", "xy"}, {"a b", ""}}});
  std::string text = absl::StrCat("aot-model-v1\nmodel ", DigestOf("abc").hash, " 3\n", "external ", DigestOf("").hash,
                                  " 0 3 a b\n", "external ", DigestOf("xy").hash, " 2 5 b.bin\n");
  EXPECT_EQ(digests.model.hash, DigestOf(text).hash);
  EXPECT_EQ(digests.model.size, 5);
  EXPECT_EQ(digests.external.at("b.bin").size, 2);
}

}  // namespace
}  // namespace aot::clients
