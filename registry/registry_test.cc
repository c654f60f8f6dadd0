#include "registry/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "registry/fs/durable.h"
#include "registry/fs/faults.h"
#include "registry/fs/temp_directory.h"
#include "registry/tuf/client_for_test.h"

namespace aot::registry {
namespace {

constexpr uint64_t kLimit = 1 << 24;

// Counts SQLite's writes as steps too, so that a kill can strike inside a commit.
using Pwrite = ssize_t (*)(int, const void*, size_t, off_t);
Pwrite g_pwrite = nullptr;
ssize_t CountedPwrite(int fd, const void* data, size_t size, off_t offset) {
  if (int error = fs::Fault::Step(); error != 0) {
    errno = error;
    return -1;
  }
  return g_pwrite(fd, data, size, offset);
}
void CountSqliteWrites() {
  sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
  for (const char* name : {"pwrite", "pwrite64"}) {
    auto original = reinterpret_cast<Pwrite>(vfs->xGetSystemCall(vfs, name));
    if (original == nullptr || original == &CountedPwrite) continue;
    g_pwrite = original;
    vfs->xSetSystemCall(vfs, name, reinterpret_cast<sqlite3_syscall_ptr>(&CountedPwrite));
  }
}

class RegistryTest : public testing::Test {
 protected:
  RegistryTest() {
    CountSqliteWrites();
    Reopen();
  }
  ~RegistryTest() override { fs::Fault::Disarm(); }

  RegistryOptions Options() {
    RegistryOptions options;
    options.now = [this] { return now_; };
    return options;
  }
  void Reopen() {
    registry_.reset();
    auto registry = Registry::Open(path(), Options());
    ASSERT_TRUE(registry.ok()) << registry.status();
    registry_ = std::move(*registry);
  }
  const std::string& path() const { return directory_.path(); }

  Digest StoreModel(const std::string& bytes) {
    ModelRecord model;
    model.blob = BlobRef::Of(bytes);
    model.digest = model.blob.digest;
    model.name = bytes;
    auto writer = registry_->OpenUpload(model.blob).value();
    EXPECT_TRUE(writer->Append(bytes).ok());
    EXPECT_TRUE(writer->Commit().ok());
    EXPECT_TRUE(registry_->StoreModel(model).ok());
    return model.digest;
  }
  static ArtifactRecord Record(const std::string& name, const Digest& model) {
    ArtifactRecord record;
    record.key.digest = Digest::Of("key " + name);
    record.model = model;
    record.target = "cortex-a75";
    record.options = "opt=3";
    record.compiler = "test";
    return record;
  }
  absl::StatusOr<ArtifactRecord> Store(const std::string& name, const Digest& model) {
    now_ += absl::Seconds(1);
    std::string manifest = "manifest of " + name, code = "code of " + name;
    return registry_->StoreArtifact(Record(name, model), {manifest, code, absl::string_view("weights")});
  }
  static PublishRequest Request(const ArtifactRecord& artifact) {
    ReleaseArtifact a;
    a.key = artifact.key;
    a.target = artifact.target;
    a.triple = "aarch64-unknown-linux-gnu";
    a.cpu_features = {"asimd"};
    a.vector_bits = 128;
    a.abi = 1;
    a.format = 1;
    a.arena_size = 64;
    return PublishRequest{"stable", "m", {a}};
  }
  // What a device gets below /tuf/.
  std::optional<std::string> Get(const std::string& name) {
    auto object = registry_->Resolve("/tuf/" + name);
    if (!object.ok()) return std::nullopt;
    if (object->metadata) return object->metadata;
    return Read(*object->blob);
  }
  std::string Read(const BlobRef& ref) {
    auto reader = registry_->OpenBlob(ref, Verify::kAlways);
    if (!reader.ok()) return "";
    std::string data(ref.size, '\0');
    EXPECT_TRUE((*reader)->ReadAt(0, data.data(), data.size()).ok());
    return data;
  }
  tuf::TestClient Client() {
    return tuf::TestClient([this](const std::string& name) { return Get(name); },
                           absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", now_, absl::UTCTimeZone()));
  }
  // Verifies the metadata and every file that it names; gives the code of the current release, or "" for none.
  std::string VerifiedCode() {
    tuf::TestClient client = Client();
    client.Update();
    std::string code;
    for (auto it = client.targets().begin(); it != client.targets().end(); ++it) {
      std::optional<std::string> manifest = Get(client.TargetUrl(it.key()));
      EXPECT_TRUE(manifest.has_value());
      EXPECT_EQ(tuf::TestClient::Sha256(manifest.value_or("")), it.value()["hashes"]["sha256"]);
      for (const char* part : {"code", "weights"}) {
        const auto& described = it.value()["custom"]["aot"][part];
        auto object = registry_->Resolve("/blobs/sha256/" + described["sha256"].get<std::string>());
        EXPECT_TRUE(object.ok()) << object.status();
        if (!object.ok()) continue;
        std::string data = Read(*object->blob);
        EXPECT_EQ(tuf::TestClient::Sha256(data), described["sha256"]);
        EXPECT_EQ(data.size(), described["length"]);
        if (std::string(part) == "code") code = data;
      }
    }
    return code;
  }
  std::string BlobPath(const Digest& d) const {
    return path() + "/blobs/sha256/" + d.Hex().substr(0, 2) + "/" + d.Hex();
  }

  // As if nothing had been written there for two days.
  static void Age(const std::string& file) {
    timespec old = absl::ToTimespec(absl::Now() - absl::Hours(48));
    timespec times[2] = {old, old};
    ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }

  fs::TempDirectory directory_;
  absl::Time now_ = absl::FromUnixSeconds(1800000000);
  std::unique_ptr<Registry> registry_;
};

TEST_F(RegistryTest, StoresAndFinds) {
  Digest model = StoreModel("model");
  EXPECT_EQ(registry_->FindModel(model)->name, "model");
  EXPECT_EQ(registry_->LookupArtifact(Record("a", model).key).status().code(), absl::StatusCode::kNotFound);
  ArtifactRecord stored = Store("a", model).value();
  EXPECT_EQ(stored.code, BlobRef::Of("code of a"));
  EXPECT_EQ(registry_->LookupArtifact(stored.key)->code, stored.code);
  ASSERT_TRUE(Store("a", model).ok());  // again: no error
  Reopen();
  EXPECT_EQ(registry_->LookupArtifact(stored.key)->manifest, stored.manifest);
  Statistics s = registry_->GetStatistics().value();
  EXPECT_EQ(s.models, 1u);
  EXPECT_EQ(s.artifacts, 1u);
  EXPECT_EQ(s.blobs, 4u);
}

TEST_F(RegistryTest, LookingAtAnArtifactIsNoUse) {
  Digest model = StoreModel("model");
  ArtifactRecord stored = Store("a", model).value();
  now_ += absl::Hours(1);
  EXPECT_EQ(registry_->PeekArtifact(stored.key)->code, stored.code);
  EXPECT_EQ(registry_->ListArtifacts(model)->front().last_used, stored.last_used);
  EXPECT_TRUE(registry_->LookupArtifact(stored.key).ok());
  EXPECT_EQ(registry_->ListArtifacts(model)->front().last_used, now_);
}

TEST_F(RegistryTest, TakesPartsFromFiles) {
  Digest model = StoreModel("model");
  std::string weights(3 << 20, 'w');
  std::ofstream(path() + "/part") << weights;
  auto stored = registry_->StoreArtifact(Record("a", model),
                                         {absl::string_view("m"), absl::string_view("c"), FilePath{path() + "/part"}});
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(Read(stored->weights), weights);
  EXPECT_FALSE(registry_
                   ->StoreArtifact(Record("b", model),
                                   {absl::string_view("m"), absl::string_view("c"), FilePath{path() + "/none"}})
                   .ok());
}

TEST_F(RegistryTest, AModelNeedsItsBlobs) {
  ModelRecord model;
  model.blob = BlobRef::Of("never uploaded");
  model.digest = model.blob.digest;
  absl::Status status = registry_->StoreModel(model);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find(model.blob.digest.Hex()), absl::string_view::npos);
}

TEST_F(RegistryTest, ARowWithoutItsBlobsIsNotFoundAndCanBeStoredAgain) {
  Digest model = StoreModel("model");
  ArtifactRecord stored = Store("a", model).value();
  ASSERT_EQ(unlink(BlobPath(stored.code.digest).c_str()), 0);
  EXPECT_EQ(registry_->LookupArtifact(stored.key).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(Store("a", model).ok());
  EXPECT_TRUE(registry_->LookupArtifact(stored.key).ok());
  // A flipped byte: found when read, quarantined, then a miss.
  int fd = open(BlobPath(stored.code.digest).c_str(), O_WRONLY);
  ASSERT_EQ(pwrite(fd, "!", 1, 0), 1);
  close(fd);
  EXPECT_EQ(registry_->OpenBlob(stored.code, Verify::kAlways).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(registry_->LookupArtifact(stored.key).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(registry_->GetStatistics()->quarantined, 1u);
}

TEST_F(RegistryTest, TwoResultsForOneKeyAreReported) {
  Digest model = StoreModel("model");
  ArtifactRecord stored = Store("a", model).value();
  auto second = registry_->StoreArtifact(Record("a", model),
                                         {absl::string_view("m"), absl::string_view("c"), absl::string_view("w")});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(registry_->LookupArtifact(stored.key)->code, stored.code);
}

TEST_F(RegistryTest, ManyThreadsMayStoreTheSameKey) {
  Digest model = StoreModel("model");
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        std::string name = std::to_string(i), manifest = "m" + name;
        auto stored =
            registry_->StoreArtifact(Record(name, model), {manifest, absl::string_view("c"), absl::string_view("w")});
        good += stored.ok() && registry_->LookupArtifact(stored->key).ok();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(good, 20);
  EXPECT_EQ(registry_->ListArtifacts(model)->size(), 5u);
}

TEST_F(RegistryTest, AReleaseIsAChainThatAnyClientCanVerify) {
  Digest model = StoreModel("model");
  ArtifactRecord a = Store("a", model).value();
  EXPECT_EQ(VerifiedCode(), "");
  PublishResult result = registry_->Publish(Request(a)).value();
  EXPECT_EQ(result.release, 1u);
  EXPECT_EQ(VerifiedCode(), "code of a");
  ArtifactRecord b = Store("b", model).value();
  EXPECT_EQ(registry_->Publish(Request(b))->release, 2u);
  EXPECT_EQ(VerifiedCode(), "code of b");
  std::vector<ReleaseRecord> releases = registry_->ListReleases("stable", "m").value();
  ASSERT_EQ(releases.size(), 2u);
  EXPECT_TRUE(releases[0].current);
  EXPECT_FALSE(releases[1].current);
  ASSERT_TRUE(registry_->RotateKey(Role::kTargets).ok());
  EXPECT_EQ(VerifiedCode(), "code of b");
  Reopen();
  EXPECT_EQ(VerifiedCode(), "code of b");
  ASSERT_TRUE(registry_->Withdraw("stable", "m").ok());
  EXPECT_EQ(VerifiedCode(), "");
  EXPECT_EQ(registry_->Withdraw("stable", "m").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(registry_->Publish(Request(a))->release, 3u);
}

TEST_F(RegistryTest, ServesOnlyWhatAReleaseNames) {
  Digest model = StoreModel("model");
  ArtifactRecord a = Store("a", model).value();
  std::string code = "/blobs/sha256/" + a.code.digest.Hex();
  EXPECT_EQ(registry_->Resolve(code).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(registry_->Publish(Request(a)).ok());
  EXPECT_TRUE(registry_->Resolve(code).ok());
  for (const std::string& path :
       {"/blobs/sha256/" + model.Hex(), code + "/", code.substr(0, code.size() - 1), std::string("/tuf/"),
        std::string("/tuf/../index.db"), std::string("/index.db"), std::string("/"), std::string(),
        "/tuf/targets/beta/m/" + a.manifest.digest.Hex() + ".cortex-a75.manifest",
        "/tuf/targets/stable/m/" + a.code.digest.Hex() + ".cortex-a75.manifest"}) {
    absl::Status status = registry_->Resolve(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << path;
    EXPECT_EQ(status.message(), "no such object");  // the same for all: nothing to learn from it
  }
}

TEST_F(RegistryTest, RefusesWrongRequests) {
  Digest model = StoreModel("model");
  ArtifactRecord a = Store("a", model).value();
  auto code_of = [&](const PublishRequest& request) { return registry_->Publish(request).status().code(); };
  PublishRequest request = Request(a);
  request.channel = "../x";
  EXPECT_EQ(code_of(request), absl::StatusCode::kInvalidArgument);
  request = Request(a);
  request.model = "";
  EXPECT_EQ(code_of(request), absl::StatusCode::kInvalidArgument);
  request = Request(a);
  request.artifacts.clear();
  EXPECT_EQ(code_of(request), absl::StatusCode::kInvalidArgument);
  request = Request(a);
  request.artifacts.push_back(request.artifacts[0]);
  EXPECT_EQ(code_of(request), absl::StatusCode::kInvalidArgument);
  request = Request(a);
  request.artifacts[0].target = "cortex-a53";  // right code, wrong device
  EXPECT_EQ(code_of(request), absl::StatusCode::kInvalidArgument);
  request = Request(a);
  request.artifacts[0].triple = "with \"quotes\"\n";
  EXPECT_EQ(code_of(request), absl::StatusCode::kInvalidArgument);
  request = Request(a);
  request.artifacts[0].abi = 0;
  EXPECT_EQ(code_of(request), absl::StatusCode::kInvalidArgument);
  request = Request(a);
  request.artifacts[0].arena_size = ~uint64_t{0};
  EXPECT_EQ(code_of(request), absl::StatusCode::kInvalidArgument);
  request = Request(a);
  request.artifacts[0].key.digest = Digest::Of("another");
  EXPECT_EQ(code_of(request), absl::StatusCode::kNotFound);
  EXPECT_EQ(VerifiedCode(), "");
}

TEST_F(RegistryTest, SignsNoDamagedBlob) {
  ArtifactRecord a = Store("a", StoreModel("model")).value();
  int fd = open(BlobPath(a.code.digest).c_str(), O_WRONLY);
  ASSERT_EQ(pwrite(fd, "!", 1, 0), 1);
  close(fd);
  EXPECT_EQ(registry_->Publish(Request(a)).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(VerifiedCode(), "");
}

TEST_F(RegistryTest, DeletesButNotWhatAReleaseUses) {
  Digest model = StoreModel("model");
  ArtifactRecord a = Store("a", model).value(), b = Store("b", model).value();
  ASSERT_TRUE(registry_->Publish(Request(a)).ok());
  EXPECT_EQ(registry_->DeleteArtifact(a.key).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(registry_->DeleteModel(model).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(registry_->DeleteArtifact(b.key).ok());
  EXPECT_EQ(registry_->DeleteArtifact(b.key).code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(registry_->HasBlob(b.code));
  EXPECT_TRUE(registry_->HasBlob(b.weights));  // the other artifact has the same
  EXPECT_EQ(VerifiedCode(), "code of a");
}

TEST_F(RegistryTest, CollectsTheLeastRecentlyUsedAndNothingThatIsNeeded) {
  Digest model = StoreModel("model"), idle = StoreModel("idle model");
  ArtifactRecord released = Store("released", model).value();
  ASSERT_TRUE(registry_->Publish(Request(released)).ok());
  ArtifactRecord old = Store("old", model).value(), recent = Store("recent", model).value();
  ArtifactRecord read = Store("read", model).value();
  now_ += absl::Hours(1);
  ASSERT_TRUE(registry_->LookupArtifact(recent.key).ok());
  auto reader = registry_->OpenBlob(read.code, Verify::kAlways).value();

  uint64_t total = registry_->GetStatistics()->blob_bytes;
  GcResult some = registry_->Gc({total - 1, 4}).value();
  EXPECT_EQ(some.models, 1u);  // the idle one was used before all others
  EXPECT_EQ(some.artifacts, 0u);
  EXPECT_EQ(registry_->FindModel(idle).status().code(), absl::StatusCode::kNotFound);
  some = registry_->Gc({some.kept_bytes - 1, 4}).value();
  EXPECT_EQ(some.artifacts, 1u);
  EXPECT_FALSE(registry_->LookupArtifact(old.key).ok());
  EXPECT_TRUE(registry_->LookupArtifact(recent.key).ok());

  registry_->Gc({0, 4}).value();
  EXPECT_FALSE(registry_->LookupArtifact(recent.key).ok());
  EXPECT_TRUE(registry_->LookupArtifact(read.key).ok());  // is being read
  reader.reset();
  GcResult rest = registry_->Gc({0, 4}).value();
  EXPECT_FALSE(registry_->LookupArtifact(read.key).ok());
  EXPECT_EQ(rest.kept_bytes, registry_->GetStatistics()->blob_bytes);
  EXPECT_EQ(VerifiedCode(), "code of released");
}

TEST_F(RegistryTest, KeepsSupersededReleasesAsLongAsTold) {
  Digest model = StoreModel("model");
  std::vector<ArtifactRecord> artifacts;
  for (int i = 0; i < 4; ++i) {
    artifacts.push_back(Store(std::to_string(i), model).value());
    ASSERT_TRUE(registry_->Publish(Request(artifacts.back())).ok());
  }
  EXPECT_EQ(registry_->Gc({0, 1})->releases, 2u);
  auto served = [&](int i) { return registry_->Resolve("/blobs/sha256/" + artifacts[i].code.digest.Hex()).ok(); };
  EXPECT_FALSE(served(0));
  EXPECT_FALSE(served(1));
  EXPECT_TRUE(served(2));
  EXPECT_TRUE(served(3));
  EXPECT_FALSE(registry_->HasBlob(artifacts[0].code));
  EXPECT_EQ(VerifiedCode(), "code of 3");
}

TEST_F(RegistryTest, RemovesBlobsThatNoRowNames) {
  {
    auto writer = registry_->OpenUpload(BlobRef::Of("never used")).value();
    ASSERT_TRUE(writer->Append("never used").ok());
    ASSERT_TRUE(writer->Commit().ok());
    Age(BlobPath(Digest::Of("never used")));
    registry_->Gc({kLimit, 4}).value();
    EXPECT_TRUE(registry_->HasBlob(BlobRef::Of("never used")));  // the upload isn't finished
  }
  EXPECT_EQ(registry_->Gc({kLimit, 4})->blobs, 1u);
  EXPECT_FALSE(registry_->HasBlob(BlobRef::Of("never used")));
}

TEST_F(RegistryTest, ABlobWithoutARowStaysADayForTheRestOfItsUpload) {
  {
    auto writer = registry_->OpenUpload(BlobRef::Of("first of two files")).value();
    ASSERT_TRUE(writer->Append("first of two files").ok());
    ASSERT_TRUE(writer->Commit().ok());
  }
  EXPECT_EQ(registry_->Gc({0, 0})->blobs, 0u);
  EXPECT_TRUE(registry_->HasBlob(BlobRef::Of("first of two files")));
}

TEST_F(RegistryTest, UploadsAndDamagedFilesCountAndGo) {
  {
    auto writer = registry_->OpenUpload(BlobRef::Of("interrupted")).value();
    ASSERT_TRUE(writer->Append("inter").ok());
    ASSERT_TRUE(writer->Suspend().ok());
  }
  ArtifactRecord stored = Store("a", StoreModel("model")).value();
  int fd = open(BlobPath(stored.code.digest).c_str(), O_WRONLY);
  ASSERT_EQ(pwrite(fd, "!", 1, 0), 1);
  close(fd);
  EXPECT_FALSE(registry_->OpenBlob(stored.code, Verify::kAlways).ok());
  Statistics s = registry_->GetStatistics().value();
  EXPECT_EQ(s.upload_bytes, 5u);
  EXPECT_EQ(s.quarantine_bytes, 9u);
  uint64_t all = s.blob_bytes + 14;
  EXPECT_EQ(registry_->Gc({all, 4})->kept_bytes, all);
  EXPECT_EQ(registry_->Gc({all - 1, 4})->kept_bytes, all - 9);  // the damaged file
  EXPECT_EQ(registry_->GetStatistics()->quarantine_bytes, 0u);
  EXPECT_EQ(registry_->GetStatistics()->upload_bytes, 5u);
  std::vector<std::string> uploads = fs::ListDirectory(path() + "/blobs/uploads").value();
  for (const std::string& name : uploads) Age(path() + "/blobs/uploads/" + name);
  ASSERT_TRUE(registry_->Maintain().ok());
  EXPECT_EQ(registry_->GetStatistics()->upload_bytes, 0u);
}

TEST_F(RegistryTest, ATruncatedBlobDoesntMakeACollectionGoOn) {
  Digest model = StoreModel("model");
  std::string big(1 << 20, 'b');
  ArtifactRecord cut =
      registry_->StoreArtifact(Record("cut", model), {absl::string_view("cut m"), absl::string_view("cut c"), big})
          .value();
  now_ += absl::Seconds(1);
  ArtifactRecord whole = Store("whole", model).value();
  ASSERT_EQ(truncate(BlobPath(cut.weights.digest).c_str(), 1), 0);
  uint64_t total = 0;
  for (const char* text : {"model", "cut m", "cut c", "!", "manifest of whole", "code of whole", "weights"}) {
    total += std::string(text).size();
  }
  GcResult result = registry_->Gc({total - 1, 4}).value();
  EXPECT_EQ(result.artifacts, 1u);
  EXPECT_EQ(result.freed_bytes, 11u);
  EXPECT_EQ(result.kept_bytes, total - 11);
  EXPECT_TRUE(registry_->LookupArtifact(whole.key).ok());
}

TEST_F(RegistryTest, AWithdrawnModelsArtifactsCanGo) {
  Digest model = StoreModel("model");
  ArtifactRecord a = Store("a", model).value();
  ASSERT_TRUE(registry_->Publish(Request(a)).ok());
  ASSERT_TRUE(registry_->Withdraw("stable", "m").ok());
  EXPECT_EQ(registry_->DeleteArtifact(a.key).code(), absl::StatusCode::kFailedPrecondition);  // downloads may run
  EXPECT_EQ(registry_->Gc({kLimit, 4})->releases, 1u);
  EXPECT_TRUE(registry_->DeleteArtifact(a.key).ok());
  EXPECT_TRUE(registry_->DeleteModel(model).ok());
}

TEST_F(RegistryTest, OneProcessAtATime) {
  absl::Status status = Registry::Open(path(), Options()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find(path()), absl::string_view::npos);
}

TEST_F(RegistryTest, ALostDatabaseLosesNoRelease) {
  ArtifactRecord a = Store("a", StoreModel("model")).value();
  ASSERT_TRUE(registry_->Publish(Request(a)).ok());
  registry_.reset();
  for (const char* suffix : {"", "-wal", "-shm"}) unlink((path() + "/index.db" + suffix).c_str());
  Reopen();
  EXPECT_EQ(VerifiedCode(), "code of a");
  registry_->Gc({0, 0}).value();
  EXPECT_EQ(VerifiedCode(), "code of a");
  ArtifactRecord b = Store("b", StoreModel("model")).value();
  EXPECT_EQ(registry_->Publish(Request(b))->release, 2u);
}

TEST_F(RegistryTest, ALostDatabaseUsesNoReleaseNumberAgain) {
  ArtifactRecord a = Store("a", StoreModel("model")).value();
  for (int i = 1; i <= 3; ++i) ASSERT_EQ(registry_->Publish(Request(a))->release, static_cast<uint64_t>(i));
  ASSERT_TRUE(registry_->Withdraw("stable", "m").ok());
  registry_.reset();
  for (const char* suffix : {"", "-wal", "-shm"}) unlink((path() + "/index.db" + suffix).c_str());
  Reopen();
  // Nothing signed tells of releases 1 to 3, but devices may have one of them.
  a = Store("a", StoreModel("model")).value();
  const uint64_t next = registry_->Publish(Request(a))->release;
  EXPECT_GT(next, 3u);
  EXPECT_EQ(registry_->Publish(Request(a))->release, next + 1);
  Reopen();
  EXPECT_EQ(registry_->Publish(Request(a))->release, next + 2);
  // Of any model: what is known of one says nothing about another.
  PublishRequest other = Request(a);
  other.model = "other";
  EXPECT_GT(registry_->Publish(other)->release, 3u);
}

TEST_F(RegistryTest, AKillWhileStoringLeavesAWholeArtifactOrNone) {
  Digest model = StoreModel("model");
  int killed = 0;
  for (int step = 0;; ++step) {
    std::string name = absl::StrCat("a", step);
    // The child opens the directory itself, as a server would; steps of opening are counted too.
    registry_.reset();
    bool was_killed = fs::KilledAt(step, [&] {
      auto registry = Registry::Open(path(), Options());
      if (!registry.ok()) return false;
      registry_ = std::move(*registry);
      return Store(name, model).ok();
    });
    Reopen();
    auto found = registry_->LookupArtifact(Record(name, model).key);
    if (found.ok()) EXPECT_EQ(Read(found->code), "code of " + name);
    if (!was_killed) {
      EXPECT_TRUE(found.ok());
      break;
    }
    ++killed;
    ASSERT_TRUE(Store(name, model).ok()) << step;
    EXPECT_EQ(registry_->GetStatistics()->quarantined, 0u);
  }
  EXPECT_GT(killed, 15);
}

TEST_F(RegistryTest, AKillWhilePublishingLeavesTheOldReleaseOrTheNew) {
  Digest model = StoreModel("model");
  ArtifactRecord old = Store("old", model).value();
  ASSERT_TRUE(registry_->Publish(Request(old)).ok());
  std::string expected = "code of old";
  int killed = 0;
  for (int step = 0;; ++step) {
    std::string name = absl::StrCat("a", step);
    ArtifactRecord artifact = Store(name, model).value();
    uint64_t last = registry_->ListReleases("", "")->front().release;
    registry_.reset();
    bool was_killed = fs::KilledAt(step, [&] {
      auto registry = Registry::Open(path(), Options());
      return registry.ok() && (*registry)->Publish(Request(artifact)).ok();
    });
    Reopen();
    std::string code = VerifiedCode();
    EXPECT_TRUE(code == expected || code == "code of " + name) << step << ": " << code;
    expected = code;
    // The rows agree with what is signed: one current release, numbers without gaps.
    std::vector<ReleaseRecord> releases = registry_->ListReleases("", "").value();
    int current = 0;
    for (const ReleaseRecord& r : releases) {
      current += r.current;
      if (r.current) EXPECT_EQ("code of " + name == code ? last + 1 : last, r.release) << step;
    }
    EXPECT_EQ(current, 1) << step;
    if (!was_killed) {
      EXPECT_EQ(code, "code of " + name);
      break;
    }
    ++killed;
    registry_->Gc({kLimit, 0}).value();
    EXPECT_EQ(VerifiedCode(), expected);
  }
  EXPECT_GT(killed, 25);
}

TEST_F(RegistryTest, AnErrorWhileStoringIsToldAndLeavesNothingHalf) {
  Digest model = StoreModel("model");
  for (int error : {ENOSPC, EIO}) {
    int struck = 0;
    for (int step = 0;; ++step) {
      std::string name = absl::StrCat("s", error, " ", step);
      fs::Fault::Arm(step, error);
      absl::Status status = Store(name, model).status();
      bool was_struck = fs::Fault::Struck();
      fs::Fault::Disarm();
      if (!was_struck) break;
      ++struck;
      // What SQLite can repeat or repair is no error; what is one has its kind.
      if (!status.ok()) {
        bool full = status.code() == absl::StatusCode::kResourceExhausted;
        EXPECT_TRUE(full ? error == ENOSPC : status.code() == absl::StatusCode::kDataLoss) << step << ": " << status;
      }
      absl::StatusOr<ArtifactRecord> found = registry_->LookupArtifact(Record(name, model).key);
      if (status.ok()) EXPECT_TRUE(found.ok()) << step;
      if (found.ok()) EXPECT_EQ(Read(found->code), "code of " + name);
      ASSERT_TRUE(Store(name, model).ok()) << step;
    }
    EXPECT_GT(struck, 10);
  }
}

TEST_F(RegistryTest, AnErrorWhilePublishingBlocksNoLaterPublication) {
  Digest model = StoreModel("model");
  ArtifactRecord old = Store("old", model).value();
  ASSERT_TRUE(registry_->Publish(Request(old)).ok());
  std::string expected = "code of old";
  uint64_t last = 1;
  for (int error : {EIO, ENOSPC}) {
    int struck = 0;
    for (int step = 0;; ++step) {
      std::string name = absl::StrCat("e", error, " ", step);
      ArtifactRecord artifact = Store(name, model).value();
      fs::Fault::Arm(step, error);
      absl::StatusOr<PublishResult> result = registry_->Publish(Request(artifact));
      bool was_struck = fs::Fault::Struck();
      fs::Fault::Disarm();
      std::string code = VerifiedCode();
      bool released = code == "code of " + name;
      EXPECT_TRUE(released || code == expected) << step << ": " << code;
      if (result.ok()) EXPECT_TRUE(released) << step;
      expected = code;
      last += released ? 1 : 0;
      if (!was_struck) break;
      ++struck;
      // By whichever comes first, upkeep or the next publication, the rows agree with what is signed.
      if (step % 2 == 0) {
        ASSERT_TRUE(registry_->Maintain().ok()) << step;
        EXPECT_EQ(registry_->ListReleases("", "")->front().release, last) << step;
      }
      ArtifactRecord next = Store(name + " next", model).value();
      absl::StatusOr<PublishResult> retried = registry_->Publish(Request(next));
      ASSERT_TRUE(retried.ok()) << step << ": " << retried.status();
      EXPECT_EQ(retried->release, ++last) << step;
      expected = VerifiedCode();
      EXPECT_EQ(expected, "code of " + name + " next");
      int current = 0;
      std::vector<ReleaseRecord> releases = registry_->ListReleases("", "").value();
      for (const ReleaseRecord& r : releases) {
        current += r.current;
        if (r.current) EXPECT_EQ(r.release, last) << step;
      }
      EXPECT_EQ(current, 1) << step;
    }
    EXPECT_GT(struck, 20);
  }
}

TEST_F(RegistryTest, MaintainSignsAgain) {
  now_ += absl::Hours(20);
  ASSERT_TRUE(registry_->Maintain().ok());
  EXPECT_EQ(registry_->GetStatistics()->timestamp_version, 2u);
  EXPECT_EQ(registry_->GetStatistics()->timestamp_expires, now_ + absl::Hours(24));
  EXPECT_FALSE(registry_->TrustedRoot()->empty());
}

}  // namespace
}  // namespace aot::registry
