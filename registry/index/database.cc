#include "registry/index/database.h"

#include <errno.h>
#include <string.h>

#include "absl/strings/str_cat.h"

namespace aot::registry {
namespace {

// How long to wait for another process that holds the database (a backup, a person with the sqlite3 shell).
constexpr int kBusyTimeoutMs = 5000;

}  // namespace

Statement::~Statement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Statement& Statement::Bind(int index, int64_t value) {
  if (error_ == SQLITE_OK) error_ = sqlite3_bind_int64(statement_, index, value);
  return *this;
}

Statement& Statement::Bind(int index, absl::string_view text) {
  // A null data() would bind NULL; an empty text is a value.
  const char* data = text.data() == nullptr ? "" : text.data();
  if (error_ == SQLITE_OK)
    error_ = sqlite3_bind_text64(statement_, index, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Statement& Statement::Bind(int index, const Digest& digest) {
  if (error_ == SQLITE_OK) {
    error_ = sqlite3_bind_blob(statement_, index, digest.bytes.data(), Digest::kSize, SQLITE_STATIC);
  }
  return *this;
}

Statement& Statement::Bind(int index, absl::Time time) { return Bind(index, absl::ToUnixMicros(time)); }

Statement& Statement::BindNull(int index) {
  if (error_ == SQLITE_OK) error_ = sqlite3_bind_null(statement_, index);
  return *this;
}

absl::StatusOr<bool> Statement::Step() {
  if (error_ != SQLITE_OK) return db_.Error(error_);
  int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return db_.Error(result);
}

absl::Status Statement::Run() {
  absl::StatusOr<bool> row = Step();
  while (row.ok() && *row) row = Step();
  return row.status();
}

std::string Statement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return "";
  return std::string(reinterpret_cast<const char*>(text), sqlite3_column_bytes(statement_, column));
}

Digest Statement::DigestAt(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  int size = sqlite3_column_bytes(statement_, column);
  if (data == nullptr || size != static_cast<int>(Digest::kSize)) return Digest();
  Digest digest;
  memcpy(digest.bytes.data(), data, Digest::kSize);
  return digest;
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& path, Mode mode) {
  sqlite3* handle = nullptr;
  // No mutex inside SQLite: the owner of a Database locks. No links: the file is the one in the data directory.
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE;
  if (mode == Mode::kReadWrite) flags |= SQLITE_OPEN_CREATE;
  int result = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> db(new Database(path, handle));
  if (result != SQLITE_OK) return db->Error(result);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  // Defensive: a damaged or prepared schema can't make SQLite run functions or write to its own tables.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  // Nothing that changes the file: it may be another program's. A reader writes nothing of its own, but WAL needs its
  // connection to be able to.
  const char* setup = mode == Mode::kReadOnly ? "PRAGMA query_only = ON"
                                              : "PRAGMA synchronous = FULL;"
                                                "PRAGMA foreign_keys = ON;"
                                                "PRAGMA cell_size_check = ON";
  if (absl::Status s = db->Execute(setup); !s.ok()) return s;
  return db;
}

Database::~Database() {
  for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

Statement Database::Prepare(const char* sql) {
  sqlite3_stmt*& statement = statements_[sql];
  int error = SQLITE_OK;
  if (statement == nullptr) {
    error = sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  }
  return Statement(*this, statement, error);
}

absl::Status Database::Execute(const std::string& sql) {
  int result = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  return result == SQLITE_OK ? absl::OkStatus() : Error(result);
}

absl::Status Database::Error(int code) const {
  std::string detail = absl::StrCat("database ", path_, ": ", handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code));
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(absl::StrCat(
          detail, "; the file is damaged: restore it from a backup, or move it away and compile and publish again"));
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(absl::StrCat(detail, "; free space there or run a garbage collection"));
    case SQLITE_IOERR: {
      int error = handle_ ? sqlite3_system_errno(handle_) : 0;
      if (error == ENOSPC || error == EDQUOT) return absl::ResourceExhaustedError(detail);
      return absl::DataLossError(absl::StrCat(detail, error ? absl::StrCat(" (", strerror(error), ")") : ""));
    }
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
      return absl::PermissionDeniedError(detail);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(absl::StrCat(detail, "; another process holds it"));
    case SQLITE_CONSTRAINT:
      if (code == SQLITE_CONSTRAINT_PRIMARYKEY || code == SQLITE_CONSTRAINT_UNIQUE) {
        return absl::AlreadyExistsError(detail);
      }
      return absl::FailedPreconditionError(detail);
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return absl::ResourceExhaustedError(detail);
    default:
      return absl::InternalError(absl::StrCat(detail, " (code ", code, ")"));
  }
}

Transaction::~Transaction() {
  if (open_) sqlite3_exec(db_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

absl::Status Transaction::Begin() {
  absl::Status status = db_.Execute("BEGIN IMMEDIATE");
  open_ = status.ok();
  return status;
}

absl::Status Transaction::Commit() {
  absl::Status status = db_.Execute("COMMIT");
  if (status.ok()) open_ = false;
  return status;
}

}  // namespace aot::registry
