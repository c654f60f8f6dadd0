#include "server/services/registry_service.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "compiler/target/target.h"
#include "server/model_digest.h"
#include "server/services/conversions.h"
#include "server/services/download_reactor.h"
#include "server/services/paging.h"
#include "server/status.h"

namespace aot::server {
namespace {

constexpr int kDefaultKeepSuperseded = 4;

class RegistryServiceImpl final : public RegistryServiceBase {
 public:
  explicit RegistryServiceImpl(ServiceContext& context) : context_(context) {}

  grpc::Status ListTargets(grpc::ServerContext*, const aot::v1::ListTargetsRequest*,
                           aot::v1::ListTargetsResponse* response) override {
    for (const target::Description& description : target::All()) {
      aot::v1::Target& proto = *response->add_targets();
      proto.set_name(description.name);
      proto.set_summary(description.summary);
      proto.set_triple(description.triple);
      proto.set_cpu(description.cpu);
      for (const std::string& feature : description.required_features) proto.add_required_features(feature);
      proto.set_vector_bits(description.vector_bits);
    }
    return grpc::Status::OK;
  }

  grpc::Status ListModels(grpc::ServerContext*, const aot::v1::ListModelsRequest* request,
                          aot::v1::ListModelsResponse* response) override {
    absl::StatusOr<std::vector<registry::ModelRecord>> models = context_.registry.ListModels();
    if (!models.ok()) return ToGrpc(models.status());
    return ToGrpc(FillPage(models->size(), *request, *response, [&](size_t i) {
      aot::v1::Model& model = *response->add_models();
      model = ToProto((*models)[i]);
      model.clear_external();
      return model.ByteSizeLong();
    }));
  }

  grpc::Status DeleteModel(grpc::ServerContext*, const aot::v1::DeleteModelRequest* request,
                           aot::v1::DeleteModelResponse*) override {
    absl::StatusOr<registry::BlobRef> digest = ParseDigest("digest", request->digest());
    if (!digest.ok()) return ToGrpc(digest.status());
    return ToGrpc(context_.registry.DeleteModel(digest->digest));
  }

  grpc::Status ListArtifacts(grpc::ServerContext*, const aot::v1::ListArtifactsRequest* request,
                             aot::v1::ListArtifactsResponse* response) override {
    std::optional<registry::Digest> model;
    if (!request->model_hash().empty()) {
      absl::StatusOr<registry::Digest> parsed = registry::Digest::FromHex(request->model_hash());
      if (!parsed.ok()) return ToGrpc(parsed.status());
      model = *parsed;
    }
    absl::StatusOr<std::vector<registry::ArtifactRecord>> artifacts = context_.registry.ListArtifacts(model);
    if (!artifacts.ok()) return ToGrpc(artifacts.status());
    if (!request->target().empty()) {
      auto other = [&](const registry::ArtifactRecord& artifact) { return artifact.target != request->target(); };
      artifacts->erase(std::remove_if(artifacts->begin(), artifacts->end(), other), artifacts->end());
    }
    return ToGrpc(FillPage(artifacts->size(), *request, *response, [&](size_t i) {
      *response->add_artifacts() = ToProto((*artifacts)[i]);
      return response->artifacts().rbegin()->ByteSizeLong();
    }));
  }

  grpc::ServerWriteReactor<aot::v1::GetArtifactResponse>* GetArtifact(
      grpc::CallbackServerContext* call, const aot::v1::GetArtifactRequest* request) override {
    return DownloadReactor::Start(context_, call, *request);
  }

  grpc::Status DeleteArtifact(grpc::ServerContext*, const aot::v1::DeleteArtifactRequest* request,
                              aot::v1::DeleteArtifactResponse*) override {
    absl::StatusOr<registry::ArtifactKey> key = registry::ArtifactKey::FromHex(request->key());
    if (!key.ok()) return ToGrpc(key.status());
    return ToGrpc(context_.registry.DeleteArtifact(*key));
  }

  grpc::Status GetStatistics(grpc::ServerContext*, const aot::v1::GetStatisticsRequest*,
                             aot::v1::GetStatisticsResponse* response) override {
    absl::StatusOr<registry::Statistics> stored = context_.registry.GetStatistics();
    if (!stored.ok()) return ToGrpc(stored.status());
    SchedulerCounters jobs = context_.scheduler.Counters();
    response->set_cache_hits(context_.cache.hits);
    response->set_cache_misses(context_.cache.misses);
    response->set_joined(jobs.joined);
    response->set_workers_started(context_.executor_counters.started);
    response->set_workers_lost(context_.executor_counters.lost);
    response->set_workers_cancelled(context_.executor_counters.cancelled);
    response->set_compiles_succeeded(jobs.succeeded);
    response->set_compiles_failed(jobs.failed);
    response->set_queued(jobs.queued);
    response->set_running(jobs.running);
    response->set_models(static_cast<int64_t>(stored->models));
    response->set_artifacts(static_cast<int64_t>(stored->artifacts));
    response->set_releases(static_cast<int64_t>(stored->releases));
    response->set_blobs(static_cast<int64_t>(stored->blobs));
    response->set_blob_bytes(static_cast<int64_t>(stored->blob_bytes));
    response->set_quarantined(static_cast<int64_t>(stored->quarantined));
    response->set_upload_bytes(static_cast<int64_t>(stored->upload_bytes));
    response->set_quarantine_bytes(static_cast<int64_t>(stored->quarantine_bytes));
    response->set_uptime_seconds(absl::ToInt64Seconds(absl::Now() - context_.started));
    return grpc::Status::OK;
  }

  grpc::Status CollectGarbage(grpc::ServerContext*, const aot::v1::CollectGarbageRequest* request,
                              aot::v1::CollectGarbageResponse* response) override {
    int keep = request->has_keep_superseded() ? request->keep_superseded() : kDefaultKeepSuperseded;
    if (request->budget_bytes() < 0 || keep < 0) {
      return ToGrpc(
          absl::InvalidArgumentError(absl::StrCat("budget_bytes is ", request->budget_bytes(),
                                                  " and keep_superseded is ", keep, "; neither may be below zero")));
    }
    registry::GcRequest gc;
    gc.budget_bytes = static_cast<uint64_t>(request->budget_bytes());
    gc.keep_superseded = static_cast<uint32_t>(keep);
    absl::StatusOr<registry::GcResult> result = context_.registry.Gc(gc);
    if (!result.ok()) return ToGrpc(result.status());
    response->set_artifacts_removed(static_cast<int64_t>(result->artifacts));
    response->set_models_removed(static_cast<int64_t>(result->models));
    response->set_releases_removed(static_cast<int64_t>(result->releases));
    response->set_blobs_removed(static_cast<int64_t>(result->blobs));
    response->set_freed_bytes(static_cast<int64_t>(result->freed_bytes));
    response->set_kept_bytes(static_cast<int64_t>(result->kept_bytes));
    return grpc::Status::OK;
  }

 private:
  ServiceContext& context_;
};

}  // namespace

std::unique_ptr<RegistryServiceBase> MakeRegistryService(ServiceContext& context) {
  return std::make_unique<RegistryServiceImpl>(context);
}

}  // namespace aot::server
