#include "runtime/ota/updater.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <utility>

#include "runtime/ota/delegation.h"
#include "runtime/ota/signatures.h"

namespace aot::ota {
namespace {

constexpr char kRoot[] = "metadata/root.json";
constexpr char kPreviousRoot[] = "metadata/root.previous.json";
constexpr char kTimestamp[] = "metadata/timestamp.json";
constexpr char kSnapshot[] = "metadata/snapshot.json";

// Of files that this device wrote itself: no caller's limit, which may have been another one then, but a bound all the
// same for a damaged disk.
constexpr int64_t kMaxStoredBytes = int64_t{64} << 20;

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

Status Updater::TrustStoredRoot(const char* path) {
  std::string stored;
  AOT_OTA_RETURN_IF_ERROR(state_->Read(path, kMaxStoredBytes, &stored));
  AOT_OTA_RETURN_IF_ERROR(trusted_.SetRoot(stored).At(state_->path() + "/" + path));
  root_bytes_ = stored;
  return Status();
}

Status Updater::ReadFirstRoot(const FirstRoot& first_root, std::string* bytes) const {
  *bytes = first_root.bytes;
  if (bytes->empty() && first_root.path.empty()) return Status(Code::kInvalidArgument, "no trusted root given");
  if (bytes->empty()) {
    std::ifstream file(first_root.path, std::ios::binary);
    if (!file) return Status(Code::kNotFound, "can't open the trusted root " + first_root.path);
    // One byte more than allowed tells a file that is too long, however long it is.
    bytes->resize(static_cast<size_t>(std::min(limits_.root, kMaxStoredBytes)) + 1);
    file.read(bytes->data(), static_cast<std::streamsize>(bytes->size()));
    if (file.bad()) return Status(Code::kIo, "can't read the trusted root " + first_root.path);
    bytes->resize(static_cast<size_t>(file.gcount()));
  }
  if (static_cast<int64_t>(bytes->size()) > limits_.root)
    return Status(Code::kLimit, "the trusted root is larger than " + std::to_string(limits_.root) + " bytes");
  return Status();
}

Status Updater::Begin(const FirstRoot& first_root) {
  const Status stored = TrustStoredRoot(kRoot);
  if (stored.ok()) return stored;
  const Status previous = TrustStoredRoot(kPreviousRoot);
  if (previous.ok()) {
    Log("the stored root is unusable, going on from its predecessor: " + stored.message());
    return previous;
  }
  // A file that isn't there, or was read and is no root, can't come back. Any other error may pass, and is no reason to
  // trust keys that were replaced long ago.
  for (const Status* status : {&stored, &previous}) {
    const Code code = status->code();
    const bool gone =
        code == Code::kNotFound || code == Code::kMalformed || code == Code::kSignature || code == Code::kLimit;
    if (!gone) return *status;
  }
  if (stored.code() != Code::kNotFound)
    Log("the stored root is unusable, starting from the configured one: " + stored.message());
  AOT_OTA_RETURN_IF_ERROR(ReadFirstRoot(first_root, &root_bytes_));
  AOT_OTA_RETURN_IF_ERROR(trusted_.SetRoot(root_bytes_));
  AOT_OTA_RETURN_IF_ERROR(state_->MakeDirectories("metadata/delegated"));
  return state_->WriteAtomic(kRoot, root_bytes_);
}

Status Updater::StoreRoot(const Root& previous, const std::string& bytes) {
  // New timestamp or snapshot keys are how a repository recovers from versions that were driven up by a thief of the
  // old ones: what those signed must not be compared with any more (5.3.11). Removed before the new root is stored, so
  // that a power cut between the two can't leave them in force.
  if (!SameRoleKeys(previous, trusted_.root(), "timestamp") || !SameRoleKeys(previous, trusted_.root(), "snapshot")) {
    AOT_OTA_RETURN_IF_ERROR(state_->RemoveAll(kTimestamp));
    AOT_OTA_RETURN_IF_ERROR(state_->RemoveAll(kSnapshot));
  }
  // One version behind is as good a start as any, should the new file be damaged some day.
  AOT_OTA_RETURN_IF_ERROR(state_->WriteAtomic(kPreviousRoot, root_bytes_));
  AOT_OTA_RETURN_IF_ERROR(state_->WriteAtomic(kRoot, bytes));
  root_bytes_ = bytes;
  return Status();
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

Status Updater::ReadStored(const std::string& path, std::string* bytes) {
  bytes->clear();
  const Status status = state_->Read(path, kMaxStoredBytes, bytes);
  if (status.code() == Code::kNotFound) return Status();
  if (status.code() != Code::kDigest && status.code() != Code::kLimit) return status;
  Log("stored metadata is not used: " + status.message());
  bytes->clear();
  return Status();
}

Status Updater::FetchMetadata(const std::string& url, int64_t limit, std::string* bytes) {
  const Status status = GetToMemory(transport_, url, limit, bytes);
  return status.code() == Code::kNotFound ? Status(Code::kMissingMetadata, status.message()) : status;
}

Status Updater::RefreshTimestamp() {
  std::string bytes;
  bool unchanged = false;
  AOT_OTA_RETURN_IF_ERROR(ReadStored(kTimestamp, &bytes));
  if (!bytes.empty()) {
    // Fails where keys were rotated or the file is damaged; then there is nothing to compare with.
    const Status seeded = trusted_.UpdateTimestamp(bytes, &unchanged);
    if (!seeded.ok()) Log("stored metadata is not used: " + seeded.message());
  }
  AOT_OTA_RETURN_IF_ERROR(FetchMetadata(url_ + "/timestamp.json", limits_.timestamp, &bytes));
  AOT_OTA_RETURN_IF_ERROR(trusted_.UpdateTimestamp(bytes, &unchanged));
  AOT_OTA_RETURN_IF_ERROR(trusted_.FinishTimestamp());
  return unchanged ? Status() : state_->WriteAtomic(kTimestamp, bytes);
}

Status Updater::RefreshSnapshot() {
  std::string bytes;
  AOT_OTA_RETURN_IF_ERROR(ReadStored(kSnapshot, &bytes));
  if (!bytes.empty()) {
    const Status seeded = trusted_.SeedSnapshot(bytes);
    if (!seeded.ok()) Log("stored metadata is not used: " + seeded.message());
    if (seeded.ok() && trusted_.UpdateSnapshot(bytes).ok()) return Status();
  }
  const MetaFile& meta = trusted_.timestamp()->snapshot;
  const int64_t limit = std::min(meta.length.value_or(limits_.snapshot), limits_.snapshot);
  AOT_OTA_RETURN_IF_ERROR(FetchMetadata(MetadataUrl("snapshot", meta.version), limit, &bytes));
  AOT_OTA_RETURN_IF_ERROR(trusted_.UpdateSnapshot(bytes));
  return state_->WriteAtomic(kSnapshot, bytes);
}

Status Updater::LoadTargets(const std::string& role, const std::string& delegator) {
  if (trusted_.targets(role, delegator) != nullptr) return Status();
  MetaFile meta;
  AOT_OTA_RETURN_IF_ERROR(trusted_.MetaOf(role, &meta));
  std::string bytes;
  AOT_OTA_RETURN_IF_ERROR(ReadStored(StoredName(role), &bytes));
  if (!bytes.empty() && trusted_.UpdateTargets(bytes, role, delegator).ok()) return Status();
  const int64_t limit = std::min(meta.length.value_or(limits_.targets), limits_.targets);
  AOT_OTA_RETURN_IF_ERROR(FetchMetadata(MetadataUrl(role, meta.version), limit, &bytes));
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
    const Status loaded = LoadTargets(role, delegator);
    if (!loaded.ok() && (role == "targets" || MayPass(loaded))) return loaded;
    if (!loaded.ok()) {
      Log("passed over: " + loaded.message());
      continue;
    }
    const Targets& targets = *trusted_.targets(role, delegator);
    for (const cJSON* file = targets.files->child; file != nullptr; file = file->next) {
      const std::string path = file->string;
      if (path.compare(0, prefix.size(), prefix) == 0) found.insert(path);
    }
    for (const std::string& child : RolesForPrefix(targets, prefix)) queue.emplace_back(role, child);
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
