// Rows of models and of their external data.
#include <utility>

#include "absl/strings/str_cat.h"
#include "registry/index/sqlite_index.h"

namespace aot::registry {
namespace {

ModelRecord ReadModel(const Statement& row) {
  ModelRecord model;
  model.digest = row.DigestAt(0);
  model.blob = row.RefAt(1);
  model.name = row.Text(3);
  model.created = row.Time(4);
  model.last_used = row.Time(5);
  return model;
}

}  // namespace

absl::Status SqliteIndex::PutModel(const ModelRecord& model, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  Transaction transaction(*db_);
  if (absl::Status s = transaction.Begin(); !s.ok()) return s;
  {
    Statement insert = db_->Prepare(
        "INSERT INTO models (digest, blob, size, name, created_us, last_used_us) VALUES (?1, ?2, ?3, ?4, ?5, ?5)"
        " ON CONFLICT (digest) DO UPDATE SET last_used_us = excluded.last_used_us,"
        " name = CASE excluded.name WHEN '' THEN name ELSE excluded.name END");
    insert.Bind(1, model.digest).Bind(2, model.blob.digest).Bind(3, model.blob.size).Bind(4, model.name).Bind(5, now);
    if (absl::Status s = insert.Run(); !s.ok()) return s;
  }
  for (const ExternalBlob& external : model.external) {
    // The model's digest covers these: a row that exists already is the same.
    Statement insert = db_->Prepare(
        "INSERT INTO model_external (model, name, digest, size) VALUES (?1, ?2, ?3, ?4)"
        " ON CONFLICT (model, name) DO NOTHING");
    insert.Bind(1, model.digest).Bind(2, external.name).Bind(3, external.blob.digest).Bind(4, external.blob.size);
    if (absl::Status s = insert.Run(); !s.ok()) return s;
  }
  {
    Statement raise = db_->Prepare("DELETE FROM tombstones WHERE kind = 'model' AND id = ?1");
    std::string id = model.digest.Hex();
    if (absl::Status s = raise.Bind(1, id).Run(); !s.ok()) return s;
  }
  return transaction.Commit();
}

absl::StatusOr<std::vector<ExternalBlob>> SqliteIndex::ReadExternal(const Digest& model) {
  std::vector<ExternalBlob> external;
  Statement query = db_->Prepare("SELECT name, digest, size FROM model_external WHERE model = ?1 ORDER BY name");
  query.Bind(1, model);
  absl::StatusOr<bool> row = query.Step();
  for (; row.ok() && *row; row = query.Step()) external.push_back({query.Text(0), query.RefAt(1)});
  if (!row.ok()) return row.status();
  return external;
}

absl::Status SqliteIndex::LoadExternal(ModelRecord& model) {
  absl::StatusOr<std::vector<ExternalBlob>> external = ReadExternal(model.digest);
  if (!external.ok()) return external.status();
  model.external = std::move(*external);
  return absl::OkStatus();
}

absl::StatusOr<ModelRecord> SqliteIndex::GetModel(const Digest& digest) {
  absl::MutexLock lock(&mutex_);
  Statement query =
      db_->Prepare("SELECT digest, blob, size, name, created_us, last_used_us FROM models WHERE digest = ?1");
  absl::StatusOr<bool> row = query.Bind(1, digest).Step();
  if (!row.ok()) return row.status();
  if (!*row) return Missing("model", digest.Hex());
  ModelRecord model = ReadModel(query);
  if (absl::Status s = LoadExternal(model); !s.ok()) return s;
  return model;
}

absl::StatusOr<std::vector<ModelRecord>> SqliteIndex::ListModels() {
  absl::MutexLock lock(&mutex_);
  std::vector<ModelRecord> models;
  Statement query = db_->Prepare(
      "SELECT digest, blob, size, name, created_us, last_used_us FROM models ORDER BY created_us DESC, digest");
  absl::StatusOr<bool> row = query.Step();
  for (; row.ok() && *row; row = query.Step()) {
    models.push_back(ReadModel(query));
    if (absl::Status s = LoadExternal(models.back()); !s.ok()) return s;
  }
  if (!row.ok()) return row.status();
  return models;
}

absl::StatusOr<std::vector<BlobRef>> SqliteIndex::DeleteModel(const Digest& digest, absl::string_view reason,
                                                              absl::Time now) {
  absl::MutexLock lock(&mutex_);
  Transaction transaction(*db_);
  if (absl::Status s = transaction.Begin(); !s.ok()) return s;
  std::vector<BlobRef> blobs;
  {
    Statement query = db_->Prepare("SELECT blob, size FROM models WHERE digest = ?1");
    absl::StatusOr<bool> row = query.Bind(1, digest).Step();
    if (!row.ok()) return row.status();
    if (!*row) return Missing("model", digest.Hex());
    blobs.push_back(query.RefAt(0));
  }
  absl::StatusOr<std::vector<ExternalBlob>> external = ReadExternal(digest);
  if (!external.ok()) return external.status();
  for (const ExternalBlob& e : *external) blobs.push_back(e.blob);
  {
    Statement query = db_->Prepare("SELECT " AOT_ARTIFACT_COLUMNS " FROM artifacts WHERE model = ?1");
    query.Bind(1, digest);
    absl::StatusOr<bool> row = query.Step();
    for (; row.ok() && *row; row = query.Step()) {
      ArtifactRecord artifact = ReadArtifact(query);
      if (absl::Status s = CheckUnreleased(artifact.key); !s.ok()) return s;
      if (absl::Status s = Bury("artifact", artifact.key.Hex(), reason, now); !s.ok()) return s;
      blobs.insert(blobs.end(), {artifact.manifest, artifact.code, artifact.weights});
    }
    if (!row.ok()) return row.status();
  }
  for (const char* sql : {"DELETE FROM artifacts WHERE model = ?1", "DELETE FROM models WHERE digest = ?1"}) {
    if (absl::Status s = db_->Prepare(sql).Bind(1, digest).Run(); !s.ok()) return s;
  }
  if (absl::Status s = Bury("model", digest.Hex(), reason, now); !s.ok()) return s;
  if (absl::Status s = transaction.Commit(); !s.ok()) return s;
  return blobs;
}

}  // namespace aot::registry
