// Which delegated roles may speak about a target path (TUF specification, section 4.5).
#pragma once

#include <string>
#include <vector>

#include "runtime/ota/metadata.h"

namespace aot::ota {

struct DelegatedRole {
  std::string role;
  bool terminating = false;
};

// The delegations of `targets` that match target_path, in order of priority, up to and including the first terminating
// one.
std::vector<DelegatedRole> RolesForTarget(const Targets& targets, const std::string& target_path);

// The keys of a role that `targets` delegates to, or nullptr. Lives as long as targets.
const RoleKeys* FindDelegatedKeys(const Targets& targets, const std::string& role);

// All roles that `targets` delegates to by name (hash bins are not listed: their number is 2^bit_length).
std::vector<std::string> DelegatedRoleNames(const Targets& targets);

}  // namespace aot::ota
