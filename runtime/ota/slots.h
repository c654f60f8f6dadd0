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
  bool confirmed = false;    // loaded and passed its self-test here, once at least
  bool last_loaded = false;  // the one that loaded most recently
  int64_t attempts = 0;      // starts in a row that ended without a word: neither loaded nor refused
  std::string failure;       // why it is never started again; empty: it may be
};

// The slots of one model in one channel. Not thread-safe; what changes a slot needs the state directory's
// lock on slots.
class SlotStore {
 public:
  // channel and model are safe components.
  SlotStore(StateDirectory* state, const std::string& channel, const std::string& model);

  // Complete slots, newest first. What an interrupted installation left is passed over, and so is what a newer version
  // of this client wrote; *newer (which may be nullptr) then says so with kIncompatible.
  Status List(std::vector<Slot>* slots, Status* newer = nullptr);

  // Installs a version whose parts are all in the part store, in place of the slot that is worth least: a failed one,
  // else one with missing parts, else not the one last loaded, else an unconfirmed one, else the older. Fills *slot.
  // Until the one rename nothing changes. kIncompatible rather than replace what a newer client wrote.
  Status Commit(const TargetDescription& description, Slot* slot);

  // *slot holds the very artifact of `description`, which was published again (an old one that takes the place of a
  // newer one, or under another release number): the slot becomes the newest, with that release, and keeps what it
  // proved. At every moment it is a complete slot.
  Status Renew(const TargetDescription& description, Slot* slot);

  // Counts a start before it happens, so that one that takes the process or the device down is counted too.
  Status RecordAttempt(Slot* slot);
  // The start that was counted last ended with an error that says nothing about the version.
  Status ForgetAttempt(Slot* slot);
  // The slot loaded and passed its self-test: it is confirmed, the one last loaded, and its starts count from 0.
  Status Confirm(Slot* slot);
  // The slot is never to be started again.
  Status MarkFailed(Slot* slot, const std::string& reason);

 private:
  Status Read(const std::string& name, Slot* slot);
  Status WriteAttempts(const Slot& slot);
  bool PartsPresent(const Slot& slot);
  std::string PathOf(const std::string& name) const { return directory_ + "/" + name; }

  StateDirectory* state_;
  const std::string directory_;
};

// Removes what an interrupted installation left in staging/.
Status CleanStaging(StateDirectory* state);

// Digests that the complete slots of all models need. Fails rather than leave one out: kIncompatible where a newer
// client wrote a slot.
Status PartsInUse(StateDirectory* state, std::set<Digest>* parts);

}  // namespace aot::ota
