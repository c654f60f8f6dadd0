// What the registry publishes, the update client of devices takes: the two are written apart, from the specification
// alone.
#include <cstdlib>
#include <memory>

#include "absl/time/time.h"
#include "aot/ota.h"
#include "compiler/target/target.h"
#include "gtest/gtest.h"
#include "registry/registry.h"
#include "runtime/ota/testing/http_server.h"
#include "runtime/ota/testing/test_artifact.h"

namespace aot {
namespace {

class DeliveryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "delivery-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    registry::RegistryOptions options;
    options.now = [this] { return now_; };
    auto opened = registry::Registry::Open(directory_ + "/registry", options);
    ASSERT_TRUE(opened.ok()) << opened.status();
    registry_ = *std::move(opened);
    first_root_ = *registry_->TrustedRoot();
    server_.SetFallback([this](const std::string& path) { return Object(path); });
    const std::string model = "a model";
    const registry::BlobRef blob = registry::BlobRef::Of(model);
    auto upload = registry_->OpenUpload(blob);
    ASSERT_TRUE(upload.ok() && (*upload)->Append(model).ok() && (*upload)->Commit().ok());
    registry::ModelRecord record;
    record.digest = blob.digest;
    record.blob = blob;
    record.name = "affine";
    ASSERT_TRUE(registry_->StoreModel(record).ok());
    model_ = blob.digest;
  }

  std::optional<std::string> Object(const std::string& path) {
    const auto object = registry_->Resolve(path);
    if (!object.ok()) return std::nullopt;
    if (object->metadata) return *object->metadata;
    const auto reader = registry_->OpenBlob(*object->blob, registry::Verify::kAlways);
    if (!reader.ok()) return std::nullopt;
    std::string bytes(object->blob->size, '\0');
    return (*reader)->ReadAt(0, bytes.data(), bytes.size()).ok() ? std::optional<std::string>(bytes) : std::nullopt;
  }

  void Publish(float bias) {
    const compiler::Artifact artifact = ota::MakeTestArtifact({bias});
    const target::Description& target = **target::Find(ota::TestTargetName());
    registry::ArtifactRecord record;
    record.key.digest = registry::Digest::Of(artifact.manifest);
    record.model = model_;
    record.target = target.name;
    const auto stored = registry_->StoreArtifact(record, {artifact.manifest, artifact.code, artifact.weights});
    ASSERT_TRUE(stored.ok()) << stored.status();
    registry::ReleaseArtifact released;
    released.key = record.key;
    released.target = target.name;
    released.triple = target.triple;
    released.cpu_features = target.required_features;
    released.vector_bits = static_cast<uint32_t>(target.vector_bits);
    released.abi = 1;
    released.format = 1;
    released.arena_size = 64;
    const auto published = registry_->Publish({"stable", "affine", {released}});
    ASSERT_TRUE(published.ok()) << published.status();
  }

  // What the model computes: 2 + bias; the report is in report_.
  float Fetch() {
    report_ = {};
    report_.size = sizeof(report_);
    aot_fetch_config config = {};
    config.size = sizeof(config);
    const std::string url = server_.url();
    const std::string state = directory_ + "/state";
    config.url = url.c_str();
    config.state_dir = state.c_str();
    config.root = first_root_.data();
    config.root_size = first_root_.size();
    config.now = [](void* context) { return absl::ToUnixSeconds(static_cast<DeliveryTest*>(context)->now_); };
    config.context = this;
    config.report = &report_;
    aot_error error = {};
    aot_model* model = nullptr;
    if (aot_fetch_and_load(&config, "affine", &model, &error) != AOT_OK) {
      ADD_FAILURE() << error.message;
      return -1;
    }
    const float value = ota::RunTestModel(model);
    aot_unload(model);
    return value;
  }

  std::string directory_;
  std::string first_root_;
  absl::Time now_ = absl::FromUnixSeconds(1800000000);
  std::unique_ptr<registry::Registry> registry_;
  registry::Digest model_;
  ota::HttpServer& server_ = *ota::HttpServer::Shared();
  aot_fetch_report report_ = {};
};

TEST_F(DeliveryTest, DevicesFollowReleasesAndKeys) {
  Publish(1);
  EXPECT_EQ(Fetch(), 3.0f);
  EXPECT_EQ(report_.source, AOT_FETCH_DOWNLOADED);
  EXPECT_EQ(report_.release, 1u);
  Publish(2);
  EXPECT_EQ(Fetch(), 4.0f);
  EXPECT_EQ(report_.update_status, AOT_OK) << report_.update_message;
  EXPECT_EQ(report_.release, 2u);
  float bias = 2;
  for (const registry::Role role : registry::kRoles) {
    const absl::Status rotated = registry_->RotateKey(role);
    ASSERT_TRUE(rotated.ok()) << rotated;
    EXPECT_EQ(Fetch(), 2 + bias);
    EXPECT_EQ(report_.update_status, AOT_OK) << report_.update_message;
    Publish(++bias);
    EXPECT_EQ(Fetch(), 2 + bias);
    EXPECT_EQ(report_.update_status, AOT_OK) << report_.update_message;
  }
}

TEST_F(DeliveryTest, DevicesKeepWhatTheyHave) {
  Publish(1);
  EXPECT_EQ(Fetch(), 3.0f);
  ASSERT_TRUE(registry_->Withdraw("stable", "affine").ok());
  EXPECT_EQ(Fetch(), 3.0f);
  EXPECT_EQ(report_.update_status, AOT_NOT_FOUND) << report_.update_message;
  now_ += absl::Hours(24 * 30);  // nobody signs any more
  EXPECT_EQ(Fetch(), 3.0f);
  EXPECT_EQ(report_.update_status, AOT_EXPIRED) << report_.update_message;
  ASSERT_TRUE(registry_->Maintain().ok());
  Publish(2);
  EXPECT_EQ(Fetch(), 4.0f);
}

}  // namespace
}  // namespace aot
