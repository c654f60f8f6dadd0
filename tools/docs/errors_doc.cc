// errors_doc AOT_H: prints docs/errors.md from the runtime's header and aotctl's exit codes.
#include <fstream>
#include <iostream>
#include <iterator>

#include "clients/aotctl/exit_codes.h"
#include "tools/docs/markdown.h"
#include "tools/docs/status_table.h"

namespace aot::docs {
namespace {

constexpr const char* kHead = R"(# Errors

Generated from `runtime/include/aot/aot.h` and `clients/aotctl/exit_codes.cc` by `bazel run //tools/docs:update`; a test fails when it is
stale.

Errors are values everywhere: nothing that a user, a model, a network or a file brings makes a program abort. Each comes with a
sentence that says what was wrong, where, and what would be right; programs decide by the code, not by the sentence.

## On the device: `aot_status`

What the functions of `aot/aot.h` and `aot/ota.h` return. `aot_error` carries the sentence, the file, the byte offset and `errno`. Numbers
never change their meaning; new ones may come.

)";

constexpr const char* kExitCodes = R"(
## On the command line: the exit status of `aotctl`

With `--json` the name is in the object that comes out.

)";

constexpr const char* kTail = R"(
`aot-compile` knows 0 to 3 alone; its 1 stands for every other reason.

## From the server: gRPC status codes

Every RPC of `proto/aot/v1` lists its codes and what each means there. The sentence is in the status' message.
)";

absl::StatusOr<std::string> Page(const std::string& header) {
  absl::StatusOr<std::vector<StatusCode>> codes = ReadStatusCodes(header);
  if (!codes.ok()) return codes.status();
  std::vector<Row> statuses = {{"Number", "Name", "Meaning"}};
  for (const StatusCode& code : *codes) {
    statuses.push_back({absl::StrCat(code.number), Code(code.name), code.meaning});
  }
  std::vector<Row> exits = {{"Exit status", "Name", "Meaning"}};
  for (const clients::ExitCodeDescription& code : clients::ExitCodes()) {
    exits.push_back(
        {absl::StrCat(static_cast<int>(code.code)), Code(std::string(code.name)), std::string(code.meaning)});
  }
  return absl::StrCat(kHead, Table(statuses), kExitCodes, Table(exits), kTail);
}

}  // namespace
}  // namespace aot::docs

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: errors_doc AOT_H\n";
    return 2;
  }
  std::ifstream file(argv[1]);
  const std::string header((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  absl::StatusOr<std::string> page = aot::docs::Page(header);
  if (!page.ok()) {
    std::cerr << "errors_doc: " << argv[1] << ": " << page.status().message() << "\n";
    return 1;
  }
  std::cout << *page << std::flush;
  return std::cout ? 0 : 1;
}
