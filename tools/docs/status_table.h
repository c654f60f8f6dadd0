// The codes of aot_status as aot/aot.h declares them: name, number, and the comment that tells what it means.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace aot::docs {

struct StatusCode {
  std::string name;
  int number = 0;
  std::string meaning;
};

// Reads the enumeration out of the header's text: one code a line, `NAME = NUMBER, /* meaning */`. An error names the
// line that is written otherwise. Every code must be what aot_status_text calls it, and none of its codes may be
// missing, so that header and library can't drift apart unseen.
absl::StatusOr<std::vector<StatusCode>> ReadStatusCodes(absl::string_view header);

}  // namespace aot::docs
