// Depthwise convolutions of bytes in two dimensions, on dot product instructions. A word holds the bytes of up to four
// kernel rows at one column of one channel: it is made once for a column and serves all pixels whose taps reach there,
// one instruction for each tap of a row. Bytes outside the input are the zero point.
#include <map>

#include "compiler/codegen/dot_product.h"
#include "compiler/codegen/elementwise.h"
#include "compiler/codegen/kernel_context.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace aot::codegen {
namespace arith = mlir::arith;

namespace {

constexpr int64_t kBytes = 4;  // of a word

int64_t CeilDiv(int64_t a, int64_t b) { return a <= 0 ? 0 : (a + b - 1) / b; }

class DepthwiseDotEmitter {
 public:
  DepthwiseDotEmitter(KernelContext& context, nn::ConvOp op)
      : context_(context),
        e_(context.emitter),
        op_(op),
        in_(nn::TensorTypeOf(op.getInput()).getShape()),
        out_(nn::TensorTypeOf(op.getResult()).getShape()),
        kernel_(nn::TensorTypeOf(op.getFilter()).getShape()),
        channels_(in_.back()),
        chunks_(CeilDiv(kernel_[0], kBytes)),
        input_(context.evaluator.BufferOf(op.getInput())),
        filter_(context.evaluator.BufferOf(op.getFilter())),
        i32_(e_.builder().getI32Type()) {}

  void Run() {
    int panel = context_.plan.tile.lanes;
    e_.Nest({out_[0], out_[1]}, [&](llvm::ArrayRef<Value> position) {
      Value inside = RowsAreInside(position[1]);
      auto rows = [&](bool all_inside) {
        e_.Blocks(channels_, panel, [&](Value start, int64_t width) {
          e_.Vectors(width, panel, [&](Value offset, int lanes) {
            Row({position[0], position[1], start, width, offset, lanes, all_inside});
          });
        });
        return llvm::SmallVector<Value>();
      };
      if (auto known = inside ? e_.ConstantOf(inside) : std::optional<int64_t>(1))
        rows(*known != 0);
      else
        e_.If(
            inside, {}, [&] { return rows(true); }, [&] { return rows(false); });
    });
  }

 private:
  // What one row of pixels is made for: image and row, the panel of channels and where in it the vector starts.
  struct Place {
    Value image, row, panel;
    int64_t panel_width;
    Value offset;
    int lanes;
    bool rows_inside;
  };

  int64_t stride() { return op_.getStrides()[1]; }
  int64_t dilation() { return op_.getDilations()[1]; }
  int64_t pad() { return op_.getPads()[1]; }

  // Whether all kernel rows lie inside the input for a row of results; null if they always do.
  Value RowsAreInside(Value row) {
    int64_t step = op_.getStrides()[0], reach = (kernel_[0] - 1) * op_.getDilations()[0], before = op_.getPads()[0];
    if (before <= 0 && (out_[1] - 1) * step - before + reach < in_[1]) return {};
    Value first = e_.Sub(e_.Mul(row, step), e_.Constant(before));
    return e_.And(e_.Less(e_.Constant(-1), first), e_.Less(first, e_.Constant(in_[1] - reach)));
  }

  // Pixels whose taps all lie inside the row in blocks, the others one by one.
  void Row(const Place& place) {
    int64_t width = out_[2], in = in_[2];
    int64_t first = std::min(width, CeilDiv(pad(), stride()));
    int64_t room = in + pad() - (kernel_[1] - 1) * dilation();
    int64_t last = std::max(first, std::min(width, CeilDiv(room, stride())));
    for (int64_t o = 0; o < first; ++o) Pixels(place, e_.Constant(o), 1);
    e_.Blocks(last - first, std::max(1, context_.plan.tile.rows),
              [&](Value start, int64_t count) { Pixels(place, e_.Add(start, first), count); });
    for (int64_t o = last; o < width; ++o) Pixels(place, e_.Constant(o), 1);
  }

  void Pixels(const Place& place, Value o, int64_t count) {
    Emitter::Scope scope(e_);
    Value channel = e_.Add(place.panel, place.offset);
    // A panel: what the sums start from, then the words of each column tap and chunk of rows.
    Value words = e_.Add(e_.Mul(place.panel, 1 + kernel_[1] * chunks_), place.offset);
    Value start = e_.Load(filter_, words, 1, place.lanes);
    if (op_.getBias())
      start = EmitAdd(e_, start, context_.evaluator.Evaluate(op_.getBias(), {{channel, 1}}, place.lanes));
    llvm::SmallVector<Value> sums(count, start);
    auto fixed = e_.ConstantOf(o);
    Value column = e_.Sub(e_.Mul(o, stride()), e_.Constant(pad()));
    for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
      std::map<int64_t, Value> made;  // by distance from the first pixel's first tap
      for (int64_t tap = 0; tap < kernel_[1]; ++tap) {
        Value weight = e_.Load(filter_, e_.Add(words, (1 + tap * chunks_ + chunk) * place.panel_width), 1, place.lanes);
        for (int64_t r = 0; r < count; ++r) {
          int64_t distance = r * stride() + tap * dilation();
          Value& word = made[distance];
          // Only pixels by themselves have taps outside the row.
          bool outside = fixed && count == 1 &&
                         (*fixed * stride() - pad() + distance < 0 || *fixed * stride() - pad() + distance >= in_[2]);
          if (!word) word = outside ? ZeroPoints(place.lanes) : Word(place, channel, e_.Add(column, distance), chunk);
          sums[r] = EmitDotProduct(e_, word, weight, sums[r], place.lanes);
        }
      }
    }
    for (int64_t r = 0; r < count; ++r) {
      context_.evaluator.BindElement(op_.getResult(), sums[r]);
      context_.StoreResults({{place.image, 0}, {place.row, 0}, {e_.Add(o, r), 0}, {channel, 1}}, place.lanes);
    }
    context_.evaluator.UnbindElements();
  }

  // The zero point in each byte, as the instruction takes it.
  Value ZeroPoints(int lanes) {
    int64_t byte = op_.getInputZeroPoint() & 0xff;
    if (context_.plan.dot->flip_sign) byte ^= 0x80;
    return e_.IntConstant(i32_, byte * 0x01010101, lanes);
  }

  // The bytes of a chunk of kernel rows at one column of the input.
  Value Word(const Place& place, Value channel, Value column, int64_t chunk) {
    auto& builder = e_.builder();
    mlir::Location at = e_.location();
    mlir::Type type = e_.VectorOf(i32_, place.lanes);
    Value word;
    for (int64_t i = 0; i < kBytes && chunk * kBytes + i < kernel_[0]; ++i) {
      int64_t tap = (chunk * kBytes + i) * op_.getDilations()[0];
      Value row = e_.Add(e_.Mul(place.row, op_.getStrides()[0]), tap - op_.getPads()[0]);
      Value inside;
      if (!place.rows_inside) {
        inside = e_.And(e_.Less(e_.Constant(-1), row), e_.Less(row, e_.Constant(in_[1])));
        row = e_.Max(e_.Min(row, e_.Constant(in_[1] - 1)), e_.Constant(0));
      }
      Value pixel = e_.Add(e_.Mul(e_.Add(e_.Mul(place.image, in_[1]), row), in_[2]), column);
      Value bytes = e_.Load(input_, e_.Add(e_.Mul(pixel, channels_), channel), 1, place.lanes);
      bytes = arith::ExtUIOp::create(builder, at, type, bytes);
      if (inside) {
        Value zero_points = e_.IntConstant(i32_, op_.getInputZeroPoint() & 0xff, place.lanes);
        bytes = arith::SelectOp::create(builder, at, inside, bytes, zero_points);
      }
      if (i > 0) bytes = arith::ShLIOp::create(builder, at, bytes, e_.IntConstant(i32_, 8 * i, place.lanes));
      word = word ? Value(arith::OrIOp::create(builder, at, word, bytes)) : bytes;
    }
    return context_.plan.dot->flip_sign ? FlipSigns(e_, word, place.lanes) : word;
  }

  KernelContext& context_;
  Emitter& e_;
  nn::ConvOp op_;
  llvm::ArrayRef<int64_t> in_, out_, kernel_;  // [N, H, W, C], [N, H, W, C], [KH, KW, 1, C]
  int64_t channels_, chunks_;                  // chunks of kernel rows
  Buffer input_, filter_;
  mlir::Type i32_;
};

}  // namespace

absl::Status EmitDepthwiseDot(KernelContext& context, nn::ConvOp op) {
  DepthwiseDotEmitter(context, op).Run();
  return absl::OkStatus();
}

}  // namespace aot::codegen
