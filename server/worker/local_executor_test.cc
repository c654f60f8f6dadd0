#include "server/worker/local_executor.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace aot::server {
namespace {

class LocalExecutorTest : public ::testing::Test {
 protected:
  LocalExecutorTest() {
    options_.worker_path =
        absl::StrCat(getenv("TEST_SRCDIR"), "/", getenv("TEST_WORKSPACE"), "/server/worker/scripted_worker");
    options_.network = ProbeNetworkIsolation();
    options_.timeout = absl::Seconds(30);
  }

  // Runs the stand-in on a model of this text.
  absl::StatusOr<WorkerEvent> Run(const std::string& text) {
    LocalExecutor executor(options_);
    WorkerRequest request;
    request.set_operation(WorkerRequest::OPERATION_CHECK);
    request.set_output_directory(testing::TempDir());
    request.set_model_path(absl::StrCat(testing::TempDir(), "/model"));
    std::ofstream(request.model_path()) << text;
    progress_ = 0;
    absl::StatusOr<WorkerEvent> event =
        executor.Run(request, cancel_, [this](const aot::v1::StageProgress&) { ++progress_; });
    started_ = executor.counters().started;
    lost_ = executor.counters().lost;
    cancelled_ = executor.counters().cancelled;
    return event;
  }

  LocalExecutorOptions options_;
  CancelSignal cancel_;
  int progress_ = 0;
  int64_t started_ = 0, lost_ = 0, cancelled_ = 0;
};

TEST_F(LocalExecutorTest, GivesTheLastEventAndProgress) {
  absl::StatusOr<WorkerEvent> event = Run("all is well");
  ASSERT_TRUE(event.ok()) << event.status();
  EXPECT_EQ(event->info().graph_name(), "all is well");
  EXPECT_EQ(progress_, 1);
  EXPECT_EQ(started_, 1);
  EXPECT_EQ(lost_, 0);
}

TEST_F(LocalExecutorTest, PassesTheCompilersErrorUnchanged) {
  absl::StatusOr<WorkerEvent> event = Run("fail");
  EXPECT_TRUE(absl::IsUnimplemented(event.status()));
  EXPECT_EQ(event.status().message(),
            "node 'a' (op Foo, opset 13): no such operator\nnode 'b' (op Bar, opset 13): no such operator");
  EXPECT_EQ(lost_, 0);
}

TEST_F(LocalExecutorTest, NamesTheSignalOfACrash) {
  absl::StatusOr<WorkerEvent> event = Run("crash");
  EXPECT_TRUE(absl::IsInternal(event.status()));
  EXPECT_TRUE(absl::StrContains(event.status().message(), "signal 11")) << event.status();
  EXPECT_EQ(lost_, 1);
}

TEST_F(LocalExecutorTest, RepeatsLastWords) {
  absl::StatusOr<WorkerEvent> event = Run("abort");
  EXPECT_TRUE(absl::IsInternal(event.status()));
  EXPECT_TRUE(absl::StrContains(event.status().message(), "the last words")) << event.status();
}

TEST_F(LocalExecutorTest, EndsAHang) {
  options_.timeout = absl::Milliseconds(300);
  EXPECT_TRUE(absl::IsDeadlineExceeded(Run("hang").status()));
  EXPECT_EQ(lost_, 1);
}

TEST_F(LocalExecutorTest, EndsWhatUsesTooMuchProcessorTime) {
  options_.limits.cpu_seconds = 1;
  absl::StatusOr<WorkerEvent> event = Run("spin");
  EXPECT_TRUE(absl::IsDeadlineExceeded(event.status())) << event.status();
  EXPECT_TRUE(absl::StrContains(event.status().message(), "processor time")) << event.status();
}

TEST_F(LocalExecutorTest, EndsWhatEatsMemory) {
  options_.limits.memory_bytes = int64_t{512} << 20;
  absl::StatusOr<WorkerEvent> event = Run("eat memory");
  EXPECT_TRUE(absl::IsResourceExhausted(event.status())) << event.status();
  EXPECT_TRUE(absl::StrContains(event.status().message(), "512 MiB")) << event.status();
}

TEST_F(LocalExecutorTest, KillsOnCancel) {
  std::thread later([this] {
    absl::SleepFor(absl::Milliseconds(200));
    cancel_.Cancel();
  });
  absl::Time start = absl::Now();
  EXPECT_TRUE(absl::IsCancelled(Run("hang").status()));
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
  EXPECT_EQ(cancelled_, 1);
  EXPECT_EQ(lost_, 0);
  later.join();
}

TEST_F(LocalExecutorTest, KeepsWorkersOffTheNetwork) {
  if (options_.network == NetworkIsolation::kNone) GTEST_SKIP() << "this host allows neither namespaces nor seccomp";
  EXPECT_EQ(Run("network").status().message(), "no network");
  options_.network = NetworkIsolation::kSeccomp;
  EXPECT_EQ(Run("network").status().message(), "no network");
}

TEST_F(LocalExecutorTest, HandsNoEnvironmentDown) {
  setenv("AOT_SECRET", "1", 1);
  absl::StatusOr<WorkerEvent> event = Run("environment");
  EXPECT_FALSE(absl::StrContains(event.status().message(), "AOT_SECRET")) << event.status();
}

TEST_F(LocalExecutorTest, RefusesWhatIsNoProtocol) {
  EXPECT_TRUE(absl::IsInternal(Run("garbage").status()));
  EXPECT_TRUE(absl::IsInternal(Run("silence").status()));
}

TEST_F(LocalExecutorTest, SaysThatAWorkerCantBeStarted) {
  options_.worker_path = "/nonexistent/worker";
  absl::StatusOr<WorkerEvent> event = Run("");
  EXPECT_TRUE(absl::IsInternal(event.status()));
  EXPECT_TRUE(absl::StrContains(event.status().message(), "/nonexistent/worker")) << event.status();
}

}  // namespace
}  // namespace aot::server
