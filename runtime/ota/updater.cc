#include "runtime/ota/updater.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "runtime/ota/delegation.h"
#include "runtime/ota/signatures.h"

namespace aot::ota {
namespace {

constexpr char kRoot[] = "metadata/root.json";
constexpr char kTimestamp[] = "metadata/timestamp.json";
constexpr char kSnapshot[] = "metadata/snapshot.json";

// A delegated role's name is the repository's choice: its file is named by a digest.
std::string StoredName(const std::string& role) {
  return role == "targets" ? "metadata/targets.json" : "metadata/delegated/" + Sha256Of(role).Hex() + ".json";
}

std::string PercentEncode(const std::string& text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~') {
      out.push_back(c);
    } else {
      out.push_back('%');
      out.push_back(kDigits[byte >> 4]);
      out.push_back(kDigits[byte & 15]);
    }
  }
  return out;
}

}  // namespace

Updater::Updater(Transport* transport, StateDirectory* state, std::string url, const MetadataLimits& limits,
                 int64_t now, LogSink log)
    : transport_(transport),
      state_(state),
      url_(std::move(url)),
      limits_(limits),
      log_(std::move(log)),
      trusted_(now) {}

void Updater::Log(const std::string& message) const {
  if (log_) log_(message);
}

std::string Updater::MetadataUrl(const std::string& role, int64_t version) const {
  const std::string name = PercentEncode(role) + ".json";
  return url_ + "/" + (trusted_.root().consistent_snapshot ? std::to_string(version) + "." + name : name);
}

Status Updater::Begin(std::string_view first_root) {
  std::string stored;
  Status status = state_->Read(kRoot, limits_.root, &stored);
  if (status.ok()) status = trusted_.SetRoot(stored);
  if (status.ok()) return status;
  if (status.code() != Code::kNotFound)
    Log("the stored root is unusable, starting from the configured one: " + status.message());
  AOT_OTA_RETURN_IF_ERROR(trusted_.SetRoot(first_root));
  AOT_OTA_RETURN_IF_ERROR(state_->MakeDirectories("metadata/delegated"));
  return state_->WriteAtomic(kRoot, first_root);
}

Status Updater::StoreRoot(const Root& previous, std::string_view bytes) {
  // New timestamp or snapshot keys are how a repository recovers from versions that were driven up by a thief of the
  // old ones: what those signed must not be compared with any more (5.3.11). Removed before the new root is stored, so
  // that a power cut between the two can't leave them in force.
  if (!SameRoleKeys(previous, trusted_.root(), "timestamp") || !SameRoleKeys(previous, trusted_.root(), "snapshot")) {
    AOT_OTA_RETURN_IF_ERROR(state_->RemoveAll(kTimestamp));
    AOT_OTA_RETURN_IF_ERROR(state_->RemoveAll(kSnapshot));
  }
  return state_->WriteAtomic(kRoot, bytes);
}

Status Updater::RefreshRoot() {
  for (int taken = 0; taken < limits_.root_rotations; ++taken) {
    const std::string url = url_ + "/" + std::to_string(trusted_.root().header.version + 1) + ".root.json";
    std::string bytes;
    const Status fetched = GetToMemory(transport_, url, limits_.root, &bytes);
    if (fetched.code() == Code::kNotFound) return trusted_.FinishRoot();
    AOT_OTA_RETURN_IF_ERROR(fetched);
    const Root previous = trusted_.root();
    AOT_OTA_RETURN_IF_ERROR(trusted_.UpdateRoot(bytes));
    AOT_OTA_RETURN_IF_ERROR(StoreRoot(previous, bytes));
  }
  return Status(Code::kLimit,
                url_ + ": more than " + std::to_string(limits_.root_rotations) + " new roots in one update");
}

Status Updater::RefreshTimestamp() {
  std::string bytes;
  bool unchanged = false;
  if (state_->Read(kTimestamp, limits_.timestamp, &bytes).ok()) {
    // Fails where keys were rotated or the file is damaged; then there is nothing to compare with.
    const Status seeded = trusted_.UpdateTimestamp(bytes, &unchanged);
    if (!seeded.ok()) Log("stored metadata is not used: " + seeded.message());
  }
  AOT_OTA_RETURN_IF_ERROR(GetToMemory(transport_, url_ + "/timestamp.json", limits_.timestamp, &bytes));
  AOT_OTA_RETURN_IF_ERROR(trusted_.UpdateTimestamp(bytes, &unchanged));
  AOT_OTA_RETURN_IF_ERROR(trusted_.FinishTimestamp());
  return unchanged ? Status() : state_->WriteAtomic(kTimestamp, bytes);
}

Status Updater::RefreshSnapshot() {
  std::string bytes;
  if (state_->Read(kSnapshot, limits_.snapshot, &bytes).ok()) {
    const Status seeded = trusted_.SeedSnapshot(bytes);
    if (!seeded.ok()) Log("stored metadata is not used: " + seeded.message());
    if (seeded.ok() && trusted_.UpdateSnapshot(bytes).ok()) return Status();
  }
  const MetaFile& meta = trusted_.timestamp()->snapshot;
  const int64_t limit = std::min(meta.length.value_or(limits_.snapshot), limits_.snapshot);
  AOT_OTA_RETURN_IF_ERROR(GetToMemory(transport_, MetadataUrl("snapshot", meta.version), limit, &bytes));
  AOT_OTA_RETURN_IF_ERROR(trusted_.UpdateSnapshot(bytes));
  return state_->WriteAtomic(kSnapshot, bytes);
}

Status Updater::LoadTargets(const std::string& role, const std::string& delegator) {
  if (trusted_.targets(role, delegator) != nullptr) return Status();
  MetaFile meta;
  AOT_OTA_RETURN_IF_ERROR(trusted_.MetaOf(role, &meta));
  std::string bytes;
  if (state_->Read(StoredName(role), limits_.targets, &bytes).ok() &&
      trusted_.UpdateTargets(bytes, role, delegator).ok())
    return Status();
  const int64_t limit = std::min(meta.length.value_or(limits_.targets), limits_.targets);
  AOT_OTA_RETURN_IF_ERROR(GetToMemory(transport_, MetadataUrl(role, meta.version), limit, &bytes));
  AOT_OTA_RETURN_IF_ERROR(trusted_.UpdateTargets(bytes, role, delegator));
  return state_->WriteAtomic(StoredName(role), bytes);
}

Status Updater::Refresh() {
  AOT_OTA_RETURN_IF_ERROR(state_->MakeDirectories("metadata/delegated"));
  AOT_OTA_RETURN_IF_ERROR(RefreshRoot());
  AOT_OTA_RETURN_IF_ERROR(RefreshTimestamp());
  AOT_OTA_RETURN_IF_ERROR(RefreshSnapshot());
  return LoadTargets("targets", "root");
}

Status Updater::FindTarget(const std::string& path, TargetFile* out) {
  using Edge = std::pair<std::string, std::string>;  // (delegator, role)
  std::vector<Edge> stack = {{"root", "targets"}};
  std::set<Edge> visited;
  while (!stack.empty()) {
    const Edge edge = stack.back();
    stack.pop_back();
    if (!visited.insert(edge).second) continue;
    if (static_cast<int>(visited.size()) > limits_.delegations + 1)
      return Status(Code::kLimit,
                    path + ": not found in the first " + std::to_string(limits_.delegations) + " delegated roles");
    AOT_OTA_RETURN_IF_ERROR(LoadTargets(edge.second, edge.first));
    const Targets& targets = *trusted_.targets(edge.second, edge.first);
    const Status found = FindTargetFile(targets, path, out);
    if (found.code() != Code::kNotFound) return found;
    const std::vector<DelegatedRole> children = RolesForTarget(targets, path);
    // A terminating delegation ends the search with its own subtree.
    if (!children.empty() && children.back().terminating) stack.clear();
    for (auto child = children.rbegin(); child != children.rend(); ++child)
      stack.emplace_back(edge.second, child->role);
  }
  return Status(Code::kNotFound, "no signed target \"" + path + "\"");
}

Status Updater::ListTargets(const std::string& prefix, std::vector<std::string>* paths) {
  std::set<std::string> found;
  std::vector<std::pair<std::string, std::string>> queue = {{"root", "targets"}};
  std::set<std::pair<std::string, std::string>> visited;
  for (size_t i = 0; i < queue.size(); ++i) {
    const auto [delegator, role] = queue[i];
    if (!visited.insert(queue[i]).second) continue;
    if (static_cast<int>(visited.size()) > limits_.delegations + 1)
      return Status(Code::kLimit, "more than " + std::to_string(limits_.delegations) + " delegated roles to list");
    AOT_OTA_RETURN_IF_ERROR(LoadTargets(role, delegator));
    const Targets& targets = *trusted_.targets(role, delegator);
    for (const cJSON* file = targets.files->child; file != nullptr; file = file->next) {
      const std::string path = file->string;
      if (path.compare(0, prefix.size(), prefix) == 0) found.insert(path);
    }
    for (const std::string& child : DelegatedRoleNames(targets)) queue.emplace_back(role, child);
  }
  paths->assign(found.begin(), found.end());
  return Status();
}

std::string Updater::TargetUrl(const std::string& path, const TargetFile& target) const {
  if (!trusted_.root().consistent_snapshot) return url_ + "/targets/" + path;
  const size_t name = path.rfind('/') + 1;  // 0 where there is no slash
  return url_ + "/targets/" + path.substr(0, name) + target.sha256.Hex() + "." + path.substr(name);
}

}  // namespace aot::ota
