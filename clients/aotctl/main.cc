// aotctl: the command line of the product. docs/cli.md describes it and is generated from it.
#include "clients/aotctl/verbs.h"

int main(int argc, char** argv) {
  using namespace aot::clients;
  Context context;
  CLI::App app("", "aotctl");
  AddAll(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help comes this way too, with exit status 0.
    return app.exit(error) == 0 ? static_cast<int>(ExitCode::kOk) : static_cast<int>(ExitCode::kUsage);
  }
  absl::Status status = context.action(context);
  context.progress.Clear();
  return static_cast<int>(context.output.Finish(status));
}
