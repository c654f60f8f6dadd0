// --state and --bucket as aotctl and aot-compile take them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/pipeline.h"

namespace aot::clients {

inline constexpr char kStateFlagHelp[] =
    "INPUT=OUTPUT: the output is the input's value in the next run; both are one buffer, which the runtime keeps";
inline constexpr char kBucketFlagHelp[] =
    "NAME=N or NAME=N,NAME=N: one binding of symbolic dimensions of several that the artifact holds over one copy of "
    "the weights; a run takes the one that fits its shapes";

// Each adds what the flags say to *options. INVALID_ARGUMENT: one is malformed or says something twice.
absl::Status ParseStates(const std::vector<std::string>& flags, compiler::Options* options);
absl::Status ParseBuckets(const std::vector<std::string>& flags, compiler::Options* options);

}  // namespace aot::clients
