#include "server/jobs/job_scheduler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace aot::server {

JobScheduler::JobScheduler(int workers, int queue_length) : queue_length_(queue_length), idle_(std::max(1, workers)) {
  int count = std::max(1, workers);
  for (int i = 0; i < count; ++i) threads_.emplace_back([this] { RunJobs(); });
}

JobScheduler::~JobScheduler() { Shutdown(); }

absl::Status JobScheduler::Submit(const std::string& key, std::shared_ptr<JobObserver> observer, Task task) {
  Notices notices;
  {
    absl::MutexLock lock(&mutex_);
    if (stopping_) return absl::UnavailableError("the server is shutting down");
    auto found = jobs_.find(key);
    if (found != jobs_.end()) {
      Job& job = *found->second;
      job.observers.push_back(observer);
      ++counters_.joined;
      if (job.last_progress.has_value()) {
        notices.push_back([observer, progress = *job.last_progress] { observer->OnProgress(progress); });
      }
    } else {
      // A job that an idle thread is about to take doesn't wait.
      if (static_cast<int>(queue_.size()) >= queue_length_ + idle_) {
        return absl::ResourceExhaustedError(absl::StrCat("the queue is full: ", queue_.size(),
                                                         " compiles wait already; try again later (--queue of the "
                                                         "server)"));
      }
      auto job = std::make_shared<Job>();
      job->key = key;
      job->task = std::move(task);
      job->observers.push_back(std::move(observer));
      jobs_[key] = job;
      queue_.push_back(std::move(job));
      ++counters_.submitted;
    }
    NoteQueuePositions(notices);
  }
  for (const auto& notice : notices) notice();
  return absl::OkStatus();
}

void JobScheduler::Leave(const std::string& key, const JobObserver* observer) {
  // Declared first, so that the last reference to an observer or a task goes when the lock is released.
  std::shared_ptr<Job> abandoned;
  std::shared_ptr<JobObserver> left;
  absl::MutexLock lock(&mutex_);
  auto found = jobs_.find(key);
  if (found == jobs_.end()) return;
  Job& job = *found->second;
  auto it =
      std::find_if(job.observers.begin(), job.observers.end(), [&](const auto& o) { return o.get() == observer; });
  if (it == job.observers.end()) return;
  left = std::move(*it);
  job.observers.erase(it);
  if (!job.observers.empty()) return;
  abandoned = found->second;
  abandoned->cancel.Cancel();
  jobs_.erase(found);
  if (!abandoned->running) queue_.erase(std::find(queue_.begin(), queue_.end(), abandoned));
}

void JobScheduler::Shutdown() {
  Notices notices;
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    for (auto& [key, job] : jobs_) {
      job->cancel.Cancel();
      for (auto& observer : job->observers) {
        notices.push_back([observer = std::move(observer)] {
          observer->OnDone(absl::UnavailableError("the server is shutting down; ask again when it is back"));
        });
      }
      job->observers.clear();
    }
    jobs_.clear();
    queue_.clear();
  }
  for (const auto& notice : notices) notice();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

SchedulerCounters JobScheduler::Counters() const {
  absl::MutexLock lock(&mutex_);
  SchedulerCounters counters = counters_;
  counters.queued = static_cast<int>(queue_.size());
  return counters;
}

void JobScheduler::NoteQueuePositions(Notices& notices) const {
  int ahead = 0;
  for (const std::shared_ptr<Job>& job : queue_) {
    for (const std::shared_ptr<JobObserver>& observer : job->observers) {
      notices.push_back([observer, ahead] { observer->OnQueued(ahead); });
    }
    ++ahead;
  }
}

void JobScheduler::RunJobs() {
  while (true) {
    std::shared_ptr<Job> job;
    Notices notices;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &JobScheduler::HasWork));
      if (stopping_) return;
      job = std::move(queue_.front());
      queue_.pop_front();
      job->running = true;
      --idle_;
      ++counters_.running;
      NoteQueuePositions(notices);
    }
    for (const auto& notice : notices) notice();
    Run(job);
  }
}

void JobScheduler::Run(const std::shared_ptr<Job>& job) {
  auto progress = [this, &job](const aot::v1::StageProgress& now) {
    std::vector<std::shared_ptr<JobObserver>> observers;
    {
      absl::MutexLock lock(&mutex_);
      job->last_progress = now;
      observers = job->observers;
    }
    for (const auto& observer : observers) observer->OnProgress(now);
  };
  absl::StatusOr<JobOutcome> outcome = job->task(job->cancel, progress);
  std::vector<std::shared_ptr<JobObserver>> observers;
  {
    absl::MutexLock lock(&mutex_);
    observers = std::move(job->observers);
    job->observers.clear();
    // A cancelled job is not in the table any more, but a newer one of the same key may be.
    auto found = jobs_.find(job->key);
    if (found != jobs_.end() && found->second == job) jobs_.erase(found);
    if (outcome.ok()) {
      ++counters_.succeeded;
    } else {
      ++counters_.failed;
    }
    ++idle_;
    --counters_.running;
  }
  for (const auto& observer : observers) observer->OnDone(outcome);
}

}  // namespace aot::server
