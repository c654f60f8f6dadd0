// aotctl: the command line of the product. docs/cli.md describes it and is generated from it.
#include <cstdio>
#include <iostream>

#include "clients/aotctl/verbs.h"

int main(int argc, char** argv) {
  using namespace aot::clients;
  Context context;
  CLI::App app("", "aotctl");
  AddAll(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help comes this way too, with exit status 0, unless nobody could read it.
    bool wrong = app.exit(error) != 0;
    bool written = std::cout.flush().good() && fflush(stdout) == 0 && ferror(stdout) == 0;
    return static_cast<int>(wrong ? ExitCode::kUsage : written ? ExitCode::kOk : ExitCode::kFailure);
  }
  absl::Status status = context.action(context);
  context.progress.Clear();
  return static_cast<int>(context.output.Finish(status));
}
