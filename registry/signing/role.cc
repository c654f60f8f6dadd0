#include "registry/signing/role.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace aot::registry {

absl::string_view Name(Role role) {
  switch (role) {
    case Role::kRoot:
      return "root";
    case Role::kTargets:
      return "targets";
    case Role::kSnapshot:
      return "snapshot";
    case Role::kTimestamp:
      return "timestamp";
  }
  return "unknown";
}

absl::StatusOr<Role> RoleFromName(absl::string_view name) {
  for (Role role : kRoles) {
    if (Name(role) == name) return role;
  }
  return absl::InvalidArgumentError(absl::StrCat("no role \"", absl::CHexEscape(name.substr(0, 40)),
                                                 "\"; the roles are root, targets, snapshot and timestamp"));
}

}  // namespace aot::registry
