#include "server/worker/local_executor.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

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
    options_.isolation = ProbeIsolation();
    options_.timeout = absl::Seconds(30);
  }

  // Runs the stand-in on a model of this text.
  absl::StatusOr<WorkerEvent> Run(const std::string& text) {
    LocalExecutor executor(options_);
    WorkerRequest request;
    request.set_operation(WorkerRequest::OPERATION_CHECK);
    request.set_output_directory(directory_);
    request.set_model_path(absl::StrCat(directory_, "/model"));
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
  std::string directory_ = testing::TempDir();
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
  const Isolation here = options_.isolation;
  if (!here.network_namespace && !here.call_filter) {
    GTEST_SKIP() << "this host allows neither namespaces nor seccomp";
  }
  EXPECT_EQ(Run("network").status().message(), "no network");
  if (here.network_namespace) {
    options_.isolation = Isolation{};
    options_.isolation.network_namespace = true;
    EXPECT_EQ(Run("network").status().message(), "no network");
  }
  if (here.call_filter) {
    options_.isolation = Isolation{};
    options_.isolation.call_filter = true;
    EXPECT_EQ(Run("network").status().message(), "no network");
  }
}

// What a server has beside the directories of its jobs.
TEST_F(LocalExecutorTest, KeepsWorkersOffTheServersFiles) {
  std::string data = absl::StrCat(testing::TempDir(), "/data");
  directory_ = absl::StrCat(data, "/work/job");
  std::filesystem::create_directories(absl::StrCat(data, "/keys"));
  std::filesystem::create_directories(directory_);
  std::string key = absl::StrCat(data, "/keys/root.json");
  std::ofstream(key) << "secret";
  options_.private_directory = data;
  auto says = [&](const std::string& verb) { return std::string(Run(verb).status().message()); };
  std::vector<FileIsolation> kinds = {FileIsolation::kMountNamespace};
  if (options_.isolation.files == FileIsolation::kLandlock) kinds.push_back(FileIsolation::kLandlock);
  if (options_.isolation.files == FileIsolation::kNone || !options_.isolation.network_namespace)
    kinds.erase(kinds.begin());
  if (kinds.empty()) GTEST_SKIP() << "this host allows neither Landlock nor user namespaces";
  for (FileIsolation kind : kinds) {
    options_.isolation.files = kind;
    EXPECT_EQ(says("read " + key), "refused");
    EXPECT_EQ(says("read " + data + "/work/job/../../keys/root.json"), "refused");
    EXPECT_EQ(says("write " + data + "/work/other"), kind == FileIsolation::kLandlock ? "refused" : "could open it");
    EXPECT_FALSE(std::filesystem::exists(data + "/work/other"));
    EXPECT_EQ(says("read " + directory_ + "/model"), "could open it");
    EXPECT_EQ(says("write " + directory_ + "/part"), "could open it");
    EXPECT_TRUE(std::filesystem::exists(directory_ + "/part"));
    if (kind == FileIsolation::kLandlock) {
      EXPECT_EQ(says("read /etc/passwd"), "refused");
      EXPECT_EQ(says("read /proc/self/environ"), "refused");
    }
    std::filesystem::remove(directory_ + "/part");
  }
  // The control: without a sandbox the key is there to be read.
  options_.isolation = Isolation{};
  EXPECT_EQ(says("read " + key), "could open it");
}

TEST_F(LocalExecutorTest, AWorkerMakesThreadsButTouchesNoOtherProcess) {
  if (!options_.isolation.call_filter) GTEST_SKIP() << "this host allows no seccomp filter";
  EXPECT_EQ(Run("fork").status().message(), "refused");
  EXPECT_EQ(Run(absl::StrCat("kill ", getpid())).status().message(), "refused");
  EXPECT_EQ(Run("threads").status().message(), "42");
}

TEST_F(LocalExecutorTest, SaysWhatIsInForce) {
  EXPECT_EQ(Describe(Isolation{}), "network: open; files: open; other processes: open");
  EXPECT_EQ(Describe(Isolation{true, true, FileIsolation::kLandlock}),
            "network: namespace, call filter; files: Landlock; other processes: call filter");
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
