// aot_worker: one compile or check for the server, then the end. Not a tool for people: it reads a WorkerRequest from
// its standard input and writes WorkerEvents to its standard output.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iostream>
#include <iterator>
#include <mutex>
#include <new>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/pipeline.h"
#include "server/compile_options.h"
#include "server/worker/convert.h"
#include "server/worker/event_stream.h"
#include "server/worker/local_executor.h"
#include "server/worker/worker.pb.h"

namespace aot::server {
namespace {

bool WriteAll(int fd, const char* data, size_t size) {
  while (size > 0) {
    ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

// Sends events to the server. Thread-safe.
class EventWriter {
 public:
  explicit EventWriter(int fd) : fd_(fd) {}
  void Write(const WorkerEvent& event) {
    std::string bytes;
    if (!AppendEvent(event, bytes).ok()) return;  // then the end without a last event tells
    std::lock_guard<std::mutex> lock(mutex_);
    // Nobody listens any more: no point in going on.
    if (!WriteAll(fd_, bytes.data(), bytes.size())) _exit(1);
  }

 private:
  std::mutex mutex_;
  const int fd_;
};

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::InternalError(absl::StrCat("can't open ", path, ": ", strerror(errno)));
  struct stat info;
  std::string bytes;
  absl::Status status;
  if (fstat(fd, &info) != 0) {
    status = absl::InternalError(absl::StrCat("can't stat ", path, ": ", strerror(errno)));
  } else {
    bytes.resize(static_cast<size_t>(info.st_size));
    size_t got = 0;
    while (got < bytes.size()) {
      ssize_t n = read(fd, &bytes[got], bytes.size() - got);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      got += static_cast<size_t>(n);
    }
    if (got < bytes.size()) status = absl::InternalError(absl::StrCat("can't read all of ", path));
  }
  close(fd);
  if (!status.ok()) return status;
  return bytes;
}

absl::Status WritePart(const std::string& directory, absl::string_view name, const std::string& bytes) {
  std::string path = absl::StrCat(directory, "/", name);
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  // No fsync: the registry copies the file and makes its copy durable.
  bool ok = fd >= 0 && WriteAll(fd, bytes.data(), bytes.size());
  int error = errno;
  if (fd >= 0) close(fd);
  if (ok) return absl::OkStatus();
  std::string message = absl::StrCat("can't write the artifact's ", name, ": ", strerror(error));
  return error == ENOSPC ? absl::ResourceExhaustedError(message) : absl::InternalError(message);
}

absl::StatusOr<compiler::Model> ReadModel(const WorkerRequest& request) {
  compiler::Model model;
  absl::StatusOr<std::string> bytes = ReadFile(request.model_path());
  if (!bytes.ok()) return bytes.status();
  model.bytes = *std::move(bytes);
  for (const ExternalFile& file : request.external()) {
    absl::StatusOr<std::string> external = ReadFile(file.path());
    if (!external.ok()) return external.status();
    model.external[file.location()] = *std::move(external);
  }
  return model;
}

absl::StatusOr<WorkerEvent> RunCompile(const WorkerRequest& request, const compiler::Model& model,
                                       const compiler::Options& options, EventWriter& events) {
  auto progress = [&events](compiler::Stage stage, int done, int total) {
    WorkerEvent event;
    event.mutable_progress()->set_stage(ToProto(stage));
    event.mutable_progress()->set_done(done);
    event.mutable_progress()->set_total(total);
    events.Write(event);
  };
  absl::StatusOr<compiler::Artifact> artifact = compiler::Compile(model, options, progress);
  if (!artifact.ok()) return artifact.status();
  for (const auto& [name, bytes] : {std::pair<absl::string_view, const std::string*>{"manifest", &artifact->manifest},
                                    {"code", &artifact->code},
                                    {"weights", &artifact->weights}}) {
    if (absl::Status status = WritePart(request.output_directory(), name, *bytes); !status.ok()) return status;
  }
  WorkerEvent event;
  event.mutable_artifact()->set_key(artifact->key);
  event.mutable_artifact()->set_manifest_digest(artifact->manifest_digest);
  event.mutable_artifact()->set_code_digest(artifact->code_digest);
  event.mutable_artifact()->set_weights_digest(artifact->weights_digest);
  return event;
}

absl::StatusOr<WorkerEvent> RunCheck(const compiler::Model& model, const compiler::Options& options) {
  absl::StatusOr<compiler::ModelInfo> info = compiler::Check(model, options);
  if (!info.ok()) return info.status();
  WorkerEvent event;
  *event.mutable_info() = ToProto(*info);
  return event;
}

absl::StatusOr<WorkerEvent> RunRequest(const WorkerRequest& request, EventWriter& events) {
  absl::StatusOr<compiler::Options> options = FromProto(request.options());
  if (!options.ok()) return options.status();
  options->threads = request.threads();
  absl::StatusOr<compiler::Model> model = ReadModel(request);
  if (!model.ok()) return model.status();
  return request.operation() == WorkerRequest::OPERATION_CHECK ? RunCheck(*model, *options)
                                                               : RunCompile(request, *model, *options, events);
}

int Main() {
  // The last thing to do when memory runs out; no unwinding through a compiler that was built without exceptions.
  std::set_new_handler([] { _exit(kWorkerOutOfMemory); });
  // Events get the standard output for themselves; what a library prints goes where the server keeps it for a crash.
  int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return kWorkerBadRequest;
  std::string input{std::istreambuf_iterator<char>(std::cin), {}};
  WorkerRequest request;
  if (!request.ParseFromString(input) || request.operation() == WorkerRequest::OPERATION_UNSPECIFIED) {
    std::cerr << "aot_worker is started by aot_server, which tells it on its standard input what to do\n";
    return kWorkerBadRequest;
  }
  EventWriter events(out);
  absl::StatusOr<WorkerEvent> last = RunRequest(request, events);
  if (!last.ok()) {
    WorkerEvent failure;
    failure.mutable_failure()->set_code(static_cast<int>(last.status().code()));
    failure.mutable_failure()->set_message(std::string(last.status().message().substr(0, kMaxEventBytes / 2)));
    last = failure;
  }
  events.Write(*last);
  // Without destructors: the process's memory goes faster as a whole.
  _exit(0);
}

}  // namespace
}  // namespace aot::server

int main() { return aot::server::Main(); }
