// A worker for tests: does what the text of the model file says, and by default writes three small parts.
//   crash, abort, hang, spin, eat memory, network, silence, garbage, fail, print, WAIT <file>
#include <fcntl.h>
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
#include <vector>

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
    // With a namespace the socket exists, but nothing can be reached: there is no interface, hence no route.
    std::ifstream routes("/proc/self/net/route");
    std::string header, route;
    std::getline(routes, header);
    bool reachable = fd >= 0 && static_cast<bool>(std::getline(routes, route));
    SendFailure(5, reachable ? "the network can be reached" : "no network");
    return 0;
  }
  if (text == "fail") {
    SendFailure(12, "node 'a' (op Foo, opset 13): no such operator\nnode 'b' (op Bar, opset 13): no such operator");
    return 0;
  }
  if (text == "environment") {
    std::ostringstream all;
    for (char** variable = environ; *variable != nullptr; ++variable) all << *variable << "\n";
    SendFailure(5, all.str());
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
