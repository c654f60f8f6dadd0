#include "runtime/ota/delegation.h"

#include <fnmatch.h>
#include <cstdio>

namespace aot::ota {
namespace {

// '*' and '?' don't match '/', and a backslash is an ordinary character.
bool MatchesPattern(const std::string& pattern, const std::string& path) {
  return fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME | FNM_NOESCAPE) == 0;
}

// Whether the pattern can match a path that starts with `prefix`. Components match components, so the first ones of
// both decide; a bracket expression may hide a slash, and counts as a match.
bool MayMatchBelow(const std::string& pattern, const std::string& prefix) {
  if (pattern.find('[') != std::string::npos) return true;
  size_t end = 0;
  for (const char c : prefix) {
    if (c != '/') continue;
    end = pattern.find('/', end);
    if (end == std::string::npos) return false;
    ++end;
  }
  return MatchesPattern(pattern.substr(0, end), prefix);
}

bool Matches(const Delegation& delegation, const std::string& path, const std::string& path_hash) {
  for (const std::string& pattern : delegation.paths)
    if (MatchesPattern(pattern, path)) return true;
  for (const std::string& prefix : delegation.path_prefixes)
    if (path_hash.compare(0, prefix.size(), prefix) == 0) return true;
  return false;
}

// Digits of a bin's number: enough hexadecimal ones for the last bin.
int SuffixDigits(const SuccinctRoles& roles) { return (roles.bit_length + 3) / 4; }

std::string BinName(const SuccinctRoles& roles, const Digest& path_digest) {
  uint32_t leading = 0;
  for (int i = 0; i < 4; ++i) leading = leading << 8 | path_digest.bytes[static_cast<size_t>(i)];
  char suffix[16];
  snprintf(suffix, sizeof(suffix), "%0*x", SuffixDigits(roles), leading >> (32 - roles.bit_length));
  return roles.name_prefix + "-" + suffix;
}

bool IsBin(const SuccinctRoles& roles, const std::string& role) {
  const std::string prefix = roles.name_prefix + "-";
  const size_t digits = static_cast<size_t>(SuffixDigits(roles));
  if (role.size() != prefix.size() + digits || role.compare(0, prefix.size(), prefix) != 0) return false;
  uint64_t bin = 0;
  for (size_t i = prefix.size(); i < role.size(); ++i) {
    const size_t digit = std::string("0123456789abcdef").find(role[i]);
    if (digit == std::string::npos) return false;
    bin = bin << 4 | digit;
  }
  return bin < uint64_t{1} << roles.bit_length;
}

}  // namespace

std::vector<DelegatedRole> RolesForTarget(const Targets& targets, const std::string& target_path) {
  const Digest path_digest = Sha256Of(target_path);
  // The one bin that a path falls into is the only one to ask, so the search ends there.
  if (targets.succinct) return {{BinName(*targets.succinct, path_digest), true}};
  const std::string path_hash = path_digest.Hex();
  std::vector<DelegatedRole> roles;
  for (const Delegation& delegation : targets.delegations) {
    if (!Matches(delegation, target_path, path_hash)) continue;
    roles.push_back({delegation.role, delegation.terminating});
    if (delegation.terminating) break;
  }
  return roles;
}

const RoleKeys* FindDelegatedKeys(const Targets& targets, const std::string& role) {
  if (targets.succinct) return IsBin(*targets.succinct, role) ? &targets.succinct->keys : nullptr;
  for (const Delegation& delegation : targets.delegations)
    if (delegation.role == role) return &delegation.keys;
  return nullptr;
}

std::vector<std::string> RolesForPrefix(const Targets& targets, const std::string& prefix) {
  std::vector<std::string> names;
  for (const Delegation& delegation : targets.delegations) {
    // A digest says nothing about a prefix of what it is of.
    bool may = !delegation.path_prefixes.empty();
    for (const std::string& pattern : delegation.paths) may = may || MayMatchBelow(pattern, prefix);
    if (may) names.push_back(delegation.role);
  }
  return names;
}

}  // namespace aot::ota
