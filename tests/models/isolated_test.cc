#include "tests/models/isolated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace aot::tests {
namespace {

using ::testing::HasSubstr;

std::vector<IsolatedResult> RunAll(size_t count, int jobs, absl::Duration limit,
                                   const std::function<std::string(size_t)>& work) {
  std::vector<IsolatedResult> results;
  RunIsolated(count, jobs, limit, work, [&](size_t i, const IsolatedResult& result) {
    EXPECT_EQ(i, results.size());
    results.push_back(result);
  });
  EXPECT_EQ(results.size(), count);
  return results;
}

TEST(IsolatedTest, ResultsComeInOrderWhateverTheirSize) {
  auto results = RunAll(5, 3, absl::Seconds(60), [](size_t i) {
    absl::SleepFor(absl::Milliseconds(20 * (5 - i)));
    return std::string(i * 100000, static_cast<char>('a' + i));
  });
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(results[i].failure, "");
    EXPECT_EQ(results[i].value, std::string(i * 100000, static_cast<char>('a' + i)));
    EXPECT_GT(results[i].peak_memory_bytes, 0);
  }
}

TEST(IsolatedTest, ACrashIsToldAndTheOthersGoOn) {
  auto results = RunAll(3, 1, absl::Seconds(60), [](size_t i) -> std::string {
    if (i == 1) {
      signal(SIGSEGV, SIG_DFL);
      raise(SIGSEGV);
    }
    return "fine";
  });
  EXPECT_EQ(results[0].value, "fine");
  EXPECT_THAT(results[1].failure, HasSubstr("signal 11"));
  EXPECT_EQ(results[2].value, "fine");
}

TEST(IsolatedTest, AnExitIsAFailure) {
  auto results = RunAll(1, 1, absl::Seconds(60), [](size_t) -> std::string { _exit(3); });
  EXPECT_EQ(results[0].failure, "exit status 3");
}

TEST(IsolatedTest, AHangEndsAtTheLimit) {
  auto results = RunAll(1, 1, absl::Milliseconds(300), [](size_t) -> std::string {
    absl::SleepFor(absl::Seconds(600));
    return "";
  });
  EXPECT_THAT(results[0].failure, HasSubstr("longer than"));
}

}  // namespace
}  // namespace aot::tests
