#include "compiler/schedule/describe.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "compiler/schedule/work.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace aot::schedule {
namespace {

using compiler::ScheduledStep;

std::string Mnemonic(mlir::Operation& op) { return op.getName().stripDialect().str(); }

std::string ShapeText(mlir::Value value) {
  auto type = nn::TensorTypeOf(value);
  return type.getRank() == 0 ? "scalar" : absl::StrJoin(type.getShape(), "x");
}

int64_t Bytes(mlir::Value value) {
  auto type = nn::TensorTypeOf(value);
  return type.getNumElements() * StorageBytes(type.getElementType());
}

// "conv 3x3 stride 2": the operation with what decides its algorithm.
std::string AnchorText(mlir::Operation& op) {
  std::string text = Mnemonic(op);
  if (auto conv = llvm::dyn_cast<nn::ConvOp>(op)) {
    auto filter = nn::TensorTypeOf(conv.getFilter()).getShape();
    size_t spatial = filter.size() - 2;
    absl::StrAppend(&text, " ", absl::StrJoin(filter.slice(conv.getChannelsLast() ? 0 : 2, spatial), "x"));
    if (llvm::any_of(conv.getStrides(), [](int64_t s) { return s != 1; }))
      absl::StrAppend(&text, " stride ", absl::StrJoin(conv.getStrides(), "x"));
    if (llvm::any_of(conv.getDilations(), [](int64_t d) { return d != 1; }))
      absl::StrAppend(&text, " dilation ", absl::StrJoin(conv.getDilations(), "x"));
    if (conv.getGroup() > 1) absl::StrAppend(&text, " in ", conv.getGroup(), " groups");
  }
  return text;
}

// The anchor and what is fused to it, equal operations counted.
std::string OperationText(nn::GroupOp group, mlir::Operation* anchor) {
  std::vector<std::string> order;
  std::map<std::string, int> count;
  for (mlir::Operation& op : group.getBody().front().without_terminator()) {
    if (&op == anchor || llvm::isa<nn::ConstantOp>(op)) continue;
    if (count[Mnemonic(op)]++ == 0) order.push_back(Mnemonic(op));
  }
  for (std::string& name : order)
    if (int n = count[name]; n > 1) name = absl::StrCat(n, " ", name);
  std::string rest = order.size() > 6 ? absl::StrCat(absl::StrJoin(order.begin(), order.begin() + 6, ", "), "...")
                                      : absl::StrJoin(order, ", ");
  if (!anchor) return rest.empty() ? "copy" : rest;
  return rest.empty() ? AnchorText(*anchor) : absl::StrCat(AnchorText(*anchor), " + ", rest);
}

std::string AnchorShape(nn::GroupOp group, mlir::Operation* anchor) {
  if (!anchor) {
    mlir::Operation* yield = group.getBody().front().getTerminator();
    return yield->getNumOperands() > 0 ? ShapeText(yield->getOperand(0)) : "";
  }
  std::string text = anchor->getNumOperands() > 0 ? ShapeText(anchor->getOperand(0)) : "";
  if (llvm::isa<nn::MatMulOp, nn::ConvOp, nn::ConvTransposeOp, nn::LstmOp, nn::GruOp, nn::RnnOp>(anchor))
    absl::StrAppend(&text, " * ", ShapeText(anchor->getOperand(1)));
  return absl::StrCat(text, " -> ", ShapeText(anchor->getResult(0)));
}

bool IsProduct(mlir::Operation* anchor) {
  return anchor && llvm::isa<nn::MatMulOp, nn::ConvOp, nn::ConvTransposeOp, nn::LstmOp, nn::GruOp, nn::RnnOp>(anchor);
}

std::string DotText(target::DotProduct dot) {
  switch (dot) {
    case target::DotProduct::kNone:
      return "none";
    case target::DotProduct::kPairs:
      return "pairs of 16-bit integers";
    case target::DotProduct::kUnsignedSigned:
      return "four unsigned by signed bytes";
    case target::DotProduct::kSigned:
      return "four signed bytes";
  }
  return "";
}

std::string AlgorithmText(mlir::Operation* anchor, const KernelPlan& plan, const target::Description& target) {
  if (!anchor) return "elementwise at each index";
  if (plan.winograd > 0) return absl::StrCat("minimal filtering F(", plan.winograd, "x", plan.winograd, ")");
  std::string dot = plan.dot ? absl::StrCat(", dot product of ", DotText(target.dot_product)) : "";
  if (plan.depthwise) return absl::StrCat("depthwise, input read where it lies", dot);
  if (llvm::isa<nn::ConvOp>(anchor)) return absl::StrCat("direct, taps as segments of one product", dot);
  if (llvm::isa<nn::ConvTransposeOp>(anchor)) return "gathered product for each output";
  if (llvm::isa<nn::LstmOp, nn::GruOp, nn::RnnOp>(anchor)) return "a matrix-vector product a time step";
  if (llvm::isa<nn::MatMulOp>(anchor))
    return absl::StrCat(plan.tile.rows == 1 ? "matrix-vector product" : "register-tiled product", dot);
  return absl::StrCat(Mnemonic(*anchor), " row by row");
}

std::string TileText(mlir::Operation* anchor, const KernelPlan& plan) {
  if (!IsProduct(anchor)) return "";
  const Tile& tile = plan.tile;
  return absl::StrCat(tile.rows, tile.rows == 1 ? " row x " : " rows x ", tile.vectors,
                      tile.vectors == 1 ? " vector of " : " vectors of ", tile.lanes,
                      tile.panel_outer ? ", panels outermost" : "");
}

std::string PackingText(mlir::Operation* anchor, const KernelPlan& plan) {
  if (!IsProduct(anchor) || plan.depthwise) return "";
  const PanelPacking& packing = plan.packing;
  std::vector<std::string> parts;
  if (plan.packed_operand || plan.pack_at_run_time) {
    std::string panels = absl::StrCat("panels of ", packing.width, " columns x ", packing.depth());
    if (packing.products > 1) absl::StrAppend(&panels, " in words of ", packing.products);
    if (plan.winograd > 0) absl::StrAppend(&panels, ", transformed, ", packing.groups, " positions");
    absl::StrAppend(&panels, plan.pack_at_run_time ? ", packed at run time" : ", packed when compiling");
    parts.push_back(std::move(panels));
  }
  if (plan.input_pitch > 0) {
    parts.push_back(
        absl::StrCat("pitch ", plan.input_pitch, " elements", plan.copy_input ? ", input copied with its halo" : ""));
  }
  return absl::StrJoin(parts, "; ");
}

// Why a convolution is computed directly, or why not.
std::string ConvolutionReason(nn::ConvOp conv, const KernelPlan& plan, const target::Description& target) {
  auto estimate = EstimateConvolution(conv, target);
  if (!estimate) {
    return "minimal filtering takes 3x3 filters of floats with stride 1, one group and 8 channels or more";
  }
  if (plan.winograd > 0) {
    return absl::StrFormat("%.2g cycles against %.2g of a direct product, for %d more bytes of weights",
                           estimate->winograd, estimate->direct, estimate->added_bytes);
  }
  if (!estimate->saves()) {
    return absl::StrFormat("minimal filtering is estimated at %.0f %% of a direct product's time: no tenth less",
                           100 * estimate->winograd / estimate->direct);
  }
  return absl::StrFormat(
      "minimal filtering would take %.0f %% of the time, but its %d more bytes of weights are too many, or the "
      "rounding "
      "or the filter isn't free to change",
      100 * estimate->winograd / estimate->direct, estimate->added_bytes);
}

std::string ReasonText(mlir::Operation* anchor, const KernelPlan& plan, const target::Description& target) {
  std::vector<std::string> parts;
  if (!anchor) return "no operation here needs its neighbours: one loop, results written once";
  if (auto conv = llvm::dyn_cast<nn::ConvOp>(anchor); conv && !plan.depthwise && !plan.dot)
    parts.push_back(ConvolutionReason(conv, plan, target));
  if (plan.depthwise) parts.push_back("one channel a lane: nothing to gain from a product's tile");
  if (plan.dot && plan.dot->flip_sign) parts.push_back("left operand's sign flipped, weights' sums correct it");
  if (plan.dot && plan.dot->widen) parts.push_back("bytes widened to 16 bits for the target's instruction");
  if (IsProduct(anchor) && !plan.depthwise) {
    parts.push_back(
        absl::StrCat(plan.tile.rows * plan.tile.vectors, " of ", target.vector_registers, " registers accumulate"));
    if (plan.tile.panel_outer)
      parts.push_back(absl::StrCat("weights exceed half of the second-level cache (", target.l2_bytes, " bytes)"));
  }
  return absl::StrJoin(parts, "; ");
}

// The name of the value that each step makes, as the arena plan has it; of steps that only write outputs, the output's.
std::vector<std::string> ValueNames(const Program& program, const std::vector<std::string>& outputs) {
  std::vector<std::string> names(program.steps.size());
  for (const ArenaEntry& entry : program.arena) {
    std::string& name = names[static_cast<size_t>(entry.first_step)];
    absl::string_view text = entry.name;
    if (!absl::ConsumePrefix(&text, "scratch of ") || name.empty()) name = std::string(text);
  }
  for (size_t i = 0; i < names.size(); ++i) {
    for (const Location& location : program.steps[i].arguments) {
      const auto position = static_cast<size_t>(location.position);
      if (location.kind == Location::Kind::kOutput && names[i].empty() && position < outputs.size())
        names[i] = outputs[position];
    }
  }
  return names;
}

absl::StatusOr<ScheduledStep> DescribeKernel(const KernelSpec& spec, mlir::MLIRContext& context,
                                             const target::Description& target) {
  auto parsed = ParseKernelSpec(spec.text, context, target);
  if (!parsed.ok()) return parsed.status();
  nn::GroupOp group = parsed->group;
  const KernelPlan& plan = parsed->plan;
  mlir::Operation* anchor = AnchorOf(group);
  ScheduledStep step;
  step.operation = OperationText(group, anchor);
  step.shape = AnchorShape(group, anchor);
  step.algorithm = AlgorithmText(anchor, plan, target);
  step.tile = TileText(anchor, plan);
  step.packing = PackingText(anchor, plan);
  step.reason = ReasonText(anchor, plan, target);
  auto is_constant = group->getAttrOfType<mlir::DenseBoolArrayAttr>("aot.constant").asArrayRef();
  for (auto [i, operand] : llvm::enumerate(group.getInputs())) {
    if (!is_constant[i]) {
      step.activation_bytes += Bytes(operand);
    } else if (plan.packed_operand && *plan.packed_operand == i) {
      step.weight_bytes += plan.packing.bytes(StorageBytes(nn::TensorTypeOf(operand).getElementType()));
    } else {
      step.weight_bytes += Bytes(operand);
    }
  }
  // A gather reads the rows it wants, not the whole table.
  for (mlir::Operation& op : group.getBody().front().without_terminator()) {
    if (!llvm::isa<nn::GatherOp, nn::GatherNdOp, nn::GatherElementsOp>(op)) continue;
    auto table = llvm::dyn_cast<mlir::BlockArgument>(op.getOperand(0));
    if (!table || !table.hasOneUse()) continue;
    int64_t unread = Bytes(table) - Bytes(op.getResult(0));
    if (unread > 0) (is_constant[table.getArgNumber()] ? step.weight_bytes : step.activation_bytes) -= unread;
  }
  for (mlir::Value result : group.getResults()) step.activation_bytes += Bytes(result);
  Work work =
      WorkOf(group, plan, target, static_cast<double>(step.weight_bytes), static_cast<double>(step.activation_bytes));
  step.multiply_adds = work.multiply_adds;
  step.byte_products = work.byte_products;
  step.operations = work.operations;
  step.cycles = work.cycles;
  return step;
}

}  // namespace

absl::StatusOr<std::vector<ScheduledStep>> DescribeSteps(const Program& program, const target::Description& target,
                                                         const std::vector<std::string>& outputs) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<nn::NnDialect, mlir::func::FuncDialect>();
  std::vector<ScheduledStep> kernels;
  for (const KernelSpec& spec : program.kernels) {
    auto step = DescribeKernel(spec, context, target);
    if (!step.ok()) return step.status();
    kernels.push_back(*std::move(step));
  }
  std::vector<std::string> names = ValueNames(program, outputs);
  std::vector<ScheduledStep> steps;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    steps.push_back(kernels[program.steps[i].kernel]);
    steps.back().value = names[i];
    steps.back().conditional = program.steps[i].guard.has_value();
  }
  return steps;
}

}  // namespace aot::schedule
