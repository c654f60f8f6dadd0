// One call of aot_fetch_and_load in terms of this folder's types: lock, update, choose a version that runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/ota/curl_transport.h"
#include "runtime/ota/install.h"
#include "runtime/ota/state_directory.h"
#include "runtime/ota/updater.h"

struct aot_model;

namespace aot::ota {

struct FetchOptions {
  InstallRequest install;
  std::string state_dir;
  FirstRoot first_root;  // for the first use of the state directory
  bool offline = false;
  bool require_update = false;
  MetadataLimits metadata;
  CurlOptions curl;
  DownloadPolicy download;
  int64_t lock_timeout_ms = 60000;
  int64_t update_ms = 3600000;  // for all requests of an update; the next one goes on
  int64_t max_starts = 3;       // of a version in a row that end without a word; at most 32
  int64_t now = 0;              // seconds since 1970
  LogSink log;
  StateDirectory::StepHook step_hook = nullptr;  // for tests
  void* step_context = nullptr;
};

enum class Source { kNothing, kDownloaded, kInstalled, kPrevious };

struct FetchOutcome {
  Source source = Source::kNothing;
  Slot slot;               // what runs
  Status update;           // why it is not the newest of the repository
  int64_t downloaded = 0;  // bytes of parts over the network
};

// *out is a loaded model that passed its self-test, owned by the caller, or nullptr.
Status FetchAndLoad(const FetchOptions& options, aot_model** out, FetchOutcome* outcome);

}  // namespace aot::ota
