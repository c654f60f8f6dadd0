#include "server/jobs/job_scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"

namespace aot::server {
namespace {

// Remembers what it was told.
class Recorder : public JobObserver {
 public:
  void OnQueued(int ahead) override {
    absl::MutexLock lock(&mutex_);
    ahead_.push_back(ahead);
  }
  void OnProgress(const aot::v1::StageProgress&) override {
    absl::MutexLock lock(&mutex_);
    ++progress_;
  }
  void OnDone(const absl::StatusOr<JobOutcome>& outcome) override {
    {
      absl::MutexLock lock(&mutex_);
      status_ = outcome.status();
    }
    done_.Notify();
  }

  absl::Status Wait() {
    done_.WaitForNotification();
    absl::MutexLock lock(&mutex_);
    return status_;
  }
  bool done() { return done_.HasBeenNotified(); }
  int progress() {
    absl::MutexLock lock(&mutex_);
    return progress_;
  }
  std::vector<int> ahead() {
    absl::MutexLock lock(&mutex_);
    return ahead_;
  }

 private:
  absl::Mutex mutex_;
  absl::Notification done_;
  absl::Status status_;
  int progress_ = 0;
  std::vector<int> ahead_;
};

// A task that runs until it is released or cancelled.
struct Gate {
  absl::Notification started, release;
  std::atomic<int> runs{0};

  JobScheduler::Task Task() {
    return [this](const CancelSignal& cancel, const ProgressSink& progress) -> absl::StatusOr<JobOutcome> {
      ++runs;
      aot::v1::StageProgress now;
      now.set_stage(aot::v1::STAGE_IMPORT);
      progress(now);
      started.Notify();
      while (!release.WaitForNotificationWithTimeout(absl::Milliseconds(1))) {
        if (cancel.cancelled()) return absl::CancelledError("nobody waits");
      }
      return JobOutcome(aot::v1::ModelInfo());
    };
  }
};

JobScheduler::Task Quick() {
  return [](const CancelSignal&, const ProgressSink&) -> absl::StatusOr<JobOutcome> {
    return JobOutcome(aot::v1::ModelInfo());
  };
}

TEST(JobScheduler, TwoRequestsForOneKeyAreOneJob) {
  Gate gate;
  JobScheduler scheduler(2, 8);
  auto first = std::make_shared<Recorder>(), second = std::make_shared<Recorder>();
  ASSERT_TRUE(scheduler.Submit("k", first, gate.Task()).ok());
  gate.started.WaitForNotification();
  ASSERT_TRUE(scheduler.Submit("k", second, gate.Task()).ok());
  EXPECT_EQ(second->progress(), 1) << "who joins late gets the newest progress";
  gate.release.Notify();
  EXPECT_TRUE(first->Wait().ok());
  EXPECT_TRUE(second->Wait().ok());
  EXPECT_EQ(gate.runs, 1);
  EXPECT_EQ(scheduler.Counters().joined, 1);
  EXPECT_EQ(scheduler.Counters().submitted, 1);
}

TEST(JobScheduler, AJobGoesOnWhileOneWaits) {
  Gate gate;
  JobScheduler scheduler(1, 8);
  auto first = std::make_shared<Recorder>(), second = std::make_shared<Recorder>();
  ASSERT_TRUE(scheduler.Submit("k", first, gate.Task()).ok());
  ASSERT_TRUE(scheduler.Submit("k", second, gate.Task()).ok());
  gate.started.WaitForNotification();
  scheduler.Leave("k", first.get());
  gate.release.Notify();
  EXPECT_TRUE(second->Wait().ok());
  EXPECT_FALSE(first->done());
}

TEST(JobScheduler, AJobThatNobodyWaitsForIsCancelledAndNotJoined) {
  Gate abandoned;
  JobScheduler scheduler(1, 8);
  auto first = std::make_shared<Recorder>(), second = std::make_shared<Recorder>();
  ASSERT_TRUE(scheduler.Submit("k", first, abandoned.Task()).ok());
  abandoned.started.WaitForNotification();
  scheduler.Leave("k", first.get());
  ASSERT_TRUE(scheduler.Submit("k", second, Quick()).ok());
  EXPECT_TRUE(second->Wait().ok()) << "the slot was freed";
  EXPECT_EQ(scheduler.Counters().failed, 1);
  EXPECT_EQ(scheduler.Counters().submitted, 2);
}

TEST(JobScheduler, TheQueueIsBoundedAndTellsPositions) {
  Gate gate;
  JobScheduler scheduler(1, 2);
  auto running = std::make_shared<Recorder>(), a = std::make_shared<Recorder>(), b = std::make_shared<Recorder>(),
       refused = std::make_shared<Recorder>();
  ASSERT_TRUE(scheduler.Submit("running", running, gate.Task()).ok());
  gate.started.WaitForNotification();
  ASSERT_TRUE(scheduler.Submit("a", a, Quick()).ok());
  ASSERT_TRUE(scheduler.Submit("b", b, Quick()).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(scheduler.Submit("c", refused, Quick())));
  EXPECT_EQ(scheduler.Counters().queued, 2);
  EXPECT_EQ(b->ahead().back(), 1);
  // One leaves the queue: its place is free again.
  scheduler.Leave("a", a.get());
  EXPECT_TRUE(scheduler.Submit("c", refused, Quick()).ok());
  gate.release.Notify();
  EXPECT_TRUE(b->Wait().ok());
  EXPECT_TRUE(refused->Wait().ok());
  EXPECT_FALSE(a->done());
}

TEST(JobScheduler, ShutdownAnswersEverybody) {
  Gate gate;
  JobScheduler scheduler(1, 8);
  auto running = std::make_shared<Recorder>(), queued = std::make_shared<Recorder>(),
       late = std::make_shared<Recorder>();
  ASSERT_TRUE(scheduler.Submit("running", running, gate.Task()).ok());
  gate.started.WaitForNotification();
  ASSERT_TRUE(scheduler.Submit("queued", queued, Quick()).ok());
  scheduler.Shutdown();
  EXPECT_TRUE(absl::IsUnavailable(running->Wait()));
  EXPECT_TRUE(absl::IsUnavailable(queued->Wait()));
  EXPECT_TRUE(absl::IsUnavailable(scheduler.Submit("late", late, Quick())));
  scheduler.Shutdown();
}

TEST(JobScheduler, FailuresReachAllWhoWait) {
  JobScheduler scheduler(1, 8);
  auto observer = std::make_shared<Recorder>();
  ASSERT_TRUE(scheduler
                  .Submit("k", observer,
                          [](const CancelSignal&, const ProgressSink&) -> absl::StatusOr<JobOutcome> {
                            return absl::UnimplementedError("node 'x'");
                          })
                  .ok());
  EXPECT_EQ(observer->Wait(), absl::UnimplementedError("node 'x'"));
  EXPECT_EQ(scheduler.Counters().failed, 1);
}

}  // namespace
}  // namespace aot::server
