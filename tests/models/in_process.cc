#include <algorithm>
#include <chrono>

#include "clients/model/session.h"
#include "tests/models/executor.h"

namespace aot::tests {
namespace {

// Enough runs for a median that means something, few enough that the slowest model takes a second.
constexpr int kTimedRuns = 20;
constexpr std::chrono::seconds kTimedLimit(1);

class SessionExecutor : public Executor {
 public:
  explicit SessionExecutor(std::unique_ptr<clients::Session> session) : session_(std::move(session)) {}

  absl::StatusOr<Execution> Run(const std::vector<reference::Tensor>& inputs, bool timed) override {
    if (inputs.size() != session_->inputs().size()) {
      return absl::InternalError("the artifact has another number of inputs than the model");
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (absl::Status status = session_->SetInput(i, inputs[i]); !status.ok()) return status;
    }
    if (absl::Status status = session_->Invoke(); !status.ok()) return status;
    Execution execution;
    execution.arena_bytes = session_->arena_bytes();
    for (size_t i = 0; i < session_->outputs().size(); ++i) execution.outputs.push_back(session_->Output(i));
    if (timed) execution.median_seconds = Median();
    return execution;
  }

 private:
  double Median() {
    using Clock = std::chrono::steady_clock;
    std::vector<Clock::duration> times;
    const Clock::time_point end = Clock::now() + kTimedLimit;
    for (int i = 0; i < kTimedRuns && (i == 0 || Clock::now() < end); ++i) {
      Clock::time_point start = Clock::now();
      if (!session_->Invoke().ok()) return 0;
      times.push_back(Clock::now() - start);
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return std::chrono::duration<double>(times[times.size() / 2]).count();
  }

  std::unique_ptr<clients::Session> session_;
};

}  // namespace

ExecutorFactory InProcess() {
  return [](const std::string& shared_object) -> absl::StatusOr<std::unique_ptr<Executor>> {
    absl::StatusOr<std::unique_ptr<clients::Session>> session = clients::Session::FromMemory(shared_object);
    if (!session.ok()) return session.status();
    return std::make_unique<SessionExecutor>(*std::move(session));
  };
}

}  // namespace aot::tests
