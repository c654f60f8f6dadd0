// What the verbs of aotctl share: the global options, and how a verb is registered.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "clients/aotctl/output.h"
#include "clients/aotctl/progress.h"

namespace aot::clients {

constexpr char kDefaultServer[] = "127.0.0.1:7070";

// What a verb works with. Lives as long as the program.
struct Context {
  Output output;
  Progress progress;
  std::string server = kDefaultServer;
  // What the command line asks for; set while it is parsed, run afterwards.
  std::function<absl::Status(Context&)> action;
};

// Adds the subcommand `name`. Its options are bound to members of `args`, which the subcommand keeps alive; if the user
// names it, `run` becomes the action.
template <typename Args>
CLI::App* AddCommand(CLI::App& parent, Context& context, const std::string& name, const std::string& description,
                     std::shared_ptr<Args> args, absl::Status (*run)(const Args&, Context&)) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->callback([&context, args, run] { context.action = [args, run](Context& c) { return run(*args, c); }; });
  return command;
}

// Adds a subcommand that only groups others.
inline CLI::App* AddGroup(CLI::App& parent, const std::string& name, const std::string& description) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->require_subcommand(1);
  return command;
}

// Adds a subcommand that groups others and, named alone, does what the one of them does that shows things, with its
// defaults.
template <typename Args>
CLI::App* AddGroup(CLI::App& parent, Context& context, const std::string& name, const std::string& description,
                   absl::Status (*show)(const Args&, Context&)) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->require_subcommand(0, 1);
  command->callback([&context, command, show] {
    if (command->get_subcommands().empty()) context.action = [show](Context& c) { return show(Args(), c); };
  });
  return command;
}

}  // namespace aot::clients
