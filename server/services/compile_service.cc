#include "server/services/compile_service.h"

#include <grpcpp/server_context.h>

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/pipeline.h"
#include "server/compile_options.h"
#include "server/model_digest.h"
#include "server/services/check_reactor.h"
#include "server/services/compile_reactor.h"
#include "server/services/conversions.h"
#include "server/services/upload_reactor.h"
#include "server/status.h"
#include "server/version.h"

namespace aot::server {
namespace {

// A model as a request names it.
absl::StatusOr<registry::ModelRecord> FindStored(registry::Registry& registry, const registry::BlobRef& digest) {
  absl::StatusOr<registry::ModelRecord> model = registry.FindModel(digest.digest);
  if (absl::IsNotFound(model.status())) {
    return absl::NotFoundError(
        absl::StrCat("the server has no model ", digest.digest.Hex(), ": upload it (CompileService.UploadModel)"));
  }
  if (!model.ok()) return model.status();
  uint64_t size = ModelDigestOf(model->blob, model->external).size;
  if (size != digest.size) {
    return absl::NotFoundError(absl::StrCat("model ", digest.digest.Hex(), " has ", size, " bytes, not ", digest.size));
  }
  return model;
}

// A Compile or Check request that may go on: its fields are known and well-formed.
struct ParsedRequest {
  registry::BlobRef model;
  compiler::Options options;
};

template <typename Request>
absl::StatusOr<ParsedRequest> Parse(const Request& request) {
  if (absl::Status status = RefuseUnknownFields(request); !status.ok()) return status;
  absl::StatusOr<registry::BlobRef> model = ParseDigest("model", request.model());
  if (!model.ok()) return model.status();
  absl::StatusOr<compiler::Options> options = FromProto(request.options());
  if (!options.ok()) return options.status();
  return ParsedRequest{*model, *std::move(options)};
}

absl::StatusOr<registry::ArtifactKey> KeyOf(const ParsedRequest& request) {
  absl::StatusOr<std::string> key = compiler::ArtifactKey(request.model.digest.Hex(), request.options);
  if (!key.ok()) return key.status();
  return registry::ArtifactKey::FromHex(*key);
}

class CompileServiceImpl final : public CompileServiceBase {
 public:
  explicit CompileServiceImpl(ServiceContext& context) : context_(context) {}

  grpc::Status GetCapabilities(grpc::ServerContext*, const aot::v1::GetCapabilitiesRequest*,
                               aot::v1::GetCapabilitiesResponse* response) override {
    const Limits& limits = context_.limits;
    response->set_api_version("aot.v1");
    response->set_server_version(std::string(kServerVersion));
    response->set_compiler_version(compiler::CompilerVersion());
    response->set_max_model_bytes(limits.max_model_bytes);
    response->set_max_external_blobs(limits.max_external_blobs);
    response->set_max_chunk_bytes(limits.max_chunk_bytes);
    response->set_upload_stall_seconds(static_cast<int32_t>(absl::ToInt64Seconds(limits.stall)));
    response->set_compile_timeout_seconds(
        static_cast<int32_t>(absl::ToInt64Seconds(context_.executor_options.timeout)));
    response->set_worker_memory_bytes(context_.executor_options.limits.memory_bytes);
    response->set_workers(context_.workers);
    response->set_queue_length(context_.queue_length);
    return grpc::Status::OK;
  }

  grpc::Status FindModel(grpc::ServerContext*, const aot::v1::FindModelRequest* request,
                         aot::v1::FindModelResponse* response) override {
    absl::StatusOr<registry::BlobRef> digest = ParseDigest("digest", request->digest());
    if (!digest.ok()) return ToGrpc(digest.status());
    absl::StatusOr<registry::ModelRecord> model = FindStored(context_.registry, *digest);
    if (!model.ok()) return ToGrpc(model.status());
    *response->mutable_model() = ToProto(*model);
    return grpc::Status::OK;
  }

  grpc::Status FindMissing(grpc::ServerContext*, const aot::v1::FindMissingRequest* request,
                           aot::v1::FindMissingResponse* response) override {
    const int most = context_.limits.max_external_blobs + 1;  // the files of one model
    if (request->digests_size() > most) {
      return ToGrpc(absl::InvalidArgumentError(
          absl::StrCat(request->digests_size(), " digests; at most ", most, " are answered at once")));
    }
    std::set<registry::Digest> seen;
    for (const aot::v1::Digest& proto : request->digests()) {
      absl::StatusOr<registry::BlobRef> digest = ParseDigest("digests", proto);
      if (!digest.ok()) return ToGrpc(digest.status());
      if (seen.insert(digest->digest).second && !context_.registry.HasBlob(*digest)) *response->add_missing() = proto;
    }
    return grpc::Status::OK;
  }

  grpc::Status QueryUpload(grpc::ServerContext*, const aot::v1::QueryUploadRequest* request,
                           aot::v1::QueryUploadResponse* response) override {
    absl::StatusOr<registry::BlobRef> file = ParseDigest("file", request->file());
    if (!file.ok()) return ToGrpc(file.status());
    bool complete = context_.registry.HasBlob(*file);
    uint64_t committed = complete ? file->size : 0;
    if (!complete) {
      absl::StatusOr<std::unique_ptr<registry::BlobWriter>> writer = context_.registry.OpenUpload(*file);
      if (!writer.ok()) return ToGrpc(writer.status());
      committed = (*writer)->offset();
      // The stream may have broken after the last byte.
      if (committed > 0 && committed == file->size) {
        complete = (*writer)->Commit().ok();
        if (!complete) committed = 0;
      } else if (committed > 0) {
        if (absl::Status status = (*writer)->Suspend(); !status.ok()) return ToGrpc(status);
      }
    }
    response->set_committed_bytes(static_cast<int64_t>(committed));
    response->set_complete(complete);
    return grpc::Status::OK;
  }

  grpc::ServerReadReactor<aot::v1::UploadModelRequest>* UploadModel(grpc::CallbackServerContext*,
                                                                    aot::v1::UploadModelResponse* response) override {
    return UploadReactor::Start(context_, response);
  }

  grpc::ServerWriteReactor<aot::v1::CompileResponse>* Compile(grpc::CallbackServerContext*,
                                                              const aot::v1::CompileRequest* request) override {
    absl::StatusOr<ParsedRequest> parsed = Parse(*request);
    absl::StatusOr<registry::ArtifactKey> key = parsed.ok() ? KeyOf(*parsed) : parsed.status();
    std::shared_ptr<CompileReactor> reactor =
        CompileReactor::Create(context_.scheduler, key.ok() ? JobKey("compile", *key) : std::string());
    if (!key.ok()) {
      reactor->Fail(key.status());
      return reactor.get();
    }
    absl::StatusOr<registry::ArtifactRecord> cached = context_.registry.LookupArtifact(*key);
    if (cached.ok()) {
      context_.cache.hits.fetch_add(1);
      reactor->Succeed(*cached, /*cache_hit=*/true);
    } else if (!absl::IsNotFound(cached.status())) {
      reactor->Fail(cached.status());
    } else {
      absl::Status status = StartCompile(*parsed, *request, *key, reactor);
      if (!status.ok()) reactor->Fail(status);
    }
    return reactor.get();
  }

  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext*, const aot::v1::CheckRequest* request,
                                  aot::v1::CheckResponse* response) override {
    absl::StatusOr<ParsedRequest> parsed = Parse(*request);
    absl::StatusOr<registry::ArtifactKey> key = parsed.ok() ? KeyOf(*parsed) : parsed.status();
    std::string job = key.ok() ? JobKey("check", *key) : std::string();
    std::shared_ptr<CheckReactor> reactor = CheckReactor::Create(context_.scheduler, job, response);
    // Whether the model is stored comes first: only then is what is wrong with the options an answer.
    absl::StatusOr<registry::ModelRecord> model = FindNamed(*request);
    if (!model.ok()) {
      reactor->Refuse(model.status());
    } else if (!key.ok()) {
      reactor->OnDone(key.status());
    } else {
      absl::Status status =
          context_.scheduler.Submit(job, reactor, CheckTask(context_.tasks, *std::move(model), request->options()));
      if (!status.ok()) reactor->Refuse(status);
    }
    return reactor.get();
  }

 private:
  static std::string JobKey(absl::string_view operation, const registry::ArtifactKey& key) {
    return absl::StrCat(operation, "/", key.Hex());
  }

  absl::StatusOr<registry::ModelRecord> FindNamed(const aot::v1::CheckRequest& request) {
    if (absl::Status status = RefuseUnknownFields(request); !status.ok()) return status;
    absl::StatusOr<registry::BlobRef> digest = ParseDigest("model", request.model());
    if (!digest.ok()) return digest.status();
    return FindStored(context_.registry, *digest);
  }

  absl::Status StartCompile(const ParsedRequest& parsed, const aot::v1::CompileRequest& request,
                            const registry::ArtifactKey& key, const std::shared_ptr<CompileReactor>& reactor) {
    absl::StatusOr<registry::ModelRecord> model = FindStored(context_.registry, parsed.model);
    if (!model.ok()) return model.status();
    context_.cache.misses.fetch_add(1);
    return context_.scheduler.Submit(JobKey("compile", key), reactor,
                                     CompileTask(context_.tasks, *std::move(model), request.options(), key));
  }

  ServiceContext& context_;
};

}  // namespace

std::unique_ptr<CompileServiceBase> MakeCompileService(ServiceContext& context) {
  return std::make_unique<CompileServiceImpl>(context);
}

}  // namespace aot::server
