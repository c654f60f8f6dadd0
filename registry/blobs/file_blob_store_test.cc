#include "registry/blobs/file_blob_store.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "registry/fs/durable.h"
#include "registry/fs/faults.h"
#include "registry/fs/temp_directory.h"

namespace aot::registry {
namespace {

constexpr uint64_t kLimit = 1 << 24;

absl::StatusOr<bool> Unneeded() { return false; }

class FileBlobStoreTest : public testing::Test {
 protected:
  FileBlobStoreTest() { Reopen(); }
  ~FileBlobStoreTest() override { fs::Fault::Disarm(); }

  void Reopen(const BlobLimits& limits = {}) {
    store_.reset();
    auto store = OpenFileBlobStore(directory_.path(), limits);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = std::move(*store);
  }
  std::string PathOf(const Digest& d) const {
    return directory_.path() + "/sha256/" + d.Hex().substr(0, 2) + "/" + d.Hex();
  }
  size_t CountIn(const std::string& part) { return fs::ListDirectory(directory_.path() + "/" + part).value().size(); }
  std::string UploadPath(const std::string& data) const {
    return directory_.path() + "/uploads/" + Digest::Of(data).Hex() + "." + std::to_string(data.size());
  }
  static void Age(const std::string& file, int hours) {
    timespec old = absl::ToTimespec(absl::Now() - absl::Hours(hours));
    timespec times[2] = {old, old};
    ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }
  void Overwrite(const std::string& path, off_t offset, char byte) {
    int fd = open(path.c_str(), O_WRONLY);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(pwrite(fd, &byte, 1, offset), 1);
    close(fd);
  }

  fs::TempDirectory directory_;
  std::unique_ptr<BlobStore> store_;
};

TEST_F(FileBlobStoreTest, GivesBackWhatWasPut) {
  for (const std::string& data : {std::string(), std::string("x"), std::string(700000, 'y')}) {
    BlobRef ref = PutBytes(*store_, data).value();
    EXPECT_EQ(ref, BlobRef::Of(data));
    EXPECT_EQ(ReadAll(*store_, ref, kLimit).value(), data);
    EXPECT_EQ(store_->Stat(ref.digest).value(), data.size());
  }
  EXPECT_EQ(store_->List()->size(), 3u);
  EXPECT_EQ(CountIn("tmp"), 0u);
  Reopen();
  EXPECT_EQ(ReadAll(*store_, BlobRef::Of("x"), kLimit).value(), "x");
}

TEST_F(FileBlobStoreTest, ReadsPartsAndRefusesWhatIsPastTheEnd) {
  BlobRef ref = PutBytes(*store_, "0123456789").value();
  auto reader = store_->Open(ref, Verify::kAlways).value();
  char buffer[4];
  ASSERT_TRUE(reader->ReadAt(3, buffer, 4).ok());
  EXPECT_EQ(std::string(buffer, 4), "3456");
  EXPECT_EQ(reader->ReadAt(7, buffer, 4).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(reader->ReadAt(~0ull, buffer, 4).code(), absl::StatusCode::kOutOfRange);
}

TEST_F(FileBlobStoreTest, SetsADamagedBlobAsideAndTakesItAgain) {
  BlobRef ref = PutBytes(*store_, "precious").value();
  for (bool truncate_it : {false, true}) {
    if (truncate_it) {
      ASSERT_EQ(truncate(PathOf(ref.digest).c_str(), 4), 0);
    } else {
      Overwrite(PathOf(ref.digest), 3, '!');
    }
    size_t before = CountIn("quarantine");
    EXPECT_EQ(store_->Open(ref, Verify::kAlways).status().code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(CountIn("quarantine"), before + 1);
    EXPECT_EQ(store_->Stat(ref.digest).status().code(), absl::StatusCode::kNotFound);
    ASSERT_TRUE(PutBytes(*store_, "precious").ok());
    EXPECT_EQ(ReadAll(*store_, ref, kLimit).value(), "precious");
  }
  EXPECT_EQ(store_->quarantined(), 2u);
}

TEST_F(FileBlobStoreTest, NoticesAChangeAfterARecentCheck) {
  BlobRef ref = PutBytes(*store_, "precious").value();
  ASSERT_TRUE(store_->Open(ref, Verify::kRecently).ok());
  Overwrite(PathOf(ref.digest), 0, '!');
  EXPECT_EQ(store_->Open(ref, Verify::kRecently).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(FileBlobStoreTest, AWrongLengthFromTheCallerHurtsNoGoodBlob) {
  BlobRef ref = PutBytes(*store_, "precious").value();
  BlobRef wrong{ref.digest, 5};
  EXPECT_EQ(store_->Open(wrong, Verify::kAlways).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(CountIn("quarantine"), 0u);
  EXPECT_TRUE(store_->Open(ref, Verify::kAlways).ok());
}

TEST_F(FileBlobStoreTest, RefusesAnUploadThatIsNotWhatWasAnnounced) {
  BlobRef announced = BlobRef::Of("hello");
  {
    auto writer = store_->OpenUpload(announced).value();
    ASSERT_TRUE(writer->Append("hellO").ok());
    absl::Status status = writer->Commit().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find(announced.digest.Hex()), absl::string_view::npos);
    EXPECT_NE(status.message().find(Digest::Of("hellO").Hex()), absl::string_view::npos);
  }
  {
    auto writer = store_->OpenUpload(announced).value();
    EXPECT_EQ(writer->offset(), 0u);  // nothing of the wrong bytes is left
    EXPECT_EQ(writer->Append("hello!").code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(store_->List()->size(), 0u);
  EXPECT_EQ(CountIn("uploads"), 0u);
}

TEST_F(FileBlobStoreTest, ResumesAnUploadAfterARestart) {
  BlobRef announced = BlobRef::Of("hello world");
  {
    auto writer = store_->OpenUpload(announced).value();
    ASSERT_TRUE(writer->Append("hello ").ok());
    EXPECT_EQ(store_->OpenUpload(announced).status().code(), absl::StatusCode::kAborted);
    ASSERT_TRUE(writer->Suspend().ok());
  }
  Reopen();
  auto writer = store_->OpenUpload(announced).value();
  EXPECT_EQ(writer->offset(), 6u);
  ASSERT_TRUE(writer->Append("world").ok());
  EXPECT_EQ(writer->Commit().value(), announced);
  EXPECT_EQ(ReadAll(*store_, announced, kLimit).value(), "hello world");
  EXPECT_EQ(CountIn("uploads"), 0u);
}

TEST_F(FileBlobStoreTest, CleansUpAtOpening) {
  std::ofstream(directory_.path() + "/tmp/7") << "half a blob";
  std::string fresh = directory_.path() + "/uploads/fresh";
  std::string stale = directory_.path() + "/uploads/stale";
  std::ofstream(fresh) << "x";
  std::ofstream(stale) << "x";
  timespec old[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, stale.c_str(), old, 0), 0);
  Reopen();
  EXPECT_EQ(CountIn("tmp"), 0u);
  EXPECT_EQ(access(fresh.c_str(), F_OK), 0);
  EXPECT_NE(access(stale.c_str(), F_OK), 0);
}

TEST_F(FileBlobStoreTest, DeletesOnlyWhatIsUnpinnedAndUnneeded) {
  BlobRef ref = PutBytes(*store_, "data").value();
  {
    auto reader = store_->Open(ref, Verify::kAlways).value();
    EXPECT_FALSE(store_->Delete(ref.digest, Unneeded).value());
  }
  {
    BlobPin pin = store_->Pin(ref.digest);
    BlobPin moved = std::move(pin);
    EXPECT_FALSE(store_->Delete(ref.digest, Unneeded).value());
  }
  EXPECT_FALSE(store_->Delete(ref.digest, [] { return absl::StatusOr<bool>(true); }).value());
  EXPECT_TRUE(store_->Delete(ref.digest, Unneeded).value());
  EXPECT_FALSE(store_->Delete(ref.digest, Unneeded).value());
  EXPECT_EQ(store_->Open(ref, Verify::kAlways).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(FileBlobStoreTest, SaysWhatADeletionFreed) {
  BlobRef ref = PutBytes(*store_, "0123456789").value();
  ASSERT_EQ(truncate(PathOf(ref.digest).c_str(), 4), 0);
  EXPECT_EQ(store_->Delete(ref.digest, Unneeded).value(), 4u);
  EXPECT_EQ(store_->Delete(ref.digest, Unneeded).value(), std::nullopt);
}

TEST_F(FileBlobStoreTest, KeepsCountOfWhatComesAndGoes) {
  BlobRef ref = PutBytes(*store_, "0123456789").value(), other = PutBytes(*store_, "abc").value();
  EXPECT_EQ(store_->Totals()->blobs, 2u);
  EXPECT_EQ(store_->Totals()->blob_bytes, 13u);
  ASSERT_TRUE(store_->Delete(other.digest, Unneeded).ok());
  Overwrite(PathOf(ref.digest), 0, '!');
  EXPECT_FALSE(store_->Open(ref, Verify::kAlways).ok());
  EXPECT_EQ(store_->Totals()->blobs, 0u);
  EXPECT_EQ(store_->Totals()->blob_bytes, 0u);
  EXPECT_EQ(store_->Totals()->quarantine_bytes, 10u);
  ASSERT_TRUE(PutBytes(*store_, "0123456789").ok());
  Reopen();
  EXPECT_EQ(store_->Totals()->blobs, 1u);
  EXPECT_EQ(store_->Totals()->blob_bytes, 10u);
}

TEST_F(FileBlobStoreTest, ANameThatIsNotOnTheDiskIsNoName) {
  for (int step = 0; step < 8; ++step) {
    std::string data = "unsynced " + std::to_string(step);
    fs::Fault::Arm(step, EIO);
    bool ok = PutBytes(*store_, data).ok();
    fs::Fault::Disarm();
    EXPECT_EQ(store_->Stat(Digest::Of(data)).ok(), ok) << step;
  }
  // A blob that was on the disk before stays, whatever becomes of the second copy.
  BlobRef ref = PutBytes(*store_, "synced").value();
  for (int step = 0; step < 8; ++step) {
    auto writer = store_->CreateBlob().value();
    ASSERT_TRUE(writer->Append("synced").ok());
    fs::Fault::Arm(step, EIO);
    writer->Commit().status().IgnoreError();
    fs::Fault::Disarm();
    EXPECT_EQ(ReadAll(*store_, ref, kLimit).value(), "synced") << step;
  }
}

TEST_F(FileBlobStoreTest, TheOldestInterruptedUploadMakesRoom) {
  Reopen({100, 0});
  auto interrupt = [&](const std::string& data, int hours) {
    auto writer = store_->OpenUpload(BlobRef::Of(data)).value();
    ASSERT_TRUE(writer->Append(data.substr(0, data.size() - 1)).ok());
    ASSERT_TRUE(writer->Suspend().ok());
    Age(UploadPath(data), hours);
  };
  std::string oldest(31, 'a'), old(41, 'b');
  interrupt(oldest, 3);
  interrupt(old, 2);
  auto writer = store_->OpenUpload(BlobRef::Of(std::string(50, 'c'))).value();
  EXPECT_NE(access(UploadPath(oldest).c_str(), F_OK), 0);
  EXPECT_EQ(access(UploadPath(old).c_str(), F_OK), 0);
  // What is under way is never dropped.
  absl::Status refused = store_->OpenUpload(BlobRef::Of(std::string(51, 'd'))).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(access(UploadPath(old).c_str(), F_OK), 0);
  EXPECT_EQ(store_->OpenUpload(BlobRef::Of(std::string(101, 'e'))).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(store_->OpenUpload(BlobRef::Of(old)).ok());  // its own bytes don't count against it
}

TEST_F(FileBlobStoreTest, AnUploadLeavesRoomOnTheDisk) {
  Reopen({100, ~uint64_t{0} / 2});
  absl::Status refused = store_->OpenUpload(BlobRef::Of("x")).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(refused.message().find("free bytes"), absl::string_view::npos) << refused;
}

TEST_F(FileBlobStoreTest, DropsStaleUploadsButNoneThatIsOpen) {
  auto open = store_->OpenUpload(BlobRef::Of("open")).value();
  ASSERT_TRUE(open->Append("op").ok());
  {
    auto writer = store_->OpenUpload(BlobRef::Of("stale")).value();
    ASSERT_TRUE(writer->Append("st").ok());
    ASSERT_TRUE(writer->Suspend().ok());
  }
  Age(UploadPath("open"), 48);
  Age(UploadPath("stale"), 48);
  ASSERT_TRUE(store_->DropStaleUploads().ok());
  EXPECT_NE(access(UploadPath("stale").c_str(), F_OK), 0);
  ASSERT_TRUE(open->Append("en").ok());
  EXPECT_TRUE(open->Commit().ok());
}

TEST_F(FileBlobStoreTest, AFullOrBrokenDiskIsAClearErrorAtEveryStep) {
  for (int error : {ENOSPC, EIO}) {
    int steps = 0;
    for (;; ++steps) {
      std::string data = "data " + std::to_string(error) + " " + std::to_string(steps);
      fs::Fault::Arm(steps, error);
      absl::Status status = PutBytes(*store_, data).status();
      bool struck = fs::Fault::Struck();
      fs::Fault::Disarm();
      if (!struck) break;
      EXPECT_EQ(status.code(), error == ENOSPC ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kDataLoss)
          << status;
      // Whatever happened, the next attempt works and no rubbish stays.
      ASSERT_TRUE(PutBytes(*store_, data).ok());
      EXPECT_EQ(ReadAll(*store_, BlobRef::Of(data), kLimit).value(), data);
      EXPECT_EQ(CountIn("tmp"), 0u);
    }
    EXPECT_GE(steps, 5);  // create, write, sync, rename, sync of the directory
  }
}

TEST_F(FileBlobStoreTest, AReadErrorIsNoReasonForQuarantine) {
  BlobRef ref = PutBytes(*store_, "precious").value();
  fs::Fault::Arm(0, EIO);
  EXPECT_EQ(store_->Open(ref, Verify::kAlways).status().code(), absl::StatusCode::kDataLoss);
  fs::Fault::Disarm();
  EXPECT_TRUE(store_->Open(ref, Verify::kAlways).ok());
}

TEST_F(FileBlobStoreTest, AKillAtAnyStepLeavesAWholeBlobOrNone) {
  std::string data(300000, 'k');
  int killed = 0;
  for (int step = 0;; ++step) {
    if (!fs::KilledAt(step, [&] { return PutBytes(*store_, data).ok(); })) break;
    ++killed;
    Reopen();
    absl::StatusOr<std::string> read = ReadAll(*store_, BlobRef::Of(data), kLimit);
    if (read.ok()) {
      EXPECT_EQ(*read, data);
      ASSERT_TRUE(store_->Delete(Digest::Of(data), Unneeded).value());
    }
    EXPECT_EQ(store_->quarantined(), 0u);
    EXPECT_EQ(CountIn("tmp"), 0u);
  }
  EXPECT_GE(killed, 5);
  EXPECT_EQ(ReadAll(*store_, BlobRef::Of(data), kLimit).value(), data);
}

}  // namespace
}  // namespace aot::registry
