// Models and requests that are wrong, as a user of the command line meets them: the exit code, and a sentence that says
// what, where, and what would be right. The server stays up and keeps nothing of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/test_client.h"
#include "tests/e2e/testing/installation.h"

namespace aot::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kUnsupported = 3, kNotFound = 4, kBadInput = 7;  // aotctl help exit-codes

class BadModelTest : public Installation {
 protected:
  Outcome CompileBytes(const std::string& bytes, const std::string& flags = "--target x86-64-v2 --dim N=1") {
    WriteFile(Path("model.onnx"), bytes);
    return Aotctl("compile --json --model " + Path("model.onnx") + " " + flags);
  }

  // Nothing came of it, no worker died of it, and the next one is served.
  void TearDown() override {
    EXPECT_THAT(Aotctl("artifacts list --json").json()["artifacts"], IsEmpty());
    EXPECT_EQ(Counter("workers_lost"), 0);
    EXPECT_NE(Compile(SmallNet(1), "x86-64-v2"), "");
  }
};

TEST_F(BadModelTest, TruncatedModels) {
  const std::string bytes = SmallNet(1).Onnx();
  for (size_t size : {size_t{0}, size_t{1}, bytes.size() / 2, bytes.size() - 1}) {
    const Outcome outcome = CompileBytes(bytes.substr(0, size));
    EXPECT_EQ(outcome.exit_code, kBadInput) << size << " of " << bytes.size() << " bytes\n" << outcome.ToString();
    EXPECT_THAT(outcome.err, HasSubstr("ONNX")) << size;
  }
}

TEST_F(BadModelTest, RandomBytes) {
  uint32_t seed = 1;
  for (int round = 0; round < 8; ++round) {
    std::string bytes;
    for (int i = 0; i < 4096; ++i) bytes.push_back(static_cast<char>((seed = seed * 1664525u + 1013904223u) >> 24));
    const Outcome outcome = CompileBytes(bytes);
    EXPECT_EQ(outcome.exit_code, kBadInput) << outcome.ToString();
    EXPECT_THAT(outcome.err, HasSubstr("ONNX"));
  }
}

TEST_F(BadModelTest, DamagedModels) {
  // One byte changed, all over the file: what is still a model compiles, the rest is refused; nothing else happens.
  const std::string bytes = SmallNet(1).Onnx();
  for (size_t at = 0; at < bytes.size(); at += bytes.size() / 24) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    WriteFile(Path("model.onnx"), damaged);
    const Outcome outcome = Aotctl("check --json --target x86-64-v2 --dim N=1 --model " + Path("model.onnx"));
    EXPECT_THAT(outcome.exit_code, ::testing::AnyOf(0, kUnsupported, kBadInput)) << at << "\n" << outcome.ToString();
  }
}

TEST_F(BadModelTest, AnUnknownOperator) {
  const Outcome outcome = CompileBytes(SmallNet(1).Onnx("NoSuchOperator"));
  EXPECT_EQ(outcome.exit_code, kUnsupported) << outcome.ToString();
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("NoSuchOperator"), HasSubstr("activation"))) << "the operator, the node";
  EXPECT_EQ(outcome.json()["error"]["code"], "unsupported");
}

TEST_F(BadModelTest, AnUnboundDimension) {
  const Outcome outcome = CompileBytes(SmallNet(1).Onnx(), "--target x86-64-v2");
  EXPECT_EQ(outcome.exit_code, kBadInput) << outcome.ToString();
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("'x'"), HasSubstr("--dim N="))) << "the input, and what to add";
  const Outcome other = CompileBytes(SmallNet(1).Onnx(), "--target x86-64-v2 --dim N=1 --dim M=2");
  EXPECT_EQ(other.exit_code, kBadInput) << other.ToString();
  EXPECT_THAT(other.err, AllOf(HasSubstr("M"), HasSubstr("N"))) << "the wrong one, and those that there are";
}

TEST_F(BadModelTest, AnUnknownTarget) {
  const Outcome outcome = CompileBytes(SmallNet(1).Onnx(), "--target z80 --dim N=1");
  EXPECT_EQ(outcome.exit_code, kNotFound) << outcome.ToString();
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("z80"), HasSubstr("cortex-a75"))) << "the wrong one, and the right ones";
}

TEST_F(BadModelTest, AnUploadThatIsNotItsDigest) {
  server::TestClient client(server_->grpc_port());
  const std::string model = SmallNet(1).Onnx();
  std::string other = model;
  other[other.size() / 2] ^= 1;
  grpc::ClientContext call;
  aot::v1::UploadModelResponse response;
  auto writer = client.compile->UploadModel(&call, &response);
  writer->Write(server::TestClient::Header(model));
  writer->Write(server::TestClient::Chunk(model, 0, other));
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr(server::TestClient::Header(model).header().file().hash()));
  EXPECT_EQ(Counter("models"), 0);
  EXPECT_EQ(client.Compile(model, "x86-64-v2").status.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(BadModelTest, APublicationOfWhatIsNotThere) {
  const Outcome outcome = Aotctl("publish --json --name small_net " + std::string(64, 'a'));
  EXPECT_EQ(outcome.exit_code, kNotFound) << outcome.ToString();
  EXPECT_THAT(outcome.err, HasSubstr(std::string(64, 'a')));
  EXPECT_EQ(Aotctl("publish --name ../evil " + std::string(64, 'a')).exit_code, kBadInput);
  EXPECT_EQ(Counter("releases"), 0);
}

}  // namespace
}  // namespace aot::e2e
