#include "server/jobs/compile_task.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "compiler/pipeline.h"
#include "server/compile_options.h"
#include "server/temp_dir.h"

namespace aot::server {
namespace {

constexpr size_t kCopyBytes = 1 << 20;

absl::Status WriteError(const std::string& path, int error) {
  std::string message = absl::StrCat("can't write ", path, ": ", strerror(error));
  return error == ENOSPC || error == EDQUOT ? absl::ResourceExhaustedError(message) : absl::InternalError(message);
}

// Copies a stored file, verified, to where the worker reads it: the worker gets no way into the store.
absl::Status Stage(registry::Registry& registry, const registry::BlobRef& ref, const std::string& path) {
  absl::StatusOr<std::unique_ptr<registry::BlobReader>> blob = registry.OpenBlob(ref, registry::Verify::kAlways);
  if (!blob.ok()) {
    if (!absl::IsNotFound(blob.status())) return blob.status();
    return absl::DataLossError(absl::StrCat("the model's file ", ref.digest.Hex(),
                                            " is gone from the store or damaged: upload the model again"));
  }
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return WriteError(path, errno);
  absl::Status status;
  std::vector<char> buffer(std::min<uint64_t>(kCopyBytes, ref.size));
  for (uint64_t offset = 0; offset < ref.size && status.ok();) {
    size_t size = std::min<uint64_t>(buffer.size(), ref.size - offset);
    status = (*blob)->ReadAt(offset, buffer.data(), size);
    for (size_t done = 0; status.ok() && done < size;) {
      ssize_t n = write(fd, buffer.data() + done, size - done);
      if (n < 0 && errno != EINTR) status = WriteError(path, errno);
      if (n > 0) done += static_cast<size_t>(n);
    }
    offset += size;
  }
  close(fd);
  return status;
}

// Fills the request's files from the registry.
absl::Status StageModel(const TaskEnvironment& environment, const registry::ModelRecord& model,
                        const std::string& directory, WorkerRequest& request) {
  request.set_model_path(absl::StrCat(directory, "/model"));
  if (absl::Status s = Stage(environment.registry, model.blob, request.model_path()); !s.ok()) return s;
  for (const registry::ExternalBlob& blob : model.external) {
    ExternalFile& file = *request.add_external();
    file.set_location(blob.name);
    // The location is the client's text, so it never becomes a path.
    file.set_path(absl::StrCat(directory, "/external-", request.external_size()));
    if (absl::Status s = Stage(environment.registry, blob.blob, file.path()); !s.ok()) return s;
  }
  request.set_output_directory(directory);
  request.set_threads(environment.worker_threads);
  return absl::OkStatus();
}

absl::StatusOr<WorkerEvent> RunWorker(const TaskEnvironment& environment, const registry::ModelRecord& model,
                                      const TempDir& directory, WorkerRequest request, const CancelSignal& cancel,
                                      const ProgressSink& progress) {
  if (absl::Status s = StageModel(environment, model, directory.path(), request); !s.ok()) return s;
  return environment.executor.Run(request, cancel, progress);
}

absl::Status Mismatch(absl::string_view what, absl::string_view got, absl::string_view want) {
  return absl::InternalError(
      absl::StrCat("the worker's ", what, " is ", got, ", not ", want, ": are server and worker of one build?"));
}

absl::StatusOr<registry::ArtifactRecord> Keep(const TaskEnvironment& environment, const registry::ModelRecord& model,
                                              const aot::v1::CompileOptions& options, const registry::ArtifactKey& key,
                                              const CompiledArtifact& compiled, const std::string& directory,
                                              absl::Duration compile_time) {
  if (compiled.key() != key.Hex()) return Mismatch("artifact key", compiled.key(), key.Hex());
  absl::StatusOr<compiler::Options> canonical = FromProto(options);
  if (!canonical.ok()) return canonical.status();
  registry::ArtifactRecord record;
  record.key = key;
  record.model = model.digest;
  record.target = options.target();
  record.options = compiler::CanonicalOptions(*canonical);
  record.compiler = compiler::CompilerVersion();
  record.compile_time = compile_time;
  registry::ArtifactParts parts{registry::FilePath{absl::StrCat(directory, "/manifest")},
                                registry::FilePath{absl::StrCat(directory, "/code")},
                                registry::FilePath{absl::StrCat(directory, "/weights")}};
  absl::StatusOr<registry::ArtifactRecord> stored = environment.registry.StoreArtifact(record, parts);
  if (!stored.ok()) return stored.status();
  for (const auto& [what, got, want] : {std::tuple<absl::string_view, std::string, std::string>{
                                            "manifest", stored->manifest.digest.Hex(), compiled.manifest_digest()},
                                        {"code", stored->code.digest.Hex(), compiled.code_digest()},
                                        {"weights", stored->weights.digest.Hex(), compiled.weights_digest()}}) {
    if (got == want) continue;
    // The files changed between the worker's hand and ours: nothing that may be served.
    absl::Status deleted = environment.registry.DeleteArtifact(key);
    return Mismatch(absl::StrCat(what, " digest"), got, want);
  }
  return stored;
}

}  // namespace

JobScheduler::Task CompileTask(const TaskEnvironment& environment, registry::ModelRecord model,
                               aot::v1::CompileOptions options, registry::ArtifactKey key) {
  // A collection that runs meanwhile leaves the model alone, or the artifact would have nothing to belong to. Shared,
  // because a task is copied.
  auto pin = std::make_shared<registry::BlobPin>(environment.registry.PinBlob(model.blob.digest));
  return [&environment, model = std::move(model), options = std::move(options), key, pin](
             const CancelSignal& cancel, const ProgressSink& progress) -> absl::StatusOr<JobOutcome> {
    // Between the request's look into the cache and this job's start another job may have made it.
    absl::StatusOr<registry::ArtifactRecord> cached = environment.registry.LookupArtifact(key);
    if (cached.ok()) return *std::move(cached);
    absl::StatusOr<TempDir> directory = TempDir::Create(environment.work_dir);
    if (!directory.ok()) return directory.status();
    absl::Time start = absl::Now();
    WorkerRequest request;
    request.set_operation(WorkerRequest::OPERATION_COMPILE);
    *request.mutable_options() = options;
    absl::StatusOr<WorkerEvent> event = RunWorker(environment, model, *directory, std::move(request), cancel, progress);
    if (!event.ok()) return event.status();
    if (!event->has_artifact()) return absl::InternalError("the worker ended a compile without an artifact");
    absl::StatusOr<registry::ArtifactRecord> stored =
        Keep(environment, model, options, key, event->artifact(), directory->path(), absl::Now() - start);
    if (!stored.ok()) return stored.status();
    return *std::move(stored);
  };
}

JobScheduler::Task CheckTask(const TaskEnvironment& environment, registry::ModelRecord model,
                             aot::v1::CompileOptions options) {
  return [&environment, model = std::move(model), options = std::move(options)](
             const CancelSignal& cancel, const ProgressSink& progress) -> absl::StatusOr<JobOutcome> {
    absl::StatusOr<TempDir> directory = TempDir::Create(environment.work_dir);
    if (!directory.ok()) return directory.status();
    WorkerRequest request;
    request.set_operation(WorkerRequest::OPERATION_CHECK);
    *request.mutable_options() = options;
    absl::StatusOr<WorkerEvent> event = RunWorker(environment, model, *directory, std::move(request), cancel, progress);
    if (!event.ok()) return event.status();
    if (!event->has_info()) return absl::InternalError("the worker ended a check without an answer");
    return std::move(*event->mutable_info());
  };
}

}  // namespace aot::server
