// For tests: strikes at the n-th step of durable.h.
#pragma once

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "registry/fs/durable.h"

namespace aot::registry::fs {

// What happens at the chosen step: an errno, or kKill.
inline constexpr int kKill = -1;

struct Fault {
  static inline int countdown = -1;  // steps until it strikes; negative: never
  static inline int kind = 0;

  // Counts a step; 0 when nothing happens. Also for other code that has steps of its own (SQLite's writes).
  static int Step() {
    if (countdown < 0 || countdown-- > 0) return 0;
    if (kind == kKill) {
      kill(getpid(), SIGKILL);
      pause();
    }
    return kind;
  }
  static int OnStep(Op op, const std::string& path) { return Step(); }

  // Arms the fault for step `n`, counted from 0.
  static void Arm(int n, int what) {
    countdown = n;
    kind = what;
    SetHook(&Fault::OnStep);
  }
  static void Disarm() {
    SetHook(nullptr);
    countdown = -1;
  }
  static bool Struck() { return countdown < 0; }
};

// Runs `action` in a child that is killed at step `n`. True: it was killed. False: it ended before; its exit status
// must have been 0 then, else the test process is aborted.
inline bool KilledAt(int n, const std::function<bool()>& action) {
  pid_t child = fork();
  if (child == 0) {
    Fault::Arm(n, kKill);
    _exit(action() ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) abort();
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return true;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) abort();
  return false;
}

}  // namespace aot::registry::fs
