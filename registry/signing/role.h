// The four top-level roles of The Update Framework.
#pragma once

#include <array>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace aot::registry {

enum class Role { kRoot, kTargets, kSnapshot, kTimestamp };

inline constexpr std::array<Role, 4> kRoles = {Role::kRoot, Role::kTargets, Role::kSnapshot, Role::kTimestamp};

// "root", "targets", "snapshot", "timestamp": the spelling of the metadata.
absl::string_view Name(Role role);
// INVALID_ARGUMENT lists the four names.
absl::StatusOr<Role> RoleFromName(absl::string_view name);

}  // namespace aot::registry
