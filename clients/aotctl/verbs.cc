#include "clients/aotctl/verbs.h"

#include "clients/aotctl/help.h"

namespace aot::clients {

void AddAll(CLI::App& app, Context& context) {
  app.description("Compiles ONNX models ahead of time, and runs, checks and publishes what comes out.");
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--server", context.server, "Address of the aot_server, HOST:PORT")
      ->envname("AOT_SERVER")
      ->capture_default_str();
  app.add_flag_callback(
      "--json", [&context] { context.output.set_json(true); }, "One JSON object on stdout, everything else on stderr");

  AddCompile(app, context);
  AddCheck(app, context);
  AddTargets(app, context);
  AddModels(app, context);
  AddArtifacts(app, context);
  AddInspect(app, context);
  AddRun(app, context);
  AddVerify(app, context);
  AddBench(app, context);
  AddPublish(app, context);
  AddWithdraw(app, context);
  AddKeys(app, context);
  AddCache(app, context);
  AddHelp(app, context);
}

}  // namespace aot::clients
