#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "registry/fs/temp_directory.h"
#include "registry/index/index.h"
#include "registry/index/schema.h"

namespace aot::registry {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1800000000);

ModelRecord Model(const std::string& bytes) {
  ModelRecord model;
  model.digest = Digest::Of("model " + bytes);
  model.blob = BlobRef::Of(bytes);
  model.name = bytes + "'; DROP TABLE models; --";  // names are data
  model.external = {{"weights.bin", BlobRef::Of(bytes + " weights")}};
  return model;
}

ArtifactRecord Artifact(const std::string& name, const ModelRecord& model) {
  ArtifactRecord artifact;
  artifact.key.digest = Digest::Of("key " + name);
  artifact.model = model.digest;
  artifact.target = "cortex-a75";
  artifact.options = "opt=3\nmath=default\n";
  artifact.compiler = "1.0 abc";
  artifact.manifest = BlobRef::Of(name + " manifest");
  artifact.code = BlobRef::Of(name + " code");
  artifact.weights = BlobRef::Of("shared weights");
  artifact.compile_time = absl::Milliseconds(1234);
  return artifact;
}

ReleaseRecord Release(const ArtifactRecord& artifact, uint64_t number) {
  ReleaseRecord release;
  release.channel = "stable";
  release.model = "m";
  release.target = artifact.target;
  release.release = number;
  release.artifact = artifact.key;
  release.manifest = artifact.manifest;
  release.code = artifact.code;
  release.weights = artifact.weights;
  release.created = kNow + absl::Seconds(number);
  return release;
}

class SqliteIndexTest : public testing::Test {
 protected:
  SqliteIndexTest() { Reopen(); }

  void Reopen() {
    index_.reset();
    auto index = OpenSqliteIndex(path_);
    ASSERT_TRUE(index.ok()) << index.status();
    index_ = std::move(*index);
  }
  // Runs SQL as another program would.
  void Sql(const std::string& sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }

  std::string Bytes() {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::TempDirectory directory_;
  std::string path_ = directory_.path() + "/index.db";
  std::unique_ptr<Index> index_;
};

TEST_F(SqliteIndexTest, GivesBackRows) {
  ModelRecord model = Model("a");
  ASSERT_TRUE(index_->PutModel(model, kNow).ok());
  ArtifactRecord artifact = Artifact("x", model);
  ASSERT_TRUE(index_->PutArtifact(artifact, kNow).ok());
  for (int i = 0; i < 2; ++i) {
    ModelRecord m = index_->GetModel(model.digest).value();
    EXPECT_EQ(m.name, model.name);
    EXPECT_EQ(m.blob, model.blob);
    ASSERT_EQ(m.external.size(), 1u);
    EXPECT_EQ(m.external[0].name, "weights.bin");
    EXPECT_EQ(m.external[0].blob, model.external[0].blob);
    EXPECT_EQ(m.created, kNow);
    ArtifactRecord a = index_->GetArtifact(artifact.key).value();
    EXPECT_EQ(a.model, model.digest);
    EXPECT_EQ(a.target, artifact.target);
    EXPECT_EQ(a.options, artifact.options);
    EXPECT_EQ(a.compiler, artifact.compiler);
    EXPECT_EQ(a.manifest, artifact.manifest);
    EXPECT_EQ(a.code, artifact.code);
    EXPECT_EQ(a.weights, artifact.weights);
    EXPECT_EQ(a.compile_time, artifact.compile_time);
    EXPECT_EQ(a.created, kNow);
    Reopen();
  }
  EXPECT_EQ(index_->ListModels()->size(), 1u);
  EXPECT_EQ(index_->ListArtifacts(std::nullopt)->size(), 1u);
  EXPECT_EQ(index_->ListArtifacts(model.digest)->size(), 1u);
  EXPECT_EQ(index_->ListArtifacts(Digest::Of("other"))->size(), 0u);
}

TEST_F(SqliteIndexTest, LookupSeesEveryWriteAtOnce) {
  ModelRecord model = Model("a");
  ASSERT_TRUE(index_->PutModel(model, kNow).ok());
  ArtifactRecord artifact = Artifact("x", model);
  EXPECT_EQ(index_->GetArtifact(artifact.key).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(index_->PutArtifact(artifact, kNow).ok());
  EXPECT_EQ(index_->GetArtifact(artifact.key)->code, artifact.code);
  artifact.code = BlobRef::Of("other code");
  ASSERT_TRUE(index_->PutArtifact(artifact, kNow).ok());
  EXPECT_EQ(index_->GetArtifact(artifact.key)->code, artifact.code);
  ASSERT_TRUE(index_->DeleteArtifact(artifact.key, "test", kNow).ok());
  EXPECT_EQ(index_->GetArtifact(artifact.key).status().code(), absl::StatusCode::kNotFound);
  // Also what a person does with the sqlite3 shell.
  ASSERT_TRUE(index_->PutArtifact(artifact, kNow).ok());
  ASSERT_TRUE(index_->GetArtifact(artifact.key).ok());
  Sql("DELETE FROM artifacts");
  EXPECT_EQ(index_->GetArtifact(artifact.key).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(SqliteIndexTest, AnArtifactNeedsItsModel) {
  absl::Status status = index_->PutArtifact(Artifact("x", Model("a")), kNow).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find(Model("a").digest.Hex()), absl::string_view::npos);
}

TEST_F(SqliteIndexTest, ReleasesProtectTheirArtifacts) {
  ModelRecord model = Model("a");
  ArtifactRecord artifact = Artifact("x", model);
  ASSERT_TRUE(index_->PutModel(model, kNow).ok());
  ASSERT_TRUE(index_->PutArtifact(artifact, kNow).ok());
  ASSERT_TRUE(index_->AddPending({Release(artifact, 1)}).ok());
  for (const absl::Status& s : {index_->DeleteArtifact(artifact.key, "test", kNow).status(),
                                index_->DeleteModel(model.digest, "test", kNow).status()}) {
    EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(s.message().find("stable/m/cortex-a75"), absl::string_view::npos);
  }
  EXPECT_TRUE(index_->ListCandidates()->empty());
  ASSERT_TRUE(index_->Reconcile({}).ok());  // it was never signed
  EXPECT_EQ(index_->ListCandidates()->size(), 1u);
  std::vector<BlobRef> freed = index_->DeleteModel(model.digest, "test", kNow).value();
  EXPECT_EQ(freed.size(), 5u);
  absl::Status gone = index_->GetModel(model.digest).status();
  EXPECT_EQ(gone.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(gone.message().find("deleted on 2027-01-15"), absl::string_view::npos) << gone;
}

TEST_F(SqliteIndexTest, APendingReleaseOfAMissingArtifactIsRefused) {
  EXPECT_EQ(index_->AddPending({Release(Artifact("x", Model("a")), 1)}).code(), absl::StatusCode::kNotFound);
}

TEST_F(SqliteIndexTest, ReconcileFollowsTheSignedMetadata) {
  ModelRecord model = Model("a");
  ArtifactRecord x = Artifact("x", model), y = Artifact("y", model);
  ASSERT_TRUE(index_->PutModel(model, kNow).ok());
  ASSERT_TRUE(index_->PutArtifact(x, kNow).ok());
  ASSERT_TRUE(index_->PutArtifact(y, kNow).ok());
  EXPECT_EQ(index_->NextRelease("stable", "m").value(), 1u);
  ASSERT_TRUE(index_->AddPending({Release(x, 1)}).ok());
  EXPECT_TRUE(index_->ListReleases("", "")->empty());
  ASSERT_TRUE(index_->Reconcile({Release(x, 1)}).ok());
  EXPECT_EQ(index_->NextRelease("stable", "m").value(), 2u);
  EXPECT_EQ(index_->NextRelease("beta", "m").value(), 1u);
  ASSERT_TRUE(index_->AddPending({Release(y, 2)}).ok());
  ASSERT_TRUE(index_->Reconcile({Release(y, 2)}).ok());
  std::vector<ReleaseRecord> releases = index_->ListReleases("stable", "m").value();
  ASSERT_EQ(releases.size(), 2u);
  EXPECT_TRUE(releases[0].current);
  EXPECT_EQ(releases[0].artifact, y.key);
  EXPECT_FALSE(releases[1].current);
  EXPECT_TRUE(index_->ListReleases("beta", "")->empty());

  EXPECT_EQ(index_->FindReleasedBlob(x.code.digest).value(), x.code);
  EXPECT_TRUE(index_->FindReleasedManifest("stable", "m", "cortex-a75", x.manifest.digest).ok());
  EXPECT_FALSE(index_->FindReleasedManifest("stable", "m", "cortex-a53", x.manifest.digest).ok());
  EXPECT_FALSE(index_->FindReleasedManifest("stable", "m", "cortex-a75", x.code.digest).ok());
  EXPECT_FALSE(index_->FindReleasedBlob(model.blob.digest).ok());

  EXPECT_EQ(index_->RetireReleases(0, kNow).value(), 1u);
  EXPECT_FALSE(index_->FindReleasedBlob(x.code.digest).ok());
  EXPECT_TRUE(index_->FindReleasedBlob(x.weights.digest).ok());  // the second release needs it too
  ASSERT_TRUE(index_->Reconcile({}).ok());                       // withdrawn
  EXPECT_EQ(index_->RetireReleases(0, kNow).value(), 1u);
  EXPECT_EQ(index_->NextRelease("stable", "m").value(), 3u);  // numbers are never used again
}

TEST_F(SqliteIndexTest, ReconcileRestoresRowsOfALostDatabase) {
  ReleaseRecord release = Release(Artifact("x", Model("a")), 7);
  ASSERT_TRUE(index_->Reconcile({release}).ok());
  std::vector<ReleaseRecord> releases = index_->ListReleases("", "").value();
  ASSERT_EQ(releases.size(), 1u);
  EXPECT_EQ(releases[0].code, release.code);
  EXPECT_EQ(releases[0].artifact, ArtifactKey());
  EXPECT_EQ(index_->NextRelease("stable", "m").value(), 8u);
}

TEST_F(SqliteIndexTest, CandidatesComeLeastRecentlyUsedFirst) {
  ModelRecord model = Model("a"), unused = Model("b");
  ASSERT_TRUE(index_->PutModel(model, kNow).ok());
  ASSERT_TRUE(index_->PutModel(unused, kNow + absl::Seconds(5)).ok());
  ArtifactRecord x = Artifact("x", model), y = Artifact("y", model);
  ASSERT_TRUE(index_->PutArtifact(x, kNow + absl::Seconds(1)).ok());
  ASSERT_TRUE(index_->PutArtifact(y, kNow + absl::Seconds(2)).ok());
  index_->NoteUse(x.key, kNow + absl::Seconds(9));
  ASSERT_TRUE(index_->FlushUses().ok());
  std::vector<Candidate> candidates = index_->ListCandidates().value();
  ASSERT_EQ(candidates.size(), 3u);
  EXPECT_EQ(candidates[0].id, y.key.digest);
  EXPECT_EQ(candidates[1].id, unused.digest);
  EXPECT_EQ(candidates[1].kind, Candidate::Kind::kModel);
  EXPECT_EQ(candidates[1].blobs.size(), 2u);
  EXPECT_EQ(candidates[2].id, x.key.digest);
  EXPECT_EQ(candidates[2].blobs.size(), 3u);
  EXPECT_TRUE(index_->IsReferenced(x.weights.digest).value());
  EXPECT_FALSE(index_->IsReferenced(Digest::Of("nobody's")).value());
}

TEST_F(SqliteIndexTest, RefusesANewerSchemaAndNamesBothVersions) {
  index_.reset();
  Sql("PRAGMA user_version = 99");
  absl::Status status = OpenSqliteIndex(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("99"), absl::string_view::npos);
  EXPECT_NE(status.message().find(std::to_string(kSchemaVersion)), absl::string_view::npos);
}

TEST_F(SqliteIndexTest, RefusesAnotherProgramsDatabase) {
  index_.reset();
  ASSERT_EQ(unlink(path_.c_str()), 0);
  Sql("CREATE TABLE customers (name TEXT)");
  std::string before = Bytes();
  EXPECT_EQ(OpenSqliteIndex(path_).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Bytes(), before);  // not even its journal mode
}

TEST_F(SqliteIndexTest, UsesSurviveAFailedWrite) {
  ModelRecord model = Model("a");
  ArtifactRecord artifact = Artifact("x", model);
  ASSERT_TRUE(index_->PutModel(model, kNow).ok());
  ASSERT_TRUE(index_->PutArtifact(artifact, kNow).ok());
  index_->NoteUse(artifact.key, kNow + absl::Hours(1));
  index_->NoteModelUse(model.digest, kNow + absl::Hours(1));
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(index_->FlushUses().code(), absl::StatusCode::kUnavailable);
  index_->NoteModelUse(model.digest, kNow + absl::Hours(2));  // newer than the one that comes back
  sqlite3_close(other);
  ASSERT_TRUE(index_->FlushUses().ok());
  EXPECT_EQ(index_->ListArtifacts(std::nullopt)->front().last_used, kNow + absl::Hours(1));
  EXPECT_EQ(index_->ListModels()->front().last_used, kNow + absl::Hours(2));
}

TEST_F(SqliteIndexTest, TellsAReleaseThatIsThereFromAnArtifactThatIsNot) {
  ModelRecord model = Model("a");
  ArtifactRecord artifact = Artifact("x", model);
  ASSERT_TRUE(index_->PutModel(model, kNow).ok());
  ASSERT_TRUE(index_->PutArtifact(artifact, kNow).ok());
  ASSERT_TRUE(index_->AddPending({Release(artifact, 1)}).ok());
  EXPECT_EQ(index_->AddPending({Release(artifact, 1)}).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(index_->AddPending({Release(Artifact("never stored", model), 2)}).code(), absl::StatusCode::kNotFound);
}

TEST_F(SqliteIndexTest, ADamagedPageIsAClearError) {
  ModelRecord model = Model("a");
  ASSERT_TRUE(index_->PutModel(model, kNow).ok());
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(index_->PutArtifact(Artifact(std::to_string(i), model), kNow).ok());
  }
  index_.reset();  // checkpoints the log into the file
  struct stat info;
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  int damaged = 0;
  for (off_t page = 0; page < info.st_size; page += 4096) {
    std::string original(4096, '\0'), rubbish(4096, '\xa5');
    int fd = open(path_.c_str(), O_RDWR);
    ASSERT_EQ(pread(fd, original.data(), 4096, page), 4096);
    ASSERT_EQ(pwrite(fd, rubbish.data(), 4096, page), 4096);
    absl::Status status = OpenSqliteIndex(path_).status();
    if (!status.ok()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << page << ": " << status;
      EXPECT_NE(status.message().find(path_), absl::string_view::npos);
      ++damaged;
    }
    ASSERT_EQ(pwrite(fd, original.data(), 4096, page), 4096);
    close(fd);
  }
  // Every page but those of the free list.
  EXPECT_GE(damaged, info.st_size / 4096 - 2);
  Reopen();
  EXPECT_EQ(index_->ListArtifacts(std::nullopt)->size(), 200u);
}

TEST_F(SqliteIndexTest, AFileThatIsNoDatabaseIsAClearError) {
  index_.reset();
  int fd = open(path_.c_str(), O_WRONLY | O_TRUNC);
  ASSERT_EQ(write(fd, std::string(8192, 'x').data(), 8192), 8192);
  close(fd);
  EXPECT_EQ(OpenSqliteIndex(path_).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace aot::registry
