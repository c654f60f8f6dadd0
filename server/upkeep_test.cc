// A whole server over loopback, with workers that follow a script: what happens beside the compiles. Collections while
// something is under way, withdrawals, long lists, readers that don't read.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "registry/digest.h"
#include "server/model_digest.h"
#include "server/server.h"
#include "server/testing/test_client.h"

namespace aot::server {
namespace {

using registry::BlobRef;

class UpkeepTest : public ::testing::Test {
 protected:
  UpkeepTest() {
    std::string pattern = absl::StrCat(testing::TempDir(), "/upkeep-XXXXXX");
    options_.data_dir = mkdtemp(pattern.data());
    options_.grpc_port = 0;
    options_.http_port = -1;
    options_.executor.worker_path = Runfile("server/worker/scripted_worker");
    options_.workers = 2;
  }

  void Start() {
    absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    client_ = std::make_unique<TestClient>(server_->grpc_port());
  }

  aot::v1::CollectGarbageResponse Collect(int64_t budget) {
    grpc::ClientContext call;
    aot::v1::CollectGarbageRequest request;
    request.set_budget_bytes(budget);
    aot::v1::CollectGarbageResponse response;
    grpc::Status status = client_->registry->CollectGarbage(&call, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  // A model file that wants the external blob `data` under two locations.
  static aot::v1::UploadHeader WithExternal(const std::string& model, const std::string& data) {
    aot::v1::UploadHeader header;
    *header.mutable_file() = ToProto(BlobRef::Of(model));
    std::vector<registry::ExternalBlob> external = {{"a.bin", BlobRef::Of(data)}, {"b.bin", BlobRef::Of(data)}};
    for (const registry::ExternalBlob& blob : external) {
      aot::v1::ExternalBlob& proto = *header.add_external();
      proto.set_location(blob.name);
      *proto.mutable_digest() = ToProto(blob.blob);
    }
    *header.mutable_model() = ToProto(ModelDigestOf(BlobRef::Of(model), external));
    return header;
  }

  ServerOptions options_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(UpkeepTest, ACollectionTakesNothingFromAnUploadOrACompile) {
  Start();
  std::string go = options_.data_dir + "/go", model = "artifact when " + go, data = "external data";
  ASSERT_TRUE(client_->Upload(model).ok());
  Compiled compiled;
  std::thread compile([&] { compiled = client_->Compile(model); });
  for (int i = 0; i < 1000 && client_->Statistics().running() == 0; ++i) absl::SleepFor(absl::Milliseconds(10));

  // The first of two files is here, whole.
  grpc::ClientContext call;
  aot::v1::UploadModelResponse response;
  auto upload = client_->compile->UploadModel(&call, &response);
  aot::v1::UploadModelRequest header;
  *header.mutable_header() = WithExternal("artifact of two files", data);
  ASSERT_TRUE(upload->Write(header));
  ASSERT_TRUE(upload->Write(TestClient::Chunk("artifact of two files", 0, "artifact of two files")));
  for (int i = 0; i < 1000 && client_->Statistics().blobs() < 2; ++i) absl::SleepFor(absl::Milliseconds(10));

  aot::v1::CollectGarbageResponse collected = Collect(0);
  EXPECT_EQ(collected.models_removed(), 0);
  EXPECT_EQ(collected.blobs_removed(), 0);
  ASSERT_TRUE(upload->Write(TestClient::Chunk(data, 0, data)));
  upload->WritesDone();
  grpc::Status uploaded = upload->Finish();
  EXPECT_TRUE(uploaded.ok()) << uploaded.error_message();
  EXPECT_EQ(response.model().external_size(), 2);
  std::ofstream(go) << "go";
  compile.join();
  EXPECT_TRUE(compiled.status.ok()) << compiled.status.error_message();

  collected = Collect(0);
  EXPECT_EQ(collected.artifacts_removed(), 1);
  EXPECT_EQ(collected.models_removed(), 2);
  EXPECT_EQ(client_->Statistics().blob_bytes(), 0);
  EXPECT_EQ(collected.kept_bytes(), 0);
}

TEST_F(UpkeepTest, AnInterruptedUploadIsKeptAndCounted) {
  Start();
  grpc::ClientContext call;
  aot::v1::UploadModelResponse response;
  auto upload = client_->compile->UploadModel(&call, &response);
  ASSERT_TRUE(upload->Write(TestClient::Header("a model that breaks off")));
  ASSERT_TRUE(upload->Write(TestClient::Chunk("a model that breaks off", 0, "a mod")));
  for (int i = 0; i < 1000 && client_->Statistics().upload_bytes() < 5; ++i) absl::SleepFor(absl::Milliseconds(10));
  upload->WritesDone();
  EXPECT_EQ(upload->Finish().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(Collect(0).kept_bytes(), 5);
  EXPECT_EQ(client_->Statistics().upload_bytes(), 5);
}

TEST_F(UpkeepTest, ListsNameNoExternalFilesAndAHashIsEnoughToDelete) {
  Start();
  std::string model = "fail", data = "external data";
  grpc::ClientContext call;
  aot::v1::UploadModelResponse response;
  auto upload = client_->compile->UploadModel(&call, &response);
  aot::v1::UploadModelRequest header;
  *header.mutable_header() = WithExternal(model, data);
  upload->Write(header);
  upload->Write(TestClient::Chunk(model, 0, model));
  upload->Write(TestClient::Chunk(data, 0, data));
  upload->WritesDone();
  ASSERT_TRUE(upload->Finish().ok());
  grpc::ClientContext list;
  aot::v1::ListModelsResponse models;
  ASSERT_TRUE(client_->registry->ListModels(&list, {}, &models).ok());
  ASSERT_EQ(models.models_size(), 1);
  EXPECT_EQ(models.models(0).external_size(), 0);
  EXPECT_EQ(models.models(0).external_count(), 2);
  EXPECT_EQ(models.models(0).digest().hash(), response.model().digest().hash());
  grpc::ClientContext remove;
  aot::v1::DeleteModelRequest request;
  request.mutable_digest()->set_hash(models.models(0).digest().hash());
  aot::v1::DeleteModelResponse deleted;
  EXPECT_TRUE(client_->registry->DeleteModel(&remove, request, &deleted).ok());
  // Its files go at once too, unless the stream that brought them isn't torn down yet.
  grpc::ClientContext again;
  ASSERT_TRUE(client_->registry->ListModels(&again, {}, &models).ok());
  EXPECT_EQ(models.models_size(), 0);
}

TEST_F(UpkeepTest, AsksForTheFilesOfTheLargestModelAtOnce) {
  Start();
  aot::v1::FindMissingRequest request;
  for (int i = 0; i <= options_.limits.max_external_blobs; ++i) {
    *request.add_digests() = ToProto(BlobRef::Of(absl::StrCat(i)));
  }
  grpc::ClientContext all, more;
  aot::v1::FindMissingResponse missing;
  ASSERT_TRUE(client_->compile->FindMissing(&all, request, &missing).ok());
  EXPECT_EQ(missing.missing_size(), options_.limits.max_external_blobs + 1);
  *request.add_digests() = ToProto(BlobRef::Of("one more"));
  EXPECT_EQ(client_->compile->FindMissing(&more, request, &missing).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(UpkeepTest, RefusesReleasesThatAreTooLargeBeforeItLooksAtThem) {
  Start();
  aot::v1::PublishRequest request;
  request.set_channel("stable");
  request.set_model_name("m");
  for (int i = 0; i < 257; ++i) request.add_artifact_keys(std::string(64, 'a'));
  aot::v1::PublishResponse published;
  grpc::ClientContext many, none;
  grpc::Status status = client_->release->Publish(&many, request, &published);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
  request.clear_artifact_keys();
  EXPECT_EQ(client_->release->Publish(&none, request, &published).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(UpkeepTest, WithdrawsOnlyWhatIsThere) {
  Start();
  auto withdraw = [&](const std::string& channel, const std::string& model) {
    grpc::ClientContext call;
    aot::v1::WithdrawRequest request;
    request.set_channel(channel);
    request.set_model_name(model);
    aot::v1::WithdrawResponse response;
    return client_->release->Withdraw(&call, request, &response).error_code();
  };
  EXPECT_EQ(withdraw("stable", "m"), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(withdraw("../stable", "m"), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(withdraw("stable", ""), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(UpkeepTest, CutsOffAReaderThatTakesNothing) {
  options_.limits.stall = absl::Seconds(1);
  Start();
  ASSERT_TRUE(client_->Upload("artifact").ok());
  Compiled compiled = client_->Compile("artifact");
  ASSERT_TRUE(compiled.status.ok());
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // or the window grows to the whole part
  auto channel = grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", server_->grpc_port()),
                                           grpc::InsecureChannelCredentials(), arguments);
  auto stub = aot::v1::RegistryService::NewStub(channel);
  grpc::ClientContext call;
  aot::v1::GetArtifactRequest request;
  request.set_key(compiled.key());
  request.set_part(aot::v1::ARTIFACT_PART_WEIGHTS);
  auto reader = stub->GetArtifact(&call, request);
  aot::v1::GetArtifactResponse response;
  ASSERT_TRUE(reader->Read(&response));
  absl::SleepFor(absl::Seconds(5));
  size_t bytes = response.data().size();
  while (reader->Read(&response)) bytes += response.data().size();
  EXPECT_FALSE(reader->Finish().ok());
  EXPECT_LT(bytes, size_t{1} << 20);
  // Others are served.
  std::string whole;
  aot::v1::Digest digest;
  EXPECT_TRUE(client_->GetPart(compiled.key(), aot::v1::ARTIFACT_PART_WEIGHTS, 0, &whole, &digest).ok());
  EXPECT_EQ(whole.size(), size_t{1} << 20);
}

}  // namespace
}  // namespace aot::server
