#include "compiler/schedule/group_shape.h"

#include "compiler/schedule/kernel_plan.h"
#include "mlir/IR/Builders.h"

namespace aot::schedule {
namespace {

using Shape = llvm::SmallVector<int64_t>;

// A convolution that multiplies each pixel by one matrix.
bool IsPointwise(nn::ConvOp op) {
  auto is = [](llvm::ArrayRef<int64_t> values, int64_t wanted) {
    return llvm::all_of(values, [=](int64_t v) { return v == wanted; });
  };
  auto filter = nn::TensorTypeOf(op.getFilter()).getShape();
  return op.getChannelsLast() && op.getGroup() == 1 && is(op.getStrides(), 1) && is(op.getPads(), 0) &&
         is(filter.drop_back(2), 1) && llvm::isa<mlir::BlockArgument>(op.getInput()) &&
         llvm::isa<mlir::BlockArgument>(op.getFilter());
}

// The value's shape with leading ones up to `rank`.
Shape Aligned(mlir::Value value, size_t rank) {
  auto shape = nn::TensorTypeOf(value).getShape();
  Shape aligned(rank - shape.size(), 1);
  aligned.append(shape.begin(), shape.end());
  return aligned;
}

void SetShape(mlir::Value value, llvm::ArrayRef<int64_t> shape) {
  auto type = mlir::RankedTensorType::get(shape, nn::TensorTypeOf(value).getElementType());
  if (auto constant = value.getDefiningOp<nn::ConstantOp>())
    constant.setValueAttr(llvm::cast<mlir::DenseElementsAttr>(constant.getValue()).resizeSplat(type));
  value.setType(type);
}

// A spatial dimension of one element that a convolution only carries along; its number, or nullopt.
std::optional<size_t> CarriedDimension(nn::ConvOp conv) {
  bool last = conv.getChannelsLast();
  auto input = nn::TensorTypeOf(conv.getInput()).getShape(), filter = nn::TensorTypeOf(conv.getFilter()).getShape();
  size_t spatial = input.size() - 2;
  for (size_t d = 0; d < spatial && spatial > 1; ++d)
    if (input[last ? d + 1 : d + 2] == 1 && filter[last ? d : d + 2] == 1 && conv.getPads()[d] == 0 &&
        conv.getPads()[d + spatial] == 0)
      return d;
  return std::nullopt;
}

llvm::SmallVector<int64_t> Without(llvm::ArrayRef<int64_t> values, size_t position) {
  llvm::SmallVector<int64_t> rest(values);
  rest.erase(rest.begin() + static_cast<ptrdiff_t>(position));
  return rest;
}

// Removes such dimensions from a convolution with elementwise neighbours: register tiles run along the last one.
void DropCarriedDimensions(nn::GroupOp group) {
  mlir::Block& body = group.getBody().front();
  nn::ConvOp conv;
  for (mlir::Operation& op : body.without_terminator()) {
    if (auto found = llvm::dyn_cast<nn::ConvOp>(op)) {
      if (conv) return;
      conv = found;
    } else if (!op.hasTrait<nn::Elementwise>() && !llvm::isa<nn::ConstantOp>(op)) {
      return;
    }
  }
  if (!conv) return;
  llvm::SetVector<mlir::Value> values;
  for (mlir::Operation& op : body) {
    if (&op == conv.getOperation()) continue;
    values.insert(op.getOperands().begin(), op.getOperands().end());
    values.insert(op.getResults().begin(), op.getResults().end());
  }
  values.insert(conv.getResult());
  for (mlir::Value operand : {conv.getInput(), conv.getFilter()})
    if (values.contains(operand) || !llvm::isa<mlir::BlockArgument>(operand)) return;
  size_t rank = nn::TensorTypeOf(conv.getResult()).getRank();
  for (mlir::Value value : values)
    if (nn::TensorTypeOf(value).getRank() > static_cast<int64_t>(rank)) return;

  while (auto d = CarriedDimension(conv)) {
    bool last = conv.getChannelsLast();
    size_t spatial = conv.getStrides().size(), at = last ? *d + 1 : *d + 2;
    rank = spatial + 2;
    for (mlir::Value value : values) {
      auto shape = nn::TensorTypeOf(value).getShape();
      if (shape.size() + at >= rank) SetShape(value, Without(shape, at - (rank - shape.size())));
    }
    SetShape(conv.getInput(), Without(nn::TensorTypeOf(conv.getInput()).getShape(), at));
    SetShape(conv.getFilter(), Without(nn::TensorTypeOf(conv.getFilter()).getShape(), last ? *d : *d + 2));
    conv.setStrides(Without(conv.getStrides(), *d));
    conv.setDilations(Without(conv.getDilations(), *d));
    conv.setPads(Without(Without(conv.getPads(), *d + spatial), *d));
  }
  auto yield = llvm::cast<nn::YieldOp>(body.getTerminator());
  for (auto [operand, argument] : llvm::zip(group.getInputs(), body.getArguments()))
    operand.setType(argument.getType());
  for (auto [result, value] : llvm::zip(group.getResults(), yield.getValues())) result.setType(value.getType());
}

}  // namespace

void SimplifyShapes(nn::GroupOp group) {
  DropCarriedDimensions(group);
  mlir::Block& body = group.getBody().front();
  auto yield = llvm::cast<nn::YieldOp>(body.getTerminator());
  auto root = nn::TensorTypeOf(yield.getValues().front()).getShape();
  size_t rank = root.size();
  if (rank < 2 || llvm::is_contained(root, 0)) return;
  nn::ConvOp conv;
  for (mlir::Operation& op : body.without_terminator()) {
    if (op.hasTrait<nn::Elementwise>() || llvm::isa<nn::ConstantOp>(op)) continue;
    conv = llvm::dyn_cast<nn::ConvOp>(op);
    if (!conv || !IsPointwise(conv)) return;
  }
  for (mlir::Value value : yield.getValues())
    if (nn::TensorTypeOf(value).getShape() != root) return;

  // Every value that elementwise operations see; a convolution's own operands have shapes of their own.
  llvm::SetVector<mlir::Value> values;
  for (mlir::Operation& op : body) {
    if (&op == conv.getOperation()) continue;
    values.insert(op.getOperands().begin(), op.getOperands().end());
    values.insert(op.getResults().begin(), op.getResults().end());
  }
  if (conv) {
    for (mlir::Value operand : conv->getOperands())
      if (values.contains(operand)) return;
    values.insert(conv.getResult());
  }
  for (mlir::Value value : values)
    if (nn::TensorTypeOf(value).getRank() > static_cast<int64_t>(rank)) return;

  // merge[d]: dimension d joins d + 1.
  llvm::SmallVector<bool> merge(rank - 1, true);
  for (size_t d = 0; d + 1 < rank; ++d) {
    if (conv && d + 2 == rank) merge[d] = false;  // channels stay apart
    for (mlir::Value value : values) {
      Shape shape = Aligned(value, rank);
      bool first_full = shape[d] == root[d], second_full = shape[d + 1] == root[d + 1];
      bool first_one = shape[d] == 1, second_one = shape[d + 1] == 1;
      if (!(first_full && second_full) && !(first_one && second_one)) merge[d] = false;
    }
  }
  // A chain of merged dimensions must be full or absent as a whole in each value; pairs guarantee that except across
  // size 1, which is both.
  for (mlir::Value value : values) {
    Shape shape = Aligned(value, rank);
    for (size_t d = 0; d < rank; ++d) {
      size_t last = d;
      bool full = true, one = true;
      while (true) {
        full &= shape[last] == root[last];
        one &= shape[last] == 1;
        if (!full && !one) {
          merge[last - 1] = false;
          break;
        }
        if (last + 1 >= rank || !merge[last]) break;
        ++last;
      }
      d = last > d && !full && !one ? last - 1 : last;
    }
  }
  auto merged = [&](llvm::ArrayRef<int64_t> shape) {
    Shape result;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (d > 0 && merge[d - 1])
        result.back() *= shape[d];
      else
        result.push_back(shape[d]);
    }
    return result;
  };
  for (mlir::Value value : values) SetShape(value, merged(Aligned(value, rank)));
  if (conv) {
    Shape input = merged(nn::TensorTypeOf(conv.getInput()).getShape());
    auto filter = nn::TensorTypeOf(conv.getFilter()).getShape();
    SetShape(conv.getInput(), input);
    SetShape(conv.getFilter(), filter.take_back(2));
    mlir::OpBuilder builder(conv);
    mlir::Value product =
        nn::MatMulOp::create(builder, conv.getLoc(), conv.getResult().getType(), conv.getInput(), conv.getFilter(),
                             /*trans_a=*/false, /*trans_b=*/false, conv.getInputZeroPoint());
    if (conv.getBias()) product = nn::AddOp::create(builder, conv.getLoc(), product.getType(), product, conv.getBias());
    conv.getResult().replaceAllUsesWith(product);
    conv.erase();
  }
  // The operands and results of the group follow its body.
  for (auto [operand, argument] : llvm::zip(group.getInputs(), body.getArguments()))
    operand.setType(argument.getType());
  for (auto [result, value] : llvm::zip(group.getResults(), yield.getValues())) result.setType(value.getType());
}

}  // namespace aot::schedule
