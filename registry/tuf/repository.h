// The signed side of the registry: a TUF repository in one directory.
//
//   timestamp.json, N.snapshot.json, N.targets.json, N.root.json
//
// New metadata is written targets first, timestamp last; the rename of timestamp.json is the moment at which clients
// see it. A process killed before that leaves files with numbers that nothing names; they are removed at opening.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "registry/records.h"
#include "registry/signing/key_store.h"
#include "registry/tuf/metadata.h"

namespace aot::registry::tuf {

struct Lifetimes {
  absl::Duration root, targets, snapshot, timestamp;
};

// Thread-safe. Writers (UpdateTargets, Refresh, RotateKey) take turns; readers don't wait for them.
class Repository {
 public:
  // Opens the directory, or makes it with new keys and first metadata. DATA_LOSS: a file that must be there is missing
  // or damaged.
  static absl::StatusOr<std::unique_ptr<Repository>> Open(const std::string& directory, KeyStore keys,
                                                          const Lifetimes& lifetimes, std::function<absl::Time()> now);

  // Publishes the targets as `edit` leaves them (target path -> target object); an error of edit changes nothing and is
  // returned. FAILED_PRECONDITION: a key is missing, or root has expired. RESOURCE_EXHAUSTED: the targets would be
  // larger than devices take (runtime/ota/metadata_limits.h); nothing has changed. After an error of the disk the
  // outcome is what CurrentReleases says. Gives the new version of targets.
  absl::StatusOr<uint64_t> UpdateTargets(const std::function<absl::Status(Json& targets)>& edit);

  // Signs again each role whose remaining time is below half of its lifetime. Does as much as it can and gives the
  // first error. FAILED_PRECONDITION: root needs its key within 30 days. RESOURCE_EXHAUSTED: a file has more than four
  // fifths of the size that devices take.
  absl::Status Refresh();

  // Replaces the role's key. The role's files are first signed with both keys, then the new root appears, so that
  // clients with the old and with the new root can verify them at every moment.
  absl::Status RotateKey(Role role);

  // The releases that the current targets name.
  absl::StatusOr<std::vector<ReleaseRecord>> CurrentReleases() const;

  // A file by its name; NOT_FOUND for every name but "timestamp.json" and the versions that are published.
  absl::StatusOr<std::string> ReadMetadata(absl::string_view name) const;
  absl::StatusOr<std::string> CurrentRoot() const;

  uint64_t version(Role role) const;
  absl::Time expires(Role role) const;

 private:
  // What is published now. timestamp.json is served from here, so that it never names a snapshot which ReadMetadata
  // doesn't give yet, nor one that a power cut could take back.
  struct State {
    std::map<Role, Json> bodies;
    std::string timestamp_file;
  };
  // What Advance renews besides timestamp.
  enum class Depth { kTimestamp, kSnapshot, kTargets };
  // A second signer for a role whose key is being replaced.
  struct SecondSigner {
    Role role;
    const SigningKey* key;
  };

  Repository(std::string directory, KeyStore keys, const Lifetimes& lifetimes, std::function<absl::Time()> now);

  absl::Status Initialise() ABSL_EXCLUSIVE_LOCKS_REQUIRED(write_mutex_);
  absl::Status WriteFirstMetadata(const Json& root) ABSL_EXCLUSIVE_LOCKS_REQUIRED(write_mutex_);
  absl::Status Load() ABSL_EXCLUSIVE_LOCKS_REQUIRED(write_mutex_);
  absl::Status RemoveLeftovers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(write_mutex_);
  // Private keys that the newest root has replaced, where a rotation was killed before it came to that.
  absl::Status RemoveReplacedKeys() ABSL_EXCLUSIVE_LOCKS_REQUIRED(write_mutex_);
  // Writes new versions of timestamp and of what `depth` adds; `targets` replaces the targets' content.
  absl::Status Advance(Depth depth, const Json* targets, const SecondSigner* second)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(write_mutex_);
  absl::StatusOr<std::string> Sign(const Json& body, Role role, const Json& root, const SecondSigner* second) const;
  absl::Status WriteRoot(const std::map<Role, PublicKey>& keys, const SecondSigner* second)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(write_mutex_);
  absl::Status Write(const std::string& name, absl::string_view file) const;
  absl::StatusOr<std::string> Read(const std::string& name) const;
  absl::StatusOr<Json> ReadNamed(const std::string& name, Role role, const Json& root, const Json& meta) const;
  absl::Duration LifetimeOf(Role role) const;
  std::shared_ptr<const State> state() const;
  void Publish(State state);

  const std::string directory_;
  const KeyStore keys_;
  const Lifetimes lifetimes_;
  const std::function<absl::Time()> now_;

  absl::Mutex write_mutex_;
  mutable absl::Mutex state_mutex_;
  std::shared_ptr<const State> state_ ABSL_GUARDED_BY(state_mutex_);
};

}  // namespace aot::registry::tuf
