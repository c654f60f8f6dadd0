#include "runtime/ota/install.h"

#include <set>

namespace aot::ota {
namespace {

Status CheckLimit(const char* what, const Part& part, int64_t limit) {
  if (part.length <= limit) return Status();
  return Status(Code::kLimit, std::string(what) + " of " + std::to_string(part.length) +
                                  " bytes, the configured limit is " + std::to_string(limit));
}

Status DescribeTarget(Updater* updater, const std::string& path, TargetDescription* description, TargetFile* file) {
  AOT_OTA_RETURN_IF_ERROR(updater->FindTarget(path, file));
  return ParseTargetDescription(path, *file, description);
}

Status CheckRelease(const std::vector<Slot>& slots, const TargetDescription& description) {
  for (const Slot& slot : slots) {
    if (slot.target != description.target || !slot.failure.empty() || slot.release <= description.release) continue;
    return Status(Code::kRollback, "release " + std::to_string(description.release) + " is offered, release " +
                                       std::to_string(slot.release) + " is installed");
  }
  return Status();
}

// Room for metadata, slots and the file system's own records, beside the parts.
constexpr int64_t kReserveBytes = int64_t{1} << 20;

// One release on its way into a slot.
class Installation {
 public:
  Installation(const InstallContext& context, const InstallRequest& request, const TargetDescription& description,
               const TargetFile& file)
      : context_(context),
        request_(request),
        description_(description),
        file_(file),
        downloads_(context.state, request.channel, request.model),
        parts_(context.state, context.transport, context.download, downloads_.directory()) {}

  // Makes all parts of the release there.
  Status FetchParts(int64_t* downloaded);
  Status Finish() { return downloads_.End(); }

 private:
  Status CheckSpace();
  Status EnsureBlob(const Part& part, int64_t* downloaded);

  const InstallContext& context_;
  const InstallRequest& request_;
  const TargetDescription& description_;
  const TargetFile& file_;
  Downloads downloads_;
  PartStore parts_;
};

// Before the first byte comes: a disk that fills up on the way stops more than this update.
Status Installation::CheckSpace() {
  int64_t need = kReserveBytes;
  for (const Part* part : {&description_.manifest, &description_.code, &description_.weights})
    need += parts_.Outstanding(*part);
  if (context_.state->FreeBytes() >= need) return Status();
  AOT_OTA_RETURN_IF_ERROR(ReclaimSpace(context_.state, &downloads_));
  const int64_t free = context_.state->FreeBytes();
  if (free >= need) return Status();
  AOT_OTA_RETURN_IF_ERROR(downloads_.End());
  return Status(Code::kNoSpace, context_.state->path() + ": the update needs " + std::to_string(need) + " bytes, " +
                                    std::to_string(free) + " are free");
}

// An artifact without weights names the digest of nothing; there is nothing to fetch.
Status Installation::EnsureBlob(const Part& part, int64_t* downloaded) {
  if (part.length == 0) return Status();
  return parts_.Ensure(part, request_.server_url + "/blobs/sha256/" + part.sha256.Hex(), downloaded);
}

Status Installation::FetchParts(int64_t* downloaded) {
  const PartLimits& limits = request_.limits;
  AOT_OTA_RETURN_IF_ERROR(CheckLimit("a manifest", description_.manifest, limits.manifest));
  AOT_OTA_RETURN_IF_ERROR(CheckLimit("code", description_.code, limits.code));
  AOT_OTA_RETURN_IF_ERROR(CheckLimit("weights", description_.weights, limits.weights));
  AOT_OTA_RETURN_IF_ERROR(
      downloads_.Begin({description_.manifest.sha256, description_.code.sha256, description_.weights.sha256}));
  AOT_OTA_RETURN_IF_ERROR(CheckSpace());
  const std::string path = TargetPath(description_.channel, description_.model, description_.target);
  AOT_OTA_RETURN_IF_ERROR(parts_.Ensure(description_.manifest, context_.updater->TargetUrl(path, file_), downloaded));
  // The manifest is compared before the large parts are fetched.
  std::string manifest;
  AOT_OTA_RETURN_IF_ERROR(
      context_.state->Read(PartStore::PathOf(description_.manifest.sha256), limits.manifest, &manifest));
  AOT_OTA_RETURN_IF_ERROR(CheckManifest(description_, manifest));
  AOT_OTA_RETURN_IF_ERROR(EnsureBlob(description_.code, downloaded));
  return EnsureBlob(description_.weights, downloaded);
}

// The one moment of an update at which nobody may be loading.
template <typename Change>
Status ChangeSlots(const InstallContext& context, const Change& change) {
  AOT_OTA_RETURN_IF_ERROR(context.state->Acquire(StateDirectory::Lock::kSlots, context.lock_timeout_ms));
  const Status status = change();
  context.state->Release(StateDirectory::Lock::kSlots);
  return status;
}

}  // namespace

Status ChooseTarget(Updater* updater, const InstallRequest& request, TargetDescription* description, TargetFile* file) {
  if (!request.target.empty()) {
    const std::string path = TargetPath(request.channel, request.model, request.target);
    AOT_OTA_RETURN_IF_ERROR(DescribeTarget(updater, path, description, file));
    return CheckCompatible(*description, request.cpu);
  }
  const std::string prefix = request.channel + "/" + request.model + "/";
  std::vector<std::string> paths;
  AOT_OTA_RETURN_IF_ERROR(updater->ListTargets(prefix, &paths));
  int best = -1;
  Status refused(Code::kNotFound, "the repository has no target \"" + prefix + "*.manifest\"");
  Status damaged;
  for (const std::string& path : paths) {
    if (TargetNameOf(path, request.channel, request.model).empty()) continue;
    TargetDescription candidate;
    TargetFile candidate_file;
    Status status = DescribeTarget(updater, path, &candidate, &candidate_file);
    // Listed by a role that may not speak for it.
    if (status.code() == Code::kNotFound) continue;
    if (MayPass(status)) return status;
    if (!status.ok()) {
      // One bad entry must not keep devices from all the others.
      updater->Log("passed over: " + status.message());
      if (damaged.ok()) damaged = status;
      continue;
    }
    status = CheckCompatible(candidate, request.cpu);
    if (!status.ok()) {
      refused = refused.code() == Code::kIncompatible
                    ? Status(Code::kIncompatible, refused.message() + "; " + status.message())
                    : status;
      continue;
    }
    const int level = FeatureLevel(candidate, request.cpu);
    if (level <= best) continue;
    best = level;
    *description = candidate;
    *file = candidate_file;
  }
  if (best < 0 && !damaged.ok()) return damaged;
  return best >= 0 ? Status() : refused;
}

Status ReclaimSpace(StateDirectory* state, Downloads* keep) {
  if (keep != nullptr)
    AOT_OTA_RETURN_IF_ERROR(keep->EndOthers());
  else
    AOT_OTA_RETURN_IF_ERROR(state->RemoveAll("downloads"));
  std::set<Digest> used;
  AOT_OTA_RETURN_IF_ERROR(PartsInUse(state, &used));
  AOT_OTA_RETURN_IF_ERROR(Downloads::PartsInUse(state, &used));
  return PartStore(state, nullptr, {}).RemoveAllBut(used);
}

Status InstallNewest(const InstallContext& context, const InstallRequest& request, InstallResult* result) {
  TargetDescription description;
  TargetFile file;
  AOT_OTA_RETURN_IF_ERROR(ChooseTarget(context.updater, request, &description, &file));
  std::vector<Slot> present;
  Status newer;
  AOT_OTA_RETURN_IF_ERROR(context.slots->List(&present, &newer));
  AOT_OTA_RETURN_IF_ERROR(newer);  // there is no slot to install into
  AOT_OTA_RETURN_IF_ERROR(CheckRelease(present, description));
  Installation installation(context, request, description, file);
  PartStore parts(context.state, nullptr, {});
  for (Slot& slot : present) {
    if (slot.manifest != description.manifest) continue;
    if (!slot.failure.empty())
      return Status(Code::kFailedSelfTest, "release " + std::to_string(description.release) +
                                               " failed on this device and is not tried again: " + slot.failure);
    if (slot.code != description.code || slot.weights != description.weights)
      return Status(Code::kDigest, "release " + std::to_string(description.release) + " has the manifest of release " +
                                       std::to_string(slot.release) + " with other code or weights");
    // A part that was lost or found damaged since is all that is fetched.
    for (const Part* part : {&slot.manifest, &slot.code, &slot.weights}) {
      if (part->length == 0 || parts.Present(*part)) continue;
      AOT_OTA_RETURN_IF_ERROR(installation.FetchParts(&result->downloaded));
      break;
    }
    // An old artifact that was published again is the newest version from now on, also for a start without a network.
    const bool newest = slot.sequence == present.front().sequence && slot.release == description.release;
    if (!newest)
      AOT_OTA_RETURN_IF_ERROR(ChangeSlots(context, [&] { return context.slots->Renew(description, &slot); }));
    result->slot = slot;
    return installation.Finish();
  }
  AOT_OTA_RETURN_IF_ERROR(installation.FetchParts(&result->downloaded));
  AOT_OTA_RETURN_IF_ERROR(ChangeSlots(context, [&] { return context.slots->Commit(description, &result->slot); }));
  result->installed = true;
  return installation.Finish();
}

}  // namespace aot::ota
