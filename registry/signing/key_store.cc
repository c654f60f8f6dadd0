#include "registry/signing/key_store.h"

#include <errno.h>
#include <sodium.h>
#include <sys/stat.h>

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "registry/fs/durable.h"

namespace aot::registry {
namespace {

constexpr uint64_t kMaxKeyFile = 64 * 1024;

absl::StatusOr<SigningKey> ReadKey(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return fs::ErrnoStatus(errno, "read key", path);
  if ((info.st_mode & 077) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("others may read or write the private key ", path, "; run: chmod 600 ", path));
  }
  absl::StatusOr<std::string> text = fs::ReadFile(path, kMaxKeyFile);
  if (!text.ok()) return text.status();
  absl::StatusOr<SigningKey> key = SigningKey::FromFileText(*text);
  sodium_memzero(text->data(), text->size());
  if (!key.ok()) return absl::FailedPreconditionError(absl::StrCat("key file ", path, ": ", key.status().message()));
  return key;
}

}  // namespace

std::string KeyStore::PathOf(Role role, absl::string_view key_id) const {
  return absl::StrCat(DirectoryOf(role), "/", Name(role), ".", key_id.substr(0, 16), ".json");
}

absl::StatusOr<SigningKey> KeyStore::Load(Role role, absl::string_view key_id) const {
  std::string path = PathOf(role, key_id);
  absl::StatusOr<SigningKey> key = ReadKey(path);
  if (absl::IsNotFound(key.status())) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the ", Name(role), " key is not at ", path,
        role == Role::kRoot ? "; bring the medium that holds it, and name its directory as root key directory"
                            : "; restore it from a backup, or rotate the role's key with the root key"));
  }
  if (!key.ok()) return key.status();
  if (key->public_key().KeyId() != key_id) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " holds key ", key->public_key().KeyId(), "; root trusts ", key_id));
  }
  return key;
}

absl::StatusOr<SigningKey> KeyStore::LoadOrCreate(Role role) const {
  const std::string& directory = DirectoryOf(role);
  if (absl::Status s = fs::MakeDirectories(directory, 0700); !s.ok()) return s;
  absl::StatusOr<std::vector<std::string>> names = fs::ListDirectory(directory);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (absl::StartsWith(name, absl::StrCat(Name(role), ".")) && absl::EndsWith(name, ".json")) {
      return ReadKey(absl::StrCat(directory, "/", name));
    }
  }
  return Create(role);
}

absl::StatusOr<SigningKey> KeyStore::Create(Role role) const {
  const std::string& directory = DirectoryOf(role);
  if (absl::Status s = fs::MakeDirectories(directory, 0700); !s.ok()) return s;
  absl::StatusOr<std::vector<std::string>> names = fs::ListDirectory(directory);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    // Half a key of a process that was killed.
    if (absl::StartsWith(name, absl::StrCat(Name(role), ".")) && absl::EndsWith(name, fs::kTemporarySuffix)) {
      if (absl::Status s = fs::Unlink(absl::StrCat(directory, "/", name)); !s.ok()) return s;
    }
  }
  absl::StatusOr<SigningKey> key = SigningKey::Generate();
  if (!key.ok()) return key.status();
  std::string text = key->ToFileText();
  absl::Status status = fs::WriteFile(PathOf(role, key->public_key().KeyId()), text, 0600);
  sodium_memzero(text.data(), text.size());
  if (!status.ok()) return status;
  return key;
}

absl::Status KeyStore::Remove(Role role, absl::string_view key_id) const { return fs::Unlink(PathOf(role, key_id)); }

}  // namespace aot::registry
