// The two installed versions of a model, A and B: which one is newest, which one proved itself, and the single rename
// that adds one.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "runtime/ota/part_store.h"
#include "runtime/ota/state_directory.h"
#include "runtime/ota/target_description.h"

namespace aot::ota {

// An installed version. The slot names its parts by digest; their bytes are in the part store.
struct Slot {
  std::string name;      // "a" or "b"
  int64_t sequence = 0;  // of installations of this model on this device; the highest is the newest
  std::string target;    // target description that it was compiled for
  int64_t release = 0;
  Part manifest;
  Part code;
  Part weights;
  bool confirmed = false;  // loaded and passed its self-test here
  int64_t attempts = 0;    // starts since installation without confirmation
  std::string failure;     // why it is never started again; empty: it may be
};

// The slots of one model in one channel. Not thread-safe; needs the state directory's lock.
class SlotStore {
 public:
  // channel and model are safe components.
  SlotStore(StateDirectory* state, const std::string& channel, const std::string& model);

  // Complete slots, newest first. What an interrupted installation left is passed over.
  Status List(std::vector<Slot>* slots);

  // Installs a version whose parts are all in the part store, in place of the slot that is worth least: a failed or
  // unconfirmed one, else the older. Fills *slot. Until the one rename nothing changes.
  Status Commit(const TargetDescription& description, Slot* slot);

  // Counts a start of an unconfirmed slot before it happens, so that one that takes the device down is counted too.
  Status RecordAttempt(Slot* slot);
  // The slot proved itself.
  Status Confirm(Slot* slot);
  // The slot is never to be started again.
  Status MarkFailed(Slot* slot, const std::string& reason);

 private:
  Status Read(const std::string& name, Slot* slot);
  std::string PathOf(const std::string& name) const { return directory_ + "/" + name; }

  StateDirectory* state_;
  const std::string directory_;
};

// Removes what an interrupted installation left in staging/, partial downloads excepted.
Status CleanStaging(StateDirectory* state);

// Digests that the complete slots of all models need. Fails rather than leave one out.
Status PartsInUse(StateDirectory* state, std::set<Digest>* parts);

}  // namespace aot::ota
