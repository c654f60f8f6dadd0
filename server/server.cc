#include "server/server.h"

#include <errno.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <spdlog/spdlog.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "registry/registry.h"
#include "server/http/http_server.h"
#include "server/maintenance_thread.h"
#include "server/metrics.h"
#include "server/services/compile_service.h"
#include "server/services/registry_service.h"
#include "server/services/release_service.h"
#include "server/services/service_context.h"
#include "server/temp_dir.h"

namespace aot::server {
namespace {

constexpr int kDiskThreads = 4;
constexpr int kOpeningThreads = 2;
constexpr uint64_t kModelsUnderWay = 8;  // so many of the largest size may be uploaded at a time
constexpr absl::Duration kDrain = absl::Seconds(5);
constexpr int64_t kRpcMemoryBytes = int64_t{512} << 20;  // gRPC's own buffers, of all connections

std::string HostAndPort(const std::string& address, int port) {
  return absl::StrContains(address, ':') ? absl::StrCat("[", address, "]:", port) : absl::StrCat(address, ":", port);
}

// The limits that Debian's gRPC can enforce against many, idle or dead peers.
void SetLimits(grpc::ServerBuilder& builder, const Limits& limits) {
  builder.SetMaxReceiveMessageSize(MaxMessageBytes(limits));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, limits.max_concurrent_streams);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 30 * 60'000);
  // Two servers on one port would share the connections between them without a word.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  grpc::ResourceQuota quota("aot_server");
  quota.Resize(kRpcMemoryBytes);
  quota.SetMaxThreads(limits.max_threads);
  builder.SetResourceQuota(quota);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MAX_POLLERS, 4);
}

// A part of the sandbox that another one stands in for is no gap.
void WarnOfGaps(const Isolation& isolation) {
  if (!isolation.network_namespace && !isolation.call_filter) {
    spdlog::warn("neither user namespaces nor seccomp are allowed on this host: compiles can reach the network");
  }
  if (!isolation.call_filter) {
    spdlog::warn("seccomp is not allowed on this host: a compile that goes wrong can signal other processes");
  }
  if (isolation.files == FileIsolation::kNone) {
    spdlog::warn(
        "neither Landlock (Linux 5.13) nor user namespaces are allowed on this host: a compile that goes wrong can "
        "read the signing keys and the store");
  }
}

absl::Status MakeDataDir(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("can't make the data directory ", path, ": ", error.message(), " (name another with --data-dir)"));
}

}  // namespace

// In the order in which they are made; each uses only those before it.
struct Server::Parts {
  ServerOptions options;
  std::unique_ptr<registry::Registry> registry;
  std::unique_ptr<LocalExecutor> executor;
  std::unique_ptr<TaskEnvironment> tasks;
  std::unique_ptr<JobScheduler> scheduler;
  std::unique_ptr<ThreadPool> disk, opening;
  std::unique_ptr<StallWatch> watch;
  std::unique_ptr<ServiceContext> context;
  std::unique_ptr<MaintenanceThread> maintenance;
  std::unique_ptr<Metrics> metrics;
  std::unique_ptr<HttpServer> http;
  std::unique_ptr<CompileServiceBase> compile_service;
  std::unique_ptr<RegistryServiceBase> registry_service;
  std::unique_ptr<aot::v1::ReleaseService::Service> release_service;
  std::unique_ptr<grpc::Server> grpc;
  int grpc_port = 0;
  std::once_flag stopped;

  absl::Status StartBackground();
  absl::Status StartHttp();
  absl::Status StartGrpc();
};

absl::Status Server::Parts::StartBackground() {
  if (absl::Status status = MakeDataDir(options.data_dir); !status.ok()) return status;
  registry::RegistryOptions registry_options;
  registry_options.blobs.upload_bytes = kModelsUnderWay * static_cast<uint64_t>(options.limits.max_model_bytes);
  // Holds the directory's lock: from here on everything in it is ours.
  absl::StatusOr<std::unique_ptr<registry::Registry>> opened =
      registry::Registry::Open(options.data_dir, registry_options);
  if (!opened.ok()) return opened.status();
  registry = *std::move(opened);
  std::string work_dir = absl::StrCat(options.data_dir, "/work");
  if (absl::Status status = MakeEmptyDir(work_dir); !status.ok()) return status;

  options.executor.isolation = ProbeIsolation();
  options.executor.private_directory = options.data_dir;
  WarnOfGaps(options.executor.isolation);
  if (options.workers <= 0) options.workers = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  executor = std::make_unique<LocalExecutor>(options.executor);
  tasks.reset(new TaskEnvironment{*registry, *executor, work_dir, options.worker_threads});
  scheduler = std::make_unique<JobScheduler>(options.workers, options.queue_length);
  disk = std::make_unique<ThreadPool>(kDiskThreads);
  opening = std::make_unique<ThreadPool>(kOpeningThreads);
  watch = std::make_unique<StallWatch>(options.limits.stall);
  context.reset(new ServiceContext{*registry,
                                   *scheduler,
                                   *tasks,
                                   options.executor,
                                   executor->counters(),
                                   *disk,
                                   *opening,
                                   *watch,
                                   options.limits,
                                   options.workers,
                                   options.queue_length,
                                   absl::Now(),
                                   "",
                                   {},
                                   {}});
  maintenance = std::make_unique<MaintenanceThread>(*registry, options.maintenance_interval);
  metrics = std::make_unique<Metrics>(*context);
  return absl::OkStatus();
}

absl::Status Server::Parts::StartHttp() {
  if (options.http_port < 0) return absl::OkStatus();
  HttpOptions http_options;
  http_options.address = options.address == "localhost" ? "127.0.0.1" : options.address;
  http_options.port = static_cast<uint16_t>(options.http_port);
  http_options.metrics = metrics->registry();
  absl::StatusOr<std::unique_ptr<HttpServer>> started = HttpServer::Start(http_options, *registry);
  if (!started.ok()) return started.status();
  http = *std::move(started);
  context->repository_url = absl::StrCat("http://", HostAndPort(http_options.address, http->port()));
  return absl::OkStatus();
}

absl::Status Server::Parts::StartGrpc() {
  static std::once_flag plugins;
  std::call_once(plugins, [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
  compile_service = MakeCompileService(*context);
  registry_service = MakeRegistryService(*context);
  release_service = MakeReleaseService(*context);
  grpc::ServerBuilder builder;
  SetLimits(builder, options.limits);
  std::string address = HostAndPort(options.address, options.grpc_port);
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &grpc_port);
  builder.RegisterService(compile_service.get());
  builder.RegisterService(registry_service.get());
  builder.RegisterService(release_service.get());
  grpc = builder.BuildAndStart();
  if (grpc == nullptr || grpc_port == 0) {
    return absl::UnavailableError(absl::StrCat(
        "can't listen on ", address, ": is another server running there? (--grpc-port 0 takes any free one)"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerOptions options) {
  if (absl::Status status = CheckLoopback(options.address); !status.ok()) return status;
  if (access(options.executor.worker_path.c_str(), X_OK) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the worker '", options.executor.worker_path, "' can't be run: ", strerror(errno)));
  }
  auto parts = std::make_unique<Parts>();
  parts->options = std::move(options);
  std::unique_ptr<Server> server(new Server(std::move(parts)));  // stops what was started if the rest fails
  if (absl::Status status = server->parts_->StartBackground(); !status.ok()) return status;
  if (absl::Status status = server->parts_->StartHttp(); !status.ok()) return status;
  if (absl::Status status = server->parts_->StartGrpc(); !status.ok()) return status;
  return server;
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Server::~Server() { Stop(); }

int Server::grpc_port() const { return parts_->grpc_port; }

int Server::http_port() const { return parts_->http == nullptr ? -1 : parts_->http->port(); }

int Server::workers() const { return parts_->options.workers; }

const Isolation& Server::isolation() const { return parts_->options.executor.isolation; }

void Server::Stop() {
  std::call_once(parts_->stopped, [this] {
    if (parts_->grpc != nullptr) {
      if (auto* health = parts_->grpc->GetHealthCheckService(); health != nullptr) health->SetServingStatus(false);
    }
    // First the jobs: their streams end with an answer instead of being cut.
    if (parts_->scheduler != nullptr) parts_->scheduler->Shutdown();
    if (parts_->grpc != nullptr) parts_->grpc->Shutdown(absl::ToChronoTime(absl::Now() + kDrain));
    if (parts_->http != nullptr) parts_->http->Stop();
    // Destruction in Parts' reverse order would leave streams that a disk thread still holds until after the services.
    parts_->watch.reset();
    parts_->opening.reset();
    parts_->disk.reset();
  });
}

}  // namespace aot::server
