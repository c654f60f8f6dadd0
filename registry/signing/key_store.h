// Key files: <directory>/<role>.<first 16 digits of the key id>.json, mode 0600, no passphrase.
//
// Root may live in a directory of its own (a removable medium): it is read only when root signs, i.e. at the first
// start, when a key is rotated and when root is about to expire. Taking it offline is moving its file there.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "registry/signing/keys.h"
#include "registry/signing/role.h"

namespace aot::registry {

// Thread-safe: it has no state but the paths.
class KeyStore {
 public:
  KeyStore(std::string directory, std::string root_directory)
      : directory_(std::move(directory)), root_directory_(std::move(root_directory)) {}

  // The role's key with this id. FAILED_PRECONDITION: it isn't there, or others may read the file; the message has the
  // path and what to do.
  absl::StatusOr<SigningKey> Load(Role role, absl::string_view key_id) const;
  // Any key of the role that is there, else a new one: for the very first metadata, which a crash may have interrupted
  // after the keys were written.
  absl::StatusOr<SigningKey> LoadOrCreate(Role role) const;
  // A new key, durable before it is returned.
  absl::StatusOr<SigningKey> Create(Role role) const;
  // Deletes the file of a key that nothing trusts any more.
  absl::Status Remove(Role role, absl::string_view key_id) const;

 private:
  const std::string& DirectoryOf(Role role) const { return role == Role::kRoot ? root_directory_ : directory_; }
  std::string PathOf(Role role, absl::string_view key_id) const;

  const std::string directory_, root_directory_;
};

}  // namespace aot::registry
