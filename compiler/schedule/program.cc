#include "compiler/schedule/program.h"

#include <set>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/schedule/arena.h"

namespace aot::schedule {
namespace {

// Of scratch, and of the arena: a terabyte. Sizes below it add up without overflow.
constexpr int64_t kMostArenaBytes = int64_t{1} << 40;

int64_t Bytes(mlir::Value value) {
  auto type = nn::TensorTypeOf(value);
  return type.getNumElements() * StorageBytes(type.getElementType());
}

int64_t Align(int64_t bytes) { return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment; }

std::string NameOf(mlir::Operation* op) {
  std::string name;
  if (auto loc = llvm::dyn_cast<mlir::NameLoc>(op->getLoc())) name = loc.getName().str();
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(op->getLoc()))
    for (mlir::Location part : fused.getLocations())
      if (auto loc = llvm::dyn_cast<mlir::NameLoc>(part)) name = loc.getName().str();
  return name;
}

// An output has memory of its own only if a group writes it and no other output is the same value: others get a copying
// group, except a state that stays as it is.
void MaterialiseOutputs(mlir::func::FuncOp function, llvm::ArrayRef<State> states) {
  mlir::Block& body = function.getBody().front();
  llvm::DenseSet<mlir::Value> taken;
  for (mlir::OpOperand& operand : body.getTerminator()->getOpOperands()) {
    mlir::Value storage = StorageOf(operand.get());
    if (storage.getDefiningOp<nn::GroupOp>() && taken.insert(storage).second) continue;
    auto unchanged = [&](const State& state) {
      return state.output == operand.getOperandNumber() && storage == body.getArgument(state.input);
    };
    if (llvm::none_of(states, unchanged)) operand.set(AppendCopy(function, operand.get()));
  }
}

class ProgramBuilder {
 public:
  ProgramBuilder(const target::Description& target, llvm::ArrayRef<State> states) : target_(target), states_(states) {}

  absl::StatusOr<Program> Build(mlir::func::FuncOp function) {
    MaterialiseOutputs(function, states_);
    conditional_ = ConditionalGroups(function);
    PlaceStates(function, states_, conditional_);
    mlir::Block& body = function.getBody().front();
    for (auto [i, argument] : llvm::enumerate(body.getArguments()))
      locations_[argument] = {Location::Kind::kInput, static_cast<int64_t>(i)};
    for (auto [i, output] : llvm::enumerate(body.getTerminator()->getOperands()))
      locations_[StorageOf(output)] = {Location::Kind::kOutput, static_cast<int64_t>(i)};
    int step = 0;
    for (mlir::Operation& op : body.without_terminator()) {
      if (llvm::isa<nn::ConstantOp, nn::ReshapeOp, nn::BitcastOp>(op)) continue;
      auto group = llvm::dyn_cast<nn::GroupOp>(op);
      if (!group)
        return absl::InternalError(absl::StrCat(op.getName().getStringRef().str(), " was left outside of groups"));
      if (group->hasAttr(kInPlace)) in_place_.insert(step);
      if (absl::Status status = AddStep(group, step++); !status.ok()) return status;
    }
    if (absl::Status status = CheckStates(); !status.ok()) return status;
    PlaceInArena();
    if (program_.arena_size > kMostArenaBytes)
      return absl::UnimplementedError(
          absl::StrCat("a run needs ", program_.arena_size, " bytes of memory; supported: at most ", kMostArenaBytes));
    return std::move(program_);
  }

 private:
  absl::Status AddStep(nn::GroupOp group, int number) {
    llvm::SmallVector<bool> is_constant;
    for (mlir::Value operand : group.getInputs())
      is_constant.push_back(static_cast<bool>(StorageOf(operand).getDefiningOp<nn::ConstantOp>()));
    KernelSpec spec = MakeKernelSpec(group, is_constant, target_);
    auto [known, fresh] = kernels_.try_emplace(spec.text, program_.kernels.size());
    KernelPlan plan = spec.plan;
    if (plan.scratch_bytes > kMostArenaBytes)
      return absl::UnimplementedError(absl::StrCat(NameOf(group),
                                                   ": its padded or packed operands take more memory than ",
                                                   kMostArenaBytes, " bytes, the most that is supported"));
    if (fresh) program_.kernels.push_back(std::move(spec));
    Step step;
    step.kernel = known->second;
    step.guard = GuardOf(group, number);
    for (auto [i, operand] : llvm::enumerate(group.getInputs())) {
      mlir::Value storage = StorageOf(operand);
      if (auto constant = storage.getDefiningOp<nn::ConstantOp>()) {
        bool packed = plan.packed_operand && *plan.packed_operand == i;
        step.arguments.push_back({Location::Kind::kWeights, AddWeight(constant, packed ? &plan.packing : nullptr)});
        continue;
      }
      Use(storage, number);
      step.arguments.push_back(Known(storage));
    }
    for (mlir::Value result : group.getResults()) {
      Define(result, number, NameOf(group));
      step.arguments.push_back(Known(result));
    }
    if (plan.scratch_bytes > 0) {
      step.arguments.push_back({Location::Kind::kArena, -1});
      scratch_.push_back({static_cast<size_t>(number), step.arguments.size() - 1, requests_.size()});
      requests_.push_back({plan.scratch_bytes, number, number});
      names_.push_back(absl::StrCat("scratch of ", NameOf(group)));
      program_.scratch_size = std::max(program_.scratch_size, plan.scratch_bytes);
    }
    program_.steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  // A condition that isn't computed yet guards nothing.
  std::optional<Guard> GuardOf(nn::GroupOp group, int number) {
    auto found = conditional_.find(group);
    if (found == conditional_.end()) return std::nullopt;
    mlir::Value condition = StorageOf(found->second.condition);
    if (!locations_.count(condition)) return std::nullopt;
    // Outputs have their place before they have their value.
    if (mlir::Operation* maker = condition.getDefiningOp(); maker && !maker->isBeforeInBlock(group))
      return std::nullopt;
    Use(condition, number);
    return Guard{Known(condition), found->second.wanted};
  }

  // What PlaceStates promised, looked at in the finished steps: a value that was overwritten too early would be a wrong
  // result, so nothing rests on one piece of code alone.
  absl::Status CheckStates() const {
    std::map<int64_t, size_t> by_input, by_output;
    for (auto [i, state] : llvm::enumerate(states_)) by_input[state.input] = by_output[state.output] = i;
    std::vector<bool> written(states_.size(), false);
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      const Step& step = program_.steps[s];
      const KernelSpec& kernel = program_.kernels[step.kernel];
      size_t operands = step.arguments.size() - kernel.results - (kernel.plan.scratch_bytes > 0);
      auto late = [&](const Location& location) {
        auto state = location.kind == Location::Kind::kInput ? by_input.find(location.position) : by_input.end();
        return state != by_input.end() && written[state->second];
      };
      // A group in place may read what it writes, and nothing that was written before it.
      bool wrong = step.guard && late(step.guard->condition);
      bool in_place = in_place_.count(s) != 0;
      if (in_place)
        for (size_t a = 0; a < operands; ++a) wrong |= late(step.arguments[a]);
      for (size_t a = operands; a < operands + kernel.results; ++a) {
        if (step.arguments[a].kind != Location::Kind::kOutput) continue;
        auto state = by_output.find(step.arguments[a].position);
        if (state != by_output.end()) written[state->second] = true;
      }
      if (!in_place)
        for (size_t a = 0; a < operands; ++a) wrong |= late(step.arguments[a]);
      if (wrong) return absl::InternalError(absl::StrCat("step ", s, " reads a state after it was overwritten"));
    }
    return absl::OkStatus();
  }

  // Arena values carry the number of their request until the plan is made.
  Location Known(mlir::Value storage) { return locations_.find(storage)->second; }

  void Define(mlir::Value value, int step, std::string name) {
    if (locations_.count(value)) return;
    locations_[value] = {Location::Kind::kArena, static_cast<int64_t>(requests_.size())};
    requests_.push_back({Bytes(value), step, step});
    names_.push_back(std::move(name));
  }

  void Use(mlir::Value storage, int step) {
    Location location = Known(storage);
    if (location.kind == Location::Kind::kArena) requests_[location.position].last_step = step;
  }

  // The one copy of a packing: thousands of layers may be packed alike.
  std::shared_ptr<const PanelPacking> Shared(const PanelPacking& packing) {
    const std::string key =
        absl::StrCat(packing.groups, ",", packing.group_stride, ",", packing.cols, ",", packing.col_stride, ",",
                     packing.width, ",", packing.products, ",", packing.zero_point, ",", packing.winograd, ";",
                     absl::StrJoin(packing.k_sizes, ","), ";", absl::StrJoin(packing.k_strides, ","));
    std::shared_ptr<const PanelPacking>& shared = packings_[key];
    if (!shared) shared = std::make_shared<const PanelPacking>(packing);
    return shared;
  }

  int64_t AddWeight(nn::ConstantOp constant, const PanelPacking* packing) {
    Weight weight;
    if (packing) weight.packing = Shared(*packing);
    auto [known, fresh] =
        weights_.try_emplace({constant.getValue().getAsOpaquePointer(), weight.packing.get()}, program_.weights_size);
    if (fresh) {
      weight.value = constant.getValue();
      weight.offset = program_.weights_size;
      weight.bytes = Bytes(constant.getResult());
      if (packing) weight.bytes = packing->bytes(StorageBytes(nn::TensorTypeOf(constant.getResult()).getElementType()));
      program_.weights_size = Align(program_.weights_size + weight.bytes);
      program_.weights.push_back(std::move(weight));
    }
    return known->second;
  }

  void PlaceInArena() {
    ArenaPlan plan = PlanArena(requests_);
    for (auto [step, argument, request] : scratch_)
      program_.steps[step].arguments[argument].position = plan.offsets[request];
    for (Step& step : program_.steps) {
      if (step.guard && step.guard->condition.kind == Location::Kind::kArena)
        step.guard->condition.position = plan.offsets[step.guard->condition.position];
      size_t count = step.arguments.size() - (program_.kernels[step.kernel].plan.scratch_bytes > 0 ? 1 : 0);
      for (size_t i = 0; i < count; ++i)
        if (step.arguments[i].kind == Location::Kind::kArena)
          step.arguments[i].position = plan.offsets[step.arguments[i].position];
    }
    for (size_t i = 0; i < requests_.size(); ++i)
      program_.arena.push_back(
          {names_[i], plan.offsets[i], requests_[i].bytes, requests_[i].first_step, requests_[i].last_step});
    program_.arena_size = plan.size;
    program_.arena_lower_bound = plan.lower_bound;
    program_.arena_without_reuse = plan.without_reuse;
  }

  struct Scratch {
    size_t step, argument, request;
  };

  const target::Description& target_;
  llvm::ArrayRef<State> states_;
  std::set<size_t> in_place_;  // steps that write over an operand
  Program program_;
  llvm::DenseMap<mlir::Operation*, Demand> conditional_;
  std::unordered_map<std::string, size_t> kernels_;
  std::unordered_map<std::string, std::shared_ptr<const PanelPacking>> packings_;
  llvm::DenseMap<std::pair<const void*, const void*>, int64_t> weights_;  // by constant and packing
  llvm::DenseMap<mlir::Value, Location> locations_;
  std::vector<ArenaRequest> requests_;
  std::vector<std::string> names_;
  std::vector<Scratch> scratch_;
};

}  // namespace

absl::StatusOr<Program> BuildProgram(mlir::func::FuncOp function, const target::Description& target,
                                     WeightGrowth growth, llvm::ArrayRef<State> states) {
  ChooseWinograd(function, target, growth);
  return ProgramBuilder(target, states).Build(function);
}

void ShareKernels(std::vector<Program>& programs) {
  std::unordered_map<std::string, size_t> numbers;
  std::vector<KernelSpec> kernels;
  for (Program& program : programs) {
    std::vector<size_t> renumbered;
    for (KernelSpec& kernel : program.kernels) {
      auto [known, fresh] = numbers.try_emplace(kernel.text, kernels.size());
      renumbered.push_back(known->second);
      if (fresh) kernels.push_back(std::move(kernel));
    }
    for (Step& step : program.steps) step.kernel = renumbered[step.kernel];
    program.kernels.clear();
  }
  if (!programs.empty()) programs.front().kernels = std::move(kernels);
}

}  // namespace aot::schedule
