// Parts over a real registry that holds a golden artifact.
#include "server/services/part_reader.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "registry/fs/temp_directory.h"
#include "runtime/format/container.h"

namespace aot::server {
namespace {

class PartReaderTest : public ::testing::Test {
 protected:
  PartReaderTest() {
    registry_ = registry::Registry::Open(directory_.path()).value();
    std::ifstream file("runtime/format/testdata/affine.x86-64-v2.v1.so", std::ios::binary);
    shared_object_ = {std::istreambuf_iterator<char>(file), {}};
    aot_container parts;
    aot_fault fault;
    EXPECT_TRUE(aot_container_open(shared_object_.data(), shared_object_.size(), &parts, &fault));
    registry::ModelRecord model;
    model.blob = registry::BlobRef::Of("model");
    model.digest = model.blob.digest;
    auto writer = registry_->OpenUpload(model.blob).value();
    EXPECT_TRUE(writer->Append("model").ok());
    EXPECT_TRUE(writer->Commit().ok());
    EXPECT_TRUE(registry_->StoreModel(model).ok());
    registry::ArtifactRecord record;
    record.key.digest = registry::Digest::Of("key");
    record.model = model.digest;
    record.target = "x86-64-v2";
    absl::string_view bytes = shared_object_;
    artifact_ = registry_
                    ->StoreArtifact(record, {bytes.substr(parts.manifest_offset, parts.manifest_size),
                                             bytes.substr(0, parts.code_size),
                                             bytes.substr(parts.weights_offset, parts.weights_size)})
                    .value();
  }

  absl::StatusOr<std::unique_ptr<PartReader>> Open(bool cancelled) {
    return OpenPart(*registry_, digests_, artifact_, aot::v1::ARTIFACT_PART_SHARED_OBJECT,
                    [cancelled] { return cancelled; });
  }

  registry::fs::TempDirectory directory_;
  std::unique_ptr<registry::Registry> registry_;
  std::string shared_object_;
  registry::ArtifactRecord artifact_;
  SharedObjectDigests digests_;
};

TEST_F(PartReaderTest, LaysTheSharedObjectOutAndHashesItOnce) {
  // Nobody waits for the digest any more: the reading ends.
  EXPECT_TRUE(absl::IsCancelled(Open(true).status()));
  EXPECT_FALSE(digests_.Find(artifact_).has_value());
  std::unique_ptr<PartReader> part = Open(false).value();
  EXPECT_EQ(part->ref(), registry::BlobRef::Of(shared_object_));
  std::string bytes(shared_object_.size(), '\0');
  ASSERT_TRUE(part->ReadAt(0, bytes.data(), bytes.size()).ok());
  EXPECT_EQ(bytes, shared_object_);
  // Known now: there is nothing left to cancel.
  absl::StatusOr<std::unique_ptr<PartReader>> again = Open(true);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)->ref(), part->ref());
}

TEST_F(PartReaderTest, OtherPartsHaveAnotherDigest) {
  digests_.Add(artifact_, registry::Digest::Of("so"));
  registry::ArtifactRecord other = artifact_;
  other.weights = registry::BlobRef::Of("other weights");
  EXPECT_FALSE(digests_.Find(other).has_value());
  EXPECT_EQ(digests_.Find(artifact_), registry::Digest::Of("so"));
}

}  // namespace
}  // namespace aot::server
