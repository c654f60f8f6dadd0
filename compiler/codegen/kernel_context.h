// What the templates of one kernel work with.
#pragma once

#include "absl/status/status.h"
#include "compiler/codegen/evaluator.h"
#include "compiler/schedule/kernel_plan.h"

namespace aot::codegen {

struct KernelContext {
  Emitter& emitter;
  Evaluator& evaluator;
  nn::GroupOp group;
  schedule::KernelPlan plan;
  llvm::SmallVector<Buffer> results;  // one for each result of the group
  Value scratch;                      // memref<?xi8 static> or null

  // A typed part of scratch.
  Buffer Scratch(int64_t byte_offset, int64_t elements, mlir::Type element);
  // Evaluates every yielded value at an index and stores it.
  void StoreResults(const Indices& index, int lanes);
  // Asks for the memory that StoreResults will read and write there.
  void PrefetchResults(const Indices& index);
  // The group's result that is this value; null if no one outside uses it.
  const Buffer* ResultOf(Value value);
  // The block's yield.
  nn::YieldOp Yield() { return llvm::cast<nn::YieldOp>(group.getBody().front().getTerminator()); }
};

// One template for each kind of anchor; `op` is the group's anchor. UNIMPLEMENTED for element types without emission.
absl::Status EmitMap(KernelContext& context);  // groups without an anchor
absl::Status EmitMatMul(KernelContext& context, nn::MatMulOp op);
absl::Status EmitConv(KernelContext& context, nn::ConvOp op);
absl::Status EmitDepthwise(KernelContext& context, nn::ConvOp op);     // where the plan says so
absl::Status EmitDepthwiseDot(KernelContext& context, nn::ConvOp op);  // and by dot products
absl::Status EmitWinograd(KernelContext& context, nn::ConvOp op);      // likewise
absl::Status EmitConvTranspose(KernelContext& context, nn::ConvTransposeOp op);
absl::Status EmitPool(KernelContext& context, mlir::Operation* op);
absl::Status EmitReduce(KernelContext& context, mlir::Operation* op);
absl::Status EmitArgReduce(KernelContext& context, mlir::Operation* op);
absl::Status EmitCumSum(KernelContext& context, nn::CumSumOp op);
absl::Status EmitSoftmax(KernelContext& context, mlir::Operation* op);
absl::Status EmitNorm(KernelContext& context, mlir::Operation* op);
absl::Status EmitLrn(KernelContext& context, nn::LrnOp op);
absl::Status EmitScatter(KernelContext& context, mlir::Operation* op);
absl::Status EmitTopK(KernelContext& context, nn::TopKOp op);
absl::Status EmitLstm(KernelContext& context, nn::LstmOp op);
absl::Status EmitGru(KernelContext& context, nn::GruOp op);
absl::Status EmitRnn(KernelContext& context, nn::RnnOp op);
absl::Status EmitNonZero(KernelContext& context, nn::NonZeroOp op);
absl::Status EmitUnique(KernelContext& context, nn::UniqueOp op);
absl::Status EmitNonMaxSuppression(KernelContext& context, nn::NonMaxSuppressionOp op);
absl::Status EmitPack(KernelContext& context, nn::PackOp op);

}  // namespace aot::codegen
