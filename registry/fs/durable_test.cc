#include "registry/fs/durable.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "registry/fs/faults.h"
#include "registry/fs/temp_directory.h"

namespace aot::registry::fs {
namespace {

constexpr uint64_t kLimit = 1 << 20;

std::vector<Op> g_seen;
int Record(Op op, const std::string& path) {
  g_seen.push_back(op);
  return 0;
}

class DurableTest : public testing::Test {
 protected:
  ~DurableTest() override { Fault::Disarm(); }
  TempDirectory directory_;
  std::string path_ = directory_.path() + "/file";
};

TEST_F(DurableTest, WritesInTheOrderThatSurvivesAPowerCut) {
  g_seen.clear();
  SetHook(&Record);
  ASSERT_TRUE(WriteFile(path_, "content", 0600).ok());
  SetHook(nullptr);
  // The data is on the disk before the name points to it, and the name is before the call returns.
  std::vector<Op> expected = {Op::kUnlink, Op::kCreate, Op::kWrite, Op::kSync, Op::kRename, Op::kSyncDirectory};
  EXPECT_EQ(g_seen, expected);
  EXPECT_EQ(ReadFile(path_, kLimit).value(), "content");
}

TEST_F(DurableTest, GivesTheModeThatWasAskedFor) {
  ASSERT_TRUE(WriteFile(path_, "secret", 0600).ok());
  struct stat info;
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(DurableTest, AnErrorAtAnyStepLeavesTheOldContentOrTheNew) {
  for (int error : {ENOSPC, EIO}) {
    for (int step = 0;; ++step) {
      ASSERT_TRUE(WriteFile(path_, "old", 0600).ok());
      Fault::Arm(step, error);
      absl::Status status = WriteFile(path_, "new", 0600);
      bool struck = Fault::Struck();
      Fault::Disarm();
      if (!struck) {
        EXPECT_TRUE(status.ok());
        break;
      }
      EXPECT_EQ(status.code(), error == ENOSPC ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kDataLoss);
      std::string content = ReadFile(path_, kLimit).value();
      EXPECT_TRUE(content == "old" || content == "new") << step << ": " << content;
      EXPECT_EQ(ListDirectory(directory_.path()).value(), std::vector<std::string>{"file"}) << step;
    }
  }
}

TEST_F(DurableTest, AKillAtAnyStepLeavesTheOldContentOrTheNew) {
  int step = 0;
  for (;; ++step) {
    ASSERT_TRUE(WriteFile(path_, "old", 0600).ok());
    if (!KilledAt(step, [&] { return WriteFile(path_, "new", 0600).ok(); })) break;
    std::string content = ReadFile(path_, kLimit).value();
    EXPECT_TRUE(content == "old" || content == "new") << step;
  }
  EXPECT_EQ(step, 6);
  EXPECT_EQ(ReadFile(path_, kLimit).value(), "new");
}

TEST_F(DurableTest, NamesTheFaultAndThePath) {
  EXPECT_EQ(ErrnoStatus(EROFS, "create", "/x").code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(ErrnoStatus(ENOENT, "open", "/x").code(), absl::StatusCode::kNotFound);
  EXPECT_NE(ErrnoStatus(ENOSPC, "write", "/x/y").message().find("/x/y"), absl::string_view::npos);
  EXPECT_EQ(ReadFile(path_, kLimit).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(WriteFile(path_, "longer than four", 0600).ok());
  EXPECT_EQ(ReadFile(path_, 4).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(DurableTest, FollowsNoLinkInTheLastPart) {
  ASSERT_EQ(symlink("/etc/passwd", path_.c_str()), 0);
  EXPECT_FALSE(ReadFile(path_, kLimit).ok());
  EXPECT_FALSE(Create(path_, 0, 0600).ok());
}

}  // namespace
}  // namespace aot::registry::fs
