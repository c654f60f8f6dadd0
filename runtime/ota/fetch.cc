#include "runtime/ota/fetch.h"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "runtime/ota/load.h"

namespace aot::ota {
namespace {

// The steps share the open state directory.
class Fetch {
 public:
  Fetch(const FetchOptions& options, FetchOutcome* outcome)
      : options_(options), outcome_(outcome), slots_(&state_, options.install.channel, options.install.model) {}

  Status Run(aot_model** out);

 private:
  void Log(const std::string& message) const {
    if (options_.log) options_.log(message);
  }
  Status Update(InstallResult* result);
  Status LoadFirstGood(const InstallResult& newest, aot_model** out);
  Status TryLoad(Slot* slot, aot_model** out);
  bool DropDamagedParts(const Slot& slot);
  void CollectGarbage();

  const FetchOptions& options_;
  FetchOutcome* outcome_;
  StateDirectory state_;
  SlotStore slots_;
};

Status Fetch::Update(InstallResult* result) {
  const std::unique_ptr<Transport> transport = MakeCurlTransport(options_.curl);
  if (transport == nullptr) return Status(Code::kNetwork, "libcurl can't start");
  Updater updater(transport.get(), &state_, options_.install.server_url + "/tuf", options_.metadata, options_.now,
                  options_.log);
  AOT_OTA_RETURN_IF_ERROR(updater.Begin(options_.root));
  AOT_OTA_RETURN_IF_ERROR(updater.Refresh());
  PartStore parts(&state_, transport.get(), options_.download);
  return InstallNewest(&updater, &parts, &slots_, &state_, options_.install, result);
}

// A damaged part must not stop the next update from fetching it again, nor speak against the version. True if there was
// one.
bool Fetch::DropDamagedParts(const Slot& slot) {
  PartStore parts(&state_, nullptr, options_.download);
  bool damaged = false;
  for (const Part* part : {&slot.manifest, &slot.code, &slot.weights}) {
    const std::string path = PartStore::PathOf(part->sha256);
    if (part->length == 0 || parts.Verify(path, *part).code() != Code::kDigest) continue;
    Log(path + " is damaged and was removed");
    (void)state_.RemoveAll(path);
    damaged = true;
  }
  return damaged;
}

Status Fetch::TryLoad(Slot* slot, aot_model** out) {
  const std::string what = "slot " + slot->name + ", release " + std::to_string(slot->release);
  if (!slot->failure.empty()) return Status(Code::kFailedSelfTest, what + " failed before: " + slot->failure);
  if (!slot->confirmed) {
    if (slot->attempts >= options_.max_starts) {
      const std::string reason =
          "started " + std::to_string(slot->attempts) + " times without getting through its self-test";
      (void)slots_.MarkFailed(slot, reason);
      return Status(Code::kFailedSelfTest, what + ": " + reason);
    }
    AOT_OTA_RETURN_IF_ERROR(slots_.RecordAttempt(slot));
  }
  const Status loaded = LoadSlot(&state_, *slot, out);
  if (loaded.ok()) {
    // Where this can't be written the version runs all the same, and proves itself again next time.
    const Status confirmed = slot->confirmed ? Status() : slots_.Confirm(slot);
    if (!confirmed.ok()) Log(confirmed.message());
    return Status();
  }
  if (DropDamagedParts(*slot)) return loaded.At(what);
  // Only a verdict on the version itself is remembered: storage or memory may be better next time.
  const bool verdict = loaded.code() == Code::kFailedSelfTest || loaded.code() == Code::kIncompatible ||
                       loaded.code() == Code::kMalformed;
  if (verdict && !slot->confirmed) (void)slots_.MarkFailed(slot, loaded.message());
  return loaded.At(what);
}

Status Fetch::LoadFirstGood(const InstallResult& newest, aot_model** out) {
  std::vector<Slot> slots;
  AOT_OTA_RETURN_IF_ERROR(slots_.List(&slots));
  // What the repository wants comes first, also where it is the older slot (another target, or an old artifact
  // published again).
  std::stable_partition(slots.begin(), slots.end(), [&](const Slot& slot) { return slot.name == newest.slot.name; });
  Status first_failure;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Status status = TryLoad(&slots[i], out);
    if (status.ok()) {
      outcome_->slot = slots[i];
      outcome_->source = i > 0 ? Source::kPrevious : newest.installed ? Source::kDownloaded : Source::kInstalled;
      return status;
    }
    Log(status.message());
    if (first_failure.ok()) first_failure = status;
    if (outcome_->update.ok()) outcome_->update = status;
    if (options_.require_update) break;
  }
  if (!first_failure.ok()) return first_failure;
  if (!outcome_->update.ok()) return outcome_->update;
  return Status(Code::kNotFound, options_.state_dir + ": nothing is installed for model \"" + options_.install.model +
                                     "\" in channel \"" + options_.install.channel + "\"");
}

void Fetch::CollectGarbage() {
  std::set<Digest> used;
  Status status = PartsInUse(&state_, &used);
  if (status.ok()) status = PartStore(&state_, nullptr, options_.download).RemoveAllBut(used);
  // Partial downloads are kept for as long as the update that needs them has not come through.
  if (status.ok() && outcome_->source == Source::kDownloaded) status = state_.RemoveAll("staging");
  if (!status.ok()) Log("cleaning up: " + status.message());
}

Status Fetch::Run(aot_model** out) {
  AOT_OTA_RETURN_IF_ERROR(state_.Open(options_.state_dir, options_.step_hook, options_.step_context));
  AOT_OTA_RETURN_IF_ERROR(state_.Lock(options_.lock_timeout_ms));
  const Status cleaned = CleanStaging(&state_);
  if (!cleaned.ok()) Log("cleaning up: " + cleaned.message());
  InstallResult newest;
  if (!options_.offline) {
    outcome_->update = Update(&newest);
    outcome_->downloaded = newest.downloaded;
    if (!outcome_->update.ok()) {
      Log("the update failed: " + outcome_->update.message());
      if (options_.require_update) return outcome_->update;
    }
  }
  AOT_OTA_RETURN_IF_ERROR(LoadFirstGood(newest, out));
  CollectGarbage();
  return Status();
}

}  // namespace

Status FetchAndLoad(const FetchOptions& options, aot_model** out, FetchOutcome* outcome) {
  *out = nullptr;
  *outcome = FetchOutcome();
  if (sodium_init() < 0) return Status(Code::kIo, "libsodium can't start: no source of random numbers");
  const Status status = Fetch(options, outcome).Run(out);
  if (outcome->update.ok()) outcome->update = status;
  return status;
}

}  // namespace aot::ota
