#include "registry/index/schema.h"

#include <cstddef>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"

namespace aot::registry {
namespace {

// kMigrations[i] leads from version i to i + 1. A migration that has been released never changes: add one at the end
// and raise kSchemaVersion. Digests are 32 raw bytes, times microseconds of Unix time in UTC, sizes bytes.
constexpr const char* kMigrations[] = {
    R"sql(
CREATE TABLE models (
  digest       BLOB PRIMARY KEY CHECK (length(digest) = 32),
  blob         BLOB NOT NULL CHECK (length(blob) = 32),
  size         INTEGER NOT NULL CHECK (size >= 0),
  name         TEXT NOT NULL,
  created_us   INTEGER NOT NULL,
  last_used_us INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX models_blob ON models (blob);

CREATE TABLE model_external (
  model  BLOB NOT NULL REFERENCES models (digest) ON DELETE CASCADE,
  name   TEXT NOT NULL,
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  size   INTEGER NOT NULL CHECK (size >= 0),
  PRIMARY KEY (model, name)
) WITHOUT ROWID;
CREATE INDEX model_external_digest ON model_external (digest);

CREATE TABLE artifacts (
  key           BLOB PRIMARY KEY CHECK (length(key) = 32),
  model         BLOB NOT NULL REFERENCES models (digest),
  target        TEXT NOT NULL,
  options       TEXT NOT NULL,
  compiler      TEXT NOT NULL,
  manifest      BLOB NOT NULL CHECK (length(manifest) = 32),
  manifest_size INTEGER NOT NULL CHECK (manifest_size >= 0),
  code          BLOB NOT NULL CHECK (length(code) = 32),
  code_size     INTEGER NOT NULL CHECK (code_size >= 0),
  weights       BLOB NOT NULL CHECK (length(weights) = 32),
  weights_size  INTEGER NOT NULL CHECK (weights_size >= 0),
  compile_us    INTEGER NOT NULL,
  created_us    INTEGER NOT NULL,
  last_used_us  INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX artifacts_model ON artifacts (model);
CREATE INDEX artifacts_manifest ON artifacts (manifest);
CREATE INDEX artifacts_code ON artifacts (code);
CREATE INDEX artifacts_weights ON artifacts (weights);

-- A release repeats the digests that were signed: they stay true whatever happens to the artifact's row.
CREATE TABLE releases (
  channel       TEXT NOT NULL,
  model         TEXT NOT NULL,
  target        TEXT NOT NULL,
  release       INTEGER NOT NULL CHECK (release >= 1),
  artifact      BLOB REFERENCES artifacts (key),
  manifest      BLOB NOT NULL CHECK (length(manifest) = 32),
  manifest_size INTEGER NOT NULL CHECK (manifest_size >= 0),
  code          BLOB NOT NULL CHECK (length(code) = 32),
  code_size     INTEGER NOT NULL CHECK (code_size >= 0),
  weights       BLOB NOT NULL CHECK (length(weights) = 32),
  weights_size  INTEGER NOT NULL CHECK (weights_size >= 0),
  state         INTEGER NOT NULL CHECK (state IN (0, 1, 2)),
  created_us    INTEGER NOT NULL,
  PRIMARY KEY (channel, model, target, release)
) WITHOUT ROWID;
CREATE INDEX releases_artifact ON releases (artifact);
CREATE INDEX releases_manifest ON releases (manifest);
CREATE INDEX releases_code ON releases (code);
CREATE INDEX releases_weights ON releases (weights);

CREATE TABLE release_counters (
  channel TEXT NOT NULL,
  model   TEXT NOT NULL,
  last    INTEGER NOT NULL,
  PRIMARY KEY (channel, model)
) WITHOUT ROWID;

CREATE TABLE tombstones (
  kind   TEXT NOT NULL CHECK (kind IN ('model', 'artifact', 'release')),
  id     TEXT NOT NULL,
  reason TEXT NOT NULL,
  at_us  INTEGER NOT NULL,
  PRIMARY KEY (kind, id)
) WITHOUT ROWID;
)sql",
};
static_assert(std::size(kMigrations) == kSchemaVersion, "one migration leads to each version");

absl::StatusOr<int64_t> Pragma(Database& db, const char* sql) {
  Statement statement = db.Prepare(sql);
  absl::StatusOr<bool> row = statement.Step();
  if (!row.ok()) return row.status();
  return statement.Int(0);
}

// Reads every page once. The index is small (a few kilobytes for each artifact), and a damaged page found now is better
// than one found in the middle of a publication.
absl::Status CheckPages(Database& db) {
  Statement statement = db.Prepare("PRAGMA quick_check(1)");
  absl::StatusOr<bool> row = statement.Step();
  if (!row.ok()) return row.status();
  std::string verdict = statement.Text(0);
  if (verdict == "ok") return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("database ", db.path(), " is damaged: ", verdict,
                                          "; restore it from a backup, or move it away and compile and publish again"));
}

// Only once the file is known to be ours: this changes it.
absl::Status UseWriteAheadLog(Database& db) {
  Statement statement = db.Prepare("PRAGMA journal_mode = WAL");
  absl::StatusOr<bool> row = statement.Step();
  if (!row.ok()) return row.status();
  if (statement.Text(0) == "wal") return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("database ", db.path(), " can't have a write-ahead log (journal mode stays ", statement.Text(0),
                   "): its file system doesn't share memory; name a data directory on a local disk"));
}

}  // namespace

absl::Status PrepareSchema(Database& db) {
  absl::StatusOr<int64_t> version = Pragma(db, "PRAGMA user_version");
  if (!version.ok()) return version.status();
  absl::StatusOr<int64_t> application = Pragma(db, "PRAGMA application_id");
  if (!application.ok()) return application.status();
  absl::StatusOr<int64_t> tables = Pragma(db, "SELECT count(*) FROM sqlite_schema");
  if (!tables.ok()) return tables.status();
  if (*application != kApplicationId && (*tables > 0 || *version != 0)) {
    return absl::FailedPreconditionError(absl::StrCat(db.path(), " is not a registry's database (application id ",
                                                      *application, ", expected ", kApplicationId,
                                                      "); name another data directory"));
  }
  if (*version > kSchemaVersion) {
    return absl::FailedPreconditionError(absl::StrCat(db.path(), " has schema version ", *version,
                                                      "; this build knows versions up to ", kSchemaVersion,
                                                      ": run the newer build, or restore the backup from before it"));
  }
  if (absl::Status s = CheckPages(db); !s.ok()) return s;
  if (absl::Status s = UseWriteAheadLog(db); !s.ok()) return s;
  for (int64_t v = *version; v < kSchemaVersion; ++v) {
    Transaction transaction(db);
    if (absl::Status s = transaction.Begin(); !s.ok()) return s;
    if (absl::Status s = db.Execute(kMigrations[v]); !s.ok()) return s;
    std::string stamp = absl::StrCat("PRAGMA user_version = ", v + 1, "; PRAGMA application_id = ", kApplicationId);
    if (absl::Status s = db.Execute(stamp); !s.ok()) return s;
    if (absl::Status s = transaction.Commit(); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace aot::registry
