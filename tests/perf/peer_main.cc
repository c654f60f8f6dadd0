#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/perf/peer.h"

namespace aot::perf {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

double Since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Of all threads of this process.
double CpuSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// A number of kilobytes of /proc/self/status, in bytes.
int64_t StatusBytes(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) == 0) return std::atoll(line.c_str() + key.size()) * 1024;
  }
  return 0;
}

absl::Status Pin(const std::string& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (absl::string_view cpu : absl::StrSplit(cpus, ','))
    CPU_SET(static_cast<size_t>(std::stoi(std::string(cpu))), &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("this process may not run on the processors ", cpus));
  }
  return absl::OkStatus();
}

// The element at a share of a sorted series, nearest rank.
double Quantile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(rank, sorted.size() - 1)];
}

class Commands {
 public:
  explicit Commands(Peer& peer) : peer_(peer) {}

  absl::StatusOr<json> Execute(const std::string& line) {
    std::istringstream words(line);
    std::string verb, argument;
    words >> verb >> argument;
    if (verb == "load") return Load();
    if (verb == "outputs") return Outputs(argument);
    if (verb == "warm") return Warm(std::stod(argument));
    if (verb == "block") return Block(std::stod(argument));
    if (verb == "summary") return Summary();
    return absl::InvalidArgumentError(absl::StrCat("no command '", verb, "'"));
  }

 private:
  absl::StatusOr<json> Load() {
    const double cpu = CpuSeconds();
    const Clock::time_point start = Clock::now();
    if (absl::Status status = peer_.Load(); !status.ok()) return status;
    const double load = Since(start);
    const Clock::time_point loaded = Clock::now();
    if (absl::Status status = peer_.Run(); !status.ok()) return status;
    const double first = Since(loaded);
    return json{{"load_seconds", load}, {"first_seconds", first}, {"cpu", CpuSeconds() - cpu}};
  }

  absl::StatusOr<json> Outputs(const std::string& path) {
    auto outputs = peer_.Outputs();
    if (!outputs.ok()) return outputs.status();
    if (absl::Status status = WriteBindings(path, *outputs); !status.ok()) return status;
    return json::object();
  }

  absl::StatusOr<json> Warm(double seconds) {
    const Clock::time_point start = Clock::now();
    do {
      if (absl::Status status = peer_.Run(); !status.ok()) return status;
    } while (Since(start) < seconds);
    return json{{"resident_bytes", StatusBytes("VmRSS:")}, {"peak_bytes", StatusBytes("VmHWM:")}};
  }

  absl::StatusOr<json> Block(double seconds) {
    std::vector<double> block;
    const double cpu = CpuSeconds();
    const Clock::time_point start = Clock::now();
    Clock::time_point before = start, after;
    do {
      if (absl::Status status = peer_.Run(); !status.ok()) return status;
      after = Clock::now();
      block.push_back(std::chrono::duration<double>(after - before).count());
      before = after;  // what is between two runs belongs to the second one: a push_back
    } while (std::chrono::duration<double>(after - start).count() < seconds);
    const double cpu_per_run = (CpuSeconds() - cpu) / static_cast<double>(block.size());
    samples_.insert(samples_.end(), block.begin(), block.end());
    std::sort(block.begin(), block.end());
    return json{
        {"runs", block.size()}, {"median", Quantile(block, 0.5)}, {"least", block.front()}, {"cpu", cpu_per_run}};
  }

  absl::StatusOr<json> Summary() {
    if (samples_.empty()) return absl::FailedPreconditionError("no block was run");
    std::sort(samples_.begin(), samples_.end());
    return json{{"runs", samples_.size()},
                {"median", Quantile(samples_, 0.5)},
                {"least", samples_.front()},
                {"p99_9", Quantile(samples_, 0.999)},
                {"lower_quartile", Quantile(samples_, 0.25)},
                {"upper_quartile", Quantile(samples_, 0.75)}};
  }

  Peer& peer_;
  std::vector<double> samples_;
};

absl::StatusOr<std::unique_ptr<Peer>> Prepare(int argc, char** argv, const PeerFactory& factory) {
  if (argc < 5 || argc > 6) return absl::InvalidArgumentError("usage: PEER MODEL INPUTS THREADS CPUS [LIBRARY]");
  if (absl::Status status = Pin(argv[4]); !status.ok()) return status;
  auto inputs = ReadBindings(argv[2]);
  if (!inputs.ok()) return inputs.status();
  PeerOptions options;
  options.model = argv[1];
  options.inputs = *std::move(inputs);
  options.threads = std::stoi(argv[3]);
  if (argc == 6) options.library = argv[5];
  return factory(std::move(options));
}

void Answer(const absl::StatusOr<json>& answer) {
  const json line = answer.ok() ? *answer : json{{"error", std::string(answer.status().message())}};
  std::cout << line.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
}

}  // namespace

int PeerMain(int argc, char** argv, const PeerFactory& factory) {
  absl::StatusOr<std::unique_ptr<Peer>> peer = Prepare(argc, argv, factory);
  if (!peer.ok()) {
    Answer(peer.status());
    return 1;
  }
  Commands commands(**peer);
  for (std::string line; std::getline(std::cin, line);) {
    absl::StatusOr<json> answer = commands.Execute(line);
    Answer(answer);
    if (!answer.ok()) return 1;
  }
  // Libraries with pools of their own don't always end well; nothing is left to do.
  std::quick_exit(0);
}

}  // namespace aot::perf
