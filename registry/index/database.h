// A thin C++ face of SQLite: a connection, prepared statements, transactions, and errors as statuses.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "registry/digest.h"

namespace aot::registry {

class Database;

// One execution of a prepared statement. Binds by position from 1, reads columns from 0. The first error sticks and is
// given by Step or Run. Resets the statement when destroyed. Texts and blobs that are bound must live that long.
class Statement {
 public:
  Statement(Database& db, sqlite3_stmt* statement, int error) : db_(db), statement_(statement), error_(error) {}
  Statement(Statement&& other) noexcept : db_(other.db_), statement_(other.statement_), error_(other.error_) {
    other.statement_ = nullptr;
  }
  ~Statement();

  Statement& Bind(int index, int64_t value);
  Statement& Bind(int index, uint64_t value) { return Bind(index, static_cast<int64_t>(value)); }
  Statement& Bind(int index, absl::string_view text);
  Statement& Bind(int index, const Digest& digest);
  Statement& Bind(int index, absl::Time time);  // as microseconds of Unix time
  Statement& BindNull(int index);

  // True: a row is there. False: the end.
  absl::StatusOr<bool> Step();
  // For statements without rows.
  absl::Status Run();

  int64_t Int(int column) const { return sqlite3_column_int64(statement_, column); }
  uint64_t Unsigned(int column) const { return static_cast<uint64_t>(Int(column)); }
  std::string Text(int column) const;
  absl::Time Time(int column) const { return absl::FromUnixMicros(Int(column)); }
  bool IsNull(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  // All zeros when the column doesn't hold a digest; the schema's CHECKs rule that out.
  Digest DigestAt(int column) const;
  BlobRef RefAt(int digest_column) const { return {DigestAt(digest_column), Unsigned(digest_column + 1)}; }

 private:
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Database& db_;
  sqlite3_stmt* statement_;
  int error_;
};

// A connection. Not thread-safe: its owner locks.
class Database {
 public:
  enum class Mode { kReadWrite, kReadOnly };
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path, Mode mode);
  ~Database();

  // Prepares once and keeps the statement; `sql` must be a string literal: it is the key by address.
  Statement Prepare(const char* sql);
  absl::Status Execute(const std::string& sql);
  // A status for the connection's last error: DATA_LOSS, RESOURCE_EXHAUSTED, PERMISSION_DENIED, UNAVAILABLE,
  // FAILED_PRECONDITION (a constraint) or INTERNAL.
  absl::Status Error(int code) const;
  const std::string& path() const { return path_; }
  sqlite3* handle() const { return handle_; }
  // Rows that the last statement inserted, changed or deleted.
  int Changes() const { return sqlite3_changes(handle_); }

 private:
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}

  const std::string path_;
  sqlite3* handle_;
  absl::flat_hash_map<const char*, sqlite3_stmt*> statements_;
};

// Rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& db) : db_(db) {}
  ~Transaction();
  // Takes the write lock at once, so that no statement inside can find the database busy.
  absl::Status Begin();
  absl::Status Commit();

 private:
  Database& db_;
  bool open_ = false;
};

}  // namespace aot::registry
