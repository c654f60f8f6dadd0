// aot_server as a real process with the real compiler, over loopback.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "registry/digest.h"
#include "registry/records.h"
#include "server/model_digest.h"
#include "server/testing/server_process.h"
#include "server/testing/small_model.h"
#include "server/testing/test_client.h"

namespace aot::server {
namespace {

class AotServerTest : public ::testing::Test {
 protected:
  AotServerTest() {
    std::string pattern = absl::StrCat(testing::TempDir(), "/process-XXXXXX");
    directory_ = mkdtemp(pattern.data());
  }

  std::unique_ptr<ServerProcess> Start(std::vector<std::string> flags = {}) {
    for (const char* flag : {"--grpc-port=0", "--http-port=0"}) flags.push_back(flag);
    flags.push_back(absl::StrCat("--data-dir=", directory_, "/data"));
    return std::make_unique<ServerProcess>(Runfile("server/aot_server"), directory_, flags);
  }

  std::string directory_;
};

TEST_F(AotServerTest, CompilesAModelAndServesIt) {
  std::unique_ptr<ServerProcess> server = Start();
  ASSERT_NE(server->grpc_port(), 0) << server->Errors();
  EXPECT_TRUE(absl::StrContains(server->Output(), absl::StrCat("127.0.0.1:", server->grpc_port())));
  EXPECT_TRUE(absl::StrContains(server->Output(), "aotctl compile"));
  TestClient client(server->grpc_port());
  std::string model = DenseModel(64, 32, 1);
  ASSERT_TRUE(client.Upload(model).ok());
  Compiled compiled = client.Compile(model, "x86-64-v3");
  ASSERT_TRUE(compiled.status.ok()) << compiled.status.error_message();
  EXPECT_FALSE(compiled.last().result().cache_hit());
  EXPECT_TRUE(client.Compile(model, "x86-64-v3").last().result().cache_hit());
  EXPECT_EQ(client.Statistics().workers_started(), 1);

  // The `.so` is what its digest says, also from an offset, and what the dynamic linker takes.
  std::string bytes, rest;
  aot::v1::Digest digest;
  ASSERT_TRUE(client.GetPart(compiled.key(), aot::v1::ARTIFACT_PART_SHARED_OBJECT, 0, &bytes, &digest).ok());
  EXPECT_EQ(digest.hash(), registry::Digest::Of(bytes).Hex());
  EXPECT_EQ(digest.size_bytes(), static_cast<int64_t>(bytes.size()));
  ASSERT_TRUE(client.GetPart(compiled.key(), aot::v1::ARTIFACT_PART_SHARED_OBJECT, 5000, &rest, &digest).ok());
  EXPECT_EQ(rest, bytes.substr(5000));
  std::string path = directory_ + "/model.so";
  std::ofstream(path) << bytes;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  EXPECT_NE(dlsym(handle, "aot_descriptor"), nullptr);
  dlclose(handle);

  // A release of two targets.
  Compiled other = client.Compile(model, "cortex-a75");
  ASSERT_TRUE(other.status.ok()) << other.status.error_message();
  grpc::ClientContext call;
  aot::v1::PublishRequest publish;
  publish.set_channel("stable");
  publish.set_model_name("dense");
  publish.add_artifact_keys(compiled.key());
  publish.add_artifact_keys(other.key());
  aot::v1::PublishResponse published;
  grpc::Status status = client.release->Publish(&call, publish, &published);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(published.release().version(), 1);
  EXPECT_EQ(published.release().artifacts_size(), 2);
  grpc::ClientContext remove;
  aot::v1::DeleteArtifactRequest request;
  request.set_key(other.key());
  aot::v1::DeleteArtifactResponse response;
  EXPECT_EQ(client.registry->DeleteArtifact(&remove, request, &response).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);

  // Withdrawn, and after a collection no longer in the way.
  grpc::ClientContext take_back, collect, remove_now;
  aot::v1::WithdrawRequest withdraw;
  withdraw.set_channel("stable");
  withdraw.set_model_name("dense");
  aot::v1::WithdrawResponse withdrawn;
  status = client.release->Withdraw(&take_back, withdraw, &withdrawn);
  ASSERT_TRUE(status.ok()) << status.error_message();
  aot::v1::CollectGarbageRequest all_fits;
  all_fits.set_budget_bytes(int64_t{1} << 40);
  aot::v1::CollectGarbageResponse collected;
  ASSERT_TRUE(client.registry->CollectGarbage(&collect, all_fits, &collected).ok());
  EXPECT_EQ(collected.releases_removed(), 2);
  EXPECT_EQ(collected.artifacts_removed(), 0);
  status = client.registry->DeleteArtifact(&remove_now, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(server->Signal(SIGTERM), 0);
}

TEST_F(AotServerTest, ExternalDataBecomesTheSameCode) {
  std::unique_ptr<ServerProcess> server = Start();
  ASSERT_NE(server->grpc_port(), 0) << server->Errors();
  TestClient client(server->grpc_port());
  std::string whole = DenseModel(64, 32, 1), data, location = "../no/path but a label";
  std::string model = WithExternalData(whole, location, &data);
  std::vector<registry::ExternalBlob> external = {{location, registry::BlobRef::Of(data)}};
  const aot::v1::Digest digest = ToProto(ModelDigestOf(registry::BlobRef::Of(model), external));
  aot::v1::UploadModelRequest header;
  *header.mutable_header()->mutable_model() = digest;
  *header.mutable_header()->mutable_file() = ToProto(registry::BlobRef::Of(model));
  aot::v1::ExternalBlob& blob = *header.mutable_header()->add_external();
  blob.set_location(location);
  *blob.mutable_digest() = ToProto(registry::BlobRef::Of(data));
  grpc::ClientContext upload_call, compile_call;
  aot::v1::UploadModelResponse uploaded;
  auto upload = client.compile->UploadModel(&upload_call, &uploaded);
  upload->Write(header);
  upload->Write(TestClient::Chunk(data, 0, data));  // files come in any order
  upload->Write(TestClient::Chunk(model, 0, model));
  upload->WritesDone();
  grpc::Status status = upload->Finish();
  ASSERT_TRUE(status.ok()) << status.error_message();

  aot::v1::CompileRequest request;
  *request.mutable_model() = digest;
  request.mutable_options()->set_target("x86-64-v2");
  auto events = client.compile->Compile(&compile_call, request);
  aot::v1::CompileResponse last;
  while (events->Read(&last)) {
  }
  status = events->Finish();
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_TRUE(client.Upload(whole).ok());
  Compiled inside = client.Compile(whole, "x86-64-v2");
  ASSERT_TRUE(inside.status.ok()) << inside.status.error_message();
  EXPECT_NE(last.result().artifact().key(), inside.key());
  // The code's descriptor holds the key; all else of it is the same.
  EXPECT_EQ(last.result().artifact().code().size_bytes(), inside.last().result().artifact().code().size_bytes());
  EXPECT_EQ(last.result().artifact().weights().hash(), inside.last().result().artifact().weights().hash());
}

TEST_F(AotServerTest, TellsWhatIsUnsupported) {
  std::unique_ptr<ServerProcess> server = Start();
  ASSERT_NE(server->grpc_port(), 0) << server->Errors();
  TestClient client(server->grpc_port());
  std::string unsupported = UnsupportedModel(), rubbish = "this is no model";
  ASSERT_TRUE(client.Upload(unsupported).ok());
  ASSERT_TRUE(client.Upload(rubbish).ok());
  Compiled compiled = client.Compile(unsupported);
  EXPECT_EQ(compiled.status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_TRUE(absl::StrContains(compiled.status.error_message(), "bad_node")) << compiled.status.error_message();
  EXPECT_EQ(client.Compile(rubbish).status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(client.Statistics().workers_lost(), 0);
}

TEST_F(AotServerTest, StopsCleanlyOnEitherSignalAndKeepsItsData) {
  for (int signal_number : {SIGTERM, SIGINT}) {
    std::unique_ptr<ServerProcess> server = Start();
    ASSERT_NE(server->grpc_port(), 0) << server->Errors();
    ASSERT_TRUE(TestClient(server->grpc_port()).Upload("kept").ok());
    EXPECT_EQ(server->Signal(signal_number), 0) << server->Errors();
  }
}

TEST_F(AotServerTest, WorkersDieWithTheServer) {
  std::unique_ptr<ServerProcess> server = Start({absl::StrCat("--worker=", Runfile("server/worker/scripted_worker"))});
  ASSERT_NE(server->grpc_port(), 0) << server->Errors();
  TestClient client(server->grpc_port());
  ASSERT_TRUE(client.Upload("hang").ok());
  std::thread waiting([&] { client.Compile("hang"); });
  std::string children;
  for (int i = 0; i < 1000 && children.empty(); ++i) {
    absl::SleepFor(absl::Milliseconds(10));
    // Of the thread that runs the job, whichever that is.
    for (int id = server->pid(); id < server->pid() + 200 && children.empty(); ++id) {
      std::ifstream file(absl::StrCat("/proc/", server->pid(), "/task/", id, "/children"));
      std::getline(file, children);
    }
  }
  if (children.empty()) {
    server->Signal(SIGKILL);
    waiting.join();
    GTEST_SKIP() << "this kernel doesn't list the children of a process";
  }
  server->Signal(SIGKILL);
  waiting.join();
  pid_t worker = std::atoi(children.c_str());
  bool gone = false;
  for (int i = 0; i < 500 && !gone; ++i) {
    gone = kill(worker, 0) != 0;
    // Where nobody reaps orphans, it stays as a zombie.
    std::ifstream file(absl::StrCat("/proc/", worker, "/stat"));
    std::string stat;
    std::getline(file, stat);
    gone |= absl::StrContains(stat, ") Z ");
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_TRUE(gone);
}

TEST_F(AotServerTest, RefusesWrongFlags) {
  std::unique_ptr<ServerProcess> server = Start({"--address=0.0.0.0"});
  EXPECT_EQ(server->grpc_port(), 0);
  EXPECT_EQ(server->Wait(), 2);
  EXPECT_TRUE(absl::StrContains(server->Errors(), "loopback")) << server->Errors();
  server = Start({"--worker=/nonexistent"});
  EXPECT_EQ(server->Wait(), 1);
  EXPECT_TRUE(absl::StrContains(server->Errors(), "/nonexistent")) << server->Errors();
}

}  // namespace
}  // namespace aot::server
