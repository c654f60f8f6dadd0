#include "compiler/schedule/work.h"

#include <algorithm>
#include <cmath>

#include "compiler/schedule/winograd.h"

namespace aot::schedule {
namespace {

// Bytes that a core takes in a cycle of one multiply-add: from the first two cache levels, and from beyond them.
constexpr double kCachedBytes = 32, kStreamedBytes = 8;

double CeilDiv(double a, double b) { return std::ceil(a / b); }

double Elements(mlir::Value value) { return static_cast<double>(nn::TensorTypeOf(value).getNumElements()); }

// Instructions of a vector for one elementwise function (compiler/math's polynomials, and division, are long).
double CostOf(mlir::Operation& op) {
  if (llvm::isa<nn::ExpOp, nn::LogOp, nn::TanhOp, nn::ErfOp, nn::SigmoidOp, nn::GeluOp, nn::SoftplusOp, nn::MishOp,
                nn::EluOp, nn::SeluOp, nn::CeluOp, nn::SinOp, nn::CosOp, nn::TanOp, nn::AsinOp, nn::AcosOp, nn::AtanOp,
                nn::SinhOp, nn::CoshOp, nn::AsinhOp, nn::AcoshOp, nn::AtanhOp>(op))
    return 16;
  if (llvm::isa<nn::PowOp>(op)) return 32;
  if (llvm::isa<nn::DivOp, nn::SqrtOp, nn::ReciprocalOp, nn::ModOp>(op)) return 8;
  return 1;
}

// A product of `rows` x `depth` by `depth` x `cols`, `count` times over.
void AddProduct(Work& work, const KernelPlan& plan, const target::Description& target, double count, double rows,
                double cols, double depth) {
  const double products = count * rows * cols * depth, lanes = std::max(1, target.lanes(32));
  const double vectors = count * rows * CeilDiv(cols, lanes) * depth;
  if (plan.dot) {
    work.byte_products += products;
    work.cycles += vectors / static_cast<double>(plan.packing.products);
  } else {
    work.multiply_adds += products;
    work.cycles += vectors;
  }
}

// Minimal filtering: the products of the transformed positions, and the transforms' additions as Lavin and Gray count
// them.
void AddWinograd(Work& work, const KernelPlan& plan, nn::ConvOp conv) {
  const auto result = nn::TensorTypeOf(conv.getResult()).getShape();
  const double channels = static_cast<double>(nn::TensorTypeOf(conv.getInput()).getShape().back());
  const double features = static_cast<double>(result[3]), m = plan.winograd;
  const double tiles = static_cast<double>(result[0]) * CeilDiv(static_cast<double>(result[1]), m) *
                       CeilDiv(static_cast<double>(result[2]), m);
  work.multiply_adds += tiles * (m + 2) * (m + 2) * channels * features;
  work.operations += tiles * (channels * (m == 4 ? 144 : 32) + features * (m == 4 ? 100 : 24));
}

void AddConv(Work& work, const KernelPlan& plan, nn::ConvOp conv, const target::Description& target) {
  if (plan.winograd > 0) {
    AddWinograd(work, plan, conv);
    if (auto estimate = EstimateConvolution(conv, target)) work.cycles += estimate->winograd;
    return;
  }
  const auto result = nn::TensorTypeOf(conv.getResult());
  const auto filter = nn::TensorTypeOf(conv.getFilter());
  const double features = static_cast<double>(result.getDimSize(conv.getChannelsLast() ? result.getRank() - 1 : 1));
  const double pixels = features > 0 ? static_cast<double>(result.getNumElements()) / features : 0;
  const double group = static_cast<double>(conv.getGroup());
  const double depth = features > 0 ? static_cast<double>(filter.getNumElements()) / features : 0;
  if (plan.depthwise || (depth > 0 && features == group)) {
    // Each channel by itself: lanes run over channels.
    AddProduct(work, plan, target, 1, pixels, features, depth);
  } else {
    AddProduct(work, plan, target, group, pixels, features / group, depth);
  }
}

// The window of a pooling operation.
template <typename Pool>
double WindowOf(Pool pool) {
  double window = 1;
  for (int64_t size : pool.getKernel()) window *= static_cast<double>(size);
  return window;
}

void AddRecurrent(Work& work, const KernelPlan& plan, mlir::Operation& op, const target::Description& target) {
  const auto input = nn::TensorTypeOf(op.getOperand(0)), recurrent = nn::TensorTypeOf(op.getOperand(1));
  const double steps = static_cast<double>(input.getDimSize(0)), batch = static_cast<double>(input.getDimSize(1));
  const double width = static_cast<double>(input.getDimSize(2)), size = static_cast<double>(recurrent.getDimSize(1));
  AddProduct(work, plan, target, steps, batch, width, size);
  // Sigmoids and tangents of the gates.
  work.operations += steps * batch * width;
  work.cycles += 16 * steps * batch * CeilDiv(width, std::max(1, target.lanes(32)));
}

// Operations that aren't products: as the definition has them for each element, and the instructions that they take.
void AddPlain(Work& work, const target::Description& target, double elements, double operations, double instructions) {
  work.operations += elements * operations;
  work.cycles += elements * instructions / std::max(1, target.lanes(32));
}

void AddOperation(Work& work, const KernelPlan& plan, mlir::Operation& op, const target::Description& target) {
  if (op.getNumResults() == 0 || op.hasTrait<nn::DataMovement>() || llvm::isa<nn::ConstantOp, nn::BitcastOp>(op))
    return;
  if (auto product = llvm::dyn_cast<nn::MatMulOp>(op)) {
    const auto result = nn::TensorTypeOf(product.getResult());
    const auto rhs = nn::TensorTypeOf(product.getRhs());
    const double cols = static_cast<double>(result.getShape().back());
    const double rows = cols > 0 ? static_cast<double>(result.getNumElements()) / cols : 0;
    const double depth = static_cast<double>(rhs.getDimSize(rhs.getRank() - (product.getTransB() ? 1 : 2)));
    return AddProduct(work, plan, target, 1, rows, cols, depth);
  }
  if (auto conv = llvm::dyn_cast<nn::ConvOp>(op)) return AddConv(work, plan, conv, target);
  if (auto conv = llvm::dyn_cast<nn::ConvTransposeOp>(op)) {
    const auto filter = nn::TensorTypeOf(conv.getFilter());
    const auto input = nn::TensorTypeOf(conv.getInput());
    const double channels = static_cast<double>(input.getDimSize(conv.getChannelsLast() ? input.getRank() - 1 : 1));
    const double per_channel = channels > 0 ? static_cast<double>(filter.getNumElements()) / channels : 0;
    return AddProduct(work, plan, target, 1, static_cast<double>(input.getNumElements()), per_channel, 1);
  }
  if (llvm::isa<nn::LstmOp, nn::GruOp, nn::RnnOp>(op)) return AddRecurrent(work, plan, op, target);
  const double results = Elements(op.getResult(0));
  const double inputs = op.getNumOperands() > 0 ? Elements(op.getOperand(0)) : 0;
  if (auto pool = llvm::dyn_cast<nn::MaxPoolOp>(op))
    return AddPlain(work, target, results, WindowOf(pool), WindowOf(pool));
  if (auto pool = llvm::dyn_cast<nn::AvgPoolOp>(op))
    return AddPlain(work, target, results, WindowOf(pool), WindowOf(pool));
  if (auto pool = llvm::dyn_cast<nn::LpPoolOp>(op))
    return AddPlain(work, target, results, 2 * WindowOf(pool), 2 * WindowOf(pool));
  if (llvm::isa<nn::SoftmaxOp, nn::LogSoftmaxOp>(op)) return AddPlain(work, target, results, 4, 20);
  if (llvm::isa<nn::LayerNormOp, nn::RmsNormOp, nn::InstanceNormOp, nn::GroupNormOp>(op))
    return AddPlain(work, target, results, 6, 6);
  if (auto lrn = llvm::dyn_cast<nn::LrnOp>(op))
    return AddPlain(work, target, results, static_cast<double>(lrn.getSize()) + 2,
                    static_cast<double>(lrn.getSize()) + 32);
  if (op.hasTrait<nn::Elementwise>()) return AddPlain(work, target, results, 1, CostOf(op));
  AddPlain(work, target, std::max(results, inputs), 1, 1);
}

}  // namespace

Work WorkOf(nn::GroupOp group, const KernelPlan& plan, const target::Description& target, double weight_bytes,
            double activation_bytes) {
  Work work;
  for (mlir::Operation& op : group.getBody().front().without_terminator()) AddOperation(work, plan, op, target);
  // What doesn't stay in the cache is streamed; a step of data movement alone is as long as its bytes.
  const double bytes = weight_bytes + activation_bytes;
  const double streamed = bytes > static_cast<double>(target.l2_bytes) / 2 ? kStreamedBytes : kCachedBytes;
  work.cycles = std::max(work.cycles, bytes / streamed);
  return work;
}

}  // namespace aot::schedule
