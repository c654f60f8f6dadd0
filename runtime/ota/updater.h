// The client workflow of The Update Framework (specification 1.0.x, section 5): from a trusted root to signed targets.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/ota/metadata_limits.h"
#include "runtime/ota/state_directory.h"
#include "runtime/ota/transport.h"
#include "runtime/ota/trusted_set.h"

namespace aot::ota {

// Sizes in bytes.
struct MetadataLimits {
  int64_t root = kMaxRootBytes;
  int64_t timestamp = kMaxTimestampBytes;
  int64_t snapshot = kMaxSnapshotBytes;
  int64_t targets = kMaxTargetsBytes;
  int root_rotations = 256;  // new roots taken in one update
  int delegations = 32;      // delegated roles visited in one search
};

// Root metadata that comes with the device: bytes, or else the file at path.
struct FirstRoot {
  std::string bytes;
  std::string path;
};

using LogSink = std::function<void(const std::string& message)>;

// Metadata is kept in the state directory under metadata/; each file replaces its predecessor only after its checks.
// Not thread-safe.
class Updater {
 public:
  // `url`: where <N>.root.json and timestamp.json are, without a slash at the end. `now`: seconds since 1970, fixed for
  // this update. transport and state outlive this object.
  Updater(Transport* transport, StateDirectory* state, std::string url, const MetadataLimits& limits, int64_t now,
          LogSink log);

  // Trusts the stored root. first_root is read and stored where there is none yet, or where the stored one and its
  // predecessor are both damaged; kInvalidArgument where it names none. Any other failure to read what is stored is an
  // error: it must not take the device back to the keys it left the factory with.
  Status Begin(const FirstRoot& first_root);

  // Follows the root chain and brings timestamp, snapshot and top-level targets up to date.
  Status Refresh();

  // After Refresh: the signed entry of a target path, through delegations in their order of priority. out->custom lives
  // as long as this object. kNotFound where no role vouches for the path.
  Status FindTarget(const std::string& path, TargetFile* out);

  // After Refresh: all paths with this prefix that the targets role or a role it delegates to by name lists, sorted.
  // `prefix` ends with a slash. Each must still be asked for with FindTarget, which decides whether the listing role
  // may speak for it. Delegated roles that can't be verified are logged and left out.
  Status ListTargets(const std::string& prefix, std::vector<std::string>* paths);

  // URL of a target file below `url`/targets/ (6.2: with consistent snapshots the digest precedes the last component).
  std::string TargetUrl(const std::string& path, const TargetFile& target) const;

  void Log(const std::string& message) const;

 private:
  // Trusts a root that this device stored itself.
  Status TrustStoredRoot(const char* path);
  Status ReadFirstRoot(const FirstRoot& first_root, std::string* bytes) const;
  // Reads a metadata file that this device stored itself into *bytes; empty where there is none, or a damaged one.
  Status ReadStored(const std::string& path, std::string* bytes);
  Status RefreshRoot();
  Status StoreRoot(const Root& previous, const std::string& bytes);
  Status RefreshTimestamp();
  Status RefreshSnapshot();
  // Makes `role` trusted on behalf of `delegator`, from the state directory if its copy is still right, else from the
  // repository.
  Status LoadTargets(const std::string& role, const std::string& delegator);
  // Fetches a file that signed metadata names; kMissingMetadata where the repository has none.
  Status FetchMetadata(const std::string& url, int64_t limit, std::string* bytes);
  std::string MetadataUrl(const std::string& role, int64_t version) const;

  Transport* transport_;
  StateDirectory* state_;
  const std::string url_;
  const MetadataLimits limits_;
  LogSink log_;
  TrustedSet trusted_;
  std::string root_bytes_;  // of the trusted root
};

}  // namespace aot::ota
