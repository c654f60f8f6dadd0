// The metadata files of The Update Framework, specification 1.0.31, as JSON values: building, signing, checking.
// https://theupdateframework.github.io/specification/v1.0.31/
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "registry/signing/keys.h"
#include "registry/signing/role.h"

namespace aot::registry::tuf {

using Json = nlohmann::json;

inline constexpr absl::string_view kSpecVersion = "1.0.31";

// Bodies: what stands under "signed". `expires` is cut to whole seconds.
Json RootBody(uint64_t version, absl::Time expires, const std::map<Role, PublicKey>& keys);
// `targets`: target path -> target object.
Json TargetsBody(uint64_t version, absl::Time expires, Json targets);
// `meta`: of targets.json, as MetaOf gives it.
Json SnapshotBody(uint64_t version, absl::Time expires, Json meta);
Json TimestampBody(uint64_t version, absl::Time expires, Json meta);
// {"version", "length", "hashes": {"sha256"}} of a metadata file.
Json MetaOf(uint64_t version, absl::string_view file);

// The file: the body with one signature by each key, in canonical form (so that a client can also check the very
// bytes).
absl::StatusOr<std::string> Seal(const Json& body, const std::vector<const SigningKey*>& signers);

// Reads a file and checks that it is of this role, is well-formed and carries the threshold of signatures that `root`
// (a root body; for root itself its own) asks for. Expiry isn't checked: the repository signs again what has expired.
// DATA_LOSS names `what` and the fault. Gives the body.
absl::StatusOr<Json> Open(absl::string_view file, const std::string& what, Role role, const Json* root);

uint64_t VersionOf(const Json& body);
absl::Time ExpiresOf(const Json& body);
// The single key of a role in a root body: this repository signs with one key for each role. DATA_LOSS if there are
// none or several.
absl::StatusOr<std::string> KeyIdOf(const Json& root, Role role);
// All four roles' keys of a root body.
absl::StatusOr<std::map<Role, PublicKey>> KeysOf(const Json& root);

}  // namespace aot::registry::tuf
