// The parts of artifacts on the device: immutable files under parts/, each named by its SHA-256, shared by all models
// and versions that need the same bytes. Partial downloads live under staging/ until length and digest are right.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "runtime/ota/digest.h"
#include "runtime/ota/state_directory.h"
#include "runtime/ota/transport.h"

namespace aot::ota {

// A file that signed metadata describes.
struct Part {
  Digest sha256;
  int64_t length = 0;
  bool operator==(const Part& other) const { return sha256 == other.sha256 && length == other.length; }
  bool operator!=(const Part& other) const { return !(*this == other); }
};

struct DownloadPolicy {
  int attempts = 5;              // per part; each continues where the last one broke off
  int64_t first_pause_ms = 250;  // before the second attempt, doubled each time
};

// Not thread-safe; needs the state directory's lock.
class PartStore {
 public:
  PartStore(StateDirectory* state, Transport* transport, const DownloadPolicy& policy)
      : state_(state), transport_(transport), policy_(policy) {}

  static std::string PathOf(const Digest& digest) { return "parts/" + digest.Hex(); }

  // Makes parts/<digest> there: checks the file that is there already, else downloads url, going on with a partial file
  // whose ETag the server still has. Adds the bytes that came over the network to *downloaded.
  Status Ensure(const Part& part, const std::string& url, int64_t* downloaded);

  // Whether a file of the right length is there. Its bytes are checked when they are loaded.
  bool Present(const Part& part);

  // Reads the file through one descriptor and compares length and digest: kNotFound, kDigest or kIo where it is not
  // what it must be.
  Status Verify(const std::string& path, const Part& part);

  // Removes all parts that `keep` does not name.
  Status RemoveAllBut(const std::set<Digest>& keep);

 private:
  Status Download(const Part& part, const std::string& url, int64_t* downloaded);
  // One request. *restart is set where the partial file is of no use and was emptied.
  Status DownloadOnce(const Part& part, const std::string& url, int64_t* downloaded, bool* restart);

  StateDirectory* state_;
  Transport* transport_;
  const DownloadPolicy policy_;
};

}  // namespace aot::ota
