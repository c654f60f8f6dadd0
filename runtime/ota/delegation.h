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

// The roles that `targets` delegates to by name and that may speak for some path starting with `prefix`, which ends
// with a slash (hash bins are not listed: their number is 2^bit_length).
std::vector<std::string> RolesForPrefix(const Targets& targets, const std::string& prefix);

}  // namespace aot::ota
