#include "clients/aotctl/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "clients/aotctl/output.h"

namespace aot::clients {

Progress::Progress() : terminal_(isatty(STDERR_FILENO) != 0) {}

std::string Progress::Bar(int64_t done, int64_t total, int width) {
  double share = total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 0;
  int filled = static_cast<int>(share * width);
  return absl::StrCat("[", std::string(filled, '#'), std::string(width - filled, '-'), "] ",
                      static_cast<int>(share * 100), " %");
}

void Progress::Update(absl::string_view step, int64_t done, int64_t total) {
  bool new_step = step != step_;
  if (new_step) step_ = std::string(step);
  if (!terminal_) {
    if (new_step) fprintf(stderr, "%s\n", Printable(step_).c_str());
    return;
  }
  absl::Time now = absl::Now();
  if (!new_step && done != total && now - last_ < absl::Milliseconds(100)) return;
  last_ = now;
  drawn_ = true;
  // Erase the line, then draw it without a newline: the next update or Clear overwrites it.
  std::string bar = total > 0 ? absl::StrCat(" ", Bar(done, total, 30)) : "";
  fprintf(stderr, "\r\x1b[K%s%s", Printable(step_).c_str(), bar.c_str());
  fflush(stderr);
}

void Progress::Clear() {
  if (!drawn_) return;
  drawn_ = false;
  step_.clear();
  fprintf(stderr, "\r\x1b[K");
  fflush(stderr);
}

}  // namespace aot::clients
