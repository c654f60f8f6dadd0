// From signed metadata to a complete slot: chooses the target, fetches its missing parts, compares manifest and
// metadata, commits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/ota/downloads.h"
#include "runtime/ota/part_store.h"
#include "runtime/ota/slots.h"
#include "runtime/ota/target_description.h"
#include "runtime/ota/updater.h"

namespace aot::ota {

// Largest parts that are fetched, in bytes.
struct PartLimits {
  int64_t manifest = int64_t{16} << 20;
  int64_t code = int64_t{256} << 20;
  int64_t weights = int64_t{8} << 30;
};

struct InstallRequest {
  std::string server_url;  // without a slash at the end; /tuf and /blobs are below it
  std::string channel;
  std::string model;
  std::string target;  // empty: the best for the CPU
  aot_cpu cpu = {};
  PartLimits limits;
};

struct InstallResult {
  Slot slot;               // the version that the repository wants here
  bool installed = false;  // by this call
  int64_t downloaded = 0;  // bytes of parts over the network
};

// The signed description to run on this device, from the targets that `updater` (refreshed) knows. kNotFound where the
// repository has none for the model; kIncompatible, naming what each lacks, where none fits.
Status ChooseTarget(Updater* updater, const InstallRequest& request, TargetDescription* description, TargetFile* file);

// What an installation works on; all of it outlives the call.
struct InstallContext {
  Updater* updater = nullptr;  // refreshed
  Transport* transport = nullptr;
  SlotStore* slots = nullptr;
  StateDirectory* state = nullptr;
  DownloadPolicy download;
  int64_t lock_timeout_ms = 0;  // to wait for the slots, at the moment of the installation
};

// Makes sure that a slot holds the version which the repository wants, as the newest one. Fails, and leaves the slots
// as they are, with kRollback for a release older than the installed one, with kFailedSelfTest for one that failed here
// before, and with kNoSpace where its parts don't fit even without what nothing installed needs.
Status InstallNewest(const InstallContext& context, const InstallRequest& request, InstallResult* result);

// Removes what neither an installed version nor an update on its way needs, and what is on its way for other models
// than that of `keep` (nullptr: for all). Needs the update lock, as InstallNewest does.
Status ReclaimSpace(StateDirectory* state, Downloads* keep);

}  // namespace aot::ota
