#include "tests/perf/measure.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>

namespace aot::perf {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

Cost Measure(const std::function<std::string()>& work, int limit_seconds) {
  Cost cost;
  int ends[2];
  if (pipe(ends) != 0) return Cost{"no pipe", 0, 0, 0, 0};
  cost.start_bytes = ResidentBytes();
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    alarm(static_cast<unsigned>(limit_seconds));
    const std::string error = work();
    const ssize_t written = write(ends[1], error.data(), error.size());
    _exit(written == static_cast<ssize_t>(error.size()) ? 0 : 1);
  }
  close(ends[1]);
  char buffer[4096];
  for (ssize_t size; (size = read(ends[0], buffer, sizeof buffer)) > 0;)
    cost.error.append(buffer, static_cast<size_t>(size));
  close(ends[0]);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  cost.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  cost.cpu_seconds = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  cost.peak_bytes = usage.ru_maxrss * 1024;
  if (WIFSIGNALED(status)) {
    cost.error = WTERMSIG(status) == SIGALRM ? "took longer than " + std::to_string(limit_seconds) + " s"
                                             : std::string("killed: ") + strsignal(WTERMSIG(status));
  }
  return cost;
}

int64_t ResidentBytes() {
  long pages = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file) return 0;
  if (fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
  fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

int64_t PeakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

}  // namespace aot::perf
