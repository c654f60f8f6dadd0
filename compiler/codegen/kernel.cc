#include "compiler/codegen/kernel.h"

#include "absl/strings/str_cat.h"
#include "compiler/codegen/kernel_context.h"
#include "compiler/codegen/narrow_float.h"
#include "compiler/ir/element_types.h"
#include "compiler/schedule/state.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace aot::codegen {

Buffer KernelContext::Scratch(int64_t byte_offset, int64_t elements, mlir::Type element) {
  auto type = mlir::MemRefType::get({elements}, emitter.StorageType(element));
  Value view = mlir::memref::ViewOp::create(emitter.builder(), emitter.location(), type, scratch,
                                            emitter.Constant(byte_offset), mlir::ValueRange{});
  return {view, element};
}

void KernelContext::StoreResults(const Indices& index, int lanes) {
  for (auto [i, value] : llvm::enumerate(Yield().getValues())) {
    Value element = evaluator.Evaluate(value, index, lanes);
    LaneIndex position = evaluator.Position(nn::TensorTypeOf(value).getShape(), index);
    emitter.Store(element, results[i], position.base, position.step, lanes);
  }
}

void KernelContext::PrefetchResults(const Indices& index) {
  llvm::DenseSet<Value> seen;
  for (auto [i, value] : llvm::enumerate(Yield().getValues())) {
    evaluator.Prefetch(value, index, seen);
    emitter.Prefetch(results[i], evaluator.Position(nn::TensorTypeOf(value).getShape(), index).base);
  }
}

const Buffer* KernelContext::ResultOf(Value value) {
  for (auto [i, yielded] : llvm::enumerate(Yield().getValues()))
    if (yielded == value) return &results[i];
  return nullptr;
}

namespace {

absl::Status EmitAnchor(KernelContext& context, mlir::Operation* anchor) {
  return llvm::TypeSwitch<mlir::Operation*, absl::Status>(anchor)
      .Case([&](nn::MatMulOp op) { return EmitMatMul(context, op); })
      .Case([&](nn::ConvOp op) {
        if (context.plan.winograd > 0) return EmitWinograd(context, op);
        if (!context.plan.depthwise) return EmitConv(context, op);
        return context.plan.dot ? EmitDepthwiseDot(context, op) : EmitDepthwise(context, op);
      })
      .Case([&](nn::ConvTransposeOp op) { return EmitConvTranspose(context, op); })
      .Case<nn::MaxPoolOp, nn::AvgPoolOp, nn::LpPoolOp>([&](auto op) { return EmitPool(context, op); })
      .Case<nn::ReduceSumOp, nn::ReduceMeanOp, nn::ReduceProdOp, nn::ReduceMaxOp, nn::ReduceMinOp>(
          [&](auto op) { return EmitReduce(context, op); })
      .Case<nn::ArgMaxOp, nn::ArgMinOp>([&](auto op) { return EmitArgReduce(context, op); })
      .Case([&](nn::CumSumOp op) { return EmitCumSum(context, op); })
      .Case<nn::SoftmaxOp, nn::LogSoftmaxOp, nn::HardmaxOp>([&](auto op) { return EmitSoftmax(context, op); })
      .Case<nn::LayerNormOp, nn::RmsNormOp, nn::InstanceNormOp>([&](auto op) { return EmitNorm(context, op); })
      .Case([&](nn::LrnOp op) { return EmitLrn(context, op); })
      .Case<nn::ScatterElementsOp, nn::ScatterNdOp>([&](auto op) { return EmitScatter(context, op); })
      .Case([&](nn::TopKOp op) { return EmitTopK(context, op); })
      .Case([&](nn::LstmOp op) { return EmitLstm(context, op); })
      .Case([&](nn::GruOp op) { return EmitGru(context, op); })
      .Case([&](nn::RnnOp op) { return EmitRnn(context, op); })
      .Case([&](nn::NonZeroOp op) { return EmitNonZero(context, op); })
      .Case([&](nn::UniqueOp op) { return EmitUnique(context, op); })
      .Case([&](nn::NonMaxSuppressionOp op) { return EmitNonMaxSuppression(context, op); })
      .Case([&](nn::PackOp op) { return EmitPack(context, op); })
      .Default([](mlir::Operation* op) {
        return absl::UnimplementedError(absl::StrCat("no code generation for ", op->getName().getStringRef().str()));
      });
}

// Element types that kernels compute with. Others are refused before any code is made.
absl::Status CheckTypes(nn::GroupOp group) {
  absl::Status status;
  auto check = [&](mlir::Operation* op, mlir::Type type) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    if (!tensor) return;
    mlir::Type element = tensor.getElementType();
    bool known = element.isF16() || element.isBF16() || element.isF32() || element.isF64() || IsNarrowFloat(element);
    if (auto integer = llvm::dyn_cast<mlir::IntegerType>(element)) known = integer.getWidth() <= 64;
    if (known) return;
    std::string name;
    llvm::raw_string_ostream(name) << element;
    status.Update(absl::UnimplementedError(
        absl::StrCat(op->getName().getStringRef().str(), " on elements of type ", name, " has no code generation")));
  };
  group.walk([&](mlir::Operation* op) {
    llvm::StringRef name = op->getName().stripDialect();
    if (nn::NeedsFloats({name.data(), name.size()}) &&
        !llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(op->getOperand(0))))
      status.Update(absl::UnimplementedError(absl::StrCat(name.str(), " of integers; supported: float types")));
    for (mlir::Type type : op->getOperandTypes()) check(op, type);
    for (mlir::Type type : op->getResultTypes()) check(op, type);
  });
  return status;
}

}  // namespace

void LoadCodegenDialects(mlir::MLIRContext& context) {
  context.loadDialect<nn::NnDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                      mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect,
                      mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> BuildKernel(nn::GroupOp group, const schedule::KernelPlan& plan,
                                                              llvm::StringRef symbol,
                                                              const target::Description& target) {
  if (absl::Status status = CheckTypes(group); !status.ok()) return status;
  mlir::MLIRContext* mlir_context = group.getContext();
  mlir::Location loc = mlir::UnknownLoc::get(mlir_context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());

  mlir::Block& body = group.getBody().front();
  llvm::SmallVector<mlir::Type> arguments;
  llvm::SmallVector<mlir::Type> elements;
  auto add = [&](mlir::Type type) {
    auto tensor = llvm::cast<mlir::RankedTensorType>(type);
    mlir::Type element = tensor.getElementType(), storage = element;
    if (auto integer = llvm::dyn_cast<mlir::IntegerType>(element))
      storage = mlir::IntegerType::get(mlir_context, std::max(8u, integer.getWidth()));
    else if (IsNarrowFloat(element))
      storage = mlir::IntegerType::get(mlir_context, 8);
    arguments.push_back(mlir::MemRefType::get({tensor.getNumElements()}, storage));
    elements.push_back(element);
  };
  for (mlir::Value argument : body.getArguments()) add(argument.getType());
  if (plan.packed_operand) {
    // As it lies in the weights: for dot products 32-bit words, for minimal filtering more than the filter had.
    unsigned packed = *plan.packed_operand;
    if (plan.dot) elements[packed] = builder.getI32Type();
    if (plan.winograd > 0) elements[packed] = builder.getF32Type();
    int64_t size = plan.dot ? plan.packing.bytes(1) / 4 : plan.packing.elements();
    mlir::Type storage = plan.dot || plan.winograd > 0
                             ? elements[packed]
                             : llvm::cast<mlir::MemRefType>(arguments[packed]).getElementType();
    arguments[packed] = mlir::MemRefType::get({size}, storage);
  }
  for (mlir::Type type : group.getResultTypes()) add(type);
  if (plan.scratch_bytes > 0) arguments.push_back(mlir::MemRefType::get({plan.scratch_bytes}, builder.getI8Type()));

  auto function = mlir::func::FuncOp::create(builder, loc, symbol, builder.getFunctionType(arguments, {}));
  // Buffers of one call never overlap: the arena plan, inputs and weights are separate. Except a state's.
  llvm::DenseSet<int64_t> shared;
  if (auto pairs = group->getAttrOfType<mlir::DenseI64ArrayAttr>(schedule::kInPlace))
    for (auto [i, index] : llvm::enumerate(pairs.asArrayRef())) shared.insert(index + (i % 2) * body.getNumArguments());
  for (unsigned i = 0; i < arguments.size(); ++i)
    if (!shared.contains(i)) function.setArgAttr(i, "llvm.noalias", builder.getUnitAttr());
  mlir::Block* entry = function.addEntryBlock();

  Emitter emitter(builder, loc, entry, target);
  Evaluator evaluator(emitter);
  unsigned inputs = body.getNumArguments();
  for (unsigned i = 0; i < inputs; ++i) evaluator.BindBuffer(body.getArgument(i), {entry->getArgument(i), elements[i]});
  KernelContext context{emitter, evaluator, group, plan, {}, {}};
  for (unsigned i = 0; i < group.getNumResults(); ++i)
    context.results.push_back({entry->getArgument(inputs + i), elements[inputs + i]});
  if (plan.scratch_bytes > 0) context.scratch = entry->getArguments().back();

  // Loops over nothing would still divide by its sizes.
  bool is_empty = llvm::all_of(group.getResultTypes(), [](mlir::Type type) {
    return llvm::cast<mlir::RankedTensorType>(type).getNumElements() == 0;
  });
  if (is_empty) {
    mlir::func::ReturnOp::create(emitter.builder(), loc);
    return module;
  }
  mlir::Operation* anchor = schedule::AnchorOf(group);
  if (absl::Status status = anchor ? EmitAnchor(context, anchor) : EmitMap(context); !status.ok()) return status;
  mlir::func::ReturnOp::create(emitter.builder(), loc);
  return module;
}

}  // namespace aot::codegen
