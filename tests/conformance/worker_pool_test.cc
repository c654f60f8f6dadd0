#include "tests/conformance/worker_pool.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <set>

#include "absl/strings/str_cat.h"

namespace aot::tests {
namespace {

std::map<size_t, WorkResult> RunPieces(size_t count, const WorkerOptions& options,
                                       const std::function<std::string(size_t)>& work) {
  std::map<size_t, WorkResult> results;
  RunInWorkers(count, options, work, [&](size_t i, const WorkResult& result) {
    EXPECT_TRUE(results.emplace(i, result).second) << i << " came twice";
  });
  EXPECT_EQ(results.size(), count);
  return results;
}

TEST(WorkerPoolTest, GivesEveryValueOnce) {
  WorkerOptions options;
  options.jobs = 3;
  auto results = RunPieces(50, options, [](size_t i) { return std::string(i * 5000, 'x'); });
  for (const auto& [i, result] : results) {
    EXPECT_EQ(result.failure, "");
    EXPECT_EQ(result.value.size(), i * 5000);
  }
}

TEST(WorkerPoolTest, DoesNothingForNothing) {
  RunPieces(0, WorkerOptions(), [](size_t) { return ""; });
}

TEST(WorkerPoolTest, SurvivesCrashesAndEarlyEnds) {
  auto results = RunPieces(20, WorkerOptions(), [](size_t i) -> std::string {
    if (i % 5 == 3) raise(SIGKILL);
    if (i == 7) _exit(4);
    return absl::StrCat(i);
  });
  for (const auto& [i, result] : results) {
    if (i % 5 == 3) {
      EXPECT_NE(result.failure.find("killed by signal 9"), std::string::npos) << result.failure;
    } else if (i == 7) {
      EXPECT_EQ(result.failure, "the process ended with status 4");
    } else {
      EXPECT_EQ(result.failure, "");
      EXPECT_EQ(result.value, absl::StrCat(i));
    }
  }
}

TEST(WorkerPoolTest, EndsWhatTakesTooLong) {
  WorkerOptions options;
  options.limit = absl::Seconds(1);
  auto results = RunPieces(3, options, [](size_t i) -> std::string {
    while (i == 1) pause();
    return "done";
  });
  EXPECT_EQ(results[0].value, "done");
  EXPECT_EQ(results[1].failure, "took longer than 1 s");
  EXPECT_EQ(results[2].value, "done");
}

TEST(WorkerPoolTest, TakesAFreshProcessNowAndThen) {
  WorkerOptions options;
  options.pieces_per_process = 4;
  auto results = RunPieces(12, options, [](size_t) { return absl::StrCat(getpid()); });
  std::map<std::string, int> pieces;
  for (const auto& [i, result] : results) ++pieces[result.value];
  EXPECT_EQ(pieces.size(), 3u);
  for (const auto& [pid, count] : pieces) EXPECT_EQ(count, 4);
}

}  // namespace
}  // namespace aot::tests
