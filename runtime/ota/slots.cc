#include "runtime/ota/slots.h"

#include <algorithm>
#include <tuple>

#include "runtime/ota/canonical_json.h"
#include "runtime/ota/json.h"

namespace aot::ota {
namespace {

constexpr int64_t kMaxRecordBytes = 65536;
constexpr int64_t kMaxAttempts = 32;  // that are counted
constexpr char kStagedSlot[] = "staging/slot";
constexpr char kReplacedSlot[] = "staging/replaced-slot";

void AddPart(cJSON* record, const char* name, const Part& part) {
  cJSON* item = cJSON_AddObjectToObject(record, name);
  cJSON_AddStringToObject(item, "sha256", part.sha256.Hex().c_str());
  cJSON_AddNumberToObject(item, "length", static_cast<double>(part.length));
}

std::string RecordOf(const TargetDescription& description, int64_t sequence) {
  JsonTree record(cJSON_CreateObject());
  cJSON_AddNumberToObject(record.get(), "version", 1);
  cJSON_AddNumberToObject(record.get(), "sequence", static_cast<double>(sequence));
  cJSON_AddStringToObject(record.get(), "target", description.target.c_str());
  cJSON_AddNumberToObject(record.get(), "release", static_cast<double>(description.release));
  AddPart(record.get(), "manifest", description.manifest);
  AddPart(record.get(), "code", description.code);
  AddPart(record.get(), "weights", description.weights);
  return CanonicalJson(record.get());
}

Status ParsePart(const cJSON* record, const char* name, Part* out) {
  const cJSON* item = nullptr;
  AOT_OTA_RETURN_IF_ERROR(GetObject(record, name, &item));
  AOT_OTA_RETURN_IF_ERROR(GetDigest(item, "sha256", &out->sha256).At(name));
  return GetInteger(item, "length", 0, &out->length).At(name);
}

Status ParseRecord(const std::string& text, Slot* slot) {
  JsonTree record;
  int64_t version = 0;
  AOT_OTA_RETURN_IF_ERROR(ParseJson(text, &record));
  AOT_OTA_RETURN_IF_ERROR(GetInteger(record.get(), "version", 1, &version));
  if (version != 1)
    return Status(Code::kIncompatible, "slot record version " + std::to_string(version) +
                                           ", this client reads 1: a newer one uses this state directory");
  AOT_OTA_RETURN_IF_ERROR(GetInteger(record.get(), "sequence", 1, &slot->sequence));
  AOT_OTA_RETURN_IF_ERROR(GetString(record.get(), "target", &slot->target));
  AOT_OTA_RETURN_IF_ERROR(GetInteger(record.get(), "release", 1, &slot->release));
  AOT_OTA_RETURN_IF_ERROR(ParsePart(record.get(), "manifest", &slot->manifest));
  AOT_OTA_RETURN_IF_ERROR(ParsePart(record.get(), "code", &slot->code));
  return ParsePart(record.get(), "weights", &slot->weights);
}

}  // namespace

SlotStore::SlotStore(StateDirectory* state, const std::string& channel, const std::string& model)
    : state_(state), directory_("slots/" + channel + "/" + model) {}

Status SlotStore::Read(const std::string& name, Slot* slot) {
  const std::string path = PathOf(name);
  std::string marker;
  std::string record;
  std::string text;
  AOT_OTA_RETURN_IF_ERROR(state_->Read(path + "/complete", kMaxRecordBytes, &marker));
  AOT_OTA_RETURN_IF_ERROR(state_->Read(path + "/record.json", kMaxRecordBytes, &record));
  // Two digests, a line each, where a record was renewed: the one before, and the one to come.
  if (("\n" + marker + "\n").find("\n" + Sha256Of(record).Hex() + "\n") == std::string::npos)
    return Status(Code::kDigest, path + ": record.json is not the one that was completed");
  AOT_OTA_RETURN_IF_ERROR(ParseRecord(record, slot).At(path));
  slot->name = name;
  slot->confirmed = state_->Exists(path + "/confirmed");
  slot->last_loaded = state_->Read(PathOf("last-loaded"), 8, &text).ok() && text == name;
  if (state_->Read(path + "/attempts", kMaxAttempts, &text).ok()) slot->attempts = static_cast<int64_t>(text.size());
  if (state_->Exists(path + "/failed") &&
      (!state_->Read(path + "/failed", kMaxRecordBytes, &slot->failure).ok() || slot->failure.empty()))
    slot->failure = "failed before";
  return Status();
}

Status SlotStore::List(std::vector<Slot>* slots, Status* newer) {
  slots->clear();
  for (const char* name : {"a", "b"}) {
    Slot slot;
    const Status status = Read(name, &slot);
    if (status.code() == Code::kIo) return status;
    if (status.code() == Code::kIncompatible && newer != nullptr) *newer = status;
    // Anything else is a slot that was never completed, or no longer is what was: as good as none.
    if (status.ok()) slots->push_back(std::move(slot));
  }
  std::sort(slots->begin(), slots->end(), [](const Slot& x, const Slot& y) { return x.sequence > y.sequence; });
  return Status();
}

bool SlotStore::PartsPresent(const Slot& slot) {
  PartStore parts(state_, nullptr, {});
  for (const Part* part : {&slot.manifest, &slot.code, &slot.weights})
    if (part->length > 0 && !parts.Present(*part)) return false;
  return true;
}

Status SlotStore::Commit(const TargetDescription& description, Slot* slot) {
  std::vector<Slot> present;
  Status newer;
  AOT_OTA_RETURN_IF_ERROR(List(&present, &newer));
  AOT_OTA_RETURN_IF_ERROR(newer);
  const int64_t sequence = present.empty() ? 1 : present.front().sequence + 1;
  std::string name = "a";
  if (present.size() == 1 && present[0].name == "a") name = "b";
  if (present.size() == 2) {
    // What can't run is no loss, and what runs at this moment is never taken away.
    const auto worth = [this](const Slot& s) {
      return std::make_tuple(s.failure.empty(), PartsPresent(s), s.last_loaded, s.confirmed, s.sequence);
    };
    name = worth(present[0]) < worth(present[1]) ? present[0].name : present[1].name;
  }

  AOT_OTA_RETURN_IF_ERROR(state_->MakeDirectories(directory_));
  AOT_OTA_RETURN_IF_ERROR(state_->RemoveAll(kStagedSlot));
  AOT_OTA_RETURN_IF_ERROR(state_->MakeDirectories(kStagedSlot));
  const std::string record = RecordOf(description, sequence);
  AOT_OTA_RETURN_IF_ERROR(state_->WriteAtomic(std::string(kStagedSlot) + "/record.json", record));
  AOT_OTA_RETURN_IF_ERROR(state_->WriteAtomic(std::string(kStagedSlot) + "/complete", Sha256Of(record).Hex()));
  if (state_->Exists(PathOf(name))) {
    AOT_OTA_RETURN_IF_ERROR(state_->RemoveAll(kReplacedSlot));
    AOT_OTA_RETURN_IF_ERROR(state_->Rename(PathOf(name), kReplacedSlot));
  }
  AOT_OTA_RETURN_IF_ERROR(state_->Rename(kStagedSlot, PathOf(name)));
  *slot = Slot();
  return Read(name, slot);
}

Status SlotStore::Renew(const TargetDescription& description, Slot* slot) {
  const std::string path = PathOf(slot->name);
  std::vector<Slot> present;
  std::string record;
  AOT_OTA_RETURN_IF_ERROR(List(&present));
  AOT_OTA_RETURN_IF_ERROR(state_->Read(path + "/record.json", kMaxRecordBytes, &record));
  const std::string renewed = RecordOf(description, present.front().sequence + 1);
  // Two files can't change in one step, so the marker vouches for both records before the record changes.
  AOT_OTA_RETURN_IF_ERROR(
      state_->WriteAtomic(path + "/complete", Sha256Of(record).Hex() + "\n" + Sha256Of(renewed).Hex()));
  AOT_OTA_RETURN_IF_ERROR(state_->WriteAtomic(path + "/record.json", renewed));
  const std::string name = slot->name;
  *slot = Slot();
  return Read(name, slot);
}

Status SlotStore::WriteAttempts(const Slot& slot) {
  const std::string path = PathOf(slot.name) + "/attempts";
  if (slot.attempts == 0) return state_->RemoveAll(path);
  // One character for each attempt: no number to misread.
  return state_->WriteAtomic(path, std::string(static_cast<size_t>(std::min(slot.attempts, kMaxAttempts)), '+'));
}

Status SlotStore::RecordAttempt(Slot* slot) {
  ++slot->attempts;
  return WriteAttempts(*slot);
}

Status SlotStore::ForgetAttempt(Slot* slot) {
  if (slot->attempts > 0) --slot->attempts;
  return WriteAttempts(*slot);
}

Status SlotStore::Confirm(Slot* slot) {
  if (!slot->confirmed) AOT_OTA_RETURN_IF_ERROR(state_->WriteAtomic(PathOf(slot->name) + "/confirmed", ""));
  slot->confirmed = true;
  slot->attempts = 0;
  AOT_OTA_RETURN_IF_ERROR(WriteAttempts(*slot));
  if (!slot->last_loaded) AOT_OTA_RETURN_IF_ERROR(state_->WriteAtomic(PathOf("last-loaded"), slot->name));
  slot->last_loaded = true;
  return Status();
}

Status SlotStore::MarkFailed(Slot* slot, const std::string& reason) {
  slot->failure = reason;
  return state_->WriteAtomic(PathOf(slot->name) + "/failed", reason);
}

Status CleanStaging(StateDirectory* state) {
  for (const char* name : {kStagedSlot, kReplacedSlot, "staging/slots.tmp", "staging/staging.tmp"})
    AOT_OTA_RETURN_IF_ERROR(state->RemoveAll(name));
  return Status();
}

Status PartsInUse(StateDirectory* state, std::set<Digest>* parts) {
  std::vector<std::string> channels;
  AOT_OTA_RETURN_IF_ERROR(state->List("slots", &channels));
  for (const std::string& channel : channels) {
    std::vector<std::string> models;
    AOT_OTA_RETURN_IF_ERROR(state->List("slots/" + channel, &models));
    for (const std::string& model : models) {
      std::vector<Slot> slots;
      Status newer;
      AOT_OTA_RETURN_IF_ERROR(SlotStore(state, channel, model).List(&slots, &newer));
      AOT_OTA_RETURN_IF_ERROR(newer);
      for (const Slot& slot : slots)
        for (const Part* part : {&slot.manifest, &slot.code, &slot.weights}) parts->insert(part->sha256);
    }
  }
  return Status();
}

}  // namespace aot::ota
