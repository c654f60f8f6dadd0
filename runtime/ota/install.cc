#include "runtime/ota/install.h"

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

std::string BlobUrl(const InstallRequest& request, const Part& part) {
  return request.server_url + "/blobs/sha256/" + part.sha256.Hex();
}

// An artifact without weights names the digest of nothing; there is nothing to fetch.
Status EnsureBlob(PartStore* parts, const InstallRequest& request, const Part& part, int64_t* downloaded) {
  if (part.length == 0) return Status();
  return parts->Ensure(part, BlobUrl(request, part), downloaded);
}

Status CheckRelease(const std::vector<Slot>& slots, const TargetDescription& description) {
  for (const Slot& slot : slots) {
    if (slot.target != description.target || !slot.failure.empty() || slot.release <= description.release) continue;
    return Status(Code::kRollback, "release " + std::to_string(description.release) + " is offered, release " +
                                       std::to_string(slot.release) + " is installed");
  }
  return Status();
}

Status FetchParts(Updater* updater, PartStore* parts, StateDirectory* state, const InstallRequest& request,
                  const TargetDescription& description, const TargetFile& file, int64_t* downloaded) {
  AOT_OTA_RETURN_IF_ERROR(CheckLimit("a manifest", description.manifest, request.limits.manifest));
  AOT_OTA_RETURN_IF_ERROR(CheckLimit("code", description.code, request.limits.code));
  AOT_OTA_RETURN_IF_ERROR(CheckLimit("weights", description.weights, request.limits.weights));
  const std::string path = TargetPath(description.channel, description.model, description.target);
  AOT_OTA_RETURN_IF_ERROR(parts->Ensure(description.manifest, updater->TargetUrl(path, file), downloaded));
  // The manifest is compared before the large parts are fetched.
  std::string manifest;
  AOT_OTA_RETURN_IF_ERROR(
      state->Read(PartStore::PathOf(description.manifest.sha256), request.limits.manifest, &manifest));
  AOT_OTA_RETURN_IF_ERROR(CheckManifest(description, manifest));
  AOT_OTA_RETURN_IF_ERROR(EnsureBlob(parts, request, description.code, downloaded));
  return EnsureBlob(parts, request, description.weights, downloaded);
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
  for (const std::string& path : paths) {
    if (TargetNameOf(path, request.channel, request.model).empty()) continue;
    TargetDescription candidate;
    TargetFile candidate_file;
    Status status = DescribeTarget(updater, path, &candidate, &candidate_file);
    // Listed by a role that may not speak for it.
    if (status.code() == Code::kNotFound) continue;
    AOT_OTA_RETURN_IF_ERROR(status);
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
  return best >= 0 ? Status() : refused;
}

Status InstallNewest(Updater* updater, PartStore* parts, SlotStore* slots, StateDirectory* state,
                     const InstallRequest& request, InstallResult* result) {
  TargetDescription description;
  TargetFile file;
  AOT_OTA_RETURN_IF_ERROR(ChooseTarget(updater, request, &description, &file));
  std::vector<Slot> present;
  AOT_OTA_RETURN_IF_ERROR(slots->List(&present));
  AOT_OTA_RETURN_IF_ERROR(CheckRelease(present, description));
  for (Slot& slot : present) {
    if (slot.manifest != description.manifest) continue;
    if (!slot.failure.empty())
      return Status(Code::kFailedSelfTest, "release " + std::to_string(description.release) +
                                               " failed on this device and is not tried again: " + slot.failure);
    // A part that was lost or found damaged since is all that is fetched.
    for (const Part* part : {&slot.manifest, &slot.code, &slot.weights}) {
      if (part->length == 0 || parts->Present(*part)) continue;
      AOT_OTA_RETURN_IF_ERROR(FetchParts(updater, parts, state, request, description, file, &result->downloaded));
      break;
    }
    result->slot = std::move(slot);
    return Status();
  }
  AOT_OTA_RETURN_IF_ERROR(FetchParts(updater, parts, state, request, description, file, &result->downloaded));
  AOT_OTA_RETURN_IF_ERROR(slots->Commit(description, &result->slot));
  result->installed = true;
  return Status();
}

}  // namespace aot::ota
