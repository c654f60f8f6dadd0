#include "compiler/schedule/kernel_plan.h"

#include <algorithm>

#include "compiler/schedule/winograd.h"

namespace aot::schedule {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kMostBytes = int64_t{1} << 60;

int64_t Align(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// At most kMostBytes, which is more than any plan may have: pads, kernels and groups of a model multiply to anything.
int64_t Product(llvm::ArrayRef<int64_t> values) {
  int64_t product = 1;
  for (int64_t v : values)
    if (__builtin_mul_overflow(product, v, &product) || product > kMostBytes) product = kMostBytes;
  return llvm::is_contained(values, 0) ? 0 : product;
}

// Accumulators are as wide as the result's compute type.
int AccumulatorBits(mlir::Type element) { return std::max(32u, element.getIntOrFloatBitWidth()); }

std::optional<unsigned> ArgumentOf(mlir::Value value) {
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) return argument.getArgNumber();
  return std::nullopt;
}

bool IsInteger(mlir::Type element, unsigned width) {
  auto integer = llvm::dyn_cast<mlir::IntegerType>(element);
  return integer && integer.getWidth() == width;
}

// Whether the operand is a constant that nothing else in the group reads, so that it can be stored as the product wants
// it.
bool IsOwnConstant(mlir::Value operand, llvm::ArrayRef<bool> is_constant) {
  auto argument = ArgumentOf(operand);
  return argument && is_constant[*argument] && operand.hasOneUse();
}

// Decides whether a product of `input` and a constant `filter` runs on the dot product instruction, and completes the
// packing for it. `channels` is the last dimension of K, whose neighbours lie side by side in the input.
void PlanDot(KernelPlan& plan, mlir::Value input, mlir::Value filter, mlir::Value result, int64_t zero_point,
             llvm::ArrayRef<bool> is_constant, const target::Description& target) {
  mlir::Type from = nn::TensorTypeOf(input).getElementType(), by = nn::TensorTypeOf(filter).getElementType();
  if (target.dot_product == target::DotProduct::kNone || !IsOwnConstant(filter, is_constant)) return;
  if (!IsInteger(from, 8) || !IsInteger(by, 8) || by.isUnsignedInteger()) return;
  if (!IsInteger(nn::TensorTypeOf(result).getElementType(), 32)) return;
  DotPlan dot;
  dot.widen = target.dot_product == target::DotProduct::kPairs;
  bool wants_unsigned = target.dot_product == target::DotProduct::kUnsignedSigned;
  dot.flip_sign = !dot.widen && from.isUnsignedInteger() != wants_unsigned;
  plan.packing.products = dot.widen ? 2 : 4;
  if (!dot.widen) {
    plan.packing.zero_point = zero_point;
    if (dot.flip_sign) plan.packing.zero_point += wants_unsigned ? 128 : -128;
  }
  plan.dot = dot;
}

// Adds a part to scratch, of as many bytes as the sizes multiply to, and gives its offset. A part of nothing has an
// address too.
int64_t Reserve(KernelPlan& plan, llvm::ArrayRef<int64_t> sizes) {
  int64_t offset = plan.scratch_bytes;
  plan.scratch_bytes = std::min(kMostBytes, offset + Align(std::max<int64_t>(1, Product(sizes))));
  return offset;
}

// Bytes of one element of the left operand in scratch.
int64_t CopiedBytes(const KernelPlan& plan, mlir::Type element) {
  return plan.dot && plan.dot->widen ? 2 : StorageBytes(element);
}

void PlanPacking(KernelPlan& plan, mlir::Value operand, llvm::ArrayRef<bool> is_constant, bool pack_if_variable) {
  auto argument = ArgumentOf(operand);
  if (IsOwnConstant(operand, is_constant)) {
    plan.packed_operand = *argument;
  } else if (pack_if_variable || !argument) {
    plan.pack_at_run_time = true;
    // One group (batch entry) at a time.
    plan.pack_offset = Reserve(
        plan, {plan.packing.depth(), plan.packing.cols, StorageBytes(nn::TensorTypeOf(operand).getElementType())});
  }
}

// Rows of the left operand that lie a multiple of this apart share one set of the first cache.
constexpr int64_t kCacheWay = 4096;

// With wide rows of a power of two, a tall tile would have its rows throw each other out of the first cache: a low and
// wide one reads as many lines as a set has ways.
void AvoidAliasing(Tile& tile, int64_t row_step_bytes, int64_t rows, int64_t cols, const target::Description& target) {
  if (row_step_bytes % kCacheWay != 0 || target.vector_bits < 512 || tile.rows <= 7 || cols < 4 * tile.lanes) return;
  tile.vectors = 4;
  tile.rows = static_cast<int>(CeilDiv(rows, CeilDiv(rows, 7)));
}

// Whether the products of a group write and add so much that it doesn't stay in the nearest caches.
bool WantsPrefetch(nn::GroupOp group, const target::Description& target) {
  int64_t bytes = 0;
  for (mlir::Type type : group.getResultTypes()) {
    auto result = llvm::cast<mlir::RankedTensorType>(type);
    int64_t size = result.getNumElements() * StorageBytes(result.getElementType());
    bytes += size;
    for (mlir::Value operand : group.getOperands())
      if (nn::TensorTypeOf(operand).getShape() == result.getShape()) bytes += size;
  }
  return bytes > target.l2_bytes / 4;
}

void PlanMatMul(KernelPlan& plan, nn::MatMulOp op, llvm::ArrayRef<bool> is_constant,
                const target::Description& target) {
  auto lhs = nn::TensorTypeOf(op.getLhs()), rhs = nn::TensorTypeOf(op.getRhs()),
       result = nn::TensorTypeOf(op.getResult());
  int64_t rank = rhs.getRank();
  int64_t n = result.getShape().back(), m = result.getDimSize(result.getRank() - 2);
  int64_t k = rhs.getDimSize(op.getTransB() ? rank - 1 : rank - 2);
  plan.tile = ChooseTile(target, m, n, k, AccumulatorBits(result.getElementType()));
  if (!op.getTransA()) AvoidAliasing(plan.tile, k * StorageBytes(lhs.getElementType()), m, n, target);
  PanelPacking& packing = plan.packing;
  packing.groups = Product(rhs.getShape().drop_back(2));
  packing.group_stride = k * n;
  packing.k_sizes = {k};
  packing.k_strides = {op.getTransB() ? 1 : n};
  packing.cols = n;
  packing.col_stride = op.getTransB() ? k : 1;
  packing.width = plan.tile.width();
  if (!op.getTransA())
    PlanDot(plan, op.getLhs(), op.getRhs(), op.getResult(), op.getLhsZeroPoint(), is_constant, target);
  PlanPacking(plan, op.getRhs(), is_constant, /*pack_if_variable=*/op.getTransB() && m > 1);
  plan.input_pitch = op.getTransA() ? m : k;
  bool whole_words = k % packing.products == 0;
  if (!ArgumentOf(op.getLhs()) || (plan.dot && (plan.dot->widen || !whole_words))) {
    plan.copy_input = true;
    if (!op.getTransA()) plan.input_pitch = CeilDiv(k, packing.products) * packing.products;
    int64_t rows = Product(lhs.getShape().drop_back());
    int64_t elements = op.getTransA() ? lhs.getNumElements() : Product({rows, plan.input_pitch});
    plan.input_offset = Reserve(plan, {elements, CopiedBytes(plan, lhs.getElementType())});
  }
}

// A convolution that ChooseWinograd marked.
void PlanWinograd(KernelPlan& plan, nn::ConvOp op, int results, const target::Description& target) {
  auto input = nn::TensorTypeOf(op.getInput()).getShape(), result = nn::TensorTypeOf(op.getResult()).getShape();
  int64_t channels = input[3], features = result[3], positions = int64_t{results + 2} * (results + 2);
  int64_t tile_rows = CeilDiv(result[1], results), tile_columns = CeilDiv(result[2], results);
  // Enough tiles for whole register tiles; all of them where reading the weights again costs more than a large scratch.
  int64_t row_bytes = positions * tile_columns * channels * 4;
  bool streams_weights = positions * channels * features * 4 > target.l2_bytes;
  int64_t room = std::max<int64_t>(1, (streams_weights ? 4 * target.l2_bytes : target.l2_bytes / 2) / row_bytes);
  int64_t wanted = streams_weights ? tile_rows : CeilDiv(14, tile_columns);
  int64_t blocks = CeilDiv(tile_rows, std::min({wanted, room, tile_rows}));
  plan.winograd = results;
  plan.block_rows = CeilDiv(tile_rows, blocks);
  plan.tile = ChooseTile(target, plan.block_rows * tile_columns, features, channels, 32);
  AvoidAliasing(plan.tile, channels * 4, plan.block_rows * tile_columns, features, target);
  plan.tile.panel_outer = true;
  PanelPacking& packing = plan.packing;
  packing.winograd = results;
  packing.groups = positions;
  packing.k_sizes = {channels};
  packing.cols = features;
  packing.width = plan.tile.width();
  plan.packed_operand = *ArgumentOf(op.getFilter());
  int64_t band = (results * plan.block_rows + 2) * (results * tile_columns + 2) * channels * 4;
  plan.input_offset = Reserve(plan, band);
  plan.transformed_offset = Reserve(plan, row_bytes * plan.block_rows);
  int64_t width = std::min<int64_t>(plan.tile.width(), features);
  plan.products_offset = Reserve(plan, positions * plan.block_rows * tile_columns * width * 4);
}

// A depthwise convolution whose packing goes by [kernel rows, columns, 1]: words are filled down the columns.
void PlanDepthwiseDot(KernelPlan& plan, nn::ConvOp op, llvm::ArrayRef<bool> is_constant,
                      const target::Description& target) {
  if (target.dot_product == target::DotProduct::kPairs) return;  // two bytes a word are not worth it
  // Kernel rows are written out; an input of no rows has none to stand for those outside.
  if (plan.packing.k_sizes[0] > 16 || nn::TensorTypeOf(op.getInput()).getNumElements() == 0) return;
  PlanDot(plan, op.getInput(), op.getFilter(), op.getResult(), op.getInputZeroPoint(), is_constant, target);
  if (!plan.dot) return;
  PanelPacking& packing = plan.packing;
  packing.k_sizes = {packing.k_sizes[1], packing.k_sizes[0]};
  packing.k_strides = {packing.k_strides[1], packing.k_strides[0]};
  packing.width = plan.tile.lanes;
  plan.packed_operand = ArgumentOf(op.getFilter());
}

void PlanConv(KernelPlan& plan, nn::ConvOp op, llvm::ArrayRef<bool> is_constant, const target::Description& target) {
  auto input = nn::TensorTypeOf(op.getInput()), filter = nn::TensorTypeOf(op.getFilter());
  auto result = nn::TensorTypeOf(op.getResult());
  if (auto winograd = op->getAttrOfType<mlir::IntegerAttr>(kWinograd))
    return PlanWinograd(plan, op, static_cast<int>(winograd.getInt()), target);
  bool last = op.getChannelsLast();
  int64_t rank = input.getRank(), spatial = rank - 2, group = op.getGroup();
  int64_t channels = last ? input.getShape().back() : input.getDimSize(1);
  int64_t features = last ? filter.getShape().back() : filter.getDimSize(0);
  int64_t per_group = channels / group, features_per_group = features / group;
  bool depthwise = group > 1 && per_group == 1 && features_per_group == 1;
  int64_t rows = result.getDimSize(last ? rank - 2 : rank - 1);

  PanelPacking& packing = plan.packing;
  // Filter strides: [kernel..., C/group, M] with channels_last, else [M, C/group, kernel...].
  int64_t taps = 1;
  for (int64_t i = 0; i < spatial; ++i) taps *= filter.getDimSize(last ? i : i + 2);
  int64_t tap_stride = last ? per_group * features : 1;
  llvm::SmallVector<int64_t, 4> tap_strides(spatial);
  for (int64_t i = spatial - 1; i >= 0; --i) {
    tap_strides[i] = tap_stride;
    tap_stride *= filter.getDimSize(last ? i : i + 2);
    packing.k_sizes.insert(packing.k_sizes.begin(), filter.getDimSize(last ? i : i + 2));
  }
  packing.k_strides.assign(tap_strides.begin(), tap_strides.end());
  packing.k_sizes.push_back(per_group);
  packing.k_strides.push_back(last ? features : taps);
  packing.col_stride = last ? 1 : per_group * taps;
  if (depthwise) {
    packing.cols = channels;
  } else {
    packing.groups = group;
    packing.cols = features_per_group;
    packing.group_stride = features_per_group * packing.col_stride;
  }
  plan.tile = ChooseTile(target, rows, packing.cols, packing.depth(), AccumulatorBits(result.getElementType()));
  if (last && !depthwise)
    AvoidAliasing(plan.tile, op.getStrides().back() * channels * StorageBytes(input.getElementType()), rows,
                  packing.cols, target);
  bool merges_taps = last && group == 1 && op.getDilations().back() == 1;
  if (depthwise) {
    // Each row loads its own vector of the input: fewer accumulators are enough.
    plan.tile.vectors = 1;
    plan.tile.rows = static_cast<int>(std::min<int64_t>(rows, target.vector_registers >= 32 ? 8 : 4));
    // Code grows with the pixels whose taps reach over an end of the row.
    int64_t ends = std::max<int64_t>(0, op.getPads()[spatial - 1]) + std::max<int64_t>(0, op.getPads().back());
    bool is_small = ends * packing.k_sizes[spatial - 1] <= 512 && packing.k_sizes[spatial - 1] <= 64;
    if (last && is_small && ArgumentOf(op.getInput()) && ArgumentOf(op.getFilter())) {
      plan.depthwise = true;
      if (spatial == 2) PlanDepthwiseDot(plan, op, is_constant, target);
      return;
    }
  }
  packing.width = plan.tile.width();
  // A group's channels are the neighbours that share a word.
  if (!depthwise && (group == 1 || per_group % 4 == 0))
    PlanDot(plan, op.getInput(), op.getFilter(), op.getResult(), op.getInputZeroPoint(), is_constant, target);
  if (plan.dot && merges_taps) {
    // The taps of a kernel row and their channels lie side by side: words are filled across taps.
    int64_t merged = packing.k_sizes[spatial - 1] * packing.k_sizes[spatial];
    packing.k_sizes.pop_back();
    packing.k_strides.erase(packing.k_strides.begin() + spatial - 1);
    packing.k_sizes.back() = merged;
  }
  PlanPacking(plan, op.getFilter(), is_constant, /*pack_if_variable=*/true);

  bool padded = llvm::any_of(op.getPads(), [](int64_t p) { return p != 0; });
  plan.padded_shape.clear();
  for (int64_t i = 0; i < spatial; ++i)
    plan.padded_shape.push_back(input.getDimSize(last ? i + 1 : i + 2) + op.getPads()[i] + op.getPads()[i + spatial]);
  plan.padded_shape.push_back(channels);
  bool merged = plan.dot && merges_taps;
  plan.input_pitch = merged ? channels : CeilDiv(channels, packing.products) * packing.products;
  bool whole_words = packing.k_sizes.back() % packing.products == 0;
  if (padded || !last || !ArgumentOf(op.getInput()) || (plan.dot && (plan.dot->widen || !whole_words))) {
    plan.copy_input = true;
    // The last word of a kernel row may reach over the image's end.
    int64_t pixels = Product(llvm::ArrayRef(plan.padded_shape).drop_back());
    int64_t image = Product({pixels, plan.input_pitch, CopiedBytes(plan, input.getElementType())});
    plan.input_offset = Reserve(plan, image + (plan.dot ? 4 : 0));
  }
}

void PlanConvTranspose(KernelPlan& plan, nn::ConvTransposeOp op, llvm::ArrayRef<bool> is_constant,
                       const target::Description& target) {
  auto input = nn::TensorTypeOf(op.getInput()), filter = nn::TensorTypeOf(op.getFilter());
  auto result = nn::TensorTypeOf(op.getResult());
  bool last = op.getChannelsLast();
  int64_t rank = input.getRank(), spatial = rank - 2, group = op.getGroup();
  int64_t channels = last ? input.getShape().back() : input.getDimSize(1), per_group = channels / group;
  int64_t features = last ? filter.getShape().back() : filter.getDimSize(1);  // per group
  PanelPacking& packing = plan.packing;
  // Filter [kernel..., C, M/group] with channels_last, else [C, M/group, kernel...].
  int64_t tap_stride = last ? channels * features : 1, taps = 1;
  packing.k_sizes.assign(spatial + 1, per_group);
  packing.k_strides.assign(spatial + 1, 0);
  for (int64_t i = spatial - 1; i >= 0; --i) {
    packing.k_sizes[i] = filter.getDimSize(last ? i : i + 2);
    packing.k_strides[i] = tap_stride;
    tap_stride *= packing.k_sizes[i];
    taps *= packing.k_sizes[i];
  }
  packing.k_strides[spatial] = last ? features : features * taps;
  packing.col_stride = last ? 1 : taps;
  packing.cols = features;
  packing.groups = group;
  packing.group_stride = per_group * packing.k_strides[spatial];
  plan.tile = ChooseTile(target, 1, features, packing.depth(), AccumulatorBits(result.getElementType()));
  packing.width = plan.tile.width();
  PlanPacking(plan, op.getFilter(), is_constant, /*pack_if_variable=*/true);
  if (!ArgumentOf(op.getInput())) {
    plan.copy_input = true;
    plan.input_offset = Reserve(plan, {input.getNumElements(), StorageBytes(input.getElementType())});
  }
}

// The recurrent weights [gates * size, size] in panels over the gates. A GRU that resets the state before the hidden
// gate's product packs each gate by itself, for that product runs apart from the others.
void PlanRecurrent(KernelPlan& plan, mlir::Operation* op, bool gates_apart, llvm::ArrayRef<bool> is_constant,
                   const target::Description& target) {
  auto input = nn::TensorTypeOf(op->getOperand(0)), recurrent = nn::TensorTypeOf(op->getOperand(1));
  int64_t batch = input.getDimSize(1), width = input.getDimSize(2), size = recurrent.getDimSize(1);
  PanelPacking& packing = plan.packing;
  packing.groups = gates_apart ? width / std::max<int64_t>(1, size) : 1;
  packing.cols = gates_apart ? size : width;
  packing.group_stride = packing.cols * size;
  packing.k_sizes = {size};
  packing.k_strides = {1};
  packing.col_stride = size;
  plan.tile = ChooseTile(target, batch, packing.cols, size, 32);
  packing.width = plan.tile.width();
  if (IsOwnConstant(op->getOperand(1), is_constant)) {
    plan.packed_operand = *ArgumentOf(op->getOperand(1));
  } else {
    plan.pack_at_run_time = true;
    plan.pack_offset = Reserve(plan, {packing.elements(), 4});
  }
  plan.input_offset = Reserve(plan, {batch, size, 4});
  plan.second_state_offset = Reserve(plan, {batch, size, 4});
  plan.gates_offset = Reserve(plan, {batch, width, 4});
}

void ReserveLists(KernelPlan& plan, int lists, int64_t length) {
  for (int i = 0; i < lists; ++i) plan.list_offsets.push_back(Reserve(plan, std::max<int64_t>(1, length) * 8));
}

}  // namespace

int64_t PanelPacking::depth() const { return Product(k_sizes); }
int64_t PanelPacking::elements() const { return Product({groups, depth(), cols}); }
int64_t PanelPacking::words() const {
  return k_sizes.empty() ? 1 : depth() / std::max<int64_t>(1, k_sizes.back()) * CeilDiv(k_sizes.back(), products);
}
int64_t PanelPacking::bytes(int64_t element_bytes) const {
  if (winograd > 0) element_bytes = 4;
  return products == 1 ? elements() * element_bytes : groups * cols * (1 + words()) * 4;
}

int64_t StorageBytes(mlir::Type element) { return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8); }

Tile ChooseTile(const target::Description& target, int64_t rows, int64_t cols, int64_t depth, int bits) {
  Tile tile;
  tile.lanes = std::max(1, target.lanes(bits));
  int64_t columns = std::max<int64_t>(1, CeilDiv(cols, tile.lanes));
  bool many = target.vector_registers >= 32;
  if (rows == 1) {
    // A matrix-vector product waits for loads: independent accumulators hide the latency.
    tile.vectors = static_cast<int>(std::min<int64_t>(columns, 8));
    tile.rows = 1;
  } else {
    tile.vectors = static_cast<int>(std::min<int64_t>(columns, 2));
    int limit = target.vector_bits >= 512   ? (tile.vectors == 1 ? 24 : 14)
                : many                      ? (tile.vectors == 1 ? 16 : 8)
                : target.fused_multiply_add ? (tile.vectors == 1 ? 12 : 6)
                                            : (tile.vectors == 1 ? 8 : 4);
    // Even blocks: 16 rows run as 8 + 8, not as 14 + 2.
    int64_t blocks = std::max<int64_t>(1, CeilDiv(rows, limit));
    tile.rows = static_cast<int>(std::max<int64_t>(1, CeilDiv(rows, blocks)));
    if (rows < 4) tile.vectors = static_cast<int>(std::min<int64_t>(columns, 4));
  }
  tile.panel_outer = cols * depth * (bits / 8) > target.l2_bytes / 2;
  return tile;
}

mlir::Operation* AnchorOf(nn::GroupOp group) {
  for (mlir::Operation& op : group.getBody().front().without_terminator()) {
    if (op.hasTrait<nn::Elementwise>() || op.hasTrait<nn::DataMovement>()) continue;
    if (llvm::isa<nn::ConstantOp, nn::GatherOp, nn::GatherElementsOp, nn::GatherNdOp, nn::OneHotOp, nn::ResizeOp,
                  nn::QuantizeOp, nn::DequantizeOp>(op))
      continue;
    return &op;
  }
  return nullptr;
}

KernelPlan PlanKernel(nn::GroupOp group, llvm::ArrayRef<bool> is_constant, const target::Description& target) {
  KernelPlan plan;
  mlir::Operation* anchor = AnchorOf(group);
  if (!anchor) return plan;
  plan.prefetch = llvm::isa<nn::MatMulOp, nn::ConvOp>(anchor) && WantsPrefetch(group, target);
  if (auto op = llvm::dyn_cast<nn::MatMulOp>(anchor)) PlanMatMul(plan, op, is_constant, target);
  if (auto op = llvm::dyn_cast<nn::ConvOp>(anchor)) PlanConv(plan, op, is_constant, target);
  if (auto op = llvm::dyn_cast<nn::ConvTransposeOp>(anchor)) PlanConvTranspose(plan, op, is_constant, target);
  if (llvm::isa<nn::LstmOp, nn::RnnOp>(anchor)) PlanRecurrent(plan, anchor, false, is_constant, target);
  if (auto op = llvm::dyn_cast<nn::GruOp>(anchor))
    PlanRecurrent(plan, op, !op.getLinearBeforeReset(), is_constant, target);
  if (auto op = llvm::dyn_cast<nn::UniqueOp>(anchor))
    ReserveLists(plan, 3, nn::TensorTypeOf(op.getInput()).getDimSize(0));
  if (auto op = llvm::dyn_cast<nn::NonMaxSuppressionOp>(anchor))
    ReserveLists(plan, 2, nn::TensorTypeOf(op.getBoxes()).getDimSize(1));
  if (auto op = llvm::dyn_cast<nn::SoftmaxOp>(anchor)) {
    // e^(x - max) of one row (times one vector where lanes run across rows) is kept between the passes.
    auto type = nn::TensorTypeOf(op.getResult());
    int64_t row = type.getRank() == 0 ? 1 : type.getDimSize(op.getAxis());
    plan.input_offset = Reserve(plan, {row, 64, std::max<int64_t>(4, StorageBytes(type.getElementType()))});
  }
  return plan;
}

}  // namespace aot::schedule
