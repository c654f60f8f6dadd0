#include "runtime/ota/state_directory.h"

#include <cstdlib>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aot::ota {
namespace {

class StateDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "state-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
    ASSERT_TRUE(state_.Open(path_).ok());
  }

  std::string path_;
  StateDirectory state_;
};

TEST_F(StateDirectoryTest, WritesReadsListsRemoves) {
  ASSERT_TRUE(state_.MakeDirectories("a/b").ok());
  ASSERT_TRUE(state_.WriteAtomic("a/b/file", "one").ok());
  ASSERT_TRUE(state_.WriteAtomic("a/b/file", "two").ok());
  std::string text;
  ASSERT_TRUE(state_.Read("a/b/file", 100, &text).ok());
  EXPECT_EQ(text, "two");
  EXPECT_EQ(state_.Read("a/b/file", 2, &text).code(), Code::kLimit);
  EXPECT_EQ(state_.Read("a/b/none", 2, &text).code(), Code::kNotFound);
  std::vector<std::string> names;
  ASSERT_TRUE(state_.List("a/b", &names).ok());
  EXPECT_EQ(names, std::vector<std::string>{"file"});
  ASSERT_TRUE(state_.RemoveAll("a").ok());
  EXPECT_FALSE(state_.Exists("a"));
  EXPECT_TRUE(state_.RemoveAll("a").ok());
}

TEST_F(StateDirectoryTest, RefusesPathsThatCouldLeaveIt) {
  std::string text;
  for (const char* path : {"../x", "a/../../x", "/etc/passwd", "a//b", ".hidden", "", "a/", "a\nb", "a b", "..", "."})
    EXPECT_EQ(state_.WriteAtomic(path, "x").code(), Code::kInvalidArgument) << path;
}

TEST_F(StateDirectoryTest, FollowsNoSymbolicLink) {
  const std::string outside = path_ + "-outside";
  ASSERT_EQ(mkdir(outside.c_str(), 0755), 0);
  ASSERT_EQ(symlink(outside.c_str(), (path_ + "/link").c_str()), 0);
  ASSERT_EQ(symlink((outside + "/target").c_str(), (path_ + "/file").c_str()), 0);
  EXPECT_FALSE(state_.WriteAtomic("link/x", "x").ok());
  FileDescriptor file;
  int64_t size = 0;
  EXPECT_FALSE(state_.OpenForAppend("file", &file, &size).ok());
  EXPECT_FALSE(state_.OpenForRead("file", &file).ok());
  // Replaces the link, not what it points to; removing removes the link alone.
  EXPECT_TRUE(state_.WriteAtomic("file", "x").ok());
  EXPECT_NE(access((outside + "/target").c_str(), F_OK), 0);
  EXPECT_TRUE(state_.RemoveAll("link").ok());
  EXPECT_EQ(access(outside.c_str(), F_OK), 0);
}

TEST_F(StateDirectoryTest, AdmitsOneProcessAtATime) {
  using Lock = StateDirectory::Lock;
  ASSERT_TRUE(state_.Acquire(Lock::kUpdate, 0).ok());
  const pid_t child = fork();
  if (child == 0) {
    StateDirectory other;
    const bool right = other.Open(path_).ok() && other.Acquire(Lock::kUpdate, 60).code() == Code::kBusy &&
                       other.Acquire(Lock::kSlots, 0).ok();  // an update keeps nobody from loading
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  StateDirectory other;
  ASSERT_TRUE(other.Open(path_).ok());
  state_.Release(Lock::kUpdate);
  EXPECT_TRUE(other.Acquire(Lock::kUpdate, 0).ok());
}

}  // namespace
}  // namespace aot::ota
