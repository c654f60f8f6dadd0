#include "server/services/upload_session.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/model_digest.h"

namespace aot::server {
namespace {

using registry::BlobRef;

class UploadSessionTest : public ::testing::Test {
 protected:
  UploadSessionTest() {
    std::string pattern = absl::StrCat(testing::TempDir(), "/upload-XXXXXX");
    directory_ = mkdtemp(pattern.data());
    registry_ = registry::Registry::Open(directory_).value();
    limits_.max_model_bytes = 1000;
    limits_.max_chunk_bytes = 100;
  }

  aot::v1::UploadModelRequest Header(const std::string& file,
                                     const std::vector<std::pair<std::string, std::string>>& external = {}) {
    aot::v1::UploadModelRequest request;
    aot::v1::UploadHeader& header = *request.mutable_header();
    *header.mutable_file() = ToProto(BlobRef::Of(file));
    std::vector<registry::ExternalBlob> blobs;
    for (const auto& [location, bytes] : external) {
      aot::v1::ExternalBlob& blob = *header.add_external();
      blob.set_location(location);
      *blob.mutable_digest() = ToProto(BlobRef::Of(bytes));
      blobs.push_back({location, BlobRef::Of(bytes)});
    }
    *header.mutable_model() = ToProto(ModelDigestOf(BlobRef::Of(file), blobs));
    return request;
  }

  // A chunk of the file whose whole content is `file`.
  aot::v1::UploadModelRequest Chunk(const std::string& file, int64_t offset, const std::string& data) {
    aot::v1::UploadModelRequest request;
    request.mutable_chunk()->set_file_hash(BlobRef::Of(file).digest.Hex());
    request.mutable_chunk()->set_offset(offset);
    request.mutable_chunk()->set_data(data);
    return request;
  }

  std::string directory_;
  std::unique_ptr<registry::Registry> registry_;
  Limits limits_;
  aot::v1::UploadModelResponse response_;
};

TEST_F(UploadSessionTest, StoresAModelWithExternalData) {
  UploadSession session(*registry_, limits_);
  ASSERT_TRUE(session.Receive(Header("model", {{"weights", "wwww"}, {"none", ""}})).ok());
  ASSERT_TRUE(session.Receive(Chunk("wwww", 0, "ww")).ok());
  ASSERT_TRUE(session.Receive(Chunk("wwww", 2, "ww")).ok());
  ASSERT_TRUE(session.Receive(Chunk("model", 0, "model")).ok());
  absl::Status status = session.Finish(&response_);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_FALSE(response_.already_known());
  EXPECT_EQ(response_.model().external_size(), 2);

  UploadSession again(*registry_, limits_);
  ASSERT_TRUE(again.Receive(Header("model", {{"weights", "wwww"}, {"none", ""}})).ok());
  EXPECT_TRUE(again.known());
}

TEST_F(UploadSessionTest, WantsTheHeaderFirstAndOnce) {
  UploadSession session(*registry_, limits_);
  EXPECT_TRUE(absl::IsInvalidArgument(session.Receive(Chunk("model", 0, "m"))));
  UploadSession second(*registry_, limits_);
  ASSERT_TRUE(second.Receive(Header("model")).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(second.Receive(Header("model"))));
  UploadSession empty(*registry_, limits_);
  EXPECT_TRUE(absl::IsInvalidArgument(empty.Finish(&response_)));
  EXPECT_TRUE(absl::IsInvalidArgument(empty.Receive({})));
}

TEST_F(UploadSessionTest, RefusesChunksOutOfOrder) {
  for (int64_t offset : {int64_t{1}, int64_t{-1}, INT64_MAX}) {
    UploadSession session(*registry_, limits_);
    ASSERT_TRUE(session.Receive(Header("model")).ok());
    EXPECT_TRUE(absl::IsOutOfRange(session.Receive(Chunk("model", offset, "o"))));
  }
  UploadSession session(*registry_, limits_);
  ASSERT_TRUE(session.Receive(Header("model")).ok());
  EXPECT_TRUE(absl::IsOutOfRange(session.Receive(Chunk("model", 0, "model and more"))));
}

TEST_F(UploadSessionTest, RefusesChunksOfOtherFilesAndSizes) {
  UploadSession session(*registry_, limits_);
  ASSERT_TRUE(session.Receive(Header("model", {{"w", "wwww"}})).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(session.Receive(Chunk("other", 0, "o"))));
  EXPECT_TRUE(absl::IsInvalidArgument(session.Receive(Chunk("model", 0, ""))));
  EXPECT_TRUE(absl::IsInvalidArgument(session.Receive(Chunk("model", 0, std::string(101, 'm')))));
  ASSERT_TRUE(session.Receive(Chunk("model", 0, "mo")).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(session.Receive(Chunk("wwww", 0, "w")))) << "the first file isn't complete";
}

TEST_F(UploadSessionTest, DropsAFileWhoseBytesAreNotItsDigest) {
  UploadSession session(*registry_, limits_);
  ASSERT_TRUE(session.Receive(Header("model")).ok());
  absl::Status status = session.Receive(Chunk("model", 0, "MODEL"));
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  session.Suspend();

  UploadSession again(*registry_, limits_);
  ASSERT_TRUE(again.Receive(Header("model")).ok());
  ASSERT_TRUE(again.Receive(Chunk("model", 0, "model")).ok());
  EXPECT_TRUE(again.Finish(&response_).ok());
}

TEST_F(UploadSessionTest, ResumesWhereAStreamBroke) {
  {
    UploadSession session(*registry_, limits_);
    ASSERT_TRUE(session.Receive(Header("model")).ok());
    ASSERT_TRUE(session.Receive(Chunk("model", 0, "mod")).ok());
    absl::Status status = session.Finish(&response_);
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "3 of them here")) << status;
    session.Suspend();
  }
  UploadSession session(*registry_, limits_);
  ASSERT_TRUE(session.Receive(Header("model")).ok());
  absl::Status status = session.Receive(Chunk("model", 3, "el"));
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(session.Finish(&response_).ok());
}

TEST_F(UploadSessionTest, TwoStreamsDontWriteOneFile) {
  UploadSession first(*registry_, limits_), second(*registry_, limits_);
  ASSERT_TRUE(first.Receive(Header("model")).ok());
  ASSERT_TRUE(second.Receive(Header("model")).ok());
  ASSERT_TRUE(first.Receive(Chunk("model", 0, "mo")).ok());
  EXPECT_TRUE(absl::IsAborted(second.Receive(Chunk("model", 0, "mo"))));
}

}  // namespace
}  // namespace aot::server
