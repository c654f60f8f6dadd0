#include "registry/index/sqlite_index.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "registry/index/schema.h"

namespace aot::registry {

absl::StatusOr<std::unique_ptr<Index>> OpenSqliteIndex(const std::string& path) {
  absl::StatusOr<std::unique_ptr<Database>> writer = Database::Open(path, Database::Mode::kReadWrite);
  if (!writer.ok()) return writer.status();
  if (absl::Status s = PrepareSchema(**writer); !s.ok()) return s;
  absl::StatusOr<std::unique_ptr<Database>> reader = Database::Open(path, Database::Mode::kReadOnly);
  if (!reader.ok()) return reader.status();
  return std::unique_ptr<Index>(std::make_unique<SqliteIndex>(std::move(*writer), std::move(*reader)));
}

// Losing the notes of the last minutes would only make a collection a little less fair.
SqliteIndex::~SqliteIndex() { FlushUses().IgnoreError(); }

void SqliteIndex::NoteUse(const ArtifactKey& key, absl::Time now) {
  absl::MutexLock lock(&uses_mutex_);
  artifact_uses_[key] = now;
}

void SqliteIndex::NoteModelUse(const Digest& model, absl::Time now) {
  absl::MutexLock lock(&uses_mutex_);
  model_uses_[model] = now;
}

absl::Status SqliteIndex::FlushUses() {
  absl::flat_hash_map<ArtifactKey, absl::Time> artifacts;
  absl::flat_hash_map<Digest, absl::Time> models;
  {
    absl::MutexLock lock(&uses_mutex_);
    artifacts.swap(artifact_uses_);
    models.swap(model_uses_);
  }
  if (artifacts.empty() && models.empty()) return absl::OkStatus();
  absl::Status status = WriteUses(artifacts, models);
  if (status.ok()) return status;
  // For the next attempt; what was noted meanwhile is newer.
  absl::MutexLock lock(&uses_mutex_);
  artifact_uses_.insert(artifacts.begin(), artifacts.end());
  model_uses_.insert(models.begin(), models.end());
  return status;
}

absl::Status SqliteIndex::WriteUses(const absl::flat_hash_map<ArtifactKey, absl::Time>& artifacts,
                                    const absl::flat_hash_map<Digest, absl::Time>& models) {
  absl::MutexLock lock(&mutex_);
  Transaction transaction(*db_);
  if (absl::Status s = transaction.Begin(); !s.ok()) return s;
  for (const auto& [key, time] : artifacts) {
    Statement update = db_->Prepare("UPDATE artifacts SET last_used_us = max(last_used_us, ?1) WHERE key = ?2");
    if (absl::Status s = update.Bind(1, time).Bind(2, key.digest).Run(); !s.ok()) return s;
  }
  for (const auto& [digest, time] : models) {
    Statement update = db_->Prepare("UPDATE models SET last_used_us = max(last_used_us, ?1) WHERE digest = ?2");
    if (absl::Status s = update.Bind(1, time).Bind(2, digest).Run(); !s.ok()) return s;
  }
  return transaction.Commit();
}

absl::StatusOr<bool> SqliteIndex::IsReferenced(const Digest& digest) {
  absl::MutexLock lock(&mutex_);
  Statement query = db_->Prepare(
      "SELECT EXISTS (SELECT 1 FROM models WHERE blob = ?1)"
      " OR EXISTS (SELECT 1 FROM model_external WHERE digest = ?1)"
      " OR EXISTS (SELECT 1 FROM artifacts WHERE manifest = ?1)"
      " OR EXISTS (SELECT 1 FROM artifacts WHERE code = ?1)"
      " OR EXISTS (SELECT 1 FROM artifacts WHERE weights = ?1)"
      " OR EXISTS (SELECT 1 FROM releases WHERE manifest = ?1)"
      " OR EXISTS (SELECT 1 FROM releases WHERE code = ?1)"
      " OR EXISTS (SELECT 1 FROM releases WHERE weights = ?1)");
  absl::StatusOr<bool> row = query.Bind(1, digest).Step();
  if (!row.ok()) return row.status();
  return query.Int(0) != 0;
}

absl::StatusOr<std::vector<Candidate>> SqliteIndex::ListCandidates() {
  absl::MutexLock lock(&mutex_);
  std::vector<Candidate> candidates;
  Statement query = db_->Prepare(
      "SELECT 0, key, last_used_us, manifest, manifest_size, code, code_size, weights, weights_size FROM artifacts"
      " WHERE NOT EXISTS (SELECT 1 FROM releases WHERE releases.artifact = artifacts.key)"
      " UNION ALL SELECT 1, digest, last_used_us, blob, size, NULL, 0, NULL, 0 FROM models"
      " WHERE NOT EXISTS (SELECT 1 FROM artifacts WHERE artifacts.model = models.digest)"
      " ORDER BY 3, 1, 2");
  absl::StatusOr<bool> row = query.Step();
  for (; row.ok() && *row; row = query.Step()) {
    Candidate c{query.Int(0) == 0 ? Candidate::Kind::kArtifact : Candidate::Kind::kModel,
                query.DigestAt(1),
                query.Time(2),
                {query.RefAt(3)}};
    if (c.kind == Candidate::Kind::kArtifact) {
      c.blobs.push_back(query.RefAt(5));
      c.blobs.push_back(query.RefAt(7));
    } else {
      absl::StatusOr<std::vector<ExternalBlob>> external = ReadExternal(c.id);
      if (!external.ok()) return external.status();
      for (const ExternalBlob& e : *external) c.blobs.push_back(e.blob);
    }
    candidates.push_back(std::move(c));
  }
  if (!row.ok()) return row.status();
  return candidates;
}

absl::StatusOr<IndexCounts> SqliteIndex::Count() {
  absl::MutexLock lock(&mutex_);
  Statement query = db_->Prepare(
      "SELECT (SELECT count(*) FROM models), (SELECT count(*) FROM artifacts),"
      " (SELECT count(*) FROM releases WHERE state <> 0)");
  absl::StatusOr<bool> row = query.Step();
  if (!row.ok()) return row.status();
  return IndexCounts{query.Unsigned(0), query.Unsigned(1), query.Unsigned(2)};
}

absl::Status SqliteIndex::Bury(const char* kind, const std::string& id, absl::string_view reason, absl::Time now) {
  Statement insert =
      db_->Prepare("INSERT OR REPLACE INTO tombstones (kind, id, reason, at_us) VALUES (?1, ?2, ?3, ?4)");
  return insert.Bind(1, kind).Bind(2, id).Bind(3, reason).Bind(4, now).Run();
}

absl::Status SqliteIndex::Missing(const char* kind, const std::string& id) {
  Statement query = db_->Prepare("SELECT reason, at_us FROM tombstones WHERE kind = ?1 AND id = ?2");
  absl::StatusOr<bool> row = query.Bind(1, kind).Bind(2, id).Step();
  if (!row.ok()) return row.status();
  std::string message = absl::StrCat("no ", kind, " ", id);
  if (*row) {
    absl::StrAppend(&message, "; it was deleted on ",
                    absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", query.Time(1), absl::UTCTimeZone()), " (", query.Text(0),
                    ")");
  }
  return absl::NotFoundError(message);
}

}  // namespace aot::registry
