// Inputs of an artifact as the command line gives them; run and bench share them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "clients/model/session.h"

namespace aot::clients {

struct TensorFlags {
  std::vector<std::string> inputs;  // NAME=FILE, or FILE for the next input in order
  uint64_t seed = 0;
  bool random = false;  // inputs without a file get seeded random values
  std::string bucket;   // of an artifact with buckets: name or number; empty: the first
};

void AddTensorFlags(CLI::App* command, TensorFlags* flags);

// Chooses the bucket, and gives every input of the session its values. Usage error: an input has no file and random
// isn't set, a file names no input, an input has two files, there is no such bucket. Errors of the files pass through.
absl::Status SetInputs(const TensorFlags& flags, Session& session);

}  // namespace aot::clients
