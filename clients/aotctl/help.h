// `aotctl help`, and the reference that docs/cli.md is generated from.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "clients/aotctl/command.h"

namespace aot::clients {

void AddHelp(CLI::App& app, Context& context);

// Every verb with its options, and the exit codes, as Markdown.
std::string MarkdownHelp(const CLI::App& app);

}  // namespace aot::clients
