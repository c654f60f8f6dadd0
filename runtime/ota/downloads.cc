#include "runtime/ota/downloads.h"

#include <functional>

namespace aot::ota {
namespace {

constexpr char kDownloads[] = "downloads";
constexpr char kList[] = "/parts";
constexpr int64_t kMaxListBytes = 4096;
constexpr size_t kHexSize = 64;

// Calls visit("downloads/<channel>/<model>") until one fails.
Status ForEachModel(StateDirectory* state, const std::function<Status(const std::string& directory)>& visit) {
  std::vector<std::string> channels;
  AOT_OTA_RETURN_IF_ERROR(state->List(kDownloads, &channels));
  for (const std::string& channel : channels) {
    const std::string path = std::string(kDownloads) + "/" + channel;
    std::vector<std::string> models;
    AOT_OTA_RETURN_IF_ERROR(state->List(path, &models));
    for (const std::string& model : models) AOT_OTA_RETURN_IF_ERROR(visit(path + "/" + model));
  }
  return Status();
}

}  // namespace

Downloads::Downloads(StateDirectory* state, const std::string& channel, const std::string& model)
    : state_(state), directory_(std::string(kDownloads) + "/" + channel + "/" + model) {}

Status Downloads::Begin(const std::vector<Digest>& parts) {
  std::string list;
  for (const Digest& part : parts) list += part.Hex() + "\n";
  AOT_OTA_RETURN_IF_ERROR(state_->MakeDirectories(directory_));
  std::vector<std::string> names;
  AOT_OTA_RETURN_IF_ERROR(state_->List(directory_, &names));
  for (const std::string& name : names) {
    // "<sha256>.part" or "<sha256>.etag" of a listed part.
    if (name.size() > kHexSize && list.find(name.substr(0, kHexSize) + "\n") != std::string::npos) continue;
    if (directory_ + "/" + name != directory_ + kList)
      AOT_OTA_RETURN_IF_ERROR(state_->RemoveAll(directory_ + "/" + name));
  }
  std::string present;
  if (state_->Read(directory_ + kList, kMaxListBytes, &present).ok() && present == list) return Status();
  return state_->WriteAtomic(directory_ + kList, list);
}

Status Downloads::End() { return state_->RemoveAll(directory_); }

Status Downloads::EndOthers() {
  return ForEachModel(state_, [this](const std::string& directory) {
    return directory == directory_ ? Status() : state_->RemoveAll(directory);
  });
}

Status Downloads::PartsInUse(StateDirectory* state, std::set<Digest>* parts) {
  return ForEachModel(state, [&](const std::string& directory) {
    std::string list;
    const Status status = state->Read(directory + kList, kMaxListBytes, &list);
    // Where the list was lost, what it named may be fetched again.
    if (status.code() == Code::kNotFound || status.code() == Code::kDigest) return Status();
    AOT_OTA_RETURN_IF_ERROR(status);
    for (size_t at = 0; at + kHexSize <= list.size(); at += kHexSize + 1) {
      Digest digest;
      if (ParseDigest(list.substr(at, kHexSize), &digest)) parts->insert(digest);
    }
    return Status();
  });
}

}  // namespace aot::ota
