#include "registry/tuf/repository.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "registry/fs/durable.h"
#include "registry/fs/faults.h"
#include "registry/fs/temp_directory.h"
#include "registry/tuf/client_for_test.h"
#include "registry/tuf/target.h"

namespace aot::registry::tuf {
namespace {

constexpr Lifetimes kLifetimes = {absl::Hours(24 * 365), absl::Hours(24 * 90), absl::Hours(24 * 7), absl::Hours(24)};

class RepositoryTest : public testing::Test {
 protected:
  ~RepositoryTest() override { fs::Fault::Disarm(); }

  absl::StatusOr<std::unique_ptr<Repository>> TryOpen() {
    return Repository::Open(directory_.path() + "/tuf", KeyStore(directory_.path() + "/keys", root_keys_), kLifetimes,
                            [this] { return now_; });
  }
  std::unique_ptr<Repository> Open() {
    auto repository = TryOpen();
    EXPECT_TRUE(repository.ok()) << repository.status();
    return repository.ok() ? std::move(*repository) : nullptr;
  }

  // What a client sees in the directory itself.
  TestClient Client() {
    std::string now = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", now_, absl::UTCTimeZone());
    return TestClient(
        [this](const std::string& name) -> std::optional<std::string> {
          auto file = fs::ReadFile(directory_.path() + "/tuf/" + name, 1 << 24);
          return file.ok() ? std::optional<std::string>(*file) : std::nullopt;
        },
        now);
  }

  static absl::Status Add(Repository& repository, const std::string& target, uint64_t number) {
    return repository
        .UpdateTargets([&](Json& targets) {
          ReleaseRecord release;
          release.channel = "stable";
          release.model = "m";
          release.target = target;
          release.release = number;
          release.manifest = BlobRef::Of(target + " manifest");
          release.code = BlobRef::Of(target + " code");
          release.weights = BlobRef::Of("weights");
          ReleaseArtifact artifact;
          artifact.triple = "aarch64-unknown-linux-gnu";
          artifact.cpu_features = {"asimd"};
          artifact.vector_bits = 128;
          artifact.arena_size = 4096;
          targets[TargetPath("stable", "m", target)] = TargetObject(release, artifact);
          return absl::OkStatus();
        })
        .status();
  }

  // Files of private keys that some root trusted and the newest doesn't.
  std::vector<std::string> ReplacedKeys(const Repository& repository) {
    const Json newest = Json::parse(repository.CurrentRoot().value())["signed"]["keys"];
    std::vector<std::string> replaced;
    for (uint64_t version = 1; version < repository.version(Role::kRoot); ++version) {
      const Json root = Json::parse(repository.ReadMetadata(absl::StrCat(version, ".root.json")).value())["signed"];
      for (const std::string& directory : {directory_.path() + "/keys", root_keys_}) {
        const std::vector<std::string> names = fs::ListDirectory(directory).value();
        for (const std::string& name : names) {
          for (const auto& key : root["keys"].items()) {
            const bool trusted = newest.contains(key.key());
            if (!trusted && name.find(key.key().substr(0, 16)) != std::string::npos) replaced.push_back(name);
          }
        }
      }
    }
    return replaced;
  }

  fs::TempDirectory directory_;
  std::string root_keys_ = directory_.path() + "/root-keys";
  absl::Time now_ = absl::FromUnixSeconds(1800000000);
};

TEST_F(RepositoryTest, AFirstStartIsAnEmptyVerifiableRepository) {
  auto repository = Open();
  TestClient client = Client();
  ASSERT_NO_THROW(client.Update());
  EXPECT_TRUE(client.targets().empty());
  EXPECT_EQ(client.root()["keys"].size(), 4u);  // a key of its own for each role
  EXPECT_EQ(repository->version(Role::kRoot), 1u);
  EXPECT_EQ(repository->expires(Role::kTimestamp), now_ + absl::Hours(24));
  EXPECT_EQ(repository->expires(Role::kTargets), now_ + absl::Hours(24 * 90));
}

TEST_F(RepositoryTest, TargetsSayWhatTheContractSays) {
  auto repository = Open();
  ASSERT_TRUE(Add(*repository, "cortex-a75", 3).ok());
  TestClient client = Client();
  ASSERT_NO_THROW(client.Update());
  Json target = client.targets()["stable/m/cortex-a75.manifest"];
  EXPECT_EQ(target["length"], std::string("cortex-a75 manifest").size());
  EXPECT_EQ(target["hashes"]["sha256"], TestClient::Sha256("cortex-a75 manifest"));
  Json aot = target["custom"]["aot"];
  Json expected = {{"model", "m"},
                   {"channel", "stable"},
                   {"target", "cortex-a75"},
                   {"triple", "aarch64-unknown-linux-gnu"},
                   {"cpu_features", {"asimd"}},
                   {"vector_bits", 128},
                   {"abi", 0},
                   {"format", 0},
                   {"arena_size", 4096},
                   {"release", 3},
                   {"code", {{"sha256", TestClient::Sha256("cortex-a75 code")}, {"length", 15}}},
                   {"weights", {{"sha256", TestClient::Sha256("weights")}, {"length", 7}}}};
  EXPECT_EQ(aot, expected);
  std::vector<ReleaseRecord> releases = repository->CurrentReleases().value();
  ASSERT_EQ(releases.size(), 1u);
  EXPECT_EQ(releases[0].target, "cortex-a75");
  EXPECT_EQ(releases[0].release, 3u);
  EXPECT_EQ(releases[0].code, BlobRef::Of("cortex-a75 code"));
}

TEST_F(RepositoryTest, AnErrorOfTheEditChangesNothing) {
  auto repository = Open();
  auto status = repository->UpdateTargets([](Json& targets) {
    targets["x"] = 1;
    return absl::NotFoundError("no");
  });
  EXPECT_EQ(status.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(repository->version(Role::kTargets), 1u);
}

TEST_F(RepositoryTest, SignsAgainBeforeExpiry) {
  auto repository = Open();
  TestClient client = Client();
  client.Update();
  ASSERT_TRUE(repository->Refresh().ok());
  EXPECT_EQ(repository->version(Role::kTimestamp), 1u);  // nothing is due
  now_ += absl::Hours(13);
  ASSERT_TRUE(repository->Refresh().ok());
  EXPECT_EQ(repository->version(Role::kTimestamp), 2u);
  EXPECT_EQ(repository->version(Role::kSnapshot), 1u);
  now_ += absl::Hours(24 * 4);
  ASSERT_TRUE(repository->Refresh().ok());
  EXPECT_EQ(repository->version(Role::kSnapshot), 2u);
  EXPECT_EQ(repository->version(Role::kTargets), 1u);
  now_ += absl::Hours(24 * 50);
  ASSERT_TRUE(repository->Refresh().ok());
  EXPECT_EQ(repository->version(Role::kTargets), 2u);
  EXPECT_EQ(repository->version(Role::kRoot), 1u);
  now_ += absl::Hours(24 * 150);
  ASSERT_TRUE(repository->Refresh().ok());
  EXPECT_EQ(repository->version(Role::kRoot), 2u);
  TestClient later = Client();
  EXPECT_NO_THROW(later.Update());
  EXPECT_NO_THROW(Open());
}

TEST_F(RepositoryTest, WorksWithRootOffline) {
  auto repository = Open();
  std::string medium = directory_.path() + "/in-a-safe";
  ASSERT_EQ(rename(root_keys_.c_str(), medium.c_str()), 0);
  ASSERT_TRUE(Add(*repository, "a", 1).ok());
  now_ += absl::Hours(24 * 200);  // root has half a year left: nobody needs to hear about it
  ASSERT_TRUE(repository->Refresh().ok());
  EXPECT_EQ(repository->RotateKey(Role::kTimestamp).code(), absl::StatusCode::kFailedPrecondition);
  now_ += absl::Hours(24 * 140);  // 25 days
  absl::Status status = repository->Refresh();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("root expires on"), absl::string_view::npos) << status;
  EXPECT_EQ(repository->expires(Role::kTimestamp), now_ + absl::Hours(24));  // the others were signed all the same
  now_ += absl::Hours(24 * 30);                                              // over
  EXPECT_EQ(Add(*repository, "b", 2).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_EQ(rename(medium.c_str(), root_keys_.c_str()), 0);
  ASSERT_TRUE(repository->Refresh().ok());
  ASSERT_TRUE(Add(*repository, "b", 2).ok());
  TestClient client = Client();
  EXPECT_NO_THROW(client.Update());
}

TEST_F(RepositoryTest, RotatesEveryKeyWithoutLosingAClient) {
  auto repository = Open();
  ASSERT_TRUE(Add(*repository, "a", 1).ok());
  TestClient follower = Client();
  follower.Update();
  uint64_t root = 1;
  for (Role role : {Role::kTimestamp, Role::kSnapshot, Role::kTargets, Role::kRoot, Role::kTimestamp}) {
    Json before = follower.root()["roles"][std::string(Name(role))]["keyids"];
    ASSERT_TRUE(repository->RotateKey(role).ok()) << Name(role);
    EXPECT_EQ(repository->version(Role::kRoot), ++root);
    ASSERT_NO_THROW(follower.Update()) << Name(role);
    EXPECT_NE(follower.root()["roles"][std::string(Name(role))]["keyids"], before);
    EXPECT_EQ(follower.root()["keys"].size(), 4u);
    TestClient fresh = Client();
    ASSERT_NO_THROW(fresh.Update()) << Name(role);
    ASSERT_TRUE(Add(*repository, absl::StrCat("r", root), root).ok());
    ASSERT_NO_THROW(follower.Update());
    // One file for each key that is trusted: old ones are gone.
    EXPECT_EQ(fs::ListDirectory(directory_.path() + "/keys")->size(), 3u);
    EXPECT_EQ(fs::ListDirectory(root_keys_)->size(), 1u);
  }
  repository.reset();
  EXPECT_NE(Open(), nullptr);
}

TEST_F(RepositoryTest, AKillDuringTheFirstStartIsMadeGoodByTheNext) {
  int killed = 0;
  for (int step = 0;; ++step) {
    fs::TempDirectory fresh;
    auto open = [&] {
      return Repository::Open(fresh.path() + "/tuf", KeyStore(fresh.path() + "/keys", fresh.path() + "/keys"),
                              kLifetimes, [this] { return now_; });
    };
    if (!fs::KilledAt(step, [&] { return open().ok(); })) break;
    ++killed;
    auto repository = open();
    ASSERT_TRUE(repository.ok()) << step << ": " << repository.status();
    EXPECT_EQ((*repository)->version(Role::kTimestamp), 1u);
    EXPECT_EQ(fs::ListDirectory(fresh.path() + "/keys")->size(), 4u) << step;
    TestClient client(
        [&](const std::string& name) -> std::optional<std::string> {
          auto file = fs::ReadFile(fresh.path() + "/tuf/" + name, 1 << 24);
          return file.ok() ? std::optional<std::string>(*file) : std::nullopt;
        },
        "2027-01-01T00:00:00Z");
    ASSERT_NO_THROW(client.Update()) << step;
  }
  EXPECT_GT(killed, 30);
}

TEST_F(RepositoryTest, AKillDuringAnUpdateLeavesTheOldOrTheNewTargets) {
  auto repository = Open();
  int killed = 0, published = 0;
  for (int step = 0;; ++step) {
    TestClient before = Client();
    before.Update();
    std::string target = absl::StrCat("t", step);
    bool was_killed = fs::KilledAt(step, [&] { return Add(*repository, target, 1).ok(); });
    // Clients first: they don't wait for a restart.
    ASSERT_NO_THROW(before.Update()) << step;
    bool there = before.targets().contains(TargetPath("stable", "m", target));
    repository = Open();
    ASSERT_NE(repository, nullptr);
    ASSERT_NO_THROW(before.Update()) << step;
    EXPECT_EQ(before.targets().contains(TargetPath("stable", "m", target)), there);
    if (!was_killed) {
      EXPECT_TRUE(there);
      break;
    }
    ++killed;
    published += there;
    // And it goes on from there.
    ASSERT_TRUE(Add(*repository, "next", step + 1).ok());
    ASSERT_NO_THROW(before.Update()) << step;
    EXPECT_EQ(before.targets()["stable/m/next.manifest"]["custom"]["aot"]["release"], step + 1);
  }
  EXPECT_GE(killed, 18);    // six steps for each of three files
  EXPECT_GE(published, 1);  // killed between the rename of timestamp.json and the sync of the directory
  EXPECT_LT(published, killed);
}

TEST_F(RepositoryTest, AKillDuringARotationLosesNoClient) {
  auto repository = Open();
  for (Role role : {Role::kTimestamp, Role::kTargets, Role::kRoot}) {
    for (int step = 0;; ++step) {
      TestClient follower = Client();
      follower.Update();
      bool was_killed = fs::KilledAt(step, [&] { return repository->RotateKey(role).ok(); });
      ASSERT_NO_THROW(follower.Update()) << Name(role) << " " << step;
      repository = Open();
      ASSERT_NE(repository, nullptr) << Name(role) << " " << step;
      EXPECT_EQ(ReplacedKeys(*repository), std::vector<std::string>()) << Name(role) << " " << step;
      ASSERT_TRUE(Add(*repository, "t", step + 1).ok());
      ASSERT_NO_THROW(follower.Update()) << Name(role) << " " << step;
      TestClient fresh = Client();
      ASSERT_NO_THROW(fresh.Update()) << Name(role) << " " << step;
      if (!was_killed) break;
    }
  }
}

TEST_F(RepositoryTest, AFullDiskDuringAnUpdateLeavesOneOrTheOther) {
  auto repository = Open();
  for (int step = 0;; ++step) {
    std::string target = absl::StrCat("t", step);
    fs::Fault::Arm(step, ENOSPC);
    absl::Status status = Add(*repository, target, 1);
    bool struck = fs::Fault::Struck();
    fs::Fault::Disarm();
    TestClient client = Client();
    ASSERT_NO_THROW(client.Update()) << step;
    // Memory and directory agree.
    EXPECT_EQ(client.targets().size(), repository->CurrentReleases()->size()) << step;
    EXPECT_EQ(client.timestamp_version(), static_cast<int>(repository->version(Role::kTimestamp))) << step;
    if (!struck) break;
    if (!status.ok()) EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << step;
  }
}

TEST_F(RepositoryTest, ServesPublishedFilesOnly) {
  auto repository = Open();
  ASSERT_TRUE(Add(*repository, "a", 1).ok());
  for (const char* name : {"timestamp.json", "1.root.json", "1.targets.json", "2.targets.json", "2.snapshot.json"}) {
    EXPECT_TRUE(repository->ReadMetadata(name).ok()) << name;
  }
  ASSERT_TRUE(fs::WriteFile(directory_.path() + "/tuf/3.targets.json", "not yet", 0644).ok());
  for (const char* name : {"3.targets.json", "0.root.json", "01.root.json", "+1.root.json", "1.timestamp.json",
                           "2.root.json", "root.json", "../keys/x", "", "1.root.json/", "timestamp.json.tmp"}) {
    EXPECT_EQ(repository->ReadMetadata(name).status().code(), absl::StatusCode::kNotFound) << name;
  }
}

// What a reader gets at each step of an update.
struct Reader {
  static inline const Repository* repository = nullptr;
  static inline bool reading = false;
  static inline int reads = 0;

  static int OnStep(fs::Op, const std::string&) {
    if (reading) return 0;
    reading = true;
    ++reads;
    const Json timestamp = Json::parse(repository->ReadMetadata("timestamp.json").value())["signed"];
    const Json meta = timestamp["meta"]["snapshot.json"];
    const auto snapshot = repository->ReadMetadata(absl::StrCat(meta["version"].get<int>(), ".snapshot.json"));
    EXPECT_TRUE(snapshot.ok()) << timestamp << ": " << snapshot.status();
    if (snapshot.ok()) EXPECT_EQ(meta["hashes"]["sha256"], TestClient::Sha256(*snapshot));
    reading = false;
    return 0;
  }
};

TEST_F(RepositoryTest, TimestampNeverNamesASnapshotThatIsNotServedYet) {
  auto repository = Open();
  Reader::repository = repository.get();
  fs::SetHook(&Reader::OnStep);
  EXPECT_TRUE(Add(*repository, "a", 1).ok());
  fs::SetHook(nullptr);
  EXPECT_GT(Reader::reads, 10);
}

TEST_F(RepositoryTest, SignsNothingThatDevicesRefuse) {
  auto repository = Open();
  const auto fill = [&](size_t count, size_t name_bytes) {
    return repository
        ->UpdateTargets([&](Json& targets) {
          targets = Json::object();
          for (size_t i = 0; i < count; ++i) targets[absl::StrCat(i, std::string(name_bytes, 'x'))] = Json::object();
          return absl::OkStatus();
        })
        .status();
  };
  // By values, then by bytes; below four fifths nobody hears of it.
  ASSERT_TRUE(fill(150000, 1).ok());
  EXPECT_TRUE(repository->Refresh().ok());
  ASSERT_TRUE(fill(170000, 1).ok());
  EXPECT_EQ(repository->Refresh().code(), absl::StatusCode::kResourceExhausted);
  uint64_t version = repository->version(Role::kTargets);
  EXPECT_EQ(fill(200001, 1).code(), absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(fill(4500, 1000).ok());
  const absl::Status warning = repository->Refresh();
  EXPECT_EQ(warning.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(warning.message().find("devices take 5000000 bytes"), absl::string_view::npos) << warning;
  EXPECT_EQ(fill(5000, 1000).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(repository->version(Role::kTargets), version + 1);
  EXPECT_NE(access(absl::StrCat(directory_.path(), "/tuf/", version + 2, ".targets.json").c_str(), F_OK), 0);
  TestClient client = Client();
  EXPECT_NO_THROW(client.Update());
  EXPECT_EQ(client.targets().size(), 4500u);
}

TEST_F(RepositoryTest, DamagedMetadataIsAClearError) {
  auto repository = Open();
  ASSERT_TRUE(Add(*repository, "a", 1).ok());
  repository.reset();
  for (const char* name : {"timestamp.json", "2.snapshot.json", "2.targets.json", "1.root.json"}) {
    std::string path = directory_.path() + "/tuf/" + name;
    std::string good = fs::ReadFile(path, 1 << 24).value();
    for (size_t at : {size_t{0}, good.size() / 2, good.size() - 2}) {
      std::string bad = good;
      bad[at] ^= 1;
      ASSERT_TRUE(fs::WriteFile(path, bad, 0644).ok());
      EXPECT_EQ(TryOpen().status().code(), absl::StatusCode::kDataLoss) << name << " " << at;
    }
    ASSERT_EQ(unlink(path.c_str()), 0);
    EXPECT_EQ(TryOpen().status().code(), absl::StatusCode::kDataLoss) << name;
    ASSERT_TRUE(fs::WriteFile(path, good, 0644).ok());
  }
  EXPECT_NE(Open(), nullptr);
}

TEST_F(RepositoryTest, KeepsOldVersionsForAWhile) {
  auto repository = Open();
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(Add(*repository, "a", i + 1).ok());
  EXPECT_TRUE(repository->ReadMetadata("20.targets.json").ok());
  EXPECT_FALSE(repository->ReadMetadata("5.targets.json").ok());
  EXPECT_TRUE(repository->ReadMetadata("1.root.json").ok());
}

TEST(TargetTest, ParsesOnlyItsOwnPaths) {
  std::string hex = Digest::Of("x").Hex();
  ManifestPath path = ParseManifestPath("stable/m/" + hex + ".cortex-a75.v2.manifest").value();
  EXPECT_EQ(path.channel, "stable");
  EXPECT_EQ(path.model, "m");
  EXPECT_EQ(path.target, "cortex-a75.v2");
  EXPECT_EQ(path.digest, Digest::Of("x"));
  for (const std::string& wrong :
       {std::string("stable/m/cortex-a75.manifest"), "stable/m/" + hex + ".manifest", "stable/m/" + hex + "..manifest",
        "../m/" + hex + ".a.manifest", "stable//" + hex + ".a.manifest", "stable/m/x/" + hex + ".a.manifest",
        "stable/m/" + hex + ".a.manifest/", "stable/m/" + hex + ".a"}) {
    EXPECT_FALSE(ParseManifestPath(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace aot::registry::tuf
