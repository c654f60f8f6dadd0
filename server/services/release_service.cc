#include "server/services/release_service.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "registry/names.h"
#include "server/services/conversions.h"
#include "server/services/paging.h"
#include "server/services/part_reader.h"
#include "server/services/release_artifact.h"
#include "server/services/root_metadata.h"
#include "server/status.h"

namespace aot::server {
namespace {

// The registry's rows, one for each target, as releases: rows of one release are put together, the order is kept.
std::vector<aot::v1::Release> GroupByRelease(registry::Registry& registry,
                                             const std::vector<registry::ReleaseRecord>& rows) {
  std::vector<aot::v1::Release> releases;
  std::map<std::tuple<std::string, std::string, uint64_t>, size_t> index;
  for (const registry::ReleaseRecord& row : rows) {
    auto [it, fresh] = index.emplace(std::make_tuple(row.channel, row.model, row.release), releases.size());
    if (fresh) {
      aot::v1::Release& release = releases.emplace_back();
      release.set_channel(row.channel);
      release.set_model_name(row.model);
      release.set_version(static_cast<int64_t>(row.release));
      release.set_published_unix_seconds(absl::ToUnixSeconds(row.created));
    }
    aot::v1::Release& release = releases[it->second];
    absl::StatusOr<registry::ArtifactRecord> artifact = registry.PeekArtifact(row.artifact);  // listing is no use
    if (!artifact.ok()) {
      // Damaged meanwhile: the row still says what the release is.
      artifact = registry::ArtifactRecord();
      artifact->key = row.artifact;
      artifact->target = row.target;
      artifact->manifest = row.manifest;
      artifact->code = row.code;
      artifact->weights = row.weights;
    }
    *release.add_artifacts() = ToProto(*artifact);
    release.add_current(row.current);
  }
  return releases;
}

class ReleaseServiceImpl final : public aot::v1::ReleaseService::Service {
 public:
  explicit ReleaseServiceImpl(ServiceContext& context) : context_(context) {}

  grpc::Status Publish(grpc::ServerContext*, const aot::v1::PublishRequest* request,
                       aot::v1::PublishResponse* response) override {
    registry::PublishRequest publish;
    publish.channel = request->channel();
    publish.model = request->model_name();
    // Names first: what is wrong in itself is said before what isn't there.
    for (absl::Status status :
         {registry::CheckName("channel", publish.channel), registry::CheckName("model name", publish.model)})
      if (!status.ok()) return ToGrpc(status);
    if (request->artifact_keys().empty() ||
        static_cast<size_t>(request->artifact_keys_size()) > registry::kMaxArtifactsOfRelease) {
      return ToGrpc(absl::InvalidArgumentError(absl::StrCat("a release has 1 to ", registry::kMaxArtifactsOfRelease,
                                                            " artifacts, not ", request->artifact_keys_size())));
    }
    for (const std::string& hex : request->artifact_keys()) {
      absl::StatusOr<registry::ArtifactKey> key = registry::ArtifactKey::FromHex(hex);
      if (!key.ok()) return ToGrpc(key.status());
      absl::StatusOr<registry::ArtifactRecord> artifact = context_.registry.LookupArtifact(*key);
      if (!artifact.ok()) return ToGrpc(artifact.status());
      absl::StatusOr<std::string> manifest = ReadManifest(context_.registry, *artifact);
      if (!manifest.ok()) return ToGrpc(manifest.status());
      absl::StatusOr<registry::ReleaseArtifact> release = DescribeForRelease(*artifact, *manifest);
      if (!release.ok()) return ToGrpc(release.status());
      publish.artifacts.push_back(*std::move(release));
    }
    absl::StatusOr<registry::PublishResult> result = context_.registry.Publish(publish);
    if (!result.ok()) return ToGrpc(result.status());
    absl::StatusOr<std::vector<registry::ReleaseRecord>> rows =
        context_.registry.ListReleases(publish.channel, publish.model);
    if (!rows.ok()) return ToGrpc(rows.status());
    for (const aot::v1::Release& release : GroupByRelease(context_.registry, *rows)) {
      if (release.version() == static_cast<int64_t>(result->release)) *response->mutable_release() = release;
    }
    return grpc::Status::OK;
  }

  grpc::Status ListReleases(grpc::ServerContext*, const aot::v1::ListReleasesRequest* request,
                            aot::v1::ListReleasesResponse* response) override {
    absl::StatusOr<std::vector<registry::ReleaseRecord>> rows =
        context_.registry.ListReleases(request->channel(), request->model_name());
    if (!rows.ok()) return ToGrpc(rows.status());
    std::vector<aot::v1::Release> releases = GroupByRelease(context_.registry, *rows);
    return ToGrpc(FillPage(releases.size(), *request, *response, [&](size_t i) {
      *response->add_releases() = std::move(releases[i]);
      return response->releases().rbegin()->ByteSizeLong();
    }));
  }

  grpc::Status Withdraw(grpc::ServerContext*, const aot::v1::WithdrawRequest* request,
                        aot::v1::WithdrawResponse*) override {
    return ToGrpc(context_.registry.Withdraw(request->channel(), request->model_name()));
  }

  grpc::Status GetRoot(grpc::ServerContext*, const aot::v1::GetRootRequest* request,
                       aot::v1::GetRootResponse* response) override {
    if (request->version() < 0) {
      return ToGrpc(absl::InvalidArgumentError(absl::StrCat("version is ", request->version(), ", below zero")));
    }
    absl::StatusOr<std::string> metadata =
        request->version() == 0 ? context_.registry.TrustedRoot() : RootOfVersion(request->version());
    if (!metadata.ok()) return ToGrpc(metadata.status());
    absl::StatusOr<RootInfo> root = ParseRoot(*metadata);
    if (!root.ok()) return ToGrpc(root.status());
    response->set_version(root->version);
    response->set_metadata(*std::move(metadata));
    response->set_repository_url(context_.repository_url);
    return grpc::Status::OK;
  }

  grpc::Status ListKeys(grpc::ServerContext*, const aot::v1::ListKeysRequest*,
                        aot::v1::ListKeysResponse* response) override {
    absl::StatusOr<RootInfo> root = CurrentRoot();
    if (!root.ok()) return ToGrpc(root.status());
    for (const aot::v1::Role& role : root->roles) *response->add_roles() = role;
    return grpc::Status::OK;
  }

  grpc::Status RotateKey(grpc::ServerContext*, const aot::v1::RotateKeyRequest* request,
                         aot::v1::RotateKeyResponse* response) override {
    absl::StatusOr<registry::Role> role = registry::RoleFromName(request->role());
    if (!role.ok()) return ToGrpc(role.status());
    if (absl::Status status = context_.registry.RotateKey(*role); !status.ok()) return ToGrpc(status);
    absl::StatusOr<RootInfo> root = CurrentRoot();
    if (!root.ok()) return ToGrpc(root.status());
    for (const aot::v1::Role& proto : root->roles) {
      if (proto.name() == request->role()) *response->mutable_role() = proto;
    }
    response->set_root_version(root->version);
    return grpc::Status::OK;
  }

 private:
  absl::StatusOr<std::string> RootOfVersion(int64_t version) {
    absl::StatusOr<registry::RepositoryObject> object =
        context_.registry.Resolve(absl::StrCat("/tuf/", version, ".root.json"));
    if (absl::IsNotFound(object.status()) || (object.ok() && !object->metadata.has_value())) {
      return absl::NotFoundError(absl::StrCat("there is no version ", version, " of root"));
    }
    if (!object.ok()) return object.status();
    return *std::move(object->metadata);
  }

  // With each role's version and expiry.
  absl::StatusOr<RootInfo> CurrentRoot() {
    absl::StatusOr<std::string> metadata = context_.registry.TrustedRoot();
    if (!metadata.ok()) return metadata.status();
    absl::StatusOr<RootInfo> root = ParseRoot(*metadata);
    absl::StatusOr<registry::Statistics> now = context_.registry.GetStatistics();
    if (!root.ok()) return root.status();
    if (!now.ok()) return now.status();
    const std::map<std::string, std::pair<uint64_t, absl::Time>> roles = {
        {"root", {now->root_version, now->root_expires}},
        {"targets", {now->targets_version, now->targets_expires}},
        {"snapshot", {now->snapshot_version, now->snapshot_expires}},
        {"timestamp", {now->timestamp_version, now->timestamp_expires}}};
    for (aot::v1::Role& role : root->roles) {
      auto found = roles.find(role.name());
      if (found == roles.end()) continue;
      role.set_version(static_cast<int64_t>(found->second.first));
      role.set_expires_unix_seconds(absl::ToUnixSeconds(found->second.second));
    }
    return root;
  }

  ServiceContext& context_;
};

}  // namespace

std::unique_ptr<aot::v1::ReleaseService::Service> MakeReleaseService(ServiceContext& context) {
  return std::make_unique<ReleaseServiceImpl>(context);
}

}  // namespace aot::server
