// The whole server in this process, over loopback, with a worker that does what the model's text says.
#include "server/server.h"

#include <grpcpp/health_check_service_interface.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "registry/digest.h"
#include "server/model_digest.h"
#include "server/testing/test_client.h"

namespace aot::server {
namespace {

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    std::string pattern = absl::StrCat(testing::TempDir(), "/server-XXXXXX");
    options_.data_dir = mkdtemp(pattern.data());
    options_.grpc_port = options_.http_port = 0;
    options_.executor.worker_path = Runfile("server/worker/scripted_worker");
    options_.workers = 2;
  }

  void Start() {
    absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    client_ = std::make_unique<TestClient>(server_->grpc_port());
  }

  // Waits until the server's numbers are as wanted.
  template <typename Condition>
  bool Eventually(Condition condition) {
    for (int i = 0; i < 1000; ++i) {
      if (condition(client_->Statistics())) return true;
      absl::SleepFor(absl::Milliseconds(10));
    }
    return false;
  }

  ServerOptions options_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(ServerTest, TellsLimitsAndTargets) {
  Start();
  grpc::ClientContext first, second;
  aot::v1::GetCapabilitiesResponse capabilities;
  ASSERT_TRUE(client_->compile->GetCapabilities(&first, {}, &capabilities).ok());
  EXPECT_EQ(capabilities.api_version(), "aot.v1");
  EXPECT_EQ(capabilities.workers(), 2);
  EXPECT_GT(capabilities.max_chunk_bytes(), 0);
  aot::v1::ListTargetsResponse targets;
  ASSERT_TRUE(client_->registry->ListTargets(&second, {}, &targets).ok());
  EXPECT_GE(targets.targets_size(), 6);
}

TEST_F(ServerTest, CompilesOnceAndThenHits) {
  Start();
  ASSERT_TRUE(client_->Upload("artifact").ok());
  Compiled first = client_->Compile("artifact");
  ASSERT_TRUE(first.status.ok()) << first.status.error_message();
  EXPECT_FALSE(first.last().result().cache_hit());
  EXPECT_EQ(first.last().result().artifact().target(), "cortex-a75");
  Compiled second = client_->Compile("artifact");
  ASSERT_TRUE(second.status.ok()) << second.status.error_message();
  EXPECT_TRUE(second.last().result().cache_hit());
  EXPECT_EQ(second.events.size(), 1u);
  EXPECT_EQ(second.key(), first.key());
  aot::v1::GetStatisticsResponse statistics = client_->Statistics();
  EXPECT_EQ(statistics.workers_started(), 1);
  EXPECT_EQ(statistics.cache_hits(), 1);
  EXPECT_EQ(statistics.cache_misses(), 1);
  // Another target is another key.
  EXPECT_NE(client_->Compile("artifact", "cortex-a53").key(), first.key());
  EXPECT_EQ(client_->Statistics().workers_started(), 2);
}

TEST_F(ServerTest, KeepsItsCacheOverARestart) {
  Start();
  ASSERT_TRUE(client_->Upload("artifact").ok());
  ASSERT_TRUE(client_->Compile("artifact").status.ok());
  server_.reset();
  Start();
  EXPECT_TRUE(client_->Compile("artifact").last().result().cache_hit());
  EXPECT_EQ(client_->Statistics().workers_started(), 0);
}

TEST_F(ServerTest, TwoRequestsAtOnceAreOneCompile) {
  Start();
  std::string go = absl::StrCat(options_.data_dir, "/go"), model = absl::StrCat("artifact when ", go);
  ASSERT_TRUE(client_->Upload(model).ok());
  Compiled one, two;
  std::thread first([&] { one = client_->Compile(model); });
  std::thread second([&] { two = client_->Compile(model); });
  EXPECT_TRUE(Eventually([](const auto& s) { return s.joined() == 1 && s.running() == 1; }));
  std::ofstream(go) << "now";
  first.join();
  second.join();
  EXPECT_TRUE(one.status.ok()) << one.status.error_message();
  EXPECT_TRUE(two.status.ok()) << two.status.error_message();
  EXPECT_EQ(one.key(), two.key());
  EXPECT_EQ(client_->Statistics().workers_started(), 1);
}

TEST_F(ServerTest, SendsProgress) {
  Start();
  ASSERT_TRUE(client_->Upload("artifact").ok());
  Compiled compiled = client_->Compile("artifact");
  bool progress = false;
  for (const aot::v1::CompileResponse& event : compiled.events) {
    progress |= event.progress().stage() == aot::v1::STAGE_IMPORT && event.progress().total() == 2;
  }
  EXPECT_TRUE(progress);
}

TEST_F(ServerTest, ACrashEndsThatJobAlone) {
  Start();
  ASSERT_TRUE(client_->Upload("crash").ok());
  ASSERT_TRUE(client_->Upload("artifact").ok());
  Compiled crashed = client_->Compile("crash");
  EXPECT_EQ(crashed.status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_TRUE(absl::StrContains(crashed.status.error_message(), "signal 11")) << crashed.status.error_message();
  EXPECT_EQ(crashed.last().failure().code(), grpc::StatusCode::INTERNAL);
  EXPECT_TRUE(client_->Compile("artifact").status.ok());
  EXPECT_EQ(client_->Statistics().workers_lost(), 1);
  // Nothing is left of either job.
  EXPECT_TRUE(std::filesystem::is_empty(options_.data_dir + "/work"));
}

TEST_F(ServerTest, EndsWhatTakesTooLongOrTooMuch) {
  options_.executor.timeout = absl::Seconds(2);
  options_.executor.limits.memory_bytes = int64_t{512} << 20;
  Start();
  ASSERT_TRUE(client_->Upload("hang").ok());
  EXPECT_EQ(client_->Compile("hang").status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  ASSERT_TRUE(client_->Upload("eat memory").ok());
  EXPECT_EQ(client_->Compile("eat memory").status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(ServerTest, RefusesAnArtifactOfAnotherKey) {
  Start();
  ASSERT_TRUE(client_->Upload("wrong key").ok());
  EXPECT_EQ(client_->Compile("wrong key").status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(client_->Statistics().artifacts(), 0);
}

TEST_F(ServerTest, StopsAWorkerForWhichNobodyWaits) {
  Start();
  ASSERT_TRUE(client_->Upload("hang").ok());
  grpc::ClientContext call;
  Compiled compiled;
  std::thread waiting([&] { compiled = client_->Compile("hang", "cortex-a75", &call); });
  EXPECT_TRUE(Eventually([](const auto& s) { return s.workers_started() == 1; }));
  call.TryCancel();
  waiting.join();
  EXPECT_EQ(compiled.status.error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(Eventually([](const auto& s) { return s.running() == 0 && s.workers_cancelled() == 1; }));
}

TEST_F(ServerTest, BoundsTheQueue) {
  options_.workers = 1;
  options_.queue_length = 1;
  Start();
  for (const char* model : {"hang", "hang ", "hang  "}) ASSERT_TRUE(client_->Upload(model).ok());
  std::string go = absl::StrCat(options_.data_dir, "/go");
  std::string models[] = {absl::StrCat("artifact 1 when ", go), absl::StrCat("artifact 2 when ", go), "artifact 3"};
  for (const std::string& model : models) ASSERT_TRUE(client_->Upload(model).ok());
  Compiled running, queued;
  std::thread first([&] { running = client_->Compile(models[0]); });
  EXPECT_TRUE(Eventually([](const auto& s) { return s.running() == 1; }));
  std::thread second([&] { queued = client_->Compile(models[1]); });
  EXPECT_TRUE(Eventually([](const auto& s) { return s.queued() == 1; }));
  EXPECT_EQ(client_->Compile(models[2]).status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  std::ofstream(go) << "now";
  first.join();
  second.join();
  EXPECT_TRUE(running.status.ok());
  EXPECT_TRUE(queued.status.ok());
  EXPECT_TRUE(queued.events[0].has_queued());
}

TEST_F(ServerTest, PassesTheCompilersWordsOn) {
  Start();
  ASSERT_TRUE(client_->Upload("fail").ok());
  Compiled failed = client_->Compile("fail");
  EXPECT_EQ(failed.status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(failed.status.error_message(), failed.last().failure().message());
  // A list of every node of a large model: whole in the event, cut in the status.
  ASSERT_TRUE(client_->Upload("fail at length").ok());
  failed = client_->Compile("fail at length");
  EXPECT_EQ(failed.status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_TRUE(absl::StrContains(failed.status.error_message(), "cut here"));
  EXPECT_TRUE(absl::StrContains(failed.last().failure().message(), "node 'n1999'"));
}

TEST_F(ServerTest, ChecksWithoutCompiling) {
  Start();
  ASSERT_TRUE(client_->Upload("a fine model").ok());
  ASSERT_TRUE(client_->Upload("fail").ok());
  auto check = [&](const std::string& model, const std::string& target, aot::v1::CheckResponse* response) {
    grpc::ClientContext call;
    aot::v1::CheckRequest request;
    *request.mutable_model() = TestClient::Request(model, target).model();
    request.mutable_options()->set_target(target);
    response->Clear();
    return client_->compile->Check(&call, request, response);
  };
  aot::v1::CheckResponse response;
  ASSERT_TRUE(check("a fine model", "cortex-a75", &response).ok());
  EXPECT_EQ(response.info().graph_name(), "a fine model");
  ASSERT_TRUE(check("fail", "cortex-a75", &response).ok());
  EXPECT_EQ(response.failure().code(), grpc::StatusCode::UNIMPLEMENTED);
  ASSERT_TRUE(check("fail", "z80", &response).ok());
  EXPECT_EQ(response.failure().code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(check("never uploaded", "cortex-a75", &response).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ServerTest, RefusesWrongRequests) {
  Start();
  ASSERT_TRUE(client_->Upload("artifact").ok());
  EXPECT_EQ(client_->Compile("artifact", "z80").status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(client_->Compile("artifact", "").status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(client_->Compile("never uploaded").status.error_code(), grpc::StatusCode::NOT_FOUND);
  // An option of a later version.
  grpc::ClientContext call;
  aot::v1::CompileRequest request = TestClient::Request("artifact", "cortex-a75");
  request.options().GetReflection()->MutableUnknownFields(request.mutable_options())->AddVarint(99, 1);
  auto reader = client_->compile->Compile(&call, request);
  aot::v1::CompileResponse event;
  while (reader->Read(&event)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(client_->Statistics().workers_started(), 0);
}

TEST_F(ServerTest, ServesPartsFromAnyOffset) {
  Start();
  ASSERT_TRUE(client_->Upload("artifact").ok());
  Compiled compiled = client_->Compile("artifact");
  std::string whole, rest;
  aot::v1::Digest digest;
  ASSERT_TRUE(client_->GetPart(compiled.key(), aot::v1::ARTIFACT_PART_WEIGHTS, 0, &whole, &digest).ok());
  EXPECT_EQ(whole, std::string(1 << 20, 'w'));
  EXPECT_EQ(digest.hash(), registry::Digest::Of(whole).Hex());
  ASSERT_TRUE(client_->GetPart(compiled.key(), aot::v1::ARTIFACT_PART_WEIGHTS, (1 << 20) - 3, &rest, &digest).ok());
  EXPECT_EQ(rest, "www");
  EXPECT_EQ(digest.size_bytes(), 1 << 20);
  rest.clear();
  EXPECT_TRUE(client_->GetPart(compiled.key(), aot::v1::ARTIFACT_PART_WEIGHTS, 1 << 20, &rest, &digest).ok());
  EXPECT_EQ(rest, "");
  auto code = [&](const std::string& key, aot::v1::ArtifactPart part, int64_t offset) {
    return client_->GetPart(key, part, offset, &rest, &digest).error_code();
  };
  EXPECT_EQ(code(compiled.key(), aot::v1::ARTIFACT_PART_WEIGHTS, (1 << 20) + 1), grpc::StatusCode::OUT_OF_RANGE);
  EXPECT_EQ(code(compiled.key(), aot::v1::ARTIFACT_PART_WEIGHTS, -1), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code(compiled.key(), aot::v1::ARTIFACT_PART_UNSPECIFIED, 0), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code(std::string(64, '0'), aot::v1::ARTIFACT_PART_CODE, 0), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(code("key", aot::v1::ARTIFACT_PART_CODE, 0), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ServerTest, CompilesAgainWhatWasDamagedOnDisk) {
  Start();
  ASSERT_TRUE(client_->Upload("artifact").ok());
  Compiled compiled = client_->Compile("artifact");
  std::string hash = compiled.last().result().artifact().code().hash();
  int damaged = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(options_.data_dir)) {
    if (!absl::StrContains(entry.path().filename().string(), hash)) continue;
    std::filesystem::permissions(entry.path(), std::filesystem::perms::owner_all);
    std::fstream(entry.path(), std::ios::in | std::ios::out) << "X";
    ++damaged;
  }
  ASSERT_EQ(damaged, 1);
  std::string bytes;
  aot::v1::Digest digest;
  EXPECT_EQ(client_->GetPart(compiled.key(), aot::v1::ARTIFACT_PART_CODE, 0, &bytes, &digest).error_code(),
            grpc::StatusCode::DATA_LOSS);
  Compiled again = client_->Compile("artifact");
  ASSERT_TRUE(again.status.ok()) << again.status.error_message();
  EXPECT_FALSE(again.last().result().cache_hit());
  bytes.clear();
  ASSERT_TRUE(client_->GetPart(compiled.key(), aot::v1::ARTIFACT_PART_CODE, 0, &bytes, &digest).ok());
  EXPECT_EQ(bytes, "code of artifact");
}

TEST_F(ServerTest, ListsAndDeletes) {
  Start();
  ASSERT_TRUE(client_->Upload("artifact").ok());
  Compiled compiled = client_->Compile("artifact");
  grpc::ClientContext list, models, remove, remove_again, forget;
  aot::v1::ListArtifactsRequest filter;
  filter.set_target("cortex-a75");
  aot::v1::ListArtifactsResponse artifacts;
  ASSERT_TRUE(client_->registry->ListArtifacts(&list, filter, &artifacts).ok());
  ASSERT_EQ(artifacts.artifacts_size(), 1);
  EXPECT_EQ(artifacts.artifacts(0).key(), compiled.key());
  aot::v1::ListModelsResponse stored;
  ASSERT_TRUE(client_->registry->ListModels(&models, {}, &stored).ok());
  ASSERT_EQ(stored.models_size(), 1);
  EXPECT_EQ(stored.models(0).name(), "test");
  aot::v1::DeleteArtifactRequest request;
  request.set_key(compiled.key());
  aot::v1::DeleteArtifactResponse response;
  EXPECT_TRUE(client_->registry->DeleteArtifact(&remove, request, &response).ok());
  EXPECT_EQ(client_->registry->DeleteArtifact(&remove_again, request, &response).error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_FALSE(client_->Compile("artifact").last().result().cache_hit());
  aot::v1::DeleteModelRequest model;
  *model.mutable_digest() = stored.models(0).digest();
  aot::v1::DeleteModelResponse forgotten;
  EXPECT_TRUE(client_->registry->DeleteModel(&forget, model, &forgotten).ok());
  EXPECT_EQ(client_->Compile("artifact").status.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ServerTest, ShowsItsRootAndKeys) {
  Start();
  grpc::ClientContext first, second, third, fourth;
  aot::v1::GetRootResponse root;
  ASSERT_TRUE(client_->release->GetRoot(&first, {}, &root).ok());
  EXPECT_EQ(root.version(), 1);
  EXPECT_TRUE(absl::StrContains(root.metadata(), "\"signed\""));
  EXPECT_EQ(root.repository_url(), absl::StrCat("http://127.0.0.1:", server_->http_port()));
  aot::v1::ListKeysResponse keys;
  ASSERT_TRUE(client_->release->ListKeys(&second, {}, &keys).ok());
  EXPECT_EQ(keys.roles_size(), 4);
  for (const aot::v1::Role& role : keys.roles()) {
    EXPECT_EQ(role.keys(0).type(), "ed25519");
    EXPECT_EQ(role.keys(0).public_hex().size(), 64u);
    EXPECT_GT(role.expires_unix_seconds(), absl::ToUnixSeconds(absl::Now()));
  }
  aot::v1::RotateKeyRequest rotate;
  rotate.set_role("timestamp");
  aot::v1::RotateKeyResponse rotated;
  ASSERT_TRUE(client_->release->RotateKey(&third, rotate, &rotated).ok());
  EXPECT_EQ(rotated.root_version(), 2);
  rotate.set_role("king");
  EXPECT_EQ(client_->release->RotateKey(&fourth, rotate, &rotated).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ServerTest, ShutdownAnswersThoseWhoWait) {
  Start();
  ASSERT_TRUE(client_->Upload("hang").ok());
  Compiled compiled;
  std::thread waiting([&] { compiled = client_->Compile("hang"); });
  EXPECT_TRUE(Eventually([](const auto& s) { return s.workers_started() == 1; }));
  absl::Time start = absl::Now();
  server_->Stop();
  waiting.join();
  EXPECT_EQ(compiled.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
}

TEST_F(ServerTest, RefusesAListenerThatOthersCanReach) {
  options_.address = "0.0.0.0";
  absl::Status status = Server::Start(options_).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_TRUE(absl::StrContains(status.message(), "0.0.0.0")) << status;
}

TEST_F(ServerTest, SaysWhatIpVersion6Needs) {
  options_.address = "::1";
  absl::Status status = Server::Start(options_).status();
  EXPECT_TRUE(absl::StrContains(status.message(), "--http-port -1")) << status;
}

TEST_F(ServerTest, SaysThatItsPortIsTaken) {
  Start();
  ServerOptions second = options_;
  second.data_dir += "/second";
  second.grpc_port = server_->grpc_port();
  absl::Status status = Server::Start(second).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  second = options_;
  EXPECT_TRUE(absl::IsFailedPrecondition(Server::Start(second).status())) << "the data directory is in use";
}

}  // namespace
}  // namespace aot::server
