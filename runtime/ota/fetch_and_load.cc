// The C boundary: configuration in, aot_status and texts out.
#include <cstring>
#include <ctime>

#include "aot/ota.h"
#include "runtime/ota/fetch.h"
#include "runtime/port/port.h"

namespace aot::ota {
namespace {

// The smallest configuration that a caller may pass: the first published one. Members that come later are optional.
constexpr size_t kLeastConfigSize = sizeof(aot_fetch_config);
constexpr size_t kLeastReportSize = sizeof(aot_fetch_report);

aot_status StatusOf(Code code) {
  switch (code) {
    case Code::kOk:
      return AOT_OK;
    case Code::kInvalidArgument:
      return AOT_INVALID_ARGUMENT;
    case Code::kIo:
    case Code::kNoSpace:
      return AOT_IO_ERROR;
    case Code::kNetwork:
      return AOT_NETWORK_ERROR;
    case Code::kNotFound:
    case Code::kMissingMetadata:
      return AOT_NOT_FOUND;
    case Code::kMalformed:
      return AOT_MALFORMED;
    case Code::kSignature:
      return AOT_BAD_SIGNATURE;
    case Code::kExpired:
      return AOT_EXPIRED;
    case Code::kRollback:
      return AOT_ROLLBACK;
    case Code::kDigest:
      return AOT_DIGEST_MISMATCH;
    case Code::kIncompatible:
      return AOT_WRONG_TARGET;
    case Code::kLimit:
      return AOT_LIMIT_EXCEEDED;
    case Code::kOutOfMemory:
      return AOT_OUT_OF_MEMORY;
    case Code::kBusy:
      return AOT_BUSY;
    case Code::kFailedSelfTest:
      return AOT_SELF_TEST_FAILED;
  }
  return AOT_IO_ERROR;
}

template <size_t kSize>
void CopyText(const std::string& text, char (&out)[kSize]) {
  const size_t size = text.size() < kSize ? text.size() : kSize - 1;
  memcpy(out, text.data(), size);
  out[size] = '\0';
}

aot_status Finish(const Status& status, aot_error* error) {
  if (!status.ok() && error != nullptr) {
    *error = aot_error();
    error->status = StatusOf(status.code());
    error->offset = AOT_NO_OFFSET;
    CopyText(status.message(), error->message);
  }
  return StatusOf(status.code());
}

Status Invalid(const std::string& message) { return Status(Code::kInvalidArgument, message); }

// Takes a limit that is set, multiplied by `unit`. One beyond `most` is a mistake of the caller's, not a wish for none.
template <typename To>
Status Override(const char* name, uint64_t value, uint64_t most, To* out, int64_t unit = 1) {
  if (value > most)
    return Invalid("limit " + std::string(name) + " is " + std::to_string(value) + ", at most " + std::to_string(most));
  if (value != 0) *out = static_cast<To>(static_cast<int64_t>(value) * unit);
  return Status();
}

Status ReadLimits(const aot_fetch_limits& limits, FetchOptions* out) {
  constexpr uint64_t kMetadata = uint64_t{64} << 20;  // is held in memory
  constexpr uint64_t kPart = uint64_t{1} << 62;       // as a manifest's sizes
  constexpr uint64_t kMs = uint64_t{1} << 31;
  constexpr uint64_t kSeconds = uint64_t{366} * 86400;
  MetadataLimits& metadata = out->metadata;
  PartLimits& parts = out->install.limits;
  CurlOptions& curl = out->curl;
  AOT_OTA_RETURN_IF_ERROR(Override("root_bytes", limits.root_bytes, kMetadata, &metadata.root));
  AOT_OTA_RETURN_IF_ERROR(Override("timestamp_bytes", limits.timestamp_bytes, kMetadata, &metadata.timestamp));
  AOT_OTA_RETURN_IF_ERROR(Override("snapshot_bytes", limits.snapshot_bytes, kMetadata, &metadata.snapshot));
  AOT_OTA_RETURN_IF_ERROR(Override("targets_bytes", limits.targets_bytes, kMetadata, &metadata.targets));
  AOT_OTA_RETURN_IF_ERROR(Override("manifest_bytes", limits.manifest_bytes, kMetadata, &parts.manifest));
  AOT_OTA_RETURN_IF_ERROR(Override("code_bytes", limits.code_bytes, kPart, &parts.code));
  AOT_OTA_RETURN_IF_ERROR(Override("weights_bytes", limits.weights_bytes, kPart, &parts.weights));
  AOT_OTA_RETURN_IF_ERROR(Override("connect_timeout_ms", limits.connect_timeout_ms, kMs - 1, &curl.connect_timeout_ms));
  AOT_OTA_RETURN_IF_ERROR(Override("low_speed_bytes_per_second", limits.low_speed_bytes_per_second, kMs - 1,
                                   &curl.low_speed_bytes_per_second));
  AOT_OTA_RETURN_IF_ERROR(Override("low_speed_seconds", limits.low_speed_seconds, kSeconds, &curl.low_speed_seconds));
  AOT_OTA_RETURN_IF_ERROR(Override("attempts", limits.attempts, 1000, &out->download.attempts));
  AOT_OTA_RETURN_IF_ERROR(Override("lock_timeout_ms", limits.lock_timeout_ms, kMs - 1, &out->lock_timeout_ms));
  AOT_OTA_RETURN_IF_ERROR(Override("max_starts", limits.max_starts, 32, &out->max_starts));
  return Override("update_seconds", limits.update_seconds, kSeconds, &out->update_ms, 1000);
}

Status ReadName(const char* what, const char* value, std::string* out) {
  if (value == nullptr || !IsSafeComponent(value))
    return Invalid(std::string(what) + " is \"" + (value != nullptr ? value : "NULL") +
                   "\", must be 1 to 200 characters of A-Z, a-z, 0-9, '.', '_' and '-', not starting with '.'");
  *out = value;
  return Status();
}

Status ReadConfig(const aot_fetch_config& config, const char* model, FetchOptions* out) {
  AOT_OTA_RETURN_IF_ERROR(ReadName("model", model, &out->install.model));
  AOT_OTA_RETURN_IF_ERROR(
      ReadName("channel", config.channel != nullptr ? config.channel : "stable", &out->install.channel));
  if (config.target != nullptr) AOT_OTA_RETURN_IF_ERROR(ReadName("target", config.target, &out->install.target));
  if (config.state_dir == nullptr || config.state_dir[0] == '\0') return Invalid("state_dir is empty");
  out->state_dir = config.state_dir;
  constexpr uint32_t kFlags = AOT_FETCH_OFFLINE | AOT_FETCH_REQUIRE_UPDATE | AOT_FETCH_FOLLOW_REDIRECTS;
  if ((config.flags & ~kFlags) != 0) return Invalid("unknown flags " + std::to_string(config.flags & ~kFlags));
  out->offline = (config.flags & AOT_FETCH_OFFLINE) != 0;
  out->require_update = (config.flags & AOT_FETCH_REQUIRE_UPDATE) != 0;
  if (out->offline && out->require_update)
    return Invalid("AOT_FETCH_OFFLINE and AOT_FETCH_REQUIRE_UPDATE contradict each other");
  out->curl.max_redirects = (config.flags & AOT_FETCH_FOLLOW_REDIRECTS) != 0 ? 5 : 0;
  std::string url = config.url != nullptr ? config.url : "";
  if (!out->offline && url.compare(0, 7, "http://") != 0 && url.compare(0, 8, "https://") != 0)
    return Invalid("url is \"" + url + "\", must start with http:// or https://");
  while (!url.empty() && url.back() == '/') url.pop_back();
  out->install.server_url = url;
  if (config.ca_file != nullptr) out->curl.ca_file = config.ca_file;
  AOT_OTA_RETURN_IF_ERROR(ReadLimits(config.limits, out));
  if (config.root != nullptr) out->first_root.bytes.assign(static_cast<const char*>(config.root), config.root_size);
  if (config.root_path != nullptr) out->first_root.path = config.root_path;
  aot_port_detect_cpu(&out->install.cpu);
  out->now = config.now != nullptr ? config.now(config.context) : static_cast<int64_t>(time(nullptr));
  if (config.log != nullptr) {
    const auto log = config.log;
    void* const context = config.context;
    out->log = [log, context](const std::string& message) { log(context, message.c_str()); };
  }
  return Status();
}

// A caller newer than this client may know more members; they must ask for nothing.
Status CheckUnknownMembers(const aot_fetch_config& config) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&config);
  for (size_t i = sizeof(config); i < config.size; ++i)
    if (bytes[i] != 0)
      return Invalid("config uses a member that this client doesn't know, at byte " + std::to_string(i));
  return Status();
}

void WriteReport(const FetchOutcome& outcome, aot_fetch_report* report) {
  static constexpr aot_fetch_source kSources[] = {AOT_FETCH_NOTHING, AOT_FETCH_DOWNLOADED, AOT_FETCH_INSTALLED,
                                                  AOT_FETCH_PREVIOUS};
  const size_t size = report->size;
  *report = aot_fetch_report();
  report->size = size;
  report->source = kSources[static_cast<int>(outcome.source)];
  report->update_status = StatusOf(outcome.update.code());
  CopyText(outcome.update.message(), report->update_message);
  CopyText(outcome.slot.target, report->target);
  const Slot& slot = outcome.slot;
  report->release = static_cast<uint64_t>(slot.release);
  report->artifact_bytes = static_cast<uint64_t>(slot.manifest.length + slot.code.length + slot.weights.length);
  report->downloaded_bytes = static_cast<uint64_t>(outcome.downloaded);
}

}  // namespace
}  // namespace aot::ota

extern "C" aot_status aot_fetch_and_load(const aot_fetch_config* config, const char* model, aot_model** out,
                                         aot_error* error) {
  using namespace aot::ota;
  if (out == nullptr) return Finish(Invalid("out is NULL"), error);
  *out = nullptr;
  if (config == nullptr || config->size < kLeastConfigSize)
    return Finish(Invalid("config is NULL or its size is not sizeof(aot_fetch_config)"), error);
  if (config->report != nullptr && config->report->size < kLeastReportSize)
    return Finish(Invalid("report->size is not sizeof(aot_fetch_report)"), error);
  FetchOptions options;
  FetchOutcome outcome;
  Status status = CheckUnknownMembers(*config);
  if (status.ok()) status = ReadConfig(*config, model, &options);
  if (status.ok()) status = FetchAndLoad(options, out, &outcome);
  if (config->report != nullptr) WriteReport(outcome, config->report);
  return Finish(status, error);
}
