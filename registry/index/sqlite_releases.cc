// Rows of releases. The signed metadata is the truth about what is current; these rows follow it.
#include <utility>

#include "absl/strings/str_cat.h"
#include "registry/index/sqlite_index.h"

namespace aot::registry {
namespace {

// Tombstones older than this are of no use to anyone.
constexpr absl::Duration kTombstoneLifetime = absl::Hours(24 * 90);

// Superseded rows past the ?1 newest of their kind, and all where no release is current.
#define AOT_RETIRABLE                                                                                  \
  "(SELECT *, row_number() OVER (PARTITION BY channel, model, target ORDER BY release DESC) AS place," \
  "  EXISTS (SELECT 1 FROM releases now WHERE now.channel = old.channel AND now.model = old.model"     \
  "   AND now.target = old.target AND now.state = 1) AS replaced"                                      \
  " FROM releases old WHERE state = 2) WHERE place > ?1 OR NOT replaced"

}  // namespace

absl::StatusOr<uint64_t> SqliteIndex::NextRelease(absl::string_view channel, absl::string_view model) {
  absl::MutexLock lock(&mutex_);
  // The row without names is the floor for all models.
  Statement query = db_->Prepare(
      "SELECT coalesce(max(last), 0) FROM release_counters WHERE (channel = ?1 AND model = ?2) OR channel = ''");
  absl::StatusOr<bool> row = query.Bind(1, channel).Bind(2, model).Step();
  if (!row.ok()) return row.status();
  return query.Unsigned(0) + 1;
}

absl::Status SqliteIndex::SetReleaseFloor(uint64_t floor) {
  absl::MutexLock lock(&mutex_);
  Statement insert = db_->Prepare(
      "INSERT INTO release_counters (channel, model, last) SELECT '', '', ?1"
      " WHERE NOT EXISTS (SELECT 1 FROM release_counters)");
  return insert.Bind(1, floor).Run();
}

absl::Status SqliteIndex::InsertRelease(const ReleaseRecord& row, State state) {
  Statement insert = db_->Prepare(
      "INSERT INTO releases (channel, model, target, release, artifact, manifest, manifest_size, code, code_size,"
      " weights, weights_size, state, created_us) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)");
  insert.Bind(1, row.channel).Bind(2, row.model).Bind(3, row.target).Bind(4, row.release);
  // A row that was restored from signed metadata doesn't know its artifact.
  if (row.artifact == ArtifactKey()) {
    insert.BindNull(5);
  } else {
    insert.Bind(5, row.artifact.digest);
  }
  insert.Bind(6, row.manifest.digest).Bind(7, row.manifest.size).Bind(8, row.code.digest).Bind(9, row.code.size);
  insert.Bind(10, row.weights.digest).Bind(11, row.weights.size);
  return insert.Bind(12, static_cast<int64_t>(state)).Bind(13, row.created).Run();
}

absl::Status SqliteIndex::AddPending(const std::vector<ReleaseRecord>& rows) {
  absl::MutexLock lock(&mutex_);
  Transaction transaction(*db_);
  if (absl::Status s = transaction.Begin(); !s.ok()) return s;
  for (const ReleaseRecord& row : rows) {
    absl::Status s = InsertRelease(row, kPending);
    if (absl::IsFailedPrecondition(s)) {
      // The one constraint that a caller can run into: the artifact was deleted meanwhile.
      return absl::NotFoundError(
          absl::StrCat("artifact ", row.artifact.Hex(), " is gone; compile it again (", s.message(), ")"));
    }
    if (!s.ok()) return s;
  }
  return transaction.Commit();
}

absl::Status SqliteIndex::Reconcile(const std::vector<ReleaseRecord>& signed_now) {
  absl::MutexLock lock(&mutex_);
  Transaction transaction(*db_);
  if (absl::Status s = transaction.Begin(); !s.ok()) return s;
  if (absl::Status s = db_->Execute("UPDATE releases SET state = 2 WHERE state = 1"); !s.ok()) return s;
  for (const ReleaseRecord& row : signed_now) {
    {
      Statement update = db_->Prepare(
          "UPDATE releases SET state = 1 WHERE channel = ?1 AND model = ?2 AND target = ?3 AND release = ?4");
      update.Bind(1, row.channel).Bind(2, row.model).Bind(3, row.target).Bind(4, row.release);
      if (absl::Status s = update.Run(); !s.ok()) return s;
    }
    if (db_->Changes() == 0) {
      ReleaseRecord restored = row;
      restored.artifact = ArtifactKey();
      if (absl::Status s = InsertRelease(restored, kCurrent); !s.ok()) return s;
    }
    Statement count = db_->Prepare(
        "INSERT INTO release_counters (channel, model, last) VALUES (?1, ?2, ?3)"
        " ON CONFLICT (channel, model) DO UPDATE SET last = max(last, excluded.last)");
    if (absl::Status s = count.Bind(1, row.channel).Bind(2, row.model).Bind(3, row.release).Run(); !s.ok()) return s;
  }
  if (absl::Status s = db_->Execute("DELETE FROM releases WHERE state = 0"); !s.ok()) return s;
  return transaction.Commit();
}

absl::StatusOr<std::vector<ReleaseRecord>> SqliteIndex::ListReleases(absl::string_view channel,
                                                                     absl::string_view model) {
  absl::MutexLock lock(&mutex_);
  std::vector<ReleaseRecord> releases;
  Statement query = db_->Prepare(
      "SELECT channel, model, target, release, artifact, manifest, manifest_size, code, code_size, weights,"
      " weights_size, state, created_us FROM releases"
      " WHERE state <> 0 AND (?1 = '' OR channel = ?1) AND (?2 = '' OR model = ?2)"
      " ORDER BY created_us DESC, channel, model, release DESC, target");
  query.Bind(1, channel).Bind(2, model);
  absl::StatusOr<bool> row = query.Step();
  for (; row.ok() && *row; row = query.Step()) {
    ReleaseRecord r;
    r.channel = query.Text(0);
    r.model = query.Text(1);
    r.target = query.Text(2);
    r.release = query.Unsigned(3);
    r.artifact.digest = query.DigestAt(4);
    r.manifest = query.RefAt(5);
    r.code = query.RefAt(7);
    r.weights = query.RefAt(9);
    r.current = query.Int(11) == kCurrent;
    r.created = query.Time(12);
    releases.push_back(std::move(r));
  }
  if (!row.ok()) return row.status();
  return releases;
}

absl::StatusOr<uint64_t> SqliteIndex::RetireReleases(uint32_t keep, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  Transaction transaction(*db_);
  if (absl::Status s = transaction.Begin(); !s.ok()) return s;
  // What goes is noted first, from the same condition.
  for (const char* sql : {
           "INSERT OR REPLACE INTO tombstones (kind, id, reason, at_us)"
           " SELECT 'release', channel || '/' || model || '/' || target || '#' || release, 'retired', ?2"
           " FROM " AOT_RETIRABLE,
           "DELETE FROM releases WHERE (channel, model, target, release) IN ("
           " SELECT channel, model, target, release FROM " AOT_RETIRABLE ") AND ?2 IS NOT NULL",
       }) {
    if (absl::Status s = db_->Prepare(sql).Bind(1, int64_t{keep}).Bind(2, now).Run(); !s.ok()) return s;
  }
  uint64_t retired = static_cast<uint64_t>(db_->Changes());
  Statement forget = db_->Prepare("DELETE FROM tombstones WHERE at_us < ?1");
  if (absl::Status s = forget.Bind(1, now - kTombstoneLifetime).Run(); !s.ok()) return s;
  if (absl::Status s = transaction.Commit(); !s.ok()) return s;
  return retired;
}

// Downloads ask these two: on the reading connection, so that they don't wait for a commit.
absl::StatusOr<BlobRef> SqliteIndex::FindReleasedBlob(const Digest& digest) {
  absl::MutexLock lock(&lookup_mutex_);
  Statement query = lookup_->Prepare(
      "SELECT manifest_size FROM releases WHERE manifest = ?1"
      " UNION SELECT code_size FROM releases WHERE code = ?1"
      " UNION SELECT weights_size FROM releases WHERE weights = ?1");
  absl::StatusOr<bool> row = query.Bind(1, digest).Step();
  if (!row.ok()) return row.status();
  if (!*row) return absl::NotFoundError("no such object");
  return BlobRef{digest, query.Unsigned(0)};
}

absl::StatusOr<BlobRef> SqliteIndex::FindReleasedManifest(absl::string_view channel, absl::string_view model,
                                                          absl::string_view target, const Digest& digest) {
  absl::MutexLock lock(&lookup_mutex_);
  Statement query = lookup_->Prepare(
      "SELECT manifest_size FROM releases WHERE channel = ?1 AND model = ?2 AND target = ?3 AND manifest = ?4");
  absl::StatusOr<bool> row = query.Bind(1, channel).Bind(2, model).Bind(3, target).Bind(4, digest).Step();
  if (!row.ok()) return row.status();
  if (!*row) return absl::NotFoundError("no such object");
  return BlobRef{digest, query.Unsigned(0)};
}

}  // namespace aot::registry
