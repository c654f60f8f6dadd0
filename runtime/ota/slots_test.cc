// A/B slots: which is replaced, what counts as complete, and a power cut at each step of a commit.
#include "runtime/ota/slots.h"

#include <cerrno>
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

TEST_F(SlotsTest, AnArtifactThatIsPublishedAgainBecomesTheNewest) {
  Install(1);
  Install(2);
  Slot old = List()[1];
  ASSERT_EQ(old.release, 1);
  TargetDescription again = Release(1);
  again.release = 3;
  ASSERT_TRUE(slots_.Renew(again, &old).ok());
  EXPECT_EQ(old.release, 3);
  EXPECT_EQ(old.sequence, 3);
  EXPECT_TRUE(old.confirmed);
  ASSERT_EQ(List().size(), 2u);
  EXPECT_EQ(List()[0].name, old.name);
  // Again and again: the marker vouches for the last two records alone.
  for (int64_t release = 4; release <= 6; ++release) {
    again.release = release;
    ASSERT_TRUE(slots_.Renew(again, &old).ok());
    EXPECT_EQ(List()[0].release, release);
  }
  ASSERT_TRUE(slots_.Confirm(&old).ok());
  Install(7, false);
  EXPECT_EQ(List()[0].release, 7);
  EXPECT_EQ(List()[1].release, 6) << "the withdrawn release 2 went, not the one that runs";
}

TEST_F(SlotsTest, ReplacesWhatCanNotRunBeforeWhatCan) {
  ASSERT_TRUE(state_.MakeDirectories("parts").ok());
  const auto put = [&](const Part& part, int64_t length) {
    ASSERT_TRUE(state_.WriteAtomic(PartStore::PathOf(part.sha256), std::string(static_cast<size_t>(length), 'x')).ok());
  };
  Install(1);
  Install(2);
  // Release 2 is newer and was confirmed, but its code is lost, then too short.
  for (const Part& part : {Release(1).manifest, Release(1).code, Release(1).weights, Release(2).manifest})
    put(part, part.length);
  Install(3, false);
  EXPECT_EQ(List()[1].release, 1);
  for (const Part& part : {Release(3).manifest, Release(3).code}) put(part, 1);
  Install(4, false);
  EXPECT_EQ(List()[1].release, 1);
}

TEST_F(SlotsTest, NeverReplacesTheVersionThatLoadedLast) {
  Slot first = Install(1);
  Install(2);
  EXPECT_TRUE(List()[0].last_loaded);
  EXPECT_FALSE(List()[1].last_loaded);
  first = List()[1];
  ASSERT_TRUE(slots_.Confirm(&first).ok());  // say, release 2 would not start
  Install(3, false);
  EXPECT_EQ(List()[1].release, 1);
}

TEST_F(SlotsTest, CountsStartsOfAConfirmedVersionToo) {
  Slot slot = Install(1);
  ASSERT_TRUE(slots_.RecordAttempt(&slot).ok());
  ASSERT_TRUE(slots_.RecordAttempt(&slot).ok());
  EXPECT_EQ(List()[0].attempts, 2);
  ASSERT_TRUE(slots_.ForgetAttempt(&slot).ok());
  EXPECT_EQ(List()[0].attempts, 1);
  ASSERT_TRUE(slots_.Confirm(&slot).ok());
  EXPECT_EQ(List()[0].attempts, 0);
}

TEST_F(SlotsTest, LeavesAloneWhatANewerClientWrote) {
  Install(1);
  Install(2);
  const std::string newest = "slots/stable/m/" + List()[0].name;
  const std::string record = "{\"version\":2}";
  ASSERT_TRUE(state_.WriteAtomic(newest + "/record.json", record).ok());
  ASSERT_TRUE(state_.WriteAtomic(newest + "/complete", Sha256Of(record).Hex()).ok());
  ASSERT_EQ(List().size(), 1u);
  EXPECT_EQ(List()[0].release, 1);
  Slot slot;
  EXPECT_EQ(slots_.Commit(Release(3), &slot).code(), Code::kIncompatible);
  std::set<Digest> used;
  EXPECT_EQ(PartsInUse(&state_, &used).code(), Code::kIncompatible);
  std::string after;
  ASSERT_TRUE(state_.Read(newest + "/record.json", 100, &after).ok());
  EXPECT_EQ(after, record);
}

int FailReadingA(void*, const char* step) { return std::string(step) == "read slots/stable/m/a/record.json" ? EIO : 0; }

TEST_F(SlotsTest, ABadBlockUnderOneSlotLeavesTheOther) {
  Install(1);
  Install(2);
  StateDirectory state;
  ASSERT_TRUE(state.Open(path_, FailReadingA).ok());
  std::vector<Slot> slots;
  ASSERT_TRUE(SlotStore(&state, "stable", "m").List(&slots).ok());
  ASSERT_EQ(slots.size(), 1u);
  EXPECT_EQ(slots[0].name, "b");
}

// Ends the process at the step of which the number is given.
struct Countdown {
  int steps;
};
int DieAtZero(void* context, const char*) {
  if (static_cast<Countdown*>(context)->steps-- == 0) _exit(9);
  return 0;
}

TEST_F(SlotsTest, APowerCutAtAnyStepOfARenewalLeavesTheSlot) {
  Install(1);
  int step = 0;
  for (bool finished = false; !finished; ++step) {
    ASSERT_LT(step, 100);
    const pid_t child = fork();
    if (child == 0) {
      Countdown countdown{step};
      StateDirectory state;
      std::vector<Slot> slots;
      bool ok = state.Open(path_, DieAtZero, &countdown).ok();
      SlotStore store(&state, "stable", "m");
      ok = ok && store.List(&slots).ok() && !slots.empty();
      TargetDescription again = Release(1);
      again.release = slots[0].release + 1;
      _exit(ok && store.Renew(again, &slots[0]).ok() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_NE(WEXITSTATUS(status), 1);
    finished = WEXITSTATUS(status) == 0;
    ASSERT_EQ(List().size(), 1u) << step;
    EXPECT_TRUE(List()[0].confirmed);
  }
  EXPECT_GT(step, 10);
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
