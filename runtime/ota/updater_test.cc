// The client workflow against a repository of the test's own making, over real HTTP, with each attack of the
// specification's list.
#include "runtime/ota/updater.h"

#include <cerrno>
#include <cstdlib>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "runtime/ota/curl_transport.h"
#include "runtime/ota/delegation.h"
#include "runtime/ota/testing/http_server.h"
#include "runtime/ota/testing/tuf_repository.h"
#include "runtime/ota/utc_time.h"

namespace aot::ota {
namespace {

using nlohmann::json;

class UpdaterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(sodium_init(), 0);
    std::string pattern = ::testing::TempDir() + "updater-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
    ASSERT_TRUE(ParseUtcTime("2026-06-01T00:00:00Z", &now_));
    CurlOptions options;
    options.low_speed_seconds = 1;
    transport_ = MakeCurlTransport(options);
    ASSERT_NE(transport_, nullptr);
    repository_.PublishRoot();
    repository_.AddTarget("stable/m/t.manifest", "first");
    repository_.Publish();
  }

  // One update by a new process, as it were: everything that is known comes from the state directory.
  Status Update(const std::string& find = "stable/m/t.manifest") {
    StateDirectory state;
    AOT_OTA_RETURN_IF_ERROR(state.Open(path_, FailAt, this));
    updater_ = std::make_unique<Updater>(transport_.get(), &state, server_.url() + "/tuf", limits_, now_, nullptr);
    AOT_OTA_RETURN_IF_ERROR(updater_->Begin({repository_.FirstRoot(), ""}));
    AOT_OTA_RETURN_IF_ERROR(updater_->Refresh());
    AOT_OTA_RETURN_IF_ERROR(updater_->ListTargets("stable/", &listed_));
    return updater_->FindTarget(find, &target_);
  }

  void ExpectUpdate(Code code, const std::string& find = "stable/m/t.manifest") {
    const Status status = Update(find);
    EXPECT_EQ(status.code(), code) << CodeName(status.code()) << ": " << status.message();
    if (code != Code::kOk) EXPECT_FALSE(status.message().empty());
  }

  // Fails the steps that fail_step_ is part of.
  static int FailAt(void* context, const char* step) {
    const auto* test = static_cast<UpdaterTest*>(context);
    const bool fail = !test->fail_step_.empty() && std::string(step).find(test->fail_step_) != std::string::npos;
    return fail ? test->fail_error_ : 0;
  }

  std::string Stored(const std::string& name) {
    StateDirectory state;
    std::string bytes;
    EXPECT_TRUE(state.Open(path_).ok());
    EXPECT_TRUE(state.Read("metadata/" + name, 1 << 20, &bytes).ok());
    return bytes;
  }

  void Store(const std::string& name, const std::string& bytes) {
    StateDirectory state;
    ASSERT_TRUE(state.Open(path_).ok());
    ASSERT_TRUE(state.WriteAtomic("metadata/" + name, bytes).ok());
  }

  std::string fail_step_;
  int fail_error_ = 0;
  HttpServer& server_ = *HttpServer::Shared();
  TufRepository repository_{&server_};
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Updater> updater_;
  MetadataLimits limits_;
  std::string path_;
  int64_t now_ = 0;
  TargetFile target_;
  std::vector<std::string> listed_;
};

TEST_F(UpdaterTest, FindsASignedTarget) {
  ExpectUpdate(Code::kOk);
  EXPECT_EQ(target_.length, 5);
  EXPECT_EQ(target_.sha256.Hex(), Sha256HexForTest("first"));
  EXPECT_EQ(updater_->TargetUrl("stable/m/t.manifest", target_),
            server_.url() + "/tuf/targets/stable/m/" + Sha256HexForTest("first") + ".t.manifest");
  EXPECT_EQ(listed_, std::vector<std::string>{"stable/m/t.manifest"});
  ExpectUpdate(Code::kNotFound, "stable/m/other.manifest");
}

TEST_F(UpdaterTest, FetchesOnlyWhatChanged) {
  ExpectUpdate(Code::kOk);
  server_.TakeRequests();
  ExpectUpdate(Code::kOk);
  const auto requests = server_.TakeRequests();
  ASSERT_EQ(requests.size(), 2u);  // is there a newer root, and the timestamp
  EXPECT_EQ(requests[0].path, "/tuf/2.root.json");
  EXPECT_EQ(requests[1].path, "/tuf/timestamp.json");
}

TEST_F(UpdaterTest, ReadsARepositoryWithoutConsistentSnapshots) {
  TufRepository plain(&server_);
  plain.consistent_snapshot = false;
  plain.PublishRoot();
  plain.AddTarget("stable/m/t.manifest", "plain");
  plain.Publish();
  repository_ = plain;
  ExpectUpdate(Code::kOk);
  EXPECT_EQ(updater_->TargetUrl("stable/m/t.manifest", target_), server_.url() + "/tuf/targets/stable/m/t.manifest");
}

TEST_F(UpdaterTest, IgnoresUnknownFieldsAndKeyTypes) {
  json part = json::parse(repository_.FirstRoot())["signed"];
  part["x-unknown"] = {{"a", 1}};
  part["keys"]["rsa"] = {{"keytype", "rsa"}, {"scheme", "rsassa-pss-sha256"}, {"keyval", {{"public", "PEM"}}}};
  part["version"] = 2;
  server_.Put("/tuf/2.root.json", repository_.Sign(part, repository_.root.keys));
  ExpectUpdate(Code::kOk);
}

// --- Signatures.
// ---------------------------------------------------------------------------------------------------------------

TEST_F(UpdaterTest, RefusesEachRoleSignedByAWrongKey) {
  for (TufRepository::Role TufRepository::*role :
       {&TufRepository::timestamp, &TufRepository::snapshot, &TufRepository::targets}) {
    TufRepository::Role& victim = repository_.*role;
    const TestKey right = victim.keys[0];
    victim.keys[0] = MakeTestKey();
    victim.keys[0].id = right.id;  // claims to be the right key
    repository_.Publish();
    ExpectUpdate(Code::kSignature);
    victim.keys[0] = right;
  }
  repository_.Publish();
  ExpectUpdate(Code::kOk);
}

TEST_F(UpdaterTest, RefusesChangedContent) {
  std::string bytes = server_.Get("/tuf/timestamp.json");
  bytes.replace(bytes.find("2099"), 4, "2098");
  server_.Put("/tuf/timestamp.json", bytes);
  ExpectUpdate(Code::kSignature);
}

TEST_F(UpdaterTest, AWrongTrustedRootTrustsNothing) {
  TufRepository other(nullptr);
  other.PublishRoot();
  StateDirectory state;
  ASSERT_TRUE(state.Open(path_).ok());
  Updater updater(transport_.get(), &state, server_.url() + "/tuf", limits_, now_, nullptr);
  ASSERT_TRUE(updater.Begin({other.FirstRoot(), ""}).ok());
  EXPECT_EQ(updater.Refresh().code(), Code::kSignature);
}

TEST_F(UpdaterTest, CountsOneKeyUnderTwoIdsOnce) {
  const TestKey& key = repository_.timestamp.keys[0];
  TestKey alias = key;
  alias.id = std::string(64, 'a');
  repository_.timestamp.keys.push_back(alias);
  repository_.timestamp.threshold = 2;
  repository_.PublishRoot();
  repository_.Publish();
  ExpectUpdate(Code::kSignature);
}

TEST_F(UpdaterTest, HonoursThresholds) {
  for (int i = 0; i < 2; ++i) repository_.targets.keys.push_back(MakeTestKey());
  repository_.targets.threshold = 2;
  repository_.PublishRoot();
  const std::vector<TestKey> all = repository_.targets.keys;
  repository_.targets.keys = {all[1]};
  repository_.Publish();
  ExpectUpdate(Code::kSignature);
  repository_.targets.keys = {all[0], all[2]};
  repository_.Publish();
  ExpectUpdate(Code::kOk);
}

TEST_F(UpdaterTest, RefusesThresholdsBelowOne) {
  for (const int threshold : {0, -1}) {
    json part = json::parse(repository_.FirstRoot())["signed"];
    part["version"] = 2;
    part["roles"]["timestamp"]["threshold"] = threshold;
    server_.Put("/tuf/2.root.json", repository_.Sign(part, repository_.root.keys));
    ExpectUpdate(Code::kMalformed);
  }
}

TEST_F(UpdaterTest, RefusesTwoSignaturesOfOneKey) {
  json file = json::parse(server_.Get("/tuf/timestamp.json"));
  file["signatures"].push_back(file["signatures"][0]);
  server_.Put("/tuf/timestamp.json", file.dump());
  ExpectUpdate(Code::kMalformed);
}

// --- The root chain.
// -----------------------------------------------------------------------------------------------------------

TEST_F(UpdaterTest, FollowsTheRootChain) {
  for (int i = 0; i < 5; ++i) {
    repository_.root.keys = {MakeTestKey()};
    repository_.PublishRoot();
  }
  repository_.Publish();
  ExpectUpdate(Code::kOk);
  server_.TakeRequests();
  ExpectUpdate(Code::kOk);
  EXPECT_EQ(server_.TakeRequests()[0].path, "/tuf/7.root.json");
}

TEST_F(UpdaterTest, ARootNeedsOldAndNewThresholds) {
  json part = json::parse(repository_.FirstRoot())["signed"];
  const TestKey next = MakeTestKey();
  part["version"] = 2;
  part["keys"][next.id] = next.json;
  part["roles"]["root"]["keyids"] = {next.id};
  server_.Put("/tuf/2.root.json", repository_.Sign(part, {next}));
  ExpectUpdate(Code::kSignature);
  server_.Put("/tuf/2.root.json", repository_.Sign(part, repository_.root.keys));
  ExpectUpdate(Code::kSignature);
  server_.Put("/tuf/2.root.json", repository_.Sign(part, {next, repository_.root.keys[0]}));
  ExpectUpdate(Code::kOk);
}

TEST_F(UpdaterTest, ARootChainHasNoGapsAndDoesNotRepeat) {
  json part = json::parse(repository_.FirstRoot())["signed"];
  for (const int version : {1, 3}) {
    part["version"] = version;
    server_.Put("/tuf/2.root.json", repository_.Sign(part, repository_.root.keys));
    ExpectUpdate(Code::kRollback);
  }
}

TEST_F(UpdaterTest, AnExpiredRootInTheMiddleIsFineAtTheEndItIsNot) {
  repository_.root.expires = "2020-01-01T00:00:00Z";
  repository_.PublishRoot();
  ExpectUpdate(Code::kExpired);
  repository_.root.expires = "2099-01-01T00:00:00Z";
  repository_.PublishRoot();
  ExpectUpdate(Code::kOk);
}

// --- Rollback, freeze, fast-forward.
// -------------------------------------------------------------------------------------------

TEST_F(UpdaterTest, RefusesExpiredRoles) {
  for (TufRepository::Role TufRepository::*role :
       {&TufRepository::timestamp, &TufRepository::snapshot, &TufRepository::targets}) {
    (repository_.*role).expires = "2026-05-31T23:59:59Z";
    repository_.Publish();
    ExpectUpdate(Code::kExpired);
    (repository_.*role).expires = "2099-01-01T00:00:00Z";
  }
  repository_.Publish();
  ExpectUpdate(Code::kOk);
  // A frozen repository: nothing changes, time goes on.
  ASSERT_TRUE(ParseUtcTime("2099-01-01T00:00:00Z", &now_));
  ExpectUpdate(Code::kExpired);
}

TEST_F(UpdaterTest, RefusesAReplayOfAllMetadata) {
  const auto old = server_.Objects();
  repository_.Publish();
  ExpectUpdate(Code::kOk);
  server_.SetObjects(old);
  ExpectUpdate(Code::kRollback);
}

TEST_F(UpdaterTest, RefusesAnOlderSnapshotUnderANewTimestamp) {
  const json old_entry = repository_.snapshot_entry;
  repository_.Publish();
  ExpectUpdate(Code::kOk);
  repository_.snapshot_entry = old_entry;
  repository_.PublishTimestamp();
  ExpectUpdate(Code::kRollback);
}

TEST_F(UpdaterTest, RefusesOlderTargetsUnderANewSnapshot) {
  repository_.Publish();
  ExpectUpdate(Code::kOk);
  repository_.targets.version = 0;
  repository_.Publish();
  ExpectUpdate(Code::kRollback);
}

TEST_F(UpdaterTest, RefusesASnapshotThatForgetsARole) {
  TufRepository::Delegation team{"team", {"stable/*/*"}};
  team.role.keys = {MakeTestKey()};
  repository_.delegations.push_back(team);
  repository_.Publish();
  ExpectUpdate(Code::kOk);
  repository_.omit["team.json"] = 0;
  repository_.Publish();
  ExpectUpdate(Code::kRollback);
}

TEST_F(UpdaterTest, RefusesMixedSnapshots) {
  // The file under the announced name is another, correctly signed one.
  repository_.Publish();
  server_.Put("/tuf/2.snapshot.json", server_.Get("/tuf/1.snapshot.json"));
  ExpectUpdate(Code::kDigest);
  repository_.Publish();
  server_.Put("/tuf/3.targets.json", server_.Get("/tuf/2.targets.json"));
  ExpectUpdate(Code::kDigest);
}

TEST_F(UpdaterTest, RecoversFromFastForwardByKeyRotation) {
  repository_.timestamp.version = 1000000;
  repository_.snapshot.version = 1000000;
  repository_.Publish();
  ExpectUpdate(Code::kOk);
  repository_.timestamp.version = 10;
  repository_.snapshot.version = 10;
  repository_.Publish();
  ExpectUpdate(Code::kRollback);
  repository_.timestamp.keys.push_back(
      MakeTestKey());  // the old key stays beside the new one: signatures alone would still do
  repository_.snapshot.keys.push_back(MakeTestKey());
  repository_.PublishRoot();
  repository_.Publish();
  ExpectUpdate(Code::kOk);
}

TEST_F(UpdaterTest, RecoversFromFastForwardWithTheOldKeysGone) {
  for (const bool both : {false, true}) {
    repository_.timestamp.version += 1000000;
    repository_.snapshot.version += 1000000;
    repository_.Publish();
    ExpectUpdate(Code::kOk);
    repository_.timestamp.version -= 1000000;
    repository_.snapshot.version -= 1000000;
    repository_.timestamp.keys = {MakeTestKey()};
    if (both) repository_.snapshot.keys = {MakeTestKey()};
    repository_.PublishRoot();
    repository_.Publish();
    ExpectUpdate(Code::kOk);
  }
}

TEST_F(UpdaterTest, AFailedUpdateLeavesTrustedMetadata) {
  ExpectUpdate(Code::kOk);
  const auto good = server_.Objects();
  repository_.Publish();
  server_.Put("/tuf/2.snapshot.json", "{}");
  EXPECT_FALSE(Update().ok());
  repository_.Publish();
  ExpectUpdate(Code::kOk);
}

TEST_F(UpdaterTest, ARootThatCanNotBeReadDoesNotReset) {
  repository_.root.keys = {MakeTestKey()};
  repository_.PublishRoot();
  repository_.Publish();
  ExpectUpdate(Code::kOk);
  const std::string second = Stored("root.json");
  // The device goes on from the root before the one that it can't read ...
  fail_step_ = "read metadata/root.json";
  for (const int error : {EIO, EACCES}) {
    fail_error_ = error;
    ExpectUpdate(Code::kOk);
    EXPECT_EQ(Stored("root.json"), second);
  }
  // ... and never from the one it left the factory with, as long as the error may pass.
  fail_step_ = "read metadata/root.";
  fail_error_ = EACCES;
  ExpectUpdate(Code::kIo);
  fail_error_ = EIO;
  ExpectUpdate(Code::kDigest);
  EXPECT_EQ(Stored("root.json"), second);
  fail_step_ = "read metadata/root.previous.json";
  Store("root.json", "rubbish");
  ExpectUpdate(Code::kDigest);
  Store("root.json", second);
  fail_step_.clear();
  // A caller's limit is for what comes from outside.
  limits_.root = 10;
  EXPECT_EQ(Update().code(), Code::kOk);
}

TEST_F(UpdaterTest, ADamagedRootIsReplacedByItsPredecessor) {
  const std::string first = repository_.FirstRoot();
  for (int i = 0; i < 2; ++i) {
    repository_.root.keys = {MakeTestKey()};
    repository_.PublishRoot();
  }
  repository_.Publish();
  ExpectUpdate(Code::kOk);
  const std::string third = Stored("root.json");
  Store("root.json", "rubbish");
  server_.TakeRequests();
  ExpectUpdate(Code::kOk);
  EXPECT_EQ(server_.TakeRequests()[0].path, "/tuf/3.root.json") << "version 2 was the predecessor";
  EXPECT_EQ(Stored("root.json"), third);
  Store("root.json", "rubbish");
  Store("root.previous.json", "rubbish");
  ExpectUpdate(Code::kOk);
  EXPECT_EQ(Stored("root.json"), third);
}

TEST_F(UpdaterTest, ARootIsNeededOnlyOnce) {
  StateDirectory state;
  ASSERT_TRUE(state.Open(path_).ok());
  const auto begin = [&](const FirstRoot& root) {
    return Updater(transport_.get(), &state, server_.url() + "/tuf", limits_, now_, nullptr).Begin(root);
  };
  EXPECT_EQ(begin({}).code(), Code::kInvalidArgument);
  EXPECT_EQ(begin({"", path_ + "/none"}).code(), Code::kNotFound);
  EXPECT_EQ(begin({"", "/dev/zero"}).code(), Code::kLimit);
  ASSERT_TRUE(state.WriteAtomic("first", repository_.FirstRoot()).ok());
  EXPECT_TRUE(begin({"", path_ + "/first"}).ok());
  EXPECT_TRUE(begin({"", path_ + "/none"}).ok());
}

TEST_F(UpdaterTest, StoredMetadataThatCanNotBeReadIsNoFreshStart) {
  repository_.Publish();
  ExpectUpdate(Code::kOk);
  fail_error_ = EACCES;
  for (const char* name : {"timestamp", "snapshot", "targets"}) {
    fail_step_ = std::string("read metadata/") + name;
    ExpectUpdate(Code::kIo);
  }
  fail_step_.clear();
  ExpectUpdate(Code::kOk);
}

TEST_F(UpdaterTest, DamagedStoredMetadataIsFetchedAgain) {
  ExpectUpdate(Code::kOk);
  StateDirectory state;
  ASSERT_TRUE(state.Open(path_).ok());
  for (const char* name : {"root", "timestamp", "snapshot", "targets"}) {
    ASSERT_TRUE(state.WriteAtomic(std::string("metadata/") + name + ".json", "rubbish").ok());
    ExpectUpdate(Code::kOk);
  }
}

// --- Size, form, network.
// ------------------------------------------------------------------------------------------------------

TEST_F(UpdaterTest, BoundsWhatItReads) {
  Misbehaviour endless;
  endless.chunked_endless = true;
  server_.Misbehave("/tuf/timestamp.json", endless);
  ExpectUpdate(Code::kLimit);
  server_.Misbehave("/tuf/timestamp.json", {});
  Misbehaviour longer;
  longer.extra_bytes = 1;
  server_.Misbehave("/tuf/1.snapshot.json", longer);
  ExpectUpdate(Code::kLimit);
  server_.Misbehave("/tuf/1.snapshot.json", {});
  ExpectUpdate(Code::kOk);
}

TEST_F(UpdaterTest, GivesUpOnASilentServer) {
  Misbehaviour silent;
  silent.stall = true;
  server_.Misbehave("/tuf/timestamp.json", silent);
  ExpectUpdate(Code::kNetwork);
}

TEST_F(UpdaterTest, TheTextOfAnErrorPageIsNoPartOfTheObject) {
  // Longer than the limit of what was asked for, and longer than anybody waits for.
  for (const size_t size : {20000, 500000}) {
    server_.Put("/tuf/timestamp.json", std::string(size, ' '));
    Misbehaviour missing;
    missing.error_status = 404;
    server_.Misbehave("/tuf/timestamp.json", missing);
    ExpectUpdate(Code::kMissingMetadata);
    Misbehaviour overloaded;
    overloaded.error_status = 503;
    server_.Misbehave("/tuf/timestamp.json", overloaded);
    const Status status = Update();
    EXPECT_EQ(status.code(), Code::kNetwork);
    EXPECT_NE(status.message().find("HTTP 503"), std::string::npos) << status.message();
  }
  server_.Misbehave("/tuf/timestamp.json", {});
}

TEST_F(UpdaterTest, UnsignedTextIsToldWithoutItsTricks) {
  server_.Put("/tuf/timestamp.json", R"({"signatures":[],"signed":{"a\u001b[2J\n":1,"a\u001b[2J\n":1}})");
  const std::string message = Update().message();
  EXPECT_NE(message.find("a\\x1b[2J\\x0a"), std::string::npos) << message;
}

TEST_F(UpdaterTest, FollowsNoRedirect) {
  Misbehaviour redirect;
  redirect.redirect_to = "/elsewhere.json";
  server_.Put("/elsewhere.json", server_.Get("/tuf/timestamp.json"));
  server_.Misbehave("/tuf/timestamp.json", redirect);
  ExpectUpdate(Code::kNetwork);
}

TEST_F(UpdaterTest, RefusesBadForms) {
  const std::string good = server_.Get("/tuf/timestamp.json");
  for (const std::string& bad : {std::string(), std::string("[]"), std::string("{\"signed\":{},\"signatures\":{}}"),
                                 std::string(16000, '['), good.substr(0, good.size() / 2), good + good}) {
    server_.Put("/tuf/timestamp.json", bad);
    EXPECT_FALSE(Update().ok());
  }
  json part = json::parse(good)["signed"];
  const auto resigned = [&](const char* member, const json& value) {
    json changed = part;
    changed[member] = value;
    server_.Put("/tuf/timestamp.json", repository_.Sign(changed, repository_.timestamp.keys));
    return Update().code();
  };
  EXPECT_EQ(resigned("_type", "snapshot"), Code::kMalformed);
  EXPECT_EQ(resigned("spec_version", "2.0.0"), Code::kMalformed);
  EXPECT_EQ(resigned("version", 0), Code::kMalformed);
  EXPECT_EQ(resigned("version", "1"), Code::kMalformed);
  EXPECT_EQ(resigned("version", 1.5), Code::kMalformed);
  EXPECT_EQ(resigned("expires", "tomorrow"), Code::kMalformed);
  EXPECT_EQ(resigned("meta", json::object()), Code::kMalformed);
  EXPECT_EQ(resigned("version", 7), Code::kOk);
}

// --- Delegations.
// --------------------------------------------------------------------------------------------------------------

TEST_F(UpdaterTest, SearchesDelegationsInOrder) {
  for (const char* name : {"first", "second"}) {
    TufRepository::Delegation role{name, {"stable/*/*.manifest"}};
    role.role.keys = {MakeTestKey()};
    role.targets["stable/d/x.manifest"] = {{"length", name == std::string("first") ? 1 : 2},
                                           {"hashes", {{"sha256", std::string(64, '1')}}}};
    role.targets["beta/d/x.manifest"] = role.targets["stable/d/x.manifest"];  // not theirs to say
    repository_.delegations.push_back(role);
  }
  repository_.delegations[1].targets["stable/d/y.manifest"] = {{"length", 9},
                                                               {"hashes", {{"sha256", std::string(64, '2')}}}};
  repository_.Publish();
  ExpectUpdate(Code::kOk, "stable/d/x.manifest");
  EXPECT_EQ(target_.length, 1);
  ExpectUpdate(Code::kOk, "stable/d/y.manifest");
  ExpectUpdate(Code::kNotFound, "beta/d/x.manifest");
  EXPECT_EQ(listed_.size(), 3u);
  // A terminating first role hides what only the second lists.
  repository_.delegations[0].terminating = true;
  repository_.Publish();
  ExpectUpdate(Code::kNotFound, "stable/d/y.manifest");
}

TEST_F(UpdaterTest, VerifiesADelegatedRoleForEachDelegator) {
  // "shared" is delegated by "left" with the right key and by "right" with another: what right vouches for must not
  // pass with left's key.
  const TestKey shared_key = MakeTestKey();
  const TestKey other_key = MakeTestKey();
  TufRepository::Delegation shared{"shared", {}};
  shared.role.keys = {shared_key};
  shared.targets["stable/left/t.manifest"] = {{"length", 1}, {"hashes", {{"sha256", std::string(64, '1')}}}};
  shared.targets["stable/right/t.manifest"] = shared.targets["stable/left/t.manifest"];
  repository_.unlisted.push_back(shared);
  for (const char* side : {"left", "right"}) {
    const TestKey& key = side == std::string("left") ? shared_key : other_key;
    TufRepository::Delegation role{side, {"stable/" + std::string(side) + "/*"}};
    role.role.keys = {MakeTestKey()};
    role.delegations = {{"keys", repository_.KeysJson({key})},
                        {"roles",
                         {{{"name", "shared"},
                           {"keyids", {key.id}},
                           {"threshold", 1},
                           {"terminating", false},
                           {"paths", {"stable/" + std::string(side) + "/*"}}}}}};
    repository_.delegations.push_back(role);
  }
  repository_.Publish();
  StateDirectory state;
  ASSERT_TRUE(state.Open(path_).ok());
  Updater updater(transport_.get(), &state, server_.url() + "/tuf", limits_, now_, nullptr);
  ASSERT_TRUE(updater.Begin({repository_.FirstRoot(), ""}).ok());
  ASSERT_TRUE(updater.Refresh().ok());
  EXPECT_TRUE(updater.FindTarget("stable/left/t.manifest", &target_).ok());
  EXPECT_EQ(updater.FindTarget("stable/right/t.manifest", &target_).code(), Code::kSignature);
}

TEST_F(UpdaterTest, ARoleHasOneContentForAllItsDelegators) {
  // A snapshot without digests leaves the server the choice which bytes "shared" has. Left's copy delegates "leaf" to a
  // key of its own; what that key signs must not pass as part of right's copy, which names another.
  repository_.snapshot_digests = false;
  const auto delegate = [&](const std::string& role, const TestKey& key, const std::string& pattern) {
    return json{
        {"keys", repository_.KeysJson({key})},
        {"roles",
         {{{"name", role}, {"keyids", {key.id}}, {"threshold", 1}, {"terminating", false}, {"paths", {pattern}}}}}};
  };
  const TestKey lefts_leaf = MakeTestKey();
  TufRepository::Delegation leaf{"leaf", {}};
  leaf.role.keys = {lefts_leaf};
  leaf.targets["stable/right/t.manifest"] = {{"length", 1}, {"hashes", {{"sha256", std::string(64, '1')}}}};
  repository_.unlisted.push_back(leaf);
  std::map<std::string, TestKey> shared_keys;
  for (const char* side : {"left", "right"}) {
    shared_keys[side] = MakeTestKey();
    TufRepository::Delegation role{side, {"stable/" + std::string(side) + "/*"}};
    role.role.keys = {MakeTestKey()};
    role.delegations = delegate("shared", shared_keys[side], "stable/*/*");
    repository_.delegations.push_back(role);
  }
  TufRepository::Delegation shared{"shared", {}};
  shared.role.keys = {shared_keys["left"]};
  shared.delegations = delegate("leaf", lefts_leaf, "stable/*/*");
  repository_.unlisted.push_back(shared);
  repository_.Publish();
  StateDirectory state;
  ASSERT_TRUE(state.Open(path_).ok());
  Updater updater(transport_.get(), &state, server_.url() + "/tuf", limits_, now_, nullptr);
  ASSERT_TRUE(updater.Begin({repository_.FirstRoot(), ""}).ok());
  ASSERT_TRUE(updater.Refresh().ok());
  EXPECT_EQ(updater.FindTarget("stable/left/t.manifest", &target_).code(), Code::kNotFound);
  // The same version, signed for right, with another key for "leaf".
  json part = json::parse(server_.Get("/tuf/1.shared.json"))["signed"];
  part["delegations"] = delegate("leaf", MakeTestKey(), "stable/*/*");
  server_.Put("/tuf/1.shared.json", repository_.Sign(part, {shared_keys["right"]}));
  const Status status = updater.FindTarget("stable/right/t.manifest", &target_);
  EXPECT_EQ(status.code(), Code::kDigest) << status.message();
}

TEST_F(UpdaterTest, ADelegationLoopEnds) {
  TufRepository::Delegation role{"loop", {"*/*/*"}};
  role.role.keys = {MakeTestKey()};
  role.delegations = {{"keys", repository_.KeysJson(role.role.keys)},
                      {"roles",
                       {{{"name", "loop"},
                         {"keyids", {role.role.keys[0].id}},
                         {"threshold", 1},
                         {"terminating", false},
                         {"paths", {"*/*/*"}}}}}};
  repository_.delegations.push_back(role);
  repository_.Publish();
  ExpectUpdate(Code::kNotFound, "stable/d/x.manifest");
}

TEST_F(UpdaterTest, FindsTargetsInHashBins) {
  const std::string path = "stable/binned/t.manifest";
  const std::string bin = Sha256HexForTest(path).substr(0, 1);
  TufRepository::Delegation role{"bins-" + bin, {}};
  role.role.keys = {MakeTestKey()};
  role.targets[path] = {{"length", 3}, {"hashes", {{"sha256", std::string(64, '3')}}}};
  repository_.unlisted.push_back(role);
  TufRepository::Delegation parent{"parent", {"stable/*/*"}};
  parent.role.keys = {MakeTestKey()};
  parent.delegations = {
      {"keys", repository_.KeysJson(role.role.keys)},
      {"succinct_roles",
       {{"keyids", {role.role.keys[0].id}}, {"threshold", 1}, {"bit_length", 4}, {"name_prefix", "bins"}}}};
  repository_.delegations.push_back(parent);
  repository_.Publish();
  ExpectUpdate(Code::kOk, path);
  EXPECT_EQ(target_.length, 3);
}

TEST_F(UpdaterTest, ABadRoleKeepsNobodyFromTheOthers) {
  for (const char* name : {"good", "elsewhere", "missing"}) {
    const bool elsewhere = name == std::string("elsewhere");
    TufRepository::Delegation role{name, {elsewhere ? "beta/*/*" : "stable/*/*"}};
    role.role.keys = {MakeTestKey()};
    role.targets["stable/d/x.manifest"] = {{"length", 1}, {"hashes", {{"sha256", std::string(64, '1')}}}};
    repository_.delegations.push_back(role);
    if (name != std::string("good")) repository_.omit[std::string(name) + ".json"] = 0;
  }
  repository_.Publish();
  ExpectUpdate(Code::kOk, "stable/d/x.manifest");
  EXPECT_EQ(listed_.size(), 2u);
  // But who speaks first is not decided by what can't be had.
  std::swap(repository_.delegations[0], repository_.delegations[2]);
  repository_.Publish();
  ExpectUpdate(Code::kMissingMetadata, "stable/d/x.manifest");
  ExpectUpdate(Code::kOk);
}

TEST_F(UpdaterTest, ListsRolesThatMaySpeakForThePrefix) {
  const std::vector<std::pair<std::string, bool>> patterns = {
      {"stable/*/*", true},    {"st?ble/*/x", true}, {"*/*/*", true}, {"stable/x.manifest", true},
      {"[s/]table/a/b", true}, {"beta/*/*", false},  {"*", false},    {"stable", false},
      {"stable2/*/*", false}};
  for (const auto& [pattern, may] : patterns) {
    Targets targets;
    Delegation delegation;
    delegation.role = "r";
    delegation.paths = {pattern};
    targets.delegations.push_back(delegation);
    EXPECT_EQ(!RolesForPrefix(targets, "stable/").empty(), may) << pattern;
  }
}

TEST_F(UpdaterTest, LimitsVisitedRoles) {
  for (int i = 0; i < 40; ++i) {
    TufRepository::Delegation role{"role" + std::to_string(i), {"stable/*/*"}};
    role.role.keys = {MakeTestKey()};
    repository_.delegations.push_back(role);
  }
  repository_.Publish();
  ExpectUpdate(Code::kLimit, "stable/d/x.manifest");
}

}  // namespace
}  // namespace aot::ota
