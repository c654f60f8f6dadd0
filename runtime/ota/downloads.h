// What is on its way for one model: downloads/<channel>/<model>/ holds the partial files and a list of the parts that
// the release needs, so that finished parts of an update that broke off are kept until it comes through.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runtime/ota/digest.h"
#include "runtime/ota/state_directory.h"

namespace aot::ota {

// Not thread-safe; needs the state directory's update lock.
class Downloads {
 public:
  // channel and model are safe components.
  Downloads(StateDirectory* state, const std::string& channel, const std::string& model);

  const std::string& directory() const { return directory_; }

  // A release with these parts is to be fetched: lists them, and removes partial files of any other release.
  Status Begin(const std::vector<Digest>& parts);
  // Nothing is fetched any more: the release is installed, or given up.
  Status End();
  // Ends what is on its way for all other models.
  Status EndOthers();

  // Adds the listed parts of all models to *parts. Fails rather than leave one out.
  static Status PartsInUse(StateDirectory* state, std::set<Digest>* parts);

 private:
  StateDirectory* state_;
  const std::string directory_;
};

}  // namespace aot::ota
