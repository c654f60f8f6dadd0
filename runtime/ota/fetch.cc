#include "runtime/ota/fetch.h"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "runtime/ota/load.h"

namespace aot::ota {
namespace {

// Below this an update begins by giving back what nobody needs.
constexpr int64_t kLeastFreeBytes = int64_t{1} << 20;

Status TooManyStarts(const Slot& slot) {
  return Status(Code::kFailedSelfTest,
                "started " + std::to_string(slot.attempts) + " times without getting through its self-test");
}

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
  // Whether a version took the process down, or the device, as often in a row as it may.
  bool StartedTooOften(const Slot& slot) const;
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
  const std::unique_ptr<Transport> curl = MakeCurlTransport(options_.curl);
  if (curl == nullptr) return Status(Code::kNetwork, "libcurl can't start");
  DeadlineTransport transport(curl.get(), options_.update_ms);
  // What other updates left behind must not keep this one from writing its first file.
  if (state_.FreeBytes() < kLeastFreeBytes) AOT_OTA_RETURN_IF_ERROR(ReclaimSpace(&state_, nullptr));
  Updater updater(&transport, &state_, options_.install.server_url + "/tuf", options_.metadata, options_.now,
                  options_.log);
  AOT_OTA_RETURN_IF_ERROR(updater.Begin(options_.first_root));
  AOT_OTA_RETURN_IF_ERROR(updater.Refresh());
  return InstallNewest({&updater, &transport, &slots_, &state_, options_.download, options_.lock_timeout_ms},
                       options_.install, result);
}

// A damaged part must not stop the next update from fetching it again, nor speak against the version. True if there was
// one.
bool Fetch::DropDamagedParts(const Slot& slot) {
  PartStore parts(&state_, nullptr, options_.download);
  bool damaged = false;
  for (const Part* part : {&slot.manifest, &slot.code, &slot.weights}) {
    const std::string path = PartStore::PathOf(part->sha256);
    if (part->length == 0 || !parts.Damaged(*part)) continue;
    Log(path + " is damaged and was removed");
    (void)state_.RemoveAll(path);
    damaged = true;
  }
  return damaged;
}

bool Fetch::StartedTooOften(const Slot& slot) const { return slot.attempts >= options_.max_starts; }

Status Fetch::TryLoad(Slot* slot, aot_model** out) {
  if (!slot->failure.empty()) return Status(Code::kFailedSelfTest, "failed before: " + slot->failure);
  if (!slot->confirmed && StartedTooOften(*slot)) {
    (void)slots_.MarkFailed(slot, TooManyStarts(*slot).message());
    return TooManyStarts(*slot);
  }
  const Status counted = slots_.RecordAttempt(slot);
  // A version that never proved itself isn't started uncounted; one that did also runs from a read-only file system.
  if (!counted.ok() && !slot->confirmed) return counted;
  if (!counted.ok()) Log(counted.message());
  const Status loaded = LoadSlot(&state_, *slot, out);
  if (loaded.ok()) {
    // Where this can't be written the version runs all the same, and proves itself again next time.
    const Status confirmed = slots_.Confirm(slot);
    if (!confirmed.ok()) Log(confirmed.message());
    return Status();
  }
  (void)slots_.ForgetAttempt(slot);
  if (DropDamagedParts(*slot)) return loaded;
  // Only a verdict on the version itself is remembered: storage or memory may be better next time, and a later build of
  // the application may bring what this version needs.
  const bool verdict = loaded.code() == Code::kFailedSelfTest || loaded.code() == Code::kMalformed;
  if (verdict && !slot->confirmed) (void)slots_.MarkFailed(slot, loaded.message());
  return loaded;
}

Status Fetch::LoadFirstGood(const InstallResult& newest, aot_model** out) {
  std::vector<Slot> slots;
  AOT_OTA_RETURN_IF_ERROR(slots_.List(&slots));
  // What the repository wants comes first, then the newest. A version that took the process down so often in a row that
  // it won't be otherwise this time comes last, even if it ran before.
  std::stable_partition(slots.begin(), slots.end(), [&](const Slot& slot) { return slot.name == newest.slot.name; });
  const std::string wanted = slots.empty() ? "" : slots.front().name;
  std::stable_partition(slots.begin(), slots.end(),
                        [&](const Slot& slot) { return !slot.confirmed || !StartedTooOften(slot); });
  Status first_failure;
  const auto note = [&](const Slot& slot, const Status& status) {
    const Status placed = status.At("slot " + slot.name + ", release " + std::to_string(slot.release));
    Log(placed.message());
    if (first_failure.ok()) first_failure = placed;
    if (outcome_->update.ok()) outcome_->update = placed;
  };
  if (!slots.empty() && slots.front().name != wanted) {
    const Slot& passed_over = slots.back();
    note(passed_over, TooManyStarts(passed_over));
    if (options_.require_update) return first_failure;
  }
  for (Slot& slot : slots) {
    const Status status = TryLoad(&slot, out);
    if (status.ok()) {
      outcome_->slot = slot;
      outcome_->source = slot.name != wanted ? Source::kPrevious
                         : newest.installed  ? Source::kDownloaded
                                             : Source::kInstalled;
      return status;
    }
    note(slot, status);
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
  if (status.ok()) status = Downloads::PartsInUse(&state_, &used);
  if (status.ok()) status = PartStore(&state_, nullptr, options_.download).RemoveAllBut(used);
  if (status.ok()) status = CleanStaging(&state_);  // the slot that was replaced
  if (!status.ok()) Log("cleaning up: " + status.message());
}

Status Fetch::Run(aot_model** out) {
  AOT_OTA_RETURN_IF_ERROR(state_.Open(options_.state_dir, options_.step_hook, options_.step_context));
  InstallResult newest;
  if (!options_.offline) {
    outcome_->update = state_.Acquire(StateDirectory::Lock::kUpdate, options_.lock_timeout_ms);
    if (outcome_->update.ok()) outcome_->update = Update(&newest);
    outcome_->downloaded = newest.downloaded;
    if (!outcome_->update.ok()) {
      Log("the update failed: " + outcome_->update.message());
      if (options_.require_update) return outcome_->update;
    }
  }
  AOT_OTA_RETURN_IF_ERROR(state_.Acquire(StateDirectory::Lock::kSlots, options_.lock_timeout_ms));
  const Status cleaned = CleanStaging(&state_);
  if (!cleaned.ok()) Log("cleaning up: " + cleaned.message());
  // Finished parts of an update that broke off are kept until one comes through.
  const bool updated = !options_.offline && outcome_->update.ok();
  AOT_OTA_RETURN_IF_ERROR(LoadFirstGood(newest, out));
  if (updated) CollectGarbage();
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
