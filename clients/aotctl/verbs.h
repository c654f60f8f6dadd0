// The verbs of aotctl: one file each, one line here and one in verbs.cc.
#pragma once

#include <CLI/CLI.hpp>

#include "clients/aotctl/command.h"

namespace aot::clients {

void AddArtifacts(CLI::App& app, Context& context);
void AddBench(CLI::App& app, Context& context);
void AddCache(CLI::App& app, Context& context);
void AddCheck(CLI::App& app, Context& context);
void AddCompile(CLI::App& app, Context& context);
void AddInspect(CLI::App& app, Context& context);
void AddKeys(CLI::App& app, Context& context);
void AddModels(CLI::App& app, Context& context);
void AddPublish(CLI::App& app, Context& context);
void AddRun(CLI::App& app, Context& context);
void AddTargets(CLI::App& app, Context& context);
void AddVerify(CLI::App& app, Context& context);
void AddWithdraw(CLI::App& app, Context& context);

// Global options and all verbs.
void AddAll(CLI::App& app, Context& context);

}  // namespace aot::clients
