// The metadata that is trusted at this moment, and the rules by which new metadata may take its place: the checks of
// the client workflow (TUF specification, section 5) with no input or output of their own. Not thread-safe; one object
// serves one update.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/ota/metadata.h"
#include "runtime/ota/status.h"

namespace aot::ota {

class TrustedSet {
 public:
  // `now`: seconds since 1970 at the start of the update. Every expiry is compared with this one time (5.1).
  explicit TrustedSet(int64_t now) : now_(now) {}

  // Takes the root that the device trusts already: signed by its own keys, never compared with another.
  Status SetRoot(std::string_view bytes);
  // The next root: version + 1, signed by the threshold of both the trusted and the new root (5.3.4, 5.3.5).
  Status UpdateRoot(std::string_view bytes);
  // The chain ends here: the trusted root must not be expired (5.3.10).
  Status FinishRoot() const;

  // Signed by the root's timestamp role; neither its version nor its snapshot's below the trusted ones (5.4). An equal
  // version leaves the trusted one and sets *unchanged. A stored timestamp may be expired: it still guards against
  // rollback.
  Status UpdateTimestamp(std::string_view bytes, bool* unchanged);
  // 5.4.4
  Status FinishTimestamp() const;

  // Takes the stored snapshot as what a new one is compared with; only its signatures are checked, it may be outdated.
  Status SeedSnapshot(std::string_view bytes);
  // Length, digest and version as the timestamp says, signed by the snapshot role, no file missing or older than in the
  // trusted snapshot, not expired (5.5).
  Status UpdateSnapshot(std::string_view bytes);

  // The targets role `role`, on behalf of `delegator` ("root" for the top-level role "targets"): length, digest and
  // version as the snapshot says, signed by the keys that this delegator names, not expired (5.6). The same role under
  // another delegator is another entry, verified against that delegator; it must have the same bytes (kDigest), also
  // where the snapshot leaves digests out: else keys that one copy delegates to could sign for paths of the other.
  Status UpdateTargets(std::string_view bytes, const std::string& role, const std::string& delegator);

  const Root& root() const { return *root_; }
  const Timestamp* timestamp() const { return timestamp_ ? &*timestamp_ : nullptr; }
  const Snapshot* snapshot() const { return snapshot_ ? &*snapshot_ : nullptr; }
  // nullptr where that role was not verified on behalf of that delegator.
  const Targets* targets(const std::string& role, const std::string& delegator) const;
  // What the snapshot says of a role's file; kMissingMetadata where it says nothing.
  Status MetaOf(const std::string& role, MetaFile* out) const;

 private:
  // The keys that `delegator` names for `role`.
  Status DelegationKeys(const std::string& role, const std::string& delegator, const Keyring** keys,
                        const RoleKeys** role_keys) const;
  Status ParseSignedSnapshot(std::string_view bytes, Snapshot* out) const;
  Status CheckExpiry(const Header& header, const std::string& what) const;

  const int64_t now_;
  std::optional<Root> root_;
  std::optional<Timestamp> timestamp_;
  std::optional<Snapshot> snapshot_;
  // Keyed by (delegator, role).
  std::map<std::pair<std::string, std::string>, Targets> targets_;
  std::map<std::string, Digest> contents_;  // of each role in targets_
};

}  // namespace aot::ota
