// The options of a compile as the command line has them; compile, check and verify share them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "clients/aotctl/command.h"
#include "compiler/pipeline.h"

namespace aot::clients {

struct CompileFlags {
  std::string model;
  std::vector<std::string> targets = {"native"};
  std::vector<std::string> dims;            // NAME=N
  std::vector<std::string> input_shapes;    // NAME=1x3x48x320
  std::vector<std::string> input_elements;  // NAME=3, NAME=absent
  std::vector<std::string> bind_inputs;     // NAME=@FILE
  std::vector<std::string> states;          // INPUT=OUTPUT
  std::vector<std::string> buckets;         // NAME=N,NAME=N
  int opt_level = 3;
  std::string math = "default";
  std::string optimize_for = "balanced";
  std::string name;
  int threads = 0;
  bool local = false;
};

void AddCompileFlags(CLI::App* command, CompileFlags* flags);
// Those of them that decide what the artifact is, but for the model.
void AddArtifactFlags(CLI::App* command, CompileFlags* flags);

// One Options for each target, `native` resolved to a named description and targets named twice taken once. Usage
// error: a malformed --dim, --input-shape, --input-elements, --bind-input, --state or --bucket. Errors of reading the
// files of --bind-input. NOT_FOUND: `native` on a machine that no description fits.
absl::StatusOr<std::vector<compiler::Options>> ToOptions(const CompileFlags& flags);

// The name and value of "NAME=VALUE", split at the last '=': names may contain one, values can't.
absl::StatusOr<std::pair<std::string, std::string>> SplitAssignment(absl::string_view flag, const std::string& text);

}  // namespace aot::clients
