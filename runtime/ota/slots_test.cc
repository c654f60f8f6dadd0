// A/B slots: which is replaced, what counts as complete, and a power cut at each step of a commit.
#include "runtime/ota/slots.h"

#include <cstdlib>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aot::ota {
namespace {

TargetDescription Release(int64_t release) {
  TargetDescription description;
  description.channel = "stable";
  description.model = "m";
  description.target = "cortex-a75";
  description.release = release;
  description.manifest = {Sha256Of("manifest" + std::to_string(release)), 1};
  description.code = {Sha256Of("code" + std::to_string(release)), 2};
  description.weights = {Sha256Of("weights"), 3};
  return description;
}

class SlotsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(sodium_init(), 0);
    std::string pattern = ::testing::TempDir() + "slots-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
    ASSERT_TRUE(state_.Open(path_).ok());
  }

  std::vector<Slot> List() {
    std::vector<Slot> slots;
    EXPECT_TRUE(slots_.List(&slots).ok());
    return slots;
  }

  Slot Install(int64_t release, bool confirm = true) {
    Slot slot;
    EXPECT_TRUE(slots_.Commit(Release(release), &slot).ok());
    if (confirm) EXPECT_TRUE(slots_.Confirm(&slot).ok());
    return slot;
  }

  std::string path_;
  StateDirectory state_;
  SlotStore slots_{&state_, "stable", "m"};
};

TEST_F(SlotsTest, KeepsTheTwoNewest) {
  EXPECT_TRUE(List().empty());
  for (int64_t release = 1; release <= 5; ++release) {
    Install(release);
    const std::vector<Slot> slots = List();
    ASSERT_EQ(slots.size(), release == 1 ? 1u : 2u);
    EXPECT_EQ(slots[0].release, release);
    EXPECT_EQ(slots[0].manifest, Release(release).manifest);
    EXPECT_EQ(slots[0].weights, Release(release).weights);
    if (release > 1) EXPECT_EQ(slots[1].release, release - 1);
  }
}

TEST_F(SlotsTest, ReplacesAVersionThatDidNotProveItselfBeforeAnOlderOneThatDid) {
  Install(1);
  Slot failed = Install(2, false);
  ASSERT_TRUE(slots_.MarkFailed(&failed, "computes rubbish").ok());
  EXPECT_EQ(List()[0].failure, "computes rubbish");
  Install(3, false);
  EXPECT_EQ(List()[1].release, 1);
  Install(4, false);
  EXPECT_EQ(List()[0].release, 4);
  EXPECT_EQ(List()[1].release, 1);
}

TEST_F(SlotsTest, CountsAttempts) {
  Slot slot = Install(1, false);
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(slots_.RecordAttempt(&slot).ok());
    EXPECT_EQ(List()[0].attempts, i);
  }
  EXPECT_FALSE(List()[0].confirmed);
}

TEST_F(SlotsTest, PassesOverWhatIsNotComplete) {
  Install(1);
  Install(2);
  const std::string newest = "slots/stable/m/" + List()[0].name;
  ASSERT_TRUE(state_.WriteAtomic(newest + "/record.json", "{\"version\":1,\"sequence\":9}").ok());
  ASSERT_EQ(List().size(), 1u);
  ASSERT_TRUE(state_.RemoveAll(newest + "/complete").ok());
  ASSERT_EQ(List().size(), 1u);
  EXPECT_EQ(List()[0].release, 1);
  Install(3);
  EXPECT_EQ(List()[1].release, 1);
}

TEST_F(SlotsTest, NamesThePartsOfAllModels) {
  Install(1);
  Slot slot;
  TargetDescription other = Release(7);
  ASSERT_TRUE(SlotStore(&state_, "beta", "n").Commit(other, &slot).ok());
  std::set<Digest> used;
  ASSERT_TRUE(PartsInUse(&state_, &used).ok());
  EXPECT_EQ(used, (std::set<Digest>{Release(1).manifest.sha256, Release(1).code.sha256, Release(7).manifest.sha256,
                                    Release(7).code.sha256, Release(1).weights.sha256}));
}

// Ends the process at the step of which the number is given.
struct Countdown {
  int steps;
};
void DieAtZero(void* context, const char*) {
  if (static_cast<Countdown*>(context)->steps-- == 0) _exit(9);
}

TEST_F(SlotsTest, APowerCutAtAnyStepLeavesTheOldVersionOrBoth) {
  Install(1);
  Install(2);
  int step = 0;
  for (bool finished = false; !finished; ++step) {
    ASSERT_LT(step, 200);
    const int64_t release = 3 + step;
    const pid_t child = fork();
    if (child == 0) {
      Countdown countdown{step};
      StateDirectory state;
      Slot slot;
      const bool ok = state.Open(path_, DieAtZero, &countdown).ok() && CleanStaging(&state).ok() &&
                      SlotStore(&state, "stable", "m").Commit(Release(release), &slot).ok();
      _exit(ok ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_NE(WEXITSTATUS(status), 1);
    finished = WEXITSTATUS(status) == 0;
    const std::vector<Slot> slots = List();
    ASSERT_FALSE(slots.empty()) << step;
    bool proved = false;
    for (const Slot& slot : slots) {
      proved = proved || slot.confirmed;
      EXPECT_TRUE(slot.confirmed || slot.release >= 3) << step;
    }
    EXPECT_TRUE(proved) << "the version that ran is gone at step " << step;
    if (finished) EXPECT_EQ(slots[0].release, release);
  }
  EXPECT_GT(step, 10);
  ASSERT_TRUE(CleanStaging(&state_).ok());
  std::vector<std::string> names;
  ASSERT_TRUE(state_.List("staging", &names).ok());
  EXPECT_TRUE(names.empty());
}

}  // namespace
}  // namespace aot::ota
