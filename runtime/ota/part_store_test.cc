// Downloads over real HTTP: resumption, a server whose object changes, too much, too little, too slow.
#include "runtime/ota/part_store.h"

#include <cerrno>
#include <cstdlib>
#include <memory>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "runtime/ota/curl_transport.h"
#include "runtime/ota/testing/http_server.h"

namespace aot::ota {
namespace {

std::string Bytes(size_t size, char seed) {
  std::string bytes(size, seed);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(bytes[i] + i * 7 % 251);
  return bytes;
}

class PartStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(sodium_init(), 0);
    std::string pattern = ::testing::TempDir() + "parts-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    ASSERT_TRUE(state_.Open(pattern).ok());
    CurlOptions options;
    options.low_speed_bytes_per_second = 1000;
    options.low_speed_seconds = 1;
    transport_ = MakeCurlTransport(options);
    server_.Put("/part", content_);
  }

  Status Ensure(const Part& part, int attempts = 2) {
    DownloadPolicy policy;
    policy.attempts = attempts;
    policy.first_pause_ms = 1;
    downloaded_ = 0;
    return PartStore(&state_, transport_.get(), policy).Ensure(part, server_.url() + "/part", &downloaded_);
  }

  Part PartOf(const std::string& bytes) { return {Sha256Of(bytes), static_cast<int64_t>(bytes.size())}; }

  std::vector<std::string> Staged() {
    std::vector<std::string> names;
    EXPECT_TRUE(state_.List("downloads", &names).ok());
    return names;
  }

  // Leaves a partial file of `size` bytes, as a broken connection does.
  void Interrupt(int64_t size) {
    Misbehaviour cut;
    cut.cut_after = size;
    server_.Misbehave("/part", cut);
    EXPECT_EQ(Ensure(part_, 1).code(), Code::kNetwork);
    EXPECT_FALSE(state_.Exists(PartStore::PathOf(part_.sha256)));
    server_.Misbehave("/part", {});
    server_.TakeRequests();
  }

  const std::string content_ = Bytes(200000, 'a');
  const Part part_ = PartOf(content_);
  HttpServer& server_ = *HttpServer::Shared();
  StateDirectory state_;
  std::unique_ptr<Transport> transport_;
  int64_t downloaded_ = 0;
};

TEST_F(PartStoreTest, DownloadsOnceAndThenHasIt) {
  ASSERT_TRUE(Ensure(part_).ok());
  EXPECT_EQ(downloaded_, 200000);
  std::string bytes;
  ASSERT_TRUE(state_.Read(PartStore::PathOf(part_.sha256), 1 << 20, &bytes).ok());
  EXPECT_EQ(bytes, content_);
  struct stat info;
  ASSERT_EQ(stat((state_.path() + "/" + PartStore::PathOf(part_.sha256)).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0444u);
  EXPECT_TRUE(Staged().empty());
  server_.TakeRequests();
  ASSERT_TRUE(Ensure(part_).ok());
  EXPECT_TRUE(server_.TakeRequests().empty());
}

TEST_F(PartStoreTest, ResumesWhereTheConnectionBroke) {
  Interrupt(70000);
  ASSERT_TRUE(Ensure(part_).ok());
  EXPECT_EQ(downloaded_, 130000);
  const auto requests = server_.TakeRequests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].range, "bytes=70000-");
}

TEST_F(PartStoreTest, RetriesWithinOneCall) {
  Misbehaviour cut;
  cut.cut_after = 50000;
  cut.cuts = 3;
  server_.Misbehave("/part", cut);
  ASSERT_TRUE(Ensure(part_, 5).ok());
  EXPECT_EQ(downloaded_, 200000);
}

TEST_F(PartStoreTest, StartsAgainWhenTheObjectChanged) {
  const std::string other = Bytes(200000, 'b');
  server_.Put("/part", other);
  Misbehaviour cut;
  cut.cut_after = 70000;
  server_.Misbehave("/part", cut);
  EXPECT_EQ(Ensure(part_, 1).code(), Code::kNetwork);
  server_.Misbehave("/part", {});
  server_.Put("/part", content_);  // If-Range fails: the server sends all of it
  ASSERT_TRUE(Ensure(part_).ok());
  EXPECT_EQ(downloaded_, 200000);
}

TEST_F(PartStoreTest, NoticesAChangedObjectBehindABadServer) {
  const std::string other = Bytes(200000, 'b');
  server_.Put("/part", other);
  Misbehaviour cut;
  cut.cut_after = 70000;
  server_.Misbehave("/part", cut);
  EXPECT_EQ(Ensure(part_, 1).code(), Code::kNetwork);
  server_.Put("/part", content_);
  // The server ignores If-Range: the tag gives it away. Without a tag, the digest does.
  for (const bool without_etag : {false, true}) {
    Misbehaviour bad;
    bad.ignore_if_range = true;
    bad.without_etag = without_etag;
    server_.Misbehave("/part", bad);
    ASSERT_TRUE(Ensure(part_).ok());
    ASSERT_TRUE(state_.RemoveAll("parts").ok());
    server_.Put("/part", other);
    server_.Misbehave("/part", cut);
    EXPECT_EQ(Ensure(part_, 1).code(), Code::kNetwork);
    server_.Put("/part", content_);
  }
}

TEST_F(PartStoreTest, DoesNotResumeWithoutATag) {
  Misbehaviour cut;
  cut.cut_after = 70000;
  cut.without_etag = true;
  server_.Misbehave("/part", cut);
  EXPECT_EQ(Ensure(part_, 1).code(), Code::kNetwork);
  server_.Misbehave("/part", {});
  ASSERT_TRUE(Ensure(part_).ok());
  EXPECT_EQ(downloaded_, 200000);
}

TEST_F(PartStoreTest, RefusesTamperedBytes) {
  std::string tampered = content_;
  tampered[100000] ^= 1;
  server_.Put("/part", tampered);
  const Status status = Ensure(part_);
  EXPECT_EQ(status.code(), Code::kDigest);
  EXPECT_NE(status.message().find(part_.sha256.Hex()), std::string::npos) << status.message();
  EXPECT_FALSE(state_.Exists(PartStore::PathOf(part_.sha256)));
}

TEST_F(PartStoreTest, RefusesShorterAndLongerObjects) {
  server_.Put("/part", content_.substr(0, 199999));
  EXPECT_EQ(Ensure(part_).code(), Code::kNetwork);
  EXPECT_FALSE(state_.Exists(PartStore::PathOf(part_.sha256)));
  server_.Put("/part", content_ + "x");
  const Code longer = Ensure(part_).code();
  EXPECT_TRUE(longer == Code::kLimit || longer == Code::kDigest);
  Misbehaviour endless;
  endless.chunked_endless = true;
  server_.Misbehave("/part", endless);
  const Code code = Ensure(part_).code();
  EXPECT_TRUE(code == Code::kLimit || code == Code::kDigest);
  EXPECT_FALSE(state_.Exists(PartStore::PathOf(part_.sha256)));
}

TEST_F(PartStoreTest, EndsASilentTransfer) {
  Misbehaviour silent;
  silent.stall = true;
  server_.Misbehave("/part", silent);
  EXPECT_EQ(Ensure(part_, 1).code(), Code::kNetwork);
}

TEST_F(PartStoreTest, ReplacesADamagedPart) {
  ASSERT_TRUE(Ensure(part_).ok());
  std::string damaged = content_;
  damaged[5] ^= 4;
  ASSERT_TRUE(state_.WriteAtomic(PartStore::PathOf(part_.sha256), damaged).ok());
  ASSERT_TRUE(Ensure(part_).ok());
  EXPECT_EQ(downloaded_, 200000);
}

TEST_F(PartStoreTest, AWrongSignedLengthCostsNobodyElseThePart) {
  ASSERT_TRUE(Ensure(part_).ok());
  server_.TakeRequests();
  Part contradicting = part_;
  contradicting.length = 1000;
  const Status status = Ensure(contradicting);
  EXPECT_EQ(status.code(), Code::kDigest);
  EXPECT_NE(status.message().find("200000 bytes"), std::string::npos) << status.message();
  EXPECT_TRUE(server_.TakeRequests().empty());
  PartStore parts(&state_, nullptr, {});
  EXPECT_TRUE(parts.Present(part_));
  EXPECT_FALSE(parts.Damaged(contradicting));
}

// Fails the steps with `name` in them.
struct FailingStep {
  std::string name;
  int error = 0;
  int count = 1 << 30;  // how often
};
int Fail(void* context, const char* step) {
  auto* failing = static_cast<FailingStep*>(context);
  if (std::string(step).find(failing->name) == std::string::npos || failing->count == 0) return 0;
  --failing->count;
  return failing->error;
}

TEST_F(PartStoreTest, AFullDiskKeepsNoPartialFile) {
  for (const char* step : {"write downloads/", "fsync downloads/"}) {
    FailingStep full{step, ENOSPC};
    ASSERT_TRUE(state_.Open(state_.path(), Fail, &full).ok());
    EXPECT_EQ(Ensure(part_).code(), Code::kNoSpace) << step;
    EXPECT_TRUE(Staged().empty()) << step;
  }
  ASSERT_TRUE(state_.Open(state_.path()).ok());
  EXPECT_TRUE(Ensure(part_).ok());
}

TEST_F(PartStoreTest, ABadBlockIsDamage) {
  ASSERT_TRUE(Ensure(part_).ok());
  FailingStep bad{"read parts/", EIO, 2};
  ASSERT_TRUE(state_.Open(state_.path(), Fail, &bad).ok());
  EXPECT_TRUE(PartStore(&state_, nullptr, {}).Damaged(part_));
  ASSERT_TRUE(Ensure(part_).ok());
  EXPECT_EQ(downloaded_, 200000) << "fetched again";
  // Another error says nothing about the bytes.
  FailingStep denied{"read parts/", EACCES};
  ASSERT_TRUE(state_.Open(state_.path(), Fail, &denied).ok());
  EXPECT_FALSE(PartStore(&state_, nullptr, {}).Damaged(part_));
}

TEST_F(PartStoreTest, KnowsWhatIsToCome) {
  PartStore parts(&state_, nullptr, {});
  EXPECT_EQ(parts.Outstanding(part_), 200000);
  Interrupt(70000);
  EXPECT_EQ(parts.Outstanding(part_), 130000);
  ASSERT_TRUE(Ensure(part_).ok());
  EXPECT_EQ(parts.Outstanding(part_), 0);
}

TEST_F(PartStoreTest, APartialFileThatIsTooLongIsStartedAgain) {
  Interrupt(70000);
  FileDescriptor file;
  int64_t size = 0;
  const std::string staged = "downloads/" + part_.sha256.Hex() + ".part";
  ASSERT_TRUE(state_.OpenForAppend(staged, &file, &size).ok());
  EXPECT_EQ(size, 70000);
  ASSERT_TRUE(state_.Append(file, content_.data(), content_.size(), staged).ok());
  ASSERT_TRUE(Ensure(part_).ok());
  EXPECT_EQ(downloaded_, 200000);
}

TEST_F(PartStoreTest, MissingObjectIsNotFound) {
  server_.Remove("/part");
  EXPECT_EQ(Ensure(part_).code(), Code::kNotFound);
}

TEST_F(PartStoreTest, RemovesWhatNobodyNeeds) {
  ASSERT_TRUE(Ensure(part_).ok());
  ASSERT_TRUE(state_.WriteAtomic("parts/rubbish", "x").ok());
  ASSERT_TRUE(PartStore(&state_, transport_.get(), {}).RemoveAllBut({part_.sha256}).ok());
  EXPECT_FALSE(state_.Exists("parts/rubbish"));
  ASSERT_TRUE(PartStore(&state_, transport_.get(), {}).RemoveAllBut({}).ok());
  EXPECT_FALSE(state_.Exists(PartStore::PathOf(part_.sha256)));
}

}  // namespace
}  // namespace aot::ota
