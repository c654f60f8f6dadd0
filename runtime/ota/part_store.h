// The parts of artifacts on the device: immutable files under parts/, each named by its SHA-256, shared by all models
// and versions that need the same bytes. Partial downloads live elsewhere until length and digest are right.
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
  int64_t first_pause_ms = 250;  // before the second attempt, doubled each time, up to half a minute
};

// Not thread-safe; what adds or removes parts needs the state directory's update lock.
class PartStore {
 public:
  // `downloads`: directory of the partial files (downloads.h), for Ensure.
  PartStore(StateDirectory* state, Transport* transport, const DownloadPolicy& policy,
            std::string downloads = "downloads")
      : state_(state), transport_(transport), policy_(policy), downloads_(std::move(downloads)) {}

  static std::string PathOf(const Digest& digest) { return "parts/" + digest.Hex(); }

  // Makes parts/<digest> there: checks the file that is there already, else downloads url, going on with a partial file
  // whose ETag the server still has. Adds the bytes that came over the network to *downloaded. A partial file is given
  // up where the disk is full (kNoSpace): it would keep everything else from being written.
  Status Ensure(const Part& part, const std::string& url, int64_t* downloaded);

  // Whether a file of the right length is there. Its bytes are checked when they are loaded.
  bool Present(const Part& part);

  // Bytes that Ensure would have to fetch: 0 where the part is present.
  int64_t Outstanding(const Part& part);

  // Whether the part's file is there, but its bytes are not those that its name promises.
  bool Damaged(const Part& part);

  // Removes all parts that `keep` does not name.
  Status RemoveAllBut(const std::set<Digest>& keep);

 private:
  Status Download(const Part& part, const std::string& url, int64_t* downloaded);
  // One request. *restart is set where the partial file is of no use and was emptied.
  Status DownloadOnce(const Part& part, const std::string& url, int64_t* downloaded, bool* restart);
  // Digest and length of a file, read through one descriptor.
  Status Measure(const std::string& path, Part* found);
  std::string StagedPath(const Part& part) const { return downloads_ + "/" + part.sha256.Hex() + ".part"; }
  std::string EtagPath(const Part& part) const { return downloads_ + "/" + part.sha256.Hex() + ".etag"; }

  StateDirectory* state_;
  Transport* transport_;
  const DownloadPolicy policy_;
  const std::string downloads_;
};

}  // namespace aot::ota
