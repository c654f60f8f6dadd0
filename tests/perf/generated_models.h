// Models of any size, made in memory: what the cost of compiling is measured on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/pipeline.h"

namespace aot::perf {

struct GeneratedModel {
  std::string name;
  std::string what;
  compiler::Model (*make)(int64_t size);
};

// Each grows by one parameter: nodes, initialisers, or megabytes of weights.
const std::vector<GeneratedModel>& GeneratedModels();

}  // namespace aot::perf
