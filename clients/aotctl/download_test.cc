// Downloads from a server that breaks off, against gRPC itself.
#include "clients/aotctl/download.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "clients/model/model_digest.h"

namespace aot::clients {
namespace {

using Writer = grpc::ServerWriter<v1::GetArtifactResponse>;
using Answer = std::function<grpc::Status(const v1::GetArtifactRequest&, Writer&)>;

// Gives its answers one after the other, whatever is asked.
class ScriptedRegistry final : public v1::RegistryService::Service {
 public:
  grpc::Status GetArtifact(grpc::ServerContext*, const v1::GetArtifactRequest* request, Writer* writer) override {
    offsets.push_back(request->offset());
    return answers.at(offsets.size() - 1)(*request, *writer);
  }
  std::vector<Answer> answers;
  std::vector<int64_t> offsets;
};

class DownloadTest : public ::testing::Test {
 protected:
  DownloadTest() {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&registry_);
    server_ = builder.BuildAndStart();
    address_ = absl::StrCat("127.0.0.1:", port);
  }
  ~DownloadTest() override { server_->Shutdown(); }

  // Sends `part` from the offset, but no more than `most` bytes, and ends so.
  static Answer Send(const std::string& part, size_t most, grpc::StatusCode code) {
    return [=](const v1::GetArtifactRequest& request, Writer& writer) {
      v1::GetArtifactResponse response;
      response.mutable_digest()->set_hash(DigestOf(part).hash);
      response.mutable_digest()->set_size_bytes(static_cast<int64_t>(part.size()));
      response.set_data(part.substr(static_cast<size_t>(request.offset()), most));
      writer.Write(response);
      return grpc::Status(code, code == grpc::StatusCode::OK ? "" : "broke off");
    };
  }
  absl::StatusOr<std::string> Get() {
    Progress progress;
    return Download(Connection(address_), "key", v1::ARTIFACT_PART_CODE, progress);
  }

  ScriptedRegistry registry_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

TEST_F(DownloadTest, ResumesWhereItBroke) {
  registry_.answers = {Send("the old part", 4, grpc::StatusCode::UNAVAILABLE),
                       Send("the old part", 100, grpc::StatusCode::OK)};
  EXPECT_EQ(Get().value(), "the old part");
  EXPECT_EQ(registry_.offsets, (std::vector<int64_t>{0, 4}));
}

TEST_F(DownloadTest, StartsOverWhenThePartChanged) {
  registry_.answers = {Send("the old part", 4, grpc::StatusCode::UNAVAILABLE),
                       Send("another part", 100, grpc::StatusCode::OK),
                       Send("another part", 100, grpc::StatusCode::OK)};
  EXPECT_EQ(Get().value(), "another part");
  EXPECT_EQ(registry_.offsets, (std::vector<int64_t>{0, 4, 0}));
}

TEST_F(DownloadTest, StartsOverWhenThePartGotShorter) {
  auto past_the_end = [](const v1::GetArtifactRequest&, Writer&) {
    return grpc::Status(grpc::StatusCode::OUT_OF_RANGE, "offset 8 is past the end");
  };
  registry_.answers = {Send("the old part", 8, grpc::StatusCode::UNAVAILABLE), past_the_end,
                       Send("short", 100, grpc::StatusCode::OK)};
  EXPECT_EQ(Get().value(), "short");
}

TEST_F(DownloadTest, WrongBytesAreNoAnswer) {
  registry_.answers = {[](const v1::GetArtifactRequest&, Writer& writer) {
    v1::GetArtifactResponse response;
    response.mutable_digest()->set_hash(std::string(64, '0'));
    response.mutable_digest()->set_size_bytes(4);
    response.set_data("data");
    writer.Write(response);
    return grpc::Status::OK;
  }};
  EXPECT_EQ(Get().status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace aot::clients
