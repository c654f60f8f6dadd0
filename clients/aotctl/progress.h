// What a long command is doing, on stderr: a bar that redraws on a terminal, otherwise a line when a step begins.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace aot::clients {

// Used by one thread at a time. The destructor clears the bar.
class Progress {
 public:
  // Looks whether stderr is a terminal.
  Progress();
  // For tests.
  explicit Progress(bool terminal) : terminal_(terminal) {}
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of `total` units of a step. total <= 0: a step of unknown length. A bar is redrawn at most ten times a
  // second.
  void Update(absl::string_view step, int64_t done, int64_t total);
  // Removes the bar, before other text is written.
  void Clear();

  // "[#####-----] 50 %", width characters between the brackets.
  static std::string Bar(int64_t done, int64_t total, int width);

 private:
  bool terminal_;
  bool drawn_ = false;
  std::string step_;
  absl::Time last_ = absl::InfinitePast();
};

}  // namespace aot::clients
