// Depthwise convolutions with channels last: vectors over channels, several neighbouring pixels of a row at a time, so
// that each input vector is loaded once for all taps and pixels that need it. Taps outside the input are left out:
// those of the last spatial dimension when the code is made, by treating the pixels at both ends of a row apart, the
// others by the range of a loop. Nothing is copied or padded.
#include <map>

#include "compiler/codegen/dot_product.h"
#include "compiler/codegen/elementwise.h"
#include "compiler/codegen/kernel_context.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace aot::codegen {
namespace arith = mlir::arith;

namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return a <= 0 ? 0 : (a + b - 1) / b; }

class DepthwiseEmitter {
 public:
  DepthwiseEmitter(KernelContext& context, nn::ConvOp op)
      : context_(context),
        e_(context.emitter),
        op_(op),
        spatial_(op.getStrides().size()),
        in_(nn::TensorTypeOf(op.getInput()).getShape()),
        out_(nn::TensorTypeOf(op.getResult()).getShape()),
        kernel_(nn::TensorTypeOf(op.getFilter()).getShape()),
        input_(context.evaluator.BufferOf(op.getInput())),
        filter_(context.evaluator.BufferOf(op.getFilter())),
        compute_(e_.ComputeType(nn::TensorTypeOf(op.getResult()).getElementType())),
        short_(HasShortMulAdd(e_) && compute_.isInteger(32) && input_.element.isInteger(8) &&
               filter_.element.isInteger(8) && !filter_.element.isUnsignedInteger()) {
    input_strides_.assign(spatial_, in_.back());
    for (size_t d = spatial_ - 1; d-- > 0;) input_strides_[d] = input_strides_[d + 1] * in_[d + 2];
    filter_strides_.assign(spatial_, in_.back());
    for (size_t d = spatial_ - 1; d-- > 0;) filter_strides_[d] = filter_strides_[d + 1] * kernel_[d + 1];
  }

  void Run() {
    if (!ChannelsOutside()) {
      llvm::SmallVector<int64_t> outer(out_.begin(), out_.end() - 2);
      e_.Nest(outer, [&](llvm::ArrayRef<Value> position) {
        e_.Vectors(in_.back(), e_.Lanes(compute_), [&](Value channel, int lanes) { Row(position, channel, lanes); });
      });
      return;
    }
    e_.For(out_[0], [&](Value image) {
      e_.Vectors(in_.back(), e_.Lanes(compute_), [&](Value channel, int lanes) {
        llvm::SmallVector<int64_t> outer(out_.begin() + 1, out_.end() - 2);
        e_.Nest(outer, [&](llvm::ArrayRef<Value> rows) {
          llvm::SmallVector<Value> position = {image};
          position.append(rows.begin(), rows.end());
          Row(position, channel, lanes);
        });
      });
    });
  }

 private:
  // Whether all rows are done for one vector of channels before the next: if the rows that taps share don't stay in the
  // first cache whole, but one vector of their pixels does, and these lie close enough to be fetched ahead.
  bool ChannelsOutside() {
    constexpr int64_t kMostPitch = 1024;
    int64_t pitch = in_.back() * (input_.element.getIntOrFloatBitWidth() + 7) / 8, rows = kernel_[0];
    return spatial_ == 2 && pitch <= kMostPitch && rows * in_[2] * pitch > e_.target().l1_bytes &&
           rows * in_[2] * (e_.target().vector_bits / 8) * 2 <= e_.target().l1_bytes;
  }
  int64_t stride() { return op_.getStrides().back(); }
  int64_t dilation() { return op_.getDilations().back(); }
  int64_t pad() { return op_.getPads()[spatial_ - 1]; }
  int64_t taps() const { return kernel_[spatial_ - 1]; }

  // One row of pixels: those whose taps all lie inside in blocks, the others one by one.
  void Row(llvm::ArrayRef<Value> position, Value channel, int lanes) {
    int64_t width = out_[spatial_], in = in_[spatial_];
    int64_t first = std::min(width, CeilDiv(pad(), stride()));
    int64_t room = in + pad() - (taps() - 1) * dilation();  // of the first tap, from the padded start
    int64_t last = std::max(first, std::min(width, CeilDiv(room, stride())));
    for (int64_t o = 0; o < first; ++o) Pixels(position, e_.Constant(o), 1, channel, lanes);
    e_.Blocks(last - first, std::max(1, context_.plan.tile.rows),
              [&](Value start, int64_t count) { Pixels(position, e_.Add(start, first), count, channel, lanes); });
    for (int64_t o = last; o < width; ++o) Pixels(position, e_.Constant(o), 1, channel, lanes);
  }

  // The taps of one dimension, other than the last spatial one, that lie inside for the result at `o`.
  std::pair<Value, Value> TapRange(size_t d, Value o) {
    int64_t step = op_.getDilations()[d], size = in_[d + 1];
    Value origin = e_.Sub(e_.Mul(o, op_.getStrides()[d]), e_.Constant(op_.getPads()[d]));
    auto ceil_div = [&](Value distance) { return e_.Div(e_.Add(e_.Max(distance, e_.Constant(0)), step - 1), step); };
    Value low = ceil_div(e_.Sub(e_.Constant(0), origin));
    Value high = e_.Min(ceil_div(e_.Sub(e_.Constant(size), origin)), e_.Constant(kernel_[d]));
    return {low, high};
  }

  void Pixels(llvm::ArrayRef<Value> position, Value o, int64_t count, Value channel, int lanes) {
    Emitter::Scope scope(e_);
    Value start;
    if (op_.getBias()) start = context_.evaluator.Evaluate(op_.getBias(), {{channel, 1}}, lanes);
    if (!start) start = e_.Zero(compute_, lanes);
    llvm::SmallVector<Value> sums(count, start);
    // Each tap's share of the zero point is its weight: their sum is kept beside the pixels' sums and taken off once.
    int64_t zero_point = op_.getInputZeroPoint();
    if (zero_point != 0) sums.push_back(e_.Zero(compute_, lanes));
    Value image = e_.Mul(position[0], input_strides_[0] * in_[1]);
    sums = Taps(0, position, o, e_.Add(image, channel), channel, lanes, sums);
    if (zero_point != 0) {
      auto& builder = e_.builder();
      Value share =
          arith::MulIOp::create(builder, e_.location(), sums.back(), e_.IntConstant(compute_, zero_point, lanes));
      for (int64_t r = 0; r < count; ++r) sums[r] = arith::SubIOp::create(builder, e_.location(), sums[r], share);
    }
    for (int64_t r = 0; r < count; ++r) {
      context_.evaluator.BindElement(op_.getResult(), sums[r]);
      Indices index;
      for (Value p : position) index.push_back({p, 0});
      index.push_back({e_.Add(o, r), 0});
      index.push_back({channel, 1});
      context_.StoreResults(index, lanes);
    }
    context_.evaluator.UnbindElements();
  }

  // Adds the products of all taps from dimension d on. `input` and `filter` are the channel's positions.
  llvm::SmallVector<Value> Taps(size_t d, llvm::ArrayRef<Value> position, Value o, Value input, Value filter, int lanes,
                                llvm::SmallVector<Value> sums) {
    if (d + 1 == spatial_) return RowTaps(o, input, filter, lanes, std::move(sums));
    auto [low, high] = TapRange(d, position[d + 1]);
    Value origin = e_.Sub(e_.Mul(position[d + 1], op_.getStrides()[d]), e_.Constant(op_.getPads()[d]));
    return e_.Fold(low, high, sums, [&](Value tap, mlir::ValueRange carried) {
      Value row = e_.Add(origin, e_.Mul(tap, op_.getDilations()[d]));
      return Taps(d + 1, position, o, e_.Add(input, e_.Mul(row, input_strides_[d])),
                  e_.Add(filter, e_.Mul(tap, filter_strides_[d])), lanes, llvm::SmallVector<Value>(carried));
    });
  }

  llvm::SmallVector<Value> RowTaps(Value o, Value input, Value filter, int lanes, llvm::SmallVector<Value> sums) {
    // Of a pixel by itself some taps may lie outside; a block's are all inside.
    auto fixed = e_.ConstantOf(o);
    size_t pixels = sums.size() - (op_.getInputZeroPoint() != 0 ? 1 : 0);
    bool check = fixed && pixels == 1;
    Value column = e_.Sub(e_.Mul(o, stride()), e_.Constant(pad()));
    std::map<int64_t, Value> loaded;  // by distance from the first pixel's first tap
    for (int64_t tap = 0; tap < taps(); ++tap) {
      if (check) {
        int64_t at = *fixed * stride() - pad() + tap * dilation();
        if (at < 0 || at >= in_[spatial_]) continue;
      }
      Value weight = Widened(filter_, e_.Add(filter, tap * in_.back()), lanes);
      if (pixels < sums.size()) sums.back() = EmitAdd(e_, sums.back(), weight);
      if (short_) weight = LowerHalves(e_, weight, lanes);
      for (size_t r = 0; r < pixels; ++r) {
        int64_t distance = static_cast<int64_t>(r) * stride() + tap * dilation();
        Value& x = loaded[distance];
        if (!x) {
          Value pixel = e_.Add(input, e_.Mul(e_.Add(column, distance), in_.back()));
          x = Widened(input_, pixel, lanes);
        }
        sums[r] = short_ ? EmitShortMulAdd(e_, x, weight, sums[r], lanes) : e_.MulAdd(x, weight, sums[r]);
      }
    }
    return sums;
  }

  Value Widened(const Buffer& buffer, Value position, int lanes) {
    return EmitCast(e_, e_.Load(buffer, position, 1, lanes), buffer.element, compute_, lanes);
  }

  KernelContext& context_;
  Emitter& e_;
  nn::ConvOp op_;
  size_t spatial_;
  llvm::ArrayRef<int64_t> in_, out_, kernel_;
  Buffer input_, filter_;
  mlir::Type compute_;
  bool short_;  // bytes, whose products fit a multiplication of 16-bit integers
  llvm::SmallVector<int64_t> input_strides_, filter_strides_;  // of the spatial dimensions, in elements
};

}  // namespace

absl::Status EmitDepthwise(KernelContext& context, nn::ConvOp op) {
  DepthwiseEmitter(context, op).Run();
  return absl::OkStatus();
}

}  // namespace aot::codegen
