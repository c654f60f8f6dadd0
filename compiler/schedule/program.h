// The scheduled model: which kernel runs at each step on which memory. What codegen turns into the entry function and
// emit into the manifest.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/schedule/kernel_spec.h"
#include "compiler/schedule/state.h"
#include "compiler/schedule/winograd.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace aot::schedule {

// Where a kernel's argument lies.
struct Location {
  enum class Kind { kInput, kOutput, kArena, kWeights };
  Kind kind = Kind::kArena;
  int64_t position = 0;  // number of the input or output, or byte offset
};

// A truth value (one byte) that says whether a step runs.
struct Guard {
  Location condition;
  bool wanted = true;
};

struct Step {
  size_t kernel = 0;                // of Program::kernels
  std::vector<Location> arguments;  // operands, results, then scratch if the kernel has any
  std::optional<Guard> guard;       // none: it always runs
};

// A value (or scratch) in the arena, for the manifest and for people.
struct ArenaEntry {
  std::string name;
  int64_t offset = 0, bytes = 0;
  int first_step = 0, last_step = 0;
};

// A constant in the weight segment.
struct Weight {
  mlir::ElementsAttr value;
  std::shared_ptr<const PanelPacking> packing;  // null: as it is. Equal ones are shared
  int64_t offset = 0, bytes = 0;
};

struct Program {
  std::vector<KernelSpec> kernels;  // distinct, in order of first use
  std::vector<Step> steps;
  std::vector<ArenaEntry> arena;
  int64_t arena_size = 0, arena_lower_bound = 0, arena_without_reuse = 0, scratch_size = 0;
  std::vector<Weight> weights;
  int64_t weights_size = 0;
};

// `function` holds nn.constant, nn.reshape, nn.group and a return (compiler/graph's pipeline). Adds copies for outputs
// that are inputs, constants or twice the same value. `growth` bounds what algorithms that keep larger weights may
// cost: kNone also where rounding must not change. The output of each of `states` is written over its input: callers
// give both as one buffer. RESOURCE_EXHAUSTED if a size overflows.
absl::StatusOr<Program> BuildProgram(mlir::func::FuncOp function, const target::Description& target,
                                     WeightGrowth growth = WeightGrowth::kNone, llvm::ArrayRef<State> states = {});

// The bytes of the weight segment. Constants that folding made give their memory back (nn::FromTemporaryTensor): the
// program and the function it was built from can't be read any more.
absl::StatusOr<std::string> PackWeights(const Program& program);

// One weight segment for several programs, the buckets of an artifact. Equal bytes are kept once, whichever program and
// whichever step they belong to.
class WeightSegment {
 public:
  // Packs the weights of a program, as PackWeights does, and points its steps at their places in the segment.
  // Afterwards the program has no weights of its own.
  absl::Status Add(Program& program);
  // The bytes. Ends the object's use.
  std::string Take() { return std::move(bytes_); }

 private:
  int64_t Place(absl::string_view packed);

  std::string bytes_;
  std::unordered_multimap<size_t, std::pair<int64_t, int64_t>> places_;  // hash -> offset, size
};

// Gives the kernels of all programs to the first, each once, and numbers the steps of the others by them.
void ShareKernels(std::vector<Program>& programs);

}  // namespace aot::schedule
