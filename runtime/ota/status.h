// Errors of the update client, as values. The C boundary (fetch_and_load.cc) maps them to aot_status.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace aot::ota {

// What went wrong, by the reaction it asks for. Each maps to one aot_status.
enum class Code {
  kOk,
  kInvalidArgument,  // the caller's configuration
  kIo,               // the state directory: no permission, read-only, a broken device
  kNoSpace,          // the state directory's file system is full
  kNetwork,          // no connection, timeout, too slow, HTTP error: a retry may help
  kNotFound,         // the repository has no such object or target
  kMissingMetadata,  // the repository doesn't have a metadata file that its signed metadata needs
  kMalformed,        // bytes that are not what the format says
  kSignature,        // fewer good signatures than the threshold
  kExpired,          // metadata past its expiry at the start of the update
  kRollback,         // a version below the trusted one
  kDigest,           // length or digest differs from the signed one, or two fields of one release disagree
  kIncompatible,     // for another CPU, triple, ABI or format version
  kLimit,            // larger than the configured limit
  kOutOfMemory,
  kBusy,            // another process holds the state directory
  kFailedSelfTest,  // loaded, but computes something else than the reference
};

const char* CodeName(Code code);

// A code and a sentence: what was wrong, where, and what would be right. Copyable.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same error with its place in front: "place: message".
  Status At(const std::string& place) const { return ok() ? *this : Status(code_, place + ": " + message_); }

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

// Whether an error lies with the network or this device at this moment, and not with what was fetched.
bool MayPass(const Status& status);

// Text that somebody else chose, fit for a log: printable ASCII, all other bytes as \xNN, cut to 200 characters.
std::string Printable(std::string_view text);

}  // namespace aot::ota

// Returns the error of an expression of type Status from the enclosing function.
#define AOT_OTA_RETURN_IF_ERROR(expression)                                       \
  do {                                                                            \
    if (::aot::ota::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)
