// The queue of compiles: bounded, first come first served, so many at a time, and one job for all who want the same
// key.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

#include "proto/aot/v1/compile.pb.h"
#include "registry/records.h"
#include "server/worker/cancel_signal.h"
#include "server/worker/executor.h"

namespace aot::server {

// What a job ends with: the stored artifact of a compile, or what a check found.
using JobOutcome = std::variant<registry::ArtifactRecord, aot::v1::ModelInfo>;

// Somebody who waits for a job. Called from the scheduler's threads and from Submit; OnDone once and last, except that
// an observer that has left may still get calls that were under way.
class JobObserver {
 public:
  virtual ~JobObserver() = default;
  virtual void OnQueued(int ahead) = 0;
  virtual void OnProgress(const aot::v1::StageProgress& progress) = 0;
  virtual void OnDone(const absl::StatusOr<JobOutcome>& outcome) = 0;
};

struct SchedulerCounters {
  int64_t submitted = 0;  // jobs made
  int64_t joined = 0;     // requests that joined one
  int64_t succeeded = 0;
  int64_t failed = 0;
  int queued = 0;   // now
  int running = 0;  // now
};

// Thread-safe. Observers are called without any lock of the scheduler held.
class JobScheduler {
 public:
  // Runs on a thread of the scheduler, which lives as long as the scheduler does.
  using Task = std::function<absl::StatusOr<JobOutcome>(const CancelSignal& cancel, const ProgressSink& progress)>;

  // workers: jobs at a time, at least 1. queue_length: jobs that may wait.
  JobScheduler(int workers, int queue_length);
  // As Shutdown.
  ~JobScheduler();

  // Waits for the job of this key: the one that is queued or running, or a new one that runs `task`.
  // RESOURCE_EXHAUSTED: the queue is full. UNAVAILABLE: shutting down. Then the observer isn't called.
  absl::Status Submit(const std::string& key, std::shared_ptr<JobObserver> observer, Task task);

  // The observer waits no more. A job that nobody waits for is taken from the queue, or its CancelSignal is set; from
  // then on a new request for its key makes a new job. Does nothing when the job is done.
  void Leave(const std::string& key, const JobObserver* observer);

  // Ends all jobs with UNAVAILABLE, waits for the running ones to stop, and refuses new ones. May be called again.
  void Shutdown();

  SchedulerCounters Counters() const;

 private:
  struct Job {
    std::string key;
    Task task;
    std::vector<std::shared_ptr<JobObserver>> observers;
    std::optional<aot::v1::StageProgress> last_progress;
    CancelSignal cancel;
    bool running = false;
  };
  using Notices = std::vector<std::function<void()>>;

  void RunJobs();
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || !queue_.empty(); }
  void Run(const std::shared_ptr<Job>& job);
  // Tells each waiting job's observers where they are in the queue.
  void NoteQueuePositions(Notices& notices) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int queue_length_;
  mutable absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // Jobs that can be joined: queued or running, not cancelled.
  std::map<std::string, std::shared_ptr<Job>> jobs_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<Job>> queue_ ABSL_GUARDED_BY(mutex_);
  int idle_ ABSL_GUARDED_BY(mutex_);
  SchedulerCounters counters_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace aot::server
