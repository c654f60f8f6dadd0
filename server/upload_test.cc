// Uploads to a whole server over loopback: what a stream may do wrong.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/server.h"
#include "server/testing/test_client.h"

namespace aot::server {
namespace {

class UploadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = absl::StrCat(testing::TempDir(), "/upload-XXXXXX");
    ServerOptions options;
    options.data_dir = mkdtemp(pattern.data());
    options.grpc_port = 0;
    options.http_port = -1;
    options.executor.worker_path = Runfile("server/worker/scripted_worker");
    options.limits.stall = absl::Seconds(2);  // a busy machine needs a while for what is no stall
    options.limits.max_model_bytes = 8 << 20;
    absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    client_ = std::make_unique<TestClient>(server_->grpc_port());
    for (int i = 0; model_.size() < (3 << 20); ++i) absl::StrAppend(&model_, i, " ");
  }

  // Sends these messages and ends the stream.
  grpc::Status Send(const std::vector<aot::v1::UploadModelRequest>& requests) {
    grpc::ClientContext call;
    auto writer = client_->compile->UploadModel(&call, &response_);
    for (const aot::v1::UploadModelRequest& request : requests) {
      if (!writer->Write(request)) break;
    }
    writer->WritesDone();
    return writer->Finish();
  }

  aot::v1::QueryUploadResponse Query() {
    grpc::ClientContext call;
    aot::v1::QueryUploadRequest request;
    *request.mutable_file() = TestClient::Header(model_).header().file();
    aot::v1::QueryUploadResponse response;
    EXPECT_TRUE(client_->compile->QueryUpload(&call, request, &response).ok());
    return response;
  }

  std::string model_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<TestClient> client_;
  aot::v1::UploadModelResponse response_;
};

TEST_F(UploadTest, AKnownModelNeedsNoUpload) {
  auto find = [&] {
    grpc::ClientContext call;
    aot::v1::FindModelRequest request;
    *request.mutable_digest() = TestClient::Header(model_).header().model();
    aot::v1::FindModelResponse response;
    return client_->compile->FindModel(&call, request, &response).error_code();
  };
  auto missing = [&] {
    grpc::ClientContext call;
    aot::v1::FindMissingRequest request;
    *request.add_digests() = TestClient::Header(model_).header().file();
    *request.add_digests() = TestClient::Header(model_).header().file();
    aot::v1::FindMissingResponse response;
    EXPECT_TRUE(client_->compile->FindMissing(&call, request, &response).ok());
    return response.missing_size();
  };
  EXPECT_EQ(find(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(missing(), 1);
  ASSERT_TRUE(client_->Upload(model_, 1 << 20).ok());
  EXPECT_EQ(find(), grpc::StatusCode::OK);
  EXPECT_EQ(missing(), 0);
  ASSERT_TRUE(Send({TestClient::Header(model_)}).ok());
  EXPECT_TRUE(response_.already_known());
}

TEST_F(UploadTest, AWrongDigestIsRefusedAndForgotten) {
  std::string other = model_;
  other[1000] ^= 1;
  std::vector<aot::v1::UploadModelRequest> requests = {TestClient::Header(model_)};
  for (size_t i = 0; i < other.size(); i += 1 << 20) {
    requests.push_back(TestClient::Chunk(model_, static_cast<int64_t>(i), other.substr(i, 1 << 20)));
  }
  EXPECT_EQ(Send(requests).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Query().committed_bytes(), 0);
  EXPECT_TRUE(client_->Upload(model_, 1 << 20).ok());
}

TEST_F(UploadTest, ChunksOutOfOrderAreRefused) {
  grpc::Status status = Send({TestClient::Header(model_), TestClient::Chunk(model_, 10, "x")});
  EXPECT_EQ(status.error_code(), grpc::StatusCode::OUT_OF_RANGE) << status.error_message();
}

TEST_F(UploadTest, AnUploadWithoutAHeaderOrTooLargeIsRefused) {
  EXPECT_EQ(Send({TestClient::Chunk(model_, 0, "x")}).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  aot::v1::UploadModelRequest header = TestClient::Header(model_);
  header.mutable_header()->mutable_model()->set_size_bytes(int64_t{1} << 40);
  header.mutable_header()->mutable_file()->set_size_bytes(int64_t{1} << 40);
  EXPECT_EQ(Send({header}).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  // More than any message may have.
  EXPECT_EQ(Send({TestClient::Header(model_), TestClient::Chunk(model_, 0, std::string(3 << 20, 'x'))}).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(UploadTest, ABrokenStreamIsResumed) {
  {
    grpc::ClientContext call;
    auto writer = client_->compile->UploadModel(&call, &response_);
    ASSERT_TRUE(writer->Write(TestClient::Header(model_)));
    ASSERT_TRUE(writer->Write(TestClient::Chunk(model_, 0, model_.substr(0, 1 << 20))));
    absl::SleepFor(absl::Milliseconds(100));
    call.TryCancel();
    EXPECT_FALSE(writer->Finish().ok());
  }
  int64_t offset = 0;
  for (int i = 0; i < 500 && offset == 0; ++i) {
    absl::SleepFor(absl::Milliseconds(10));
    grpc::ClientContext call;
    aot::v1::QueryUploadRequest request;
    *request.mutable_file() = TestClient::Header(model_).header().file();
    aot::v1::QueryUploadResponse response;
    // ABORTED until the server has seen that the stream is gone.
    if (client_->compile->QueryUpload(&call, request, &response).ok()) offset = response.committed_bytes();
  }
  ASSERT_EQ(offset, 1 << 20);
  std::vector<aot::v1::UploadModelRequest> rest = {TestClient::Header(model_)};
  for (size_t i = 1 << 20; i < model_.size(); i += 1 << 20) {
    rest.push_back(TestClient::Chunk(model_, static_cast<int64_t>(i), model_.substr(i, 1 << 20)));
  }
  grpc::Status status = Send(rest);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(Query().complete());
}

TEST_F(UploadTest, AStallEndsTheStreamAndKeepsWhatCame) {
  grpc::ClientContext call;
  auto writer = client_->compile->UploadModel(&call, &response_);
  ASSERT_TRUE(writer->Write(TestClient::Header(model_)));
  ASSERT_TRUE(writer->Write(TestClient::Chunk(model_, 0, model_.substr(0, 1000))));
  absl::Time start = absl::Now();
  grpc::Status status = writer->Finish();  // without WritesDone: the client just does nothing
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << status.error_message();
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
  EXPECT_EQ(Query().committed_bytes(), 1000);
}

TEST_F(UploadTest, AnotherStreamOfTheSameFileIsTurnedAway) {
  grpc::ClientContext call;
  auto writer = client_->compile->UploadModel(&call, &response_);
  ASSERT_TRUE(writer->Write(TestClient::Header(model_)));
  ASSERT_TRUE(writer->Write(TestClient::Chunk(model_, 0, "0")));
  absl::SleepFor(absl::Milliseconds(100));
  aot::v1::UploadModelResponse response;
  grpc::ClientContext other;
  auto second = client_->compile->UploadModel(&other, &response);
  second->Write(TestClient::Header(model_));
  second->Write(TestClient::Chunk(model_, 0, "0"));
  second->WritesDone();
  EXPECT_EQ(second->Finish().error_code(), grpc::StatusCode::ABORTED);
  writer->WritesDone();
  EXPECT_EQ(writer->Finish().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

}  // namespace
}  // namespace aot::server
