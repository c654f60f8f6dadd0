// Threshold verification of a metadata file (TUF specification, section 4.2 and 5).
#pragma once

#include <string>

#include "runtime/ota/metadata.h"

namespace aot::ota {

// Succeeds where at least role.threshold different public keys of the role signed the envelope. The same key under two
// ids counts once; signatures of keys outside the role are ignored. `where` names the file and the role in the error.
Status VerifySignatures(const Envelope& envelope, const Keyring& keys, const RoleKeys& role, const std::string& where);

// True where two descriptions of a role trust the same public keys with the same threshold.
bool SameRoleKeys(const Root& a, const Root& b, const std::string& role);

}  // namespace aot::ota
