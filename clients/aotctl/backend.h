// Where models are compiled: on a server, or in this process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "clients/aotctl/command.h"
#include "compiler/pipeline.h"

namespace aot::clients {

// A compiled artifact.
struct Compiled {
  std::string key;
  std::string target;
  bool cache_hit = false;
  int64_t manifest_bytes = 0, code_bytes = 0, weight_bytes = 0;
  std::string compiler_version;
};

struct TypedValue {
  std::string name;
  std::string element;  // "float32"
  std::vector<int64_t> shape;
  bool at_most = false;  // the data decides dimensions: these are bounds
};

// What importing a model tells.
struct Checked {
  std::string graph_name;
  std::vector<TypedValue> inputs, outputs;
  std::map<std::string, int> operators;
};

// One model at a time: SetModel, then any number of calls. Used by one thread. The codes of Compile and Check are those
// of compiler/pipeline.h; a server adds UNAVAILABLE and its own (proto/aot/v1/compile.proto).
class Backend {
 public:
  virtual ~Backend() = default;

  // Takes the model; a server gets what it lacks. `name` is for people.
  virtual absl::Status SetModel(compiler::Model model, const std::string& name) = 0;
  virtual absl::StatusOr<Compiled> Compile(const compiler::Options& options) = 0;
  virtual absl::StatusOr<Checked> Check(const compiler::Options& options) = 0;
  // The `.so` form of an artifact that this backend compiled.
  virtual absl::StatusOr<std::string> SharedObject(const Compiled& compiled) = 0;
};

// Both show their progress on the context's terminal; the context outlives them.
std::unique_ptr<Backend> LocalBackend(Context& context);
std::unique_ptr<Backend> ServerBackend(Context& context);

}  // namespace aot::clients
