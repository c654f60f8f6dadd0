#include "server/model_digest.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"

namespace aot::server {
namespace {

using registry::BlobRef;

constexpr AnnouncedLimits kLimits = {1000, 3};

aot::v1::UploadHeader Header(const std::string& file,
                             const std::vector<std::pair<std::string, std::string>>& external) {
  aot::v1::UploadHeader header;
  *header.mutable_file() = ToProto(BlobRef::Of(file));
  std::vector<registry::ExternalBlob> blobs;
  for (const auto& [location, bytes] : external) {
    aot::v1::ExternalBlob& blob = *header.add_external();
    blob.set_location(location);
    *blob.mutable_digest() = ToProto(BlobRef::Of(bytes));
    blobs.push_back({location, BlobRef::Of(bytes)});
  }
  *header.mutable_model() = ToProto(ModelDigestOf(BlobRef::Of(file), blobs));
  return header;
}

TEST(ModelDigest, WithoutExternalDataIsTheFiles) { EXPECT_EQ(ModelDigestOf(BlobRef::Of("m"), {}), BlobRef::Of("m")); }

TEST(ModelDigest, IsTheDocumentedText) {
  BlobRef a = BlobRef::Of("aa"), b = BlobRef::Of("b"), m = BlobRef::Of("mmm");
  std::string text = "aot-model-v1\nmodel " + m.digest.Hex() + " 3\nexternal " + b.digest.Hex() + " 1 2 b/\nexternal " +
                     a.digest.Hex() + " 2 4 c\n.d\n";
  BlobRef digest = ModelDigestOf(m, {{"c\n.d", a}, {"b/", b}});
  EXPECT_EQ(digest.digest, registry::Digest::Of(text));
  EXPECT_EQ(digest.size, 6u);
}

TEST(ParseHeader, TakesWhatFits) {
  absl::StatusOr<registry::ModelRecord> record = ParseHeader(Header("model", {{"w0", "x"}, {"../w1", "y"}}), kLimits);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(record->external.size(), 2u);
  EXPECT_EQ(record->blob, BlobRef::Of("model"));
}

TEST(ParseHeader, RefusesADigestThatIsNotOfTheParts) {
  aot::v1::UploadHeader header = Header("model", {{"w0", "x"}});
  header.mutable_external(0)->set_location("w1");
  absl::Status status = ParseHeader(header, kLimits).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_TRUE(absl::StrContains(status.message(), header.model().hash())) << status;
}

TEST(ParseHeader, RefusesMalformedDigests) {
  aot::v1::UploadHeader header = Header("model", {});
  header.mutable_file()->set_hash("ABC");
  EXPECT_TRUE(absl::IsInvalidArgument(ParseHeader(header, kLimits).status()));
  header = Header("model", {});
  header.mutable_file()->set_size_bytes(-1);
  EXPECT_TRUE(absl::IsInvalidArgument(ParseHeader(header, kLimits).status()));
}

TEST(ParseHeader, RefusesOneLocationTwice) {
  EXPECT_TRUE(absl::IsInvalidArgument(ParseHeader(Header("m", {{"w", "x"}, {"w", "y"}}), kLimits).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ParseHeader(Header("m", {{"", "x"}}), kLimits).status()));
}

TEST(ParseHeader, ChecksSizesBeforeAnyByteComes) {
  aot::v1::UploadHeader header = Header("m", {{"w", "x"}});
  header.mutable_file()->set_size_bytes(INT64_MAX);
  header.mutable_external(0)->mutable_digest()->set_size_bytes(INT64_MAX);
  EXPECT_TRUE(absl::IsResourceExhausted(ParseHeader(header, kLimits).status()));
  header.mutable_file()->set_size_bytes(1000);
  EXPECT_TRUE(absl::IsResourceExhausted(ParseHeader(header, kLimits).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(
      ParseHeader(Header("m", {{"1", "x"}, {"2", "x"}, {"3", "x"}, {"4", "x"}}), kLimits).status()));
}

}  // namespace
}  // namespace aot::server
