// A worker for tests that does what the text of the model file says:
//   crash, abort, hang, spin, eat memory    ends in that way
//   network, environment, fork, threads     fails with what it could reach, see or start
//   read PATH, write PATH, kill PROCESS     fails with whether it could
//   silence, garbage, wrong key             breaks the protocol
//   fail, fail at length                    says no as a compiler would
//   artifact ..., artifact when PATH        makes small parts, the second once that file exists
// and answers a check with the text as the graph's name.
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iostream>
#include <iterator>
#include <new>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "compiler/pipeline.h"
#include "registry/digest.h"
#include "server/compile_options.h"
#include "server/worker/event_stream.h"
#include "server/worker/local_executor.h"
#include "server/worker/worker.pb.h"

namespace aot::server {
namespace {

void Send(const WorkerEvent& event) {
  std::string bytes;
  if (AppendEvent(event, bytes).ok()) std::cout << bytes << std::flush;
}

void SendFailure(int code, const std::string& message) {
  WorkerEvent event;
  event.mutable_failure()->set_code(code);
  event.mutable_failure()->set_message(message);
  Send(event);
}

void EatMemory() {
  std::set_new_handler([] { _exit(kWorkerOutOfMemory); });
  std::vector<char*> pieces;
  while (true) pieces.push_back(new char[64 << 20]);
}

std::string WritePart(const std::string& directory, const std::string& name, const std::string& bytes) {
  std::ofstream(directory + "/" + name) << bytes;
  return registry::Digest::Of(bytes).Hex();
}

void MakeArtifact(const WorkerRequest& request, const std::string& text) {
  if (size_t when = text.find(" when "); when != std::string::npos) {
    while (access(text.c_str() + when + 6, F_OK) != 0) usleep(1000);
  }
  std::string model_digest = registry::Digest::Of(text).Hex();
  WorkerEvent event;
  CompiledArtifact& artifact = *event.mutable_artifact();
  artifact.set_key(compiler::ArtifactKey(model_digest, FromProto(request.options()).value()).value());
  artifact.set_manifest_digest(WritePart(request.output_directory(), "manifest", "manifest of " + text));
  artifact.set_code_digest(WritePart(request.output_directory(), "code", "code of " + text));
  artifact.set_weights_digest(WritePart(request.output_directory(), "weights", std::string(1 << 20, 'w')));
  Send(event);
}

int Main() {
  WorkerRequest request;
  std::string input{std::istreambuf_iterator<char>(std::cin), {}};
  if (!request.ParseFromString(input)) return kWorkerBadRequest;
  std::ifstream model(request.model_path());
  std::string text{std::istreambuf_iterator<char>(model), {}};
  WorkerEvent progress;
  progress.mutable_progress()->set_stage(aot::v1::STAGE_IMPORT);
  progress.mutable_progress()->set_done(1);
  progress.mutable_progress()->set_total(2);
  Send(progress);
  if (text == "crash") raise(SIGSEGV);
  if (text == "abort") {
    std::cerr << "assertion failed: the last words\n";
    abort();
  }
  if (text == "hang") {
    while (true) pause();
  }
  if (text == "spin") {
    for (volatile int i = 0;; i = i + 1) {
    }
  }
  if (text == "eat memory") EatMemory();
  if (text == "silence") return 0;
  if (text == "garbage") {
    std::cout << "\xff\xff\xff\xff what is this" << std::flush;
    pause();
  }
  if (text == "network") {
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    // With a namespace alone the socket exists, but nothing can be reached: there is no interface, hence no route.
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(9);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bool reachable = fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    SendFailure(5, reachable ? "the network can be reached" : "no network");
    return 0;
  }
  if (text.rfind("read ", 0) == 0) {
    int fd = open(text.c_str() + 5, O_RDONLY);
    SendFailure(5, fd >= 0 ? "could open it" : "refused");
    return 0;
  }
  if (text.rfind("write ", 0) == 0) {
    int fd = open(text.c_str() + 6, O_WRONLY | O_CREAT, 0600);
    SendFailure(5, fd >= 0 ? "could open it" : "refused");
    return 0;
  }
  if (text.rfind("kill ", 0) == 0) {
    SendFailure(5, kill(atoi(text.c_str() + 5), 0) == 0 ? "could signal it" : "refused");
    return 0;
  }
  if (text == "fork") {
    SendFailure(5, fork() >= 0 ? "could fork" : "refused");
    return 0;
  }
  if (text == "threads") {
    int sum = 0;
    std::thread([&sum] { sum = 42; }).join();
    SendFailure(5, std::to_string(sum));
    return 0;
  }
  if (text == "fail") {
    SendFailure(12, "node 'a' (op Foo, opset 13): no such operator\nnode 'b' (op Bar, opset 13): no such operator");
    return 0;
  }
  if (text == "fail at length") {
    std::string message;
    for (int i = 0; i < 2000; ++i)
      message += "node 'n" + std::to_string(i) + "' (op Foo, opset 13): no such operator\n";
    SendFailure(12, message);
    return 0;
  }
  if (text == "wrong key") {
    WorkerEvent event;
    event.mutable_artifact()->set_key(std::string(64, '0'));
    Send(event);
    return 0;
  }
  if (text == "environment") {
    std::ostringstream all;
    for (char** variable = environ; *variable != nullptr; ++variable) all << *variable << "\n";
    SendFailure(5, all.str());
    return 0;
  }
  if (request.operation() == WorkerRequest::OPERATION_COMPILE) {
    MakeArtifact(request, text);
    return 0;
  }
  WorkerEvent last;
  last.mutable_info()->set_graph_name(text);
  Send(last);
  return 0;
}

}  // namespace
}  // namespace aot::server

int main() { return aot::server::Main(); }
