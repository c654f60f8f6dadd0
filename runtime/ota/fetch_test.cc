// aot_fetch_and_load against a real server, with real artifacts: the whole way from signed metadata to a model that
// ran, each attack and each fault on it, and a power cut at every step.
#include "runtime/ota/fetch.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aot/ota.h"
#include "runtime/format/manifest_layout.h"
#include "runtime/ota/testing/test_artifact.h"
#include "runtime/ota/utc_time.h"
#include "runtime/port/port.h"

namespace aot::ota {
namespace {

using nlohmann::json;

struct Loaded {
  aot_status status = AOT_OK;
  std::string message;
  float value = -1;  // of the run: 2 + bias
  aot_fetch_report report = {};
};

class FetchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(sodium_init(), 0);
    std::string pattern = ::testing::TempDir() + "fetch-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    state_ = directory_ + "/state";
    ASSERT_TRUE(ParseUtcTime("2026-06-01T00:00:00Z", &now_));
    repository_.PublishRoot();
  }

  static int64_t Now(void* context) { return static_cast<FetchTest*>(context)->now_; }
  static void Log(void* context, const char* message) {
    static_cast<FetchTest*>(context)->log_ += std::string(message) + "\n";
  }

  Loaded Fetch(uint32_t flags = 0, const char* model_name = "m") {
    Loaded loaded;
    loaded.report.size = sizeof(loaded.report);
    const std::string root = repository_.FirstRoot();
    const std::string url = server_.url() + "/";
    aot_fetch_config config = {};
    config.size = sizeof(config);
    config.url = url.c_str();
    config.state_dir = state_.c_str();
    config.root = root.data();
    config.root_size = root.size();
    config.flags = flags;
    config.limits.low_speed_seconds = 1;
    config.limits.attempts = 1;
    config.limits.lock_timeout_ms = 60;
    config.limits.code_bytes = 1 << 20;
    config.now = Now;
    config.log = Log;
    config.context = this;
    config.report = &loaded.report;
    aot_error error = {};
    aot_model* model = nullptr;
    loaded.status = aot_fetch_and_load(&config, model_name, &model, &error);
    loaded.message = error.message;
    EXPECT_EQ(model != nullptr, loaded.status == AOT_OK);
    if (model != nullptr) loaded.value = RunTestModel(model);
    aot_unload(model);
    return loaded;
  }

  compiler::Artifact Release(int64_t release, float bias, bool good = true) {
    compiler::Artifact artifact = MakeTestArtifact({bias, "", good});
    AddRelease(&server_, &repository_, artifact, "stable", "m", release);
    repository_.Publish();
    return artifact;
  }

  void Republish(const compiler::Artifact& artifact, const json& custom) {
    repository_.AddTarget("stable/m/" + TestTargetName() + ".manifest", artifact.manifest, custom);
    repository_.Publish();
  }

  // Release 1 keeps running, and the caller learns why there is no update; who insists on one gets the error.
  void ExpectRefused(aot_status why) {
    const Loaded loaded = Fetch();
    EXPECT_EQ(loaded.status, AOT_OK) << loaded.message;
    EXPECT_EQ(loaded.value, 3.0f);
    EXPECT_EQ(loaded.report.update_status, why) << loaded.report.update_message;
    EXPECT_NE(loaded.report.update_message[0], '\0');
    EXPECT_EQ(loaded.report.release, 1u);
    EXPECT_EQ(Fetch(AOT_FETCH_REQUIRE_UPDATE).status, why);
  }

  void ExpectRuns(float value, aot_fetch_source source, uint32_t flags = 0) {
    const Loaded loaded = Fetch(flags);
    EXPECT_EQ(loaded.status, AOT_OK) << loaded.message;
    EXPECT_EQ(loaded.value, value) << log_;
    EXPECT_EQ(loaded.report.source, source);
  }

  int Requests(const std::string& prefix) {
    int count = 0;
    for (const auto& request : server_.TakeRequests()) count += request.path.compare(0, prefix.size(), prefix) == 0;
    return count;
  }

  HttpServer& server_ = *HttpServer::Shared();
  TufRepository repository_{&server_};
  std::string directory_, state_, log_;
  int64_t now_ = 0;
};

TEST_F(FetchTest, FetchesVerifiesInstallsAndRuns) {
  const compiler::Artifact artifact = Release(1, 1);
  const Loaded first = Fetch();
  ASSERT_EQ(first.status, AOT_OK) << first.message;
  EXPECT_EQ(first.value, 3.0f);
  EXPECT_EQ(first.report.source, AOT_FETCH_DOWNLOADED);
  EXPECT_EQ(first.report.update_status, AOT_OK);
  EXPECT_EQ(first.report.target, TestTargetName());
  EXPECT_EQ(first.report.release, 1u);
  const size_t bytes = artifact.manifest.size() + artifact.code.size() + artifact.weights.size();
  EXPECT_EQ(first.report.artifact_bytes, bytes);
  EXPECT_EQ(first.report.downloaded_bytes, bytes);
  server_.TakeRequests();
  ExpectRuns(3, AOT_FETCH_INSTALLED);
  EXPECT_EQ(server_.TakeRequests().size(), 2u);  // the next root and the timestamp
}

TEST_F(FetchTest, FetchesOnlyMissingParts) {
  Release(1, 1);
  ASSERT_EQ(Fetch().status, AOT_OK);
  server_.TakeRequests();
  Release(2, 2);  // other weights
  ExpectRuns(4, AOT_FETCH_DOWNLOADED);
  EXPECT_EQ(Requests("/blobs/"), 1);
  AddRelease(&server_, &repository_, MakeTestArtifact({2, "other options"}), "stable", "second", 1);
  repository_.Publish();
  server_.TakeRequests();
  const Loaded second = Fetch(0, "second");
  EXPECT_EQ(second.value, 4.0f);
  EXPECT_EQ(Requests("/blobs/"), 0);
}

TEST_F(FetchTest, KeepsTwoVersionsAndNoMore) {
  for (int release = 1; release <= 4; ++release) {
    Release(release, static_cast<float>(release));
    ExpectRuns(2.0f + static_cast<float>(release), AOT_FETCH_DOWNLOADED);
  }
  StateDirectory state;
  std::vector<std::string> names;
  ASSERT_TRUE(state.Open(state_).ok());
  ASSERT_TRUE(state.List("parts", &names).ok());
  EXPECT_EQ(names.size(), 5u);  // two manifests, two weights, one code
  for (const char* directory : {"staging", "downloads/stable"}) {
    ASSERT_TRUE(state.List(directory, &names).ok());
    EXPECT_TRUE(names.empty()) << directory;
  }
}

// --- Without a repository.
// -----------------------------------------------------------------------------------------------------

TEST_F(FetchTest, WorksOffline) {
  Release(1, 1);
  EXPECT_EQ(Fetch(AOT_FETCH_OFFLINE).status, AOT_NOT_FOUND);
  ExpectRuns(3, AOT_FETCH_DOWNLOADED);
  server_.TakeRequests();
  ASSERT_TRUE(ParseUtcTime("2199-01-01T00:00:00Z", &now_));  // all metadata expired long ago
  ExpectRuns(3, AOT_FETCH_INSTALLED, AOT_FETCH_OFFLINE);
  EXPECT_TRUE(server_.TakeRequests().empty());
}

TEST_F(FetchTest, KeepsRunningWhenTheRepositoryFails) {
  Release(1, 1);
  ASSERT_EQ(Fetch().status, AOT_OK);
  Misbehaviour silent;
  silent.stall = true;
  server_.Misbehave("/tuf/timestamp.json", silent);
  ExpectRefused(AOT_NETWORK_ERROR);
  server_.Misbehave("/tuf/timestamp.json", {});
  server_.Remove("/tuf/timestamp.json");
  ExpectRefused(AOT_NOT_FOUND);
}

// --- Attacks.
// ------------------------------------------------------------------------------------------------------------------

TEST_F(FetchTest, NothingIsInstalledWithoutAGoodSignature) {
  Release(1, 1);
  TufRepository other(nullptr);
  other.PublishRoot();
  const TufRepository real = repository_;
  repository_ = other;  // the device trusts another root
  const Loaded loaded = Fetch();
  EXPECT_EQ(loaded.status, AOT_BAD_SIGNATURE);
  EXPECT_NE(loaded.message.find("timestamp.json"), std::string::npos) << loaded.message;
  EXPECT_EQ(loaded.report.source, AOT_FETCH_NOTHING);
}

TEST_F(FetchTest, WrongKeyExpiredRollback) {
  Release(1, 1);
  ASSERT_EQ(Fetch().status, AOT_OK);
  const auto old = server_.Objects();
  const std::vector<TestKey> keys = repository_.targets.keys;
  repository_.targets.keys = {MakeTestKey()};
  repository_.targets.keys[0].id = keys[0].id;
  Release(2, 2);
  ExpectRefused(AOT_BAD_SIGNATURE);
  repository_.targets.keys = keys;
  repository_.timestamp.expires = "2026-05-31T00:00:00Z";
  repository_.Publish();
  ExpectRefused(AOT_EXPIRED);
  repository_.timestamp.expires = "2099-01-01T00:00:00Z";
  Release(1, 1);
  ASSERT_EQ(Fetch().report.update_status, AOT_OK);
  server_.SetObjects(old);
  ExpectRefused(AOT_ROLLBACK);
}

TEST_F(FetchTest, RefusesAnOlderReleaseNumber) {
  Release(5, 1);
  ASSERT_EQ(Fetch().status, AOT_OK);
  Release(4, 2);
  const Loaded loaded = Fetch();
  EXPECT_EQ(loaded.report.update_status, AOT_ROLLBACK);
  EXPECT_EQ(loaded.value, 3.0f);
}

TEST_F(FetchTest, TamperedShortAndLongBlobs) {
  const compiler::Artifact first = Release(1, 1);
  ASSERT_EQ(Fetch().status, AOT_OK);
  const compiler::Artifact second = Release(2, 2);
  const std::string path = "/blobs/sha256/" + Sha256HexForTest(second.weights);
  std::string tampered = second.weights;
  tampered[3] ^= 1;
  server_.Put(path, tampered);
  ExpectRefused(AOT_DIGEST_MISMATCH);
  server_.Put(path, second.weights.substr(0, 31));
  ExpectRefused(AOT_NETWORK_ERROR);
  server_.Put(path, second.weights + "x");
  ExpectRefused(AOT_LIMIT_EXCEEDED);
  server_.Put(path, first.weights);  // new code with old weights
  ExpectRefused(AOT_DIGEST_MISMATCH);
  server_.Remove(path);
  ExpectRefused(AOT_NOT_FOUND);
  server_.Put(path, second.weights);
  ExpectRuns(4, AOT_FETCH_DOWNLOADED);
}

TEST_F(FetchTest, MixAndMatch) {
  const compiler::Artifact first = Release(1, 1);
  ASSERT_EQ(Fetch().status, AOT_OK);
  const compiler::Artifact second = MakeTestArtifact({2});
  server_.Put("/blobs/sha256/" + Sha256HexForTest(second.weights), second.weights);
  const json good = CustomOf(second, "stable", "m", 2);
  const auto changed = [&](const char* member, const json& value) {
    json custom = good;
    custom["aot"][member] = value;
    Republish(second, custom);
  };
  changed("triple", "riscv64-linux-gnu");
  ExpectRefused(AOT_WRONG_TARGET);
  changed("cpu_features", {"a-feature-of-the-future"});
  ExpectRefused(AOT_WRONG_TARGET);
  changed("abi", 2);
  ExpectRefused(AOT_WRONG_TARGET);
  changed("format", 2);
  ExpectRefused(AOT_WRONG_TARGET);
  changed("cpu_features", json::array());  // the manifest needs more than the metadata says
  ExpectRefused(AOT_DIGEST_MISMATCH);
  changed("vector_bits", 1 << 20);
  ExpectRefused(AOT_WRONG_TARGET);
  changed("vector_bits", 64);
  ExpectRefused(AOT_DIGEST_MISMATCH);
  changed("arena_size", 128);
  ExpectRefused(AOT_DIGEST_MISMATCH);
  changed("weights", {{"sha256", Sha256HexForTest(first.weights)}, {"length", first.weights.size()}});
  ExpectRefused(AOT_DIGEST_MISMATCH);
  changed("code", {{"sha256", Sha256HexForTest(first.weights)}, {"length", first.weights.size()}});
  ExpectRefused(AOT_DIGEST_MISMATCH);
  changed("model", "another");
  ExpectRefused(AOT_DIGEST_MISMATCH);
  changed("code", {{"sha256", Sha256HexForTest("x")}, {"length", 1 << 21}});
  ExpectRefused(AOT_LIMIT_EXCEEDED);
  changed("release", "two");
  ExpectRefused(AOT_MALFORMED);
  Republish(second, nullptr);
  ExpectRefused(AOT_MALFORMED);
  Republish(second, good);
  ExpectRuns(4, AOT_FETCH_DOWNLOADED);
}

TEST_F(FetchTest, AManifestThatIsNone) {
  Release(1, 1);
  ASSERT_EQ(Fetch().status, AOT_OK);
  compiler::Artifact bad = MakeTestArtifact({2});
  bad.manifest.resize(bad.manifest.size() / 2);
  AddRelease(&server_, &repository_, bad, "stable", "m", 2);
  repository_.Publish();
  ExpectRefused(AOT_MALFORMED);
}

TEST_F(FetchTest, RefusesNamesThatAreNoNames) {
  for (const char* name : {"", "..", "../x", "a/b", ".hidden", "a b", "a\n", "\xC3\xA9"})
    EXPECT_EQ(Fetch(0, name).status, AOT_INVALID_ARGUMENT) << name;
  EXPECT_EQ(Fetch(0, nullptr).status, AOT_INVALID_ARGUMENT);
  EXPECT_EQ(Fetch(0x80000000u).status, AOT_INVALID_ARGUMENT);
  EXPECT_EQ(Fetch(AOT_FETCH_OFFLINE | AOT_FETCH_REQUIRE_UPDATE).status, AOT_INVALID_ARGUMENT);
  aot_model* model = nullptr;
  EXPECT_EQ(aot_fetch_and_load(nullptr, "m", &model, nullptr), AOT_INVALID_ARGUMENT);
  EXPECT_EQ(Fetch(0, "unknown").status, AOT_NOT_FOUND);
  struct {
    aot_fetch_config config;
    uint64_t member_of_the_future;
  } newer = {};
  newer.config.size = sizeof(newer);
  newer.config.state_dir = state_.c_str();
  newer.config.flags = AOT_FETCH_OFFLINE;
  EXPECT_EQ(aot_fetch_and_load(&newer.config, "m", &model, nullptr), AOT_NOT_FOUND);
  newer.member_of_the_future = 1;
  EXPECT_EQ(aot_fetch_and_load(&newer.config, "m", &model, nullptr), AOT_INVALID_ARGUMENT);
}

// --- A version that is no good.
// ------------------------------------------------------------------------------------------------

TEST_F(FetchTest, AFailedSelfTestBringsThePreviousVersionBack) {
  Release(1, 1);
  ASSERT_EQ(Fetch().status, AOT_OK);
  Release(2, 2, /*good=*/false);
  Loaded loaded = Fetch();
  EXPECT_EQ(loaded.status, AOT_OK);
  EXPECT_EQ(loaded.value, 3.0f);
  EXPECT_EQ(loaded.report.source, AOT_FETCH_PREVIOUS);
  EXPECT_EQ(loaded.report.update_status, AOT_SELF_TEST_FAILED);
  EXPECT_NE(log_.find("release 2"), std::string::npos) << log_;
  // It is not tried again, with or without a network.
  ExpectRuns(3, AOT_FETCH_PREVIOUS);
  ExpectRuns(3, AOT_FETCH_PREVIOUS, AOT_FETCH_OFFLINE);
  EXPECT_EQ(Fetch(AOT_FETCH_REQUIRE_UPDATE).status, AOT_SELF_TEST_FAILED);
  Release(3, 3);
  ExpectRuns(5, AOT_FETCH_DOWNLOADED);
  Release(4, 1);  // the old artifact, published again
  ExpectRuns(3, AOT_FETCH_INSTALLED);
}

// The emergency: release 2 was a mistake, the artifact of release 1 is published again as release 3.
TEST_F(FetchTest, AnOldArtifactPublishedAgainIsTheNewest) {
  Release(1, 1);
  ASSERT_EQ(Fetch().value, 3.0f);
  Release(2, 2);
  ASSERT_EQ(Fetch().value, 4.0f);
  Release(3, 1);
  ExpectRuns(3, AOT_FETCH_INSTALLED);
  const Loaded offline = Fetch(AOT_FETCH_OFFLINE);
  EXPECT_EQ(offline.value, 3.0f) << "went back to the withdrawn release";
  EXPECT_EQ(offline.report.release, 3u);
  // A bad release 4 takes the withdrawn one's place, not that of the version that runs.
  Release(4, 4, /*good=*/false);
  const Loaded after = Fetch();
  EXPECT_EQ(after.value, 3.0f);
  EXPECT_EQ(after.report.source, AOT_FETCH_PREVIOUS);
  EXPECT_EQ(Fetch(AOT_FETCH_OFFLINE).value, 3.0f);
}

TEST_F(FetchTest, TheNewestArtifactMayGetAnotherNumber) {
  Release(1, 1);
  ASSERT_EQ(Fetch().value, 3.0f);
  Release(2, 2);
  ASSERT_EQ(Fetch().value, 4.0f);
  Release(3, 2);
  const Loaded loaded = Fetch();
  EXPECT_EQ(loaded.value, 4.0f);
  EXPECT_EQ(loaded.report.release, 3u);
  EXPECT_EQ(loaded.report.downloaded_bytes, 0u);
  Release(2, 2);
  EXPECT_EQ(Fetch().report.update_status, AOT_ROLLBACK);
}

// The artifact with code that names another processor, all digests right.
compiler::Artifact ForAnotherProcessor(compiler::Artifact artifact) {
  artifact.code[18] = static_cast<char>(0xf3);  // e_machine: RISC-V
  artifact.code[19] = 0;
  uint32_t info = 0;
  memcpy(&info, artifact.manifest.data() + AOT_HEADER_SIZE + AOT_SECTION_OFFSET, sizeof(info));
  const auto raw = [](const std::string& bytes) {
    const Digest digest = Sha256Of(bytes);
    return std::string(digest.bytes.begin(), digest.bytes.end());
  };
  artifact.manifest.replace(info + AOT_INFO_CODE_SHA256, 32, raw(artifact.code));
  artifact.manifest.resize(artifact.manifest.size() - 32);
  artifact.manifest += raw(artifact.manifest);
  return artifact;
}

TEST_F(FetchTest, AVersionForALaterApplicationIsNotCondemned) {
  Release(1, 1);
  ASSERT_EQ(Fetch().value, 3.0f);
  AddRelease(&server_, &repository_, ForAnotherProcessor(MakeTestArtifact({2})), "stable", "m", 2);
  repository_.Publish();
  for (int start = 0; start < 5; ++start) {
    const Loaded loaded = Fetch();
    EXPECT_EQ(loaded.value, 3.0f);
    EXPECT_EQ(loaded.report.source, AOT_FETCH_PREVIOUS);
    EXPECT_EQ(loaded.report.update_status, AOT_WRONG_TARGET) << loaded.report.update_message;
  }
  StateDirectory state;
  ASSERT_TRUE(state.Open(state_).ok());
  EXPECT_TRUE(state.Exists("slots/stable/m/b/complete"));
  EXPECT_FALSE(state.Exists("slots/stable/m/b/failed"));
  EXPECT_FALSE(state.Exists("slots/stable/m/b/attempts"));
}

TEST_F(FetchTest, AFirstVersionThatFailsIsAnError) {
  Release(1, 1, /*good=*/false);
  const Loaded loaded = Fetch();
  EXPECT_EQ(loaded.status, AOT_SELF_TEST_FAILED);
  EXPECT_EQ(loaded.report.update_status, AOT_SELF_TEST_FAILED);
}

TEST_F(FetchTest, ADamagedPartIsFetchedAgain) {
  Release(1, 1);
  ASSERT_EQ(Fetch().status, AOT_OK);
  const compiler::Artifact second = Release(2, 2);
  ASSERT_EQ(Fetch().value, 4.0f);
  StateDirectory state;
  ASSERT_TRUE(state.Open(state_).ok());
  std::string damaged = second.weights;
  damaged[0] ^= 1;
  ASSERT_TRUE(state.WriteAtomic(PartStore::PathOf(Sha256Of(second.weights)), damaged).ok());
  ExpectRuns(3, AOT_FETCH_PREVIOUS, AOT_FETCH_OFFLINE);
  ExpectRuns(4, AOT_FETCH_INSTALLED);
  ASSERT_TRUE(state.RemoveAll(PartStore::PathOf(Sha256Of(second.manifest))).ok());
  ExpectRuns(3, AOT_FETCH_PREVIOUS, AOT_FETCH_OFFLINE);
  ExpectRuns(4, AOT_FETCH_INSTALLED);
}

// --- Processes.
// ----------------------------------------------------------------------------------------------------------------

TEST_F(FetchTest, WaitsForAnotherProcessOnlySoLong) {
  Release(1, 1);
  ASSERT_EQ(Fetch().status, AOT_OK);
  StateDirectory other;
  ASSERT_TRUE(other.Open(state_).ok());
  ASSERT_TRUE(other.Acquire(StateDirectory::Lock::kSlots, 0).ok());
  EXPECT_EQ(Fetch().status, AOT_BUSY);
  other.Release(StateDirectory::Lock::kSlots);
  // Another process's update is no reason not to run what is installed.
  ASSERT_TRUE(other.Acquire(StateDirectory::Lock::kUpdate, 0).ok());
  ExpectRuns(3, AOT_FETCH_INSTALLED, AOT_FETCH_OFFLINE);
  ExpectRefused(AOT_BUSY);
}

TEST_F(FetchTest, RefusesLimitsThatAreNone) {
  Release(1, 1);
  const std::string root = repository_.FirstRoot();
  const std::string url = server_.url();
  const auto fetch = [&](const std::function<void(aot_fetch_limits*)>& set) {
    aot_fetch_config config = {};
    config.size = sizeof(config);
    config.url = url.c_str();
    config.state_dir = state_.c_str();
    config.root = root.data();
    config.root_size = root.size();
    config.now = Now;
    config.context = this;
    set(&config.limits);
    aot_model* model = nullptr;
    aot_error error = {};
    const aot_status status = aot_fetch_and_load(&config, "m", &model, &error);
    aot_unload(model);
    return std::string(error.message) + (status == AOT_INVALID_ARGUMENT || status == AOT_OK ? "" : "?");
  };
  EXPECT_EQ(fetch([](aot_fetch_limits* l) { l->weights_bytes = UINT64_MAX; }),
            "limit weights_bytes is 18446744073709551615, at most 4611686018427387904");
  EXPECT_EQ(fetch([](aot_fetch_limits* l) { l->max_starts = 33; }), "limit max_starts is 33, at most 32");
  EXPECT_NE(fetch([](aot_fetch_limits* l) { l->root_bytes = uint64_t{1} << 40; }), "");
  EXPECT_NE(fetch([](aot_fetch_limits* l) { l->lock_timeout_ms = UINT32_MAX; }), "");
  EXPECT_EQ(fetch([](aot_fetch_limits* l) {
              l->max_starts = 32;
              l->weights_bytes = uint64_t{1} << 62;
              l->update_seconds = 100;
            }),
            "");
}

TEST_F(FetchTest, ResumesADownloadAcrossCalls) {
  const compiler::Artifact artifact = Release(1, 1);
  const std::string path = "/blobs/sha256/" + Sha256HexForTest(artifact.code);
  Misbehaviour cut;
  cut.cut_after = 700;
  server_.Misbehave(path, cut);
  EXPECT_EQ(Fetch().status, AOT_NETWORK_ERROR);
  server_.Misbehave(path, {});
  server_.TakeRequests();
  const Loaded loaded = Fetch();
  EXPECT_EQ(loaded.status, AOT_OK);
  EXPECT_EQ(loaded.report.downloaded_bytes, artifact.code.size() - 700 + artifact.weights.size());
}

TEST_F(FetchTest, AnUpdateThatBrokeOffKeepsWhatItHas) {
  Release(1, 1);
  ASSERT_EQ(Fetch().value, 3.0f);
  const compiler::Artifact second = Release(2, 2);
  const std::string path = "/blobs/sha256/" + Sha256HexForTest(second.weights);
  server_.Remove(path);
  ExpectRefused(AOT_NOT_FOUND);
  ExpectRuns(3, AOT_FETCH_INSTALLED, AOT_FETCH_OFFLINE);
  // Another model's update doesn't clean it away either.
  AddRelease(&server_, &repository_, MakeTestArtifact({7}), "stable", "second", 1);
  repository_.Publish();
  ASSERT_EQ(Fetch(0, "second").report.source, AOT_FETCH_DOWNLOADED);
  server_.Put(path, second.weights);
  const Loaded loaded = Fetch();
  EXPECT_EQ(loaded.value, 4.0f);
  EXPECT_EQ(loaded.report.downloaded_bytes, second.weights.size());
}

TEST_F(FetchTest, APartialDownloadOutlivesAnotherModelsUpdate) {
  const compiler::Artifact artifact = Release(1, 1);
  const std::string path = "/blobs/sha256/" + Sha256HexForTest(artifact.code);
  Misbehaviour cut;
  cut.cut_after = 700;
  cut.cuts = 1;
  server_.Misbehave(path, cut);
  EXPECT_EQ(Fetch().status, AOT_NETWORK_ERROR);
  AddRelease(&server_, &repository_, MakeTestArtifact({7}), "stable", "second", 1);
  repository_.Publish();
  ASSERT_EQ(Fetch(0, "second").status, AOT_OK);
  StateDirectory state;
  ASSERT_TRUE(state.Open(state_).ok());
  EXPECT_TRUE(state.Exists("downloads/stable/m/" + Sha256HexForTest(artifact.code) + ".part"));
  // A newer release of the same model has no use for it.
  Release(2, 2);
  ASSERT_EQ(Fetch().value, 4.0f);
  EXPECT_FALSE(state.Exists("downloads/stable/m"));
}

TEST_F(FetchTest, TheRootIsReadOnlyWhenItIsNeeded) {
  Release(1, 1);
  const std::string url = server_.url();
  aot_fetch_config config = {};
  config.size = sizeof(config);
  config.url = url.c_str();
  config.state_dir = state_.c_str();
  config.flags = AOT_FETCH_REQUIRE_UPDATE;
  config.now = Now;
  config.context = this;
  aot_model* model = nullptr;
  aot_error error = {};
  EXPECT_EQ(aot_fetch_and_load(&config, "m", &model, &error), AOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "no trusted root given");
  ASSERT_EQ(Fetch().status, AOT_OK);
  config.root_path = "/no/such/root.json";
  ASSERT_EQ(aot_fetch_and_load(&config, "m", &model, &error), AOT_OK) << error.message;
  aot_unload(model);
}

// A power cut: the process ends before a step, by number or by name. With a root, the disk forgets what was written to
// files and not synced; a name that was given to such a file stays, as on a journalling file system.
struct PowerCut {
  int steps = -1;
  std::string name;
  std::string root = {};
  std::map<std::string, off_t> unsynced = {};  // path -> length that is on the disk
  std::string syncing = {};
};

off_t LengthOf(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 ? info.st_size : 0;
}

// Keeps account of what is not synced; the step before has happened by now.
void NoteStep(PowerCut* cut, const std::string& step) {
  cut->unsynced.erase(cut->syncing);
  cut->syncing.clear();
  const std::string verb = step.substr(0, step.find(' ')), path = step.substr(verb.size() + 1);
  if (verb == "write" || verb == "truncate") cut->unsynced.emplace(path, LengthOf(cut->root + "/" + path));
  if (verb == "truncate") cut->unsynced[path] = 0;
  if (verb == "fsync") cut->syncing = path;  // "fsync directory of x" names no file
  const size_t to = path.find(" to ");
  if (verb != "rename" || to == std::string::npos) return;
  const auto moved = cut->unsynced.find(path.substr(0, to));
  if (moved == cut->unsynced.end()) return;
  cut->unsynced[path.substr(to + 4)] = moved->second;
  cut->unsynced.erase(moved);
}

int Cut(void* context, const char* step) {
  auto* cut = static_cast<PowerCut*>(context);
  const std::string text = step;
  if (text.compare(0, 5, "read ") == 0) return 0;  // changes nothing
  if (cut->steps-- == 0 || (!cut->name.empty() && text.find(cut->name) != std::string::npos)) {
    cut->unsynced.erase(cut->syncing);
    for (const auto& [path, length] : cut->unsynced)
      if (!cut->root.empty()) (void)!truncate((cut->root + "/" + path).c_str(), length);
    _exit(9);
  }
  NoteStep(cut, text);
  return 0;
}

// Runs one fetch in a process of its own. True if it came to its end, and loaded a model.
bool FetchUntil(FetchOptions options, PowerCut cut) {
  const pid_t child = fork();
  if (child == 0) {
    options.step_hook = Cut;
    options.step_context = &cut;
    aot_model* model = nullptr;
    FetchOutcome outcome;
    _exit(FetchAndLoad(options, &model, &outcome).ok() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_NE(WEXITSTATUS(status), 1);
  return WEXITSTATUS(status) == 0;
}

// A step of which the name has `name` in it fails with `error`.
struct FailingStep {
  std::string name;
  int error = 0;
};
int Fail(void* context, const char* step) {
  const auto* failing = static_cast<FailingStep*>(context);
  return std::string(step).find(failing->name) != std::string::npos ? failing->error : 0;
}

class PowerCutTest : public FetchTest {
 protected:
  FetchOptions Options() {
    FetchOptions options;
    options.install.server_url = server_.url();
    options.install.channel = "stable";
    options.install.model = "m";
    aot_port_detect_cpu(&options.install.cpu);
    options.state_dir = state_;
    options.first_root.bytes = repository_.FirstRoot();
    options.now = now_;
    return options;
  }
};

TEST_F(PowerCutTest, AtEveryStepOfAnUpdate) {
  Release(1, 1);
  ASSERT_EQ(Fetch().value, 3.0f);
  const std::string before = directory_ + "/before";
  ASSERT_EQ(system(("cp -r " + state_ + " " + before).c_str()), 0);
  // The update also brings new keys: the whole of the metadata is written.
  repository_.timestamp.keys = {MakeTestKey()};
  repository_.PublishRoot();
  Release(2, 2);
  int step = 0;
  for (bool finished = false; !finished; ++step) {
    ASSERT_LT(step, 500);
    ASSERT_EQ(system(("rm -rf " + state_ + " && cp -r " + before + " " + state_).c_str()), 0);
    finished = FetchUntil(Options(), {step, "", state_});
    // Whatever was left: the device starts without a network ...
    const Loaded offline = Fetch(AOT_FETCH_OFFLINE);
    ASSERT_EQ(offline.status, AOT_OK) << "step " << step << ": " << offline.message;
    ASSERT_TRUE(offline.value == 3.0f || offline.value == 4.0f) << "step " << step;
    // ... and the next update comes through.
    const Loaded online = Fetch(AOT_FETCH_REQUIRE_UPDATE);
    ASSERT_EQ(online.status, AOT_OK) << "step " << step << ": " << online.message;
    ASSERT_EQ(online.value, 4.0f) << "step " << step;
  }
  EXPECT_GT(step, 60);
}

TEST_F(PowerCutTest, AVersionThatTakesTheDeviceDownIsGivenUp) {
  Release(1, 1);
  ASSERT_EQ(Fetch().value, 3.0f);
  Release(2, 2);
  // Dies after loading, before it is confirmed; as often as it may.
  for (int start = 0; start < 3; ++start) EXPECT_FALSE(FetchUntil(Options(), {-1, "confirmed"}));
  const Loaded loaded = Fetch();
  EXPECT_EQ(loaded.value, 3.0f);
  EXPECT_EQ(loaded.report.source, AOT_FETCH_PREVIOUS);
  EXPECT_EQ(loaded.report.update_status, AOT_SELF_TEST_FAILED);
  Release(3, 3);
  ExpectRuns(5, AOT_FETCH_DOWNLOADED);
}

// --- A full disk, a bad block, a crash that is not the version's fault.

class FailingDiskTest : public PowerCutTest {
 protected:
  // One fetch with failing steps; the outcome of the update, and what runs in `value`.
  Code FetchWith(FailingStep failing) {
    FetchOptions options = Options();
    options.download.attempts = 1;
    options.step_hook = Fail;
    options.step_context = &failing;
    aot_model* model = nullptr;
    FetchOutcome outcome;
    const Status status = FetchAndLoad(options, &model, &outcome);
    value_ = status.ok() ? RunTestModel(model) : -1;
    aot_unload(model);
    return outcome.update.code();
  }
  float value_ = -1;
};

TEST_F(FailingDiskTest, AFullDiskDoesNotStopUpdatesForGood) {
  Release(1, 1);
  ASSERT_EQ(Fetch().value, 3.0f);
  StateDirectory state;
  ASSERT_TRUE(state.Open(state_).ok());
  const std::string others = "downloads/stable/other/" + std::string(64, 'a') + ".part";
  ASSERT_TRUE(state.MakeDirectories("downloads/stable/other").ok());
  ASSERT_TRUE(state.WriteAtomic(others, "partial").ok());
  ASSERT_TRUE(state.WriteAtomic("parts/" + std::string(64, 'b'), "of no slot").ok());
  const compiler::Artifact second = Release(2, 2);
  server_.TakeRequests();
  // It fills up while the part is written: the part goes again.
  EXPECT_EQ(FetchWith({"write downloads/stable/m/" + Sha256HexForTest(second.weights), ENOSPC}), Code::kNoSpace);
  EXPECT_EQ(value_, 3.0f);
  EXPECT_FALSE(state.Exists("downloads/stable/m/" + Sha256HexForTest(second.weights) + ".part"));
  EXPECT_TRUE(state.Exists(others));
  // It is full already: nothing is asked for, and what nobody needs is given back.
  server_.TakeRequests();
  EXPECT_EQ(FetchWith({"statvfs", ENOSPC}), Code::kNoSpace);
  EXPECT_EQ(value_, 3.0f);
  EXPECT_EQ(Requests("/blobs/"), 0);
  EXPECT_FALSE(state.Exists("downloads/stable/other"));
  EXPECT_FALSE(state.Exists("downloads/stable/m"));
  EXPECT_FALSE(state.Exists("parts/" + std::string(64, 'b')));
  ExpectRuns(4, AOT_FETCH_DOWNLOADED);
}

TEST_F(FailingDiskTest, AReadOnlyDiskStillStartsWhatProvedItself) {
  Release(1, 1);
  ASSERT_EQ(Fetch().value, 3.0f);
  EXPECT_EQ(FetchWith({"open staging/", EROFS}), Code::kOk);
  EXPECT_EQ(value_, 3.0f);
}

// Of a slot that is complete but not confirmed yet.
TEST_F(FailingDiskTest, AnErrorThatIsNotTheVersionsFaultIsNotHeldAgainstIt) {
  Release(1, 1);
  ASSERT_EQ(Fetch().value, 3.0f);
  const compiler::Artifact second = Release(2, 2);
  EXPECT_FALSE(FetchUntil(Options(), {-1, "confirmed"}));
  StateDirectory state;
  ASSERT_TRUE(state.Open(state_).ok());
  ASSERT_TRUE(state.RemoveAll(PartStore::PathOf(Sha256Of(second.weights))).ok());
  for (int start = 0; start < 5; ++start) ExpectRuns(3, AOT_FETCH_PREVIOUS, AOT_FETCH_OFFLINE);
  ExpectRuns(4, AOT_FETCH_INSTALLED);
}

// A server that sends just fast enough never to be too slow.
TEST_F(PowerCutTest, ADrippingServerHoldsNobodyUp) {
  Release(1, 1);
  ASSERT_EQ(Fetch().value, 3.0f);
  const compiler::Artifact second = Release(2, 2);
  Misbehaviour drip;
  drip.drip_ms = 100;
  server_.Misbehave("/blobs/sha256/" + Sha256HexForTest(second.code), drip);
  StateDirectory state;
  ASSERT_TRUE(state.Open(state_).ok());
  ASSERT_TRUE(state.RemoveAll(PartStore::PathOf(Sha256Of(second.code))).ok());
  server_.TakeRequests();
  FetchOptions options = Options();
  options.update_ms = 1500;
  FetchOutcome outcome;
  aot_model* model = nullptr;
  std::thread updating([&] { (void)FetchAndLoad(options, &model, &outcome); });
  while (Requests("/blobs/") == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  StateDirectory other;
  ASSERT_TRUE(other.Open(state_).ok());
  EXPECT_EQ(other.Acquire(StateDirectory::Lock::kUpdate, 0).code(), Code::kBusy);
  EXPECT_TRUE(other.Acquire(StateDirectory::Lock::kSlots, 0).ok()) << "an installed version could not start";
  other.Release(StateDirectory::Lock::kSlots);
  updating.join();
  EXPECT_EQ(outcome.update.code(), Code::kNetwork);
  EXPECT_NE(outcome.update.message().find("took longer than 1 s"), std::string::npos) << outcome.update.message();
  aot_unload(model);
  // What came is kept, and the next update needs the rest alone.
  server_.Misbehave("/blobs/sha256/" + Sha256HexForTest(second.code), {});
  const Loaded loaded = Fetch();
  EXPECT_EQ(loaded.value, 4.0f);
  EXPECT_LT(loaded.report.downloaded_bytes, second.code.size() + second.weights.size());
}

TEST_F(PowerCutTest, AConfirmedVersionThatTakesTheDeviceDownComesLast) {
  Release(1, 1);
  ASSERT_EQ(Fetch().value, 3.0f);
  FetchOptions offline = Options();
  offline.offline = true;
  // Alone it is tried for ever: there is nothing better.
  for (int start = 0; start < 5; ++start) EXPECT_FALSE(FetchUntil(offline, {-1, "remove slots/stable/m/a/attempts"}));
  ExpectRuns(3, AOT_FETCH_INSTALLED, AOT_FETCH_OFFLINE);
  Release(2, 2);
  ASSERT_EQ(Fetch().value, 4.0f);
  for (int start = 0; start < 3; ++start) EXPECT_FALSE(FetchUntil(offline, {-1, "remove slots/stable/m/b/attempts"}));
  const Loaded loaded = Fetch(AOT_FETCH_OFFLINE);
  EXPECT_EQ(loaded.value, 3.0f) << "the confirmed version was started once more";
  EXPECT_EQ(loaded.report.source, AOT_FETCH_PREVIOUS);
  EXPECT_EQ(loaded.report.update_status, AOT_SELF_TEST_FAILED);
  EXPECT_EQ(Fetch(AOT_FETCH_REQUIRE_UPDATE).status, AOT_SELF_TEST_FAILED);
  // It is the one to go for the next release.
  Release(3, 3);
  ExpectRuns(5, AOT_FETCH_DOWNLOADED);
  ExpectRuns(5, AOT_FETCH_INSTALLED, AOT_FETCH_OFFLINE);
}

}  // namespace
}  // namespace aot::ota
