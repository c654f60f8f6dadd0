// 3x3 convolutions by minimal filtering (schedule/winograd.h). A block of tile rows at a time: its input with halo goes
// into a band, the tiles' inputs are transformed position by position, one product for each position and panel of
// features follows, and the panel's results are transformed back while they are in the cache.
#include "compiler/codegen/contraction.h"
#include "compiler/codegen/elementwise.h"
#include "compiler/codegen/kernel_context.h"
#include "compiler/schedule/winograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace aot::codegen {
namespace {

namespace arith = mlir::arith;
using Vectors = llvm::SmallVector<Value>;

class WinogradEmitter {
 public:
  WinogradEmitter(KernelContext& context, nn::ConvOp op)
      : context_(context),
        e_(context.emitter),
        op_(op),
        results_(context.plan.winograd),
        size_(results_ + 2),
        in_(nn::TensorTypeOf(op.getInput()).getShape()),
        out_(nn::TensorTypeOf(op.getResult()).getShape()),
        channels_(in_[3]),
        features_(out_[3]),
        tile_rows_((out_[1] + results_ - 1) / results_),
        tile_columns_((out_[2] + results_ - 1) / results_),
        points_(schedule::WinogradPoints(results_)),
        input_matrix_(schedule::WinogradInputMatrix(results_)),
        f32_(e_.builder().getF32Type()),
        width_(std::min<int64_t>(context.plan.tile.width(), features_)) {
    int64_t rows = context.plan.block_rows;
    band_ = context.Scratch(context.plan.input_offset, BandRows(rows) * BandColumns() * channels_, f32_);
    inputs_ = context.Scratch(context.plan.transformed_offset, size_ * size_ * rows * tile_columns_ * channels_, f32_);
    products_ = context.Scratch(context.plan.products_offset, size_ * size_ * rows * tile_columns_ * width_, f32_);
  }

  void Run() {
    e_.For(out_[0], [&](Value image) {
      e_.Blocks(tile_rows_, context_.plan.block_rows, [&](Value first, int64_t rows) { Block(image, first, rows); });
    });
  }

 private:
  int64_t BandRows(int64_t tile_rows) const { return results_ * tile_rows + 2; }
  int64_t BandColumns() const { return results_ * tile_columns_ + 2; }

  void Block(Value image, Value first_row, int64_t rows) {
    CopyBand(image, first_row, rows);
    int64_t tiles = rows * tile_columns_;
    ForEachTile(rows, [&](Value row, Value column, Value tile) {
      e_.Vectors(channels_, e_.Lanes(f32_),
                 [&](Value channel, int lanes) { TransformInput(row, column, tile, tiles, channel, lanes); });
    });

    Contraction c;
    c.outer = {size_ * size_};
    c.rows = tiles;
    c.cols = features_;
    c.tile = context_.plan.tile;
    c.panel_depth = 0;
    c.lhs = inputs_;
    c.lhs_base = [&](llvm::ArrayRef<Value> outer) { return e_.Mul(outer[0], tiles * channels_); };
    c.lhs_row_stride = channels_;
    c.rhs = context_.evaluator.BufferOf(op_.getFilter());
    c.rhs_packed = true;
    c.rhs_base = [&](llvm::ArrayRef<Value> outer) { return e_.Mul(outer[0], channels_ * features_); };
    c.rhs_ahead = channels_ * features_;
    c.rhs_ahead_depth = 1;
    c.k_sizes = {channels_};
    c.lhs_k_strides = {1};
    c.accumulator = f32_;
    c.result = op_.getResult();
    c.result_index = [&](llvm::ArrayRef<Value> outer, Value row, Value col, int64_t) {
      return Indices{{outer[0], 0}, {row, 0}, {col, 0}};
    };
    Value panel;
    c.panel_begin = [&](Value start) { panel = start; };
    c.panel_end = [&](Value start, int64_t width) {
      ForEachTile(rows, [&](Value row, Value column, Value tile) {
        e_.Vectors(width, e_.Lanes(f32_), [&](Value offset, int lanes) {
          Value y = e_.Mul(e_.Add(first_row, row), results_), x = e_.Mul(column, results_);
          TransformOutput(image, y, x, tile, tiles, start, offset, lanes);
        });
      });
    };
    EmitContraction(context_.evaluator, c, [&](const Indices& index, int lanes) {
      Value product = context_.evaluator.Evaluate(op_.getResult(), index, lanes);
      Value at = Position(index[0].base, index[1].base, tiles, width_, e_.Sub(index[2].base, panel));
      e_.Store(product, products_, at, 1, lanes);
    });
  }

  // Of an element in [position][tile][pitch].
  Value Position(Value position, Value tile, int64_t tiles, int64_t pitch, Value element) {
    return e_.Add(e_.Mul(e_.Add(e_.Mul(position, tiles), tile), pitch), element);
  }

  void ForEachTile(int64_t rows, llvm::function_ref<void(Value row, Value column, Value tile)> body) {
    e_.For(rows, [&](Value row) {
      e_.For(tile_columns_, [&](Value column) { body(row, column, e_.Add(e_.Mul(row, tile_columns_), column)); });
    });
  }

  // The input rows under the block's tiles, with zeros where they reach over the image.
  void CopyBand(Value image, Value first_row, int64_t rows) {
    int64_t row_elements = in_[2] * channels_, pitch = BandColumns() * channels_;
    int64_t before = op_.getPads()[1] * channels_, after = pitch - before - row_elements;
    // The last tile may end before the padded image does.
    int64_t copied = after < 0 ? row_elements + after : row_elements;
    Buffer input = context_.evaluator.BufferOf(op_.getInput());
    Value zero = e_.Zero(f32_, 1);
    e_.For(BandRows(rows), [&](Value i) {
      Value y = e_.Sub(e_.Add(e_.Mul(first_row, results_), i), e_.Constant(op_.getPads()[0]));
      Value start = e_.Mul(i, pitch);
      Value inside = e_.And(e_.Less(e_.Constant(-1), y), e_.Less(y, e_.Constant(in_[1])));
      e_.If(
          inside, {},
          [&]() -> Vectors {
            e_.Fill(band_, start, before, zero);
            Value from = e_.Mul(e_.Add(e_.Mul(image, in_[1]), y), row_elements), to = e_.Add(start, before);
            e_.Vectors(copied, e_.Lanes(f32_), [&](Value at, int lanes) {
              e_.Store(e_.Load(input, e_.Add(from, at), 1, lanes), band_, e_.Add(to, at), 1, lanes);
            });
            e_.Fill(band_, e_.Add(to, copied), std::max<int64_t>(0, after), zero);
            return {};
          },
          [&]() -> Vectors {
            e_.Fill(band_, start, pitch, zero);
            return {};
          });
    });
  }

  Value Times(Value x, double factor, int lanes) {
    if (factor == 1) return x;
    return arith::MulFOp::create(e_.builder(), e_.location(), x, e_.FloatConstant(f32_, factor, lanes));
  }
  Value Sum(Value a, Value b) { return arith::AddFOp::create(e_.builder(), e_.location(), a, b); }
  Value Difference(Value a, Value b) { return arith::SubFOp::create(e_.builder(), e_.location(), a, b); }

  // The sum of coefficient * vector over what is not zero; null if everything is.
  Value Combine(llvm::ArrayRef<double> coefficients, llvm::ArrayRef<Value> vectors, int lanes) {
    // Terms with the factor 1 first: the others add to them in one step each.
    Value sum;
    for (size_t i = 0; i < vectors.size(); ++i)
      if (coefficients[i] == 1) sum = sum ? Sum(sum, vectors[i]) : vectors[i];
    for (size_t i = 0; i < vectors.size(); ++i) {
      if (coefficients[i] == 0 || coefficients[i] == 1) continue;
      if (!sum)
        sum = Times(vectors[i], coefficients[i], lanes);
      else
        sum = e_.MulAdd(vectors[i], e_.FloatConstant(f32_, coefficients[i], lanes), sum);
    }
    return sum;
  }

  // B^T d for one column of a tile. The rows of opposite points are the sum and the difference of an even and an odd
  // part.
  Vectors InputTransform(llvm::ArrayRef<Value> d, int lanes) {
    Vectors result = {Combine(input_matrix_.front(), d, lanes)};
    for (size_t pair = 0; pair < points_.size(); ++pair) {
      const std::vector<double>&plus = input_matrix_[1 + 2 * pair], &minus = input_matrix_[2 + 2 * pair];
      std::vector<double> even(plus.size()), odd(plus.size());
      for (size_t i = 0; i < plus.size(); ++i) {
        even[i] = (plus[i] + minus[i]) / 2;
        odd[i] = (plus[i] - minus[i]) / 2;
      }
      Value a = Combine(even, d, lanes), b = Combine(odd, d, lanes);
      result.push_back(Sum(a, b));
      result.push_back(Difference(a, b));
    }
    result.push_back(Combine(input_matrix_.back(), d, lanes));
    return result;
  }

  // A^T m for one column of a tile: A^T[i][j] is the j-th point to the power of i, infinity adds to the last row only.
  Vectors OutputTransform(llvm::ArrayRef<Value> m, int lanes) {
    Vectors even = {m.front()}, odd;
    for (size_t pair = 0; pair < points_.size(); ++pair) {
      even.push_back(Sum(m[1 + 2 * pair], m[2 + 2 * pair]));
      odd.push_back(Difference(m[1 + 2 * pair], m[2 + 2 * pair]));
    }
    Vectors result;
    for (int64_t i = 0; i < results_; ++i) {
      std::vector<double> powers;
      if (i % 2 == 0) powers.push_back(i == 0 ? 1 : 0);
      for (double point : points_) powers.push_back(std::pow(point, static_cast<double>(i)));
      Vectors terms = i % 2 == 0 ? even : odd;
      if (i + 1 == results_) {
        powers.push_back(1);
        terms.push_back(m.back());
      }
      result.push_back(Combine(powers, terms, lanes));
    }
    return result;
  }

  void TransformInput(Value row, Value column, Value tile, int64_t tiles, Value channel, int lanes) {
    int64_t pitch = BandColumns() * channels_;
    Value origin = e_.Add(e_.Add(e_.Mul(row, results_ * pitch), e_.Mul(column, results_ * channels_)), channel);
    llvm::SmallVector<Vectors> columns;
    for (int64_t x = 0; x < size_; ++x) {
      Vectors d;
      for (int64_t y = 0; y < size_; ++y)
        d.push_back(e_.Load(band_, e_.Add(origin, y * pitch + x * channels_), 1, lanes));
      columns.push_back(InputTransform(d, lanes));
    }
    for (int64_t y = 0; y < size_; ++y) {
      Vectors d;
      for (int64_t x = 0; x < size_; ++x) d.push_back(columns[x][y]);
      Vectors transformed = InputTransform(d, lanes);
      for (int64_t x = 0; x < size_; ++x)
        e_.Store(transformed[x], inputs_, Position(e_.Constant(y * size_ + x), tile, tiles, channels_, channel), 1,
                 lanes);
    }
  }

  // The results of one tile for some features, those that lie in the image.
  void TransformOutput(Value image, Value y0, Value x0, Value tile, int64_t tiles, Value panel, Value offset,
                       int lanes) {
    llvm::SmallVector<Vectors> columns;
    for (int64_t x = 0; x < size_; ++x) {
      Vectors m;
      for (int64_t y = 0; y < size_; ++y)
        m.push_back(e_.Load(products_, Position(e_.Constant(y * size_ + x), tile, tiles, width_, offset), 1, lanes));
      columns.push_back(OutputTransform(m, lanes));
    }
    Value feature = e_.Add(panel, offset);
    Value bias;
    if (op_.getBias()) bias = context_.evaluator.Evaluate(op_.getBias(), {{feature, 1}}, lanes);
    for (int64_t i = 0; i < results_; ++i) {
      Vectors m;
      for (int64_t x = 0; x < size_; ++x) m.push_back(columns[x][i]);
      Vectors row = OutputTransform(m, lanes);
      Value y = e_.Add(y0, i);
      Guarded(out_[1] % results_ != 0 && i > 0, y, out_[1], [&] {
        for (int64_t j = 0; j < results_; ++j) {
          Value x = e_.Add(x0, j);
          Guarded(out_[2] % results_ != 0 && j > 0, x, out_[2], [&] {
            Value value = bias ? Sum(row[j], bias) : row[j];
            context_.evaluator.BindElement(op_.getResult(), value);
            context_.StoreResults({{image, 0}, {y, 0}, {x, 0}, {feature, 1}}, lanes);
            context_.evaluator.UnbindElements();
          });
        }
      });
    }
  }

  void Guarded(bool guard, Value at, int64_t limit, llvm::function_ref<void()> body) {
    if (!guard) return body();
    e_.If(
        e_.Less(at, e_.Constant(limit)), {},
        [&]() -> Vectors {
          body();
          return {};
        },
        []() -> Vectors { return {}; });
  }

  KernelContext& context_;
  Emitter& e_;
  nn::ConvOp op_;
  int64_t results_, size_;  // of a tile, along one side: results and transformed positions
  llvm::ArrayRef<int64_t> in_, out_;
  int64_t channels_, features_, tile_rows_, tile_columns_;
  std::vector<double> points_;
  std::vector<std::vector<double>> input_matrix_;
  mlir::Type f32_;
  int64_t width_;  // of a panel
  Buffer band_, inputs_, products_;
};

}  // namespace

absl::Status EmitWinograd(KernelContext& context, nn::ConvOp op) {
  WinogradEmitter(context, op).Run();
  return absl::OkStatus();
}

}  // namespace aot::codegen
