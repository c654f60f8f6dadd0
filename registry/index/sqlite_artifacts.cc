// Rows of artifacts, and the lookup that every cached compile request makes.
#include <utility>

#include "absl/strings/str_cat.h"
#include "registry/index/sqlite_index.h"

namespace aot::registry {
namespace {

constexpr size_t kMaxCachedRows = 65536;  // about 50 MB; then the cache starts over

}  // namespace

ArtifactRecord ReadArtifact(const Statement& row) {
  ArtifactRecord artifact;
  artifact.key.digest = row.DigestAt(0);
  artifact.model = row.DigestAt(1);
  artifact.target = row.Text(2);
  artifact.options = row.Text(3);
  artifact.compiler = row.Text(4);
  artifact.manifest = row.RefAt(5);
  artifact.code = row.RefAt(7);
  artifact.weights = row.RefAt(9);
  artifact.compile_time = absl::Microseconds(row.Int(11));
  artifact.created = row.Time(12);
  artifact.last_used = row.Time(13);
  return artifact;
}

absl::StatusOr<ArtifactRecord> SqliteIndex::GetArtifact(const ArtifactKey& key) {
  absl::MutexLock lock(&lookup_mutex_);
  {
    Statement version = lookup_->Prepare("PRAGMA data_version");
    absl::StatusOr<bool> row = version.Step();
    if (!row.ok()) return row.status();
    if (version.Int(0) != cached_version_) {
      cache_.clear();
      cached_version_ = version.Int(0);
    }
  }
  if (auto it = cache_.find(key); it != cache_.end()) return it->second;
  Statement query = lookup_->Prepare("SELECT " AOT_ARTIFACT_COLUMNS " FROM artifacts WHERE key = ?1");
  absl::StatusOr<bool> row = query.Bind(1, key.digest).Step();
  if (!row.ok()) return row.status();
  if (!*row) return absl::NotFoundError(absl::StrCat("no artifact ", key.Hex()));
  // A commit between the two statements only makes this row newer than cached_version_: the next call starts over.
  if (cache_.size() >= kMaxCachedRows) cache_.clear();
  return cache_[key] = ReadArtifact(query);
}

absl::StatusOr<ArtifactRecord> SqliteIndex::PutArtifact(const ArtifactRecord& artifact, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  Transaction transaction(*db_);
  if (absl::Status s = transaction.Begin(); !s.ok()) return s;
  {
    Statement query = db_->Prepare("SELECT 1 FROM models WHERE digest = ?1");
    absl::StatusOr<bool> row = query.Bind(1, artifact.model).Step();
    if (!row.ok()) return row.status();
    if (!*row) {
      return absl::FailedPreconditionError(absl::StrCat("artifact ", artifact.key.Hex(), " is of model ",
                                                        artifact.model.Hex(), ", which isn't stored; store it first"));
    }
  }
  {
    Statement insert = db_->Prepare("INSERT INTO artifacts (" AOT_ARTIFACT_COLUMNS
                                    ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?13)"
                                    " ON CONFLICT (key) DO UPDATE SET model = excluded.model, target = excluded.target,"
                                    " options = excluded.options, compiler = excluded.compiler,"
                                    " manifest = excluded.manifest, manifest_size = excluded.manifest_size,"
                                    " code = excluded.code, code_size = excluded.code_size,"
                                    " weights = excluded.weights, weights_size = excluded.weights_size,"
                                    " compile_us = excluded.compile_us, created_us = excluded.created_us,"
                                    " last_used_us = excluded.last_used_us");
    insert.Bind(1, artifact.key.digest)
        .Bind(2, artifact.model)
        .Bind(3, artifact.target)
        .Bind(4, artifact.options)
        .Bind(5, artifact.compiler)
        .Bind(6, artifact.manifest.digest)
        .Bind(7, artifact.manifest.size)
        .Bind(8, artifact.code.digest)
        .Bind(9, artifact.code.size)
        .Bind(10, artifact.weights.digest)
        .Bind(11, artifact.weights.size)
        .Bind(12, absl::ToInt64Microseconds(artifact.compile_time))
        .Bind(13, now);
    if (absl::Status s = insert.Run(); !s.ok()) return s;
  }
  {
    Statement raise = db_->Prepare("DELETE FROM tombstones WHERE kind = 'artifact' AND id = ?1");
    std::string id = artifact.key.Hex();
    if (absl::Status s = raise.Bind(1, id).Run(); !s.ok()) return s;
  }
  if (absl::Status s = transaction.Commit(); !s.ok()) return s;
  ArtifactRecord stored = artifact;
  // As a reader of the row will see it: in whole microseconds.
  stored.created = stored.last_used = absl::FromUnixMicros(absl::ToUnixMicros(now));
  stored.compile_time = absl::Microseconds(absl::ToInt64Microseconds(artifact.compile_time));
  return stored;
}

absl::StatusOr<std::vector<ArtifactRecord>> SqliteIndex::ListArtifacts(const std::optional<Digest>& model) {
  absl::MutexLock lock(&mutex_);
  std::vector<ArtifactRecord> artifacts;
  Statement query = db_->Prepare("SELECT " AOT_ARTIFACT_COLUMNS
                                 " FROM artifacts WHERE ?1 IS NULL OR model = ?1 ORDER BY created_us DESC, key");
  if (model) {
    query.Bind(1, *model);
  } else {
    query.BindNull(1);
  }
  absl::StatusOr<bool> row = query.Step();
  for (; row.ok() && *row; row = query.Step()) artifacts.push_back(ReadArtifact(query));
  if (!row.ok()) return row.status();
  return artifacts;
}

absl::Status SqliteIndex::CheckUnreleased(const ArtifactKey& key) {
  Statement query =
      db_->Prepare("SELECT channel, model, target, release FROM releases WHERE artifact = ?1 ORDER BY release DESC");
  absl::StatusOr<bool> row = query.Bind(1, key.digest).Step();
  if (!row.ok()) return row.status();
  if (!*row) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("artifact ", key.Hex(), " is part of release ", query.Int(3), " of ", query.Text(0), "/",
                   query.Text(1), "/", query.Text(2),
                   "; publish another artifact there or withdraw the model from the channel (aotctl withdraw), then "
                   "collect (aotctl cache gc --keep-superseded 0)"));
}

absl::StatusOr<std::vector<BlobRef>> SqliteIndex::DeleteArtifact(const ArtifactKey& key, absl::string_view reason,
                                                                 absl::Time now) {
  absl::MutexLock lock(&mutex_);
  Transaction transaction(*db_);
  if (absl::Status s = transaction.Begin(); !s.ok()) return s;
  std::vector<BlobRef> blobs;
  {
    Statement query = db_->Prepare("SELECT " AOT_ARTIFACT_COLUMNS " FROM artifacts WHERE key = ?1");
    absl::StatusOr<bool> row = query.Bind(1, key.digest).Step();
    if (!row.ok()) return row.status();
    if (!*row) return Missing("artifact", key.Hex());
    ArtifactRecord artifact = ReadArtifact(query);
    blobs = {artifact.manifest, artifact.code, artifact.weights};
  }
  if (absl::Status s = CheckUnreleased(key); !s.ok()) return s;
  if (absl::Status s = db_->Prepare("DELETE FROM artifacts WHERE key = ?1").Bind(1, key.digest).Run(); !s.ok())
    return s;
  if (absl::Status s = Bury("artifact", key.Hex(), reason, now); !s.ok()) return s;
  if (absl::Status s = transaction.Commit(); !s.ok()) return s;
  return blobs;
}

}  // namespace aot::registry
