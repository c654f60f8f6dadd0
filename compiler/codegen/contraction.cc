#include "compiler/codegen/contraction.h"

#include "compiler/codegen/dot_product.h"
#include "compiler/codegen/elementwise.h"
#include "compiler/codegen/tile_prefetch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace aot::codegen {
namespace {

// A vector of the panel: where it starts and how many lanes it has.
struct Piece {
  int64_t offset;
  int lanes;
};

llvm::SmallVector<Piece> Pieces(int64_t width, int lanes) {
  llvm::SmallVector<Piece> pieces;
  int64_t offset = 0;
  for (int step = lanes; step >= 1; step /= 2)
    for (; offset + step <= width; offset += step) pieces.push_back({offset, step});
  return pieces;
}

class TileEmitter {
 public:
  TileEmitter(Evaluator& evaluator, const Contraction& c, const StoreResults& store)
      : evaluator_(evaluator), e_(evaluator.emitter()), c_(c), store_(store) {
    for (int64_t size : c.k_sizes) depth_ *= size;
    prefetch_.emplace(e_, c, depth_);
  }

  void Run() {
    llvm::SmallVector<Value> outer;
    Outer(outer);
  }

 private:
  // The panel is null until its loop is entered.
  void Outer(llvm::SmallVector<Value>& outer, Value col = {}, int64_t width = 0) {
    if (c_.prepare && outer.size() == c_.prepare_depth && !col) c_.prepare(outer);
    if (c_.tile.panel_outer && outer.size() == c_.panel_depth && !col) {
      e_.Blocks(c_.cols, c_.tile.width(), [&](Value start, int64_t size) {
        if (c_.panel_begin) c_.panel_begin(start);
        Outer(outer, start, size);
        if (c_.panel_end) c_.panel_end(start, size);
      });
      return;
    }
    if (outer.size() < c_.outer.size()) {
      e_.For(c_.outer[outer.size()], [&](Value iv) {
        outer.push_back(iv);
        Outer(outer, col, width);
        outer.pop_back();
      });
      return;
    }
    e_.Blocks(c_.rows, c_.tile.rows, [&](Value row, int64_t count) {
      if (col)
        Bodies(outer, row, count, col, width);
      else
        e_.Blocks(c_.cols, c_.tile.width(), [&](Value start, int64_t size) { Bodies(outer, row, count, start, size); });
    });
  }

  // One tile, or several lower ones. Where a panel's vectors differ in width, each row keeps the vector of its factor
  // for them in a register, beside its sums.
  void Bodies(llvm::ArrayRef<Value> outer, Value row, int64_t rows, Value col, int64_t width) {
    auto pieces = Pieces(width, c_.tile.lanes);
    int64_t count = static_cast<int64_t>(pieces.size()), most = rows;
    if (pieces.front().lanes != pieces.back().lanes && c_.lhs_col_stride == 0 && !c_.dot)
      most = std::max<int64_t>(1, (e_.target().vector_registers - count) / (count + 1));
    int64_t parts = (rows + most - 1) / most, done = 0;
    for (int64_t part = 0; part < parts; ++part) {
      int64_t size = (rows - done + parts - part - 1) / (parts - part);
      Body(outer, e_.Add(row, done), size, col, width);
      done += size;
    }
  }

  void Body(llvm::ArrayRef<Value> outer, Value row, int64_t rows, Value col, int64_t width) {
    Emitter::Scope scope(e_);
    auto pieces = Pieces(width, c_.tile.lanes);
    llvm::SmallVector<Value> sums;
    // With the words of dot products, a panel's row of starting sums comes before its rows of factors.
    int64_t column_size = depth_ + (c_.dot ? 1 : 0);
    Value rhs = c_.rhs_packed ? e_.Add(c_.rhs_base(outer), e_.Mul(col, column_size))
                              : e_.Add(c_.rhs_base(outer), e_.Mul(col, c_.rhs_col_stride));
    // Every row starts from the same vectors.
    llvm::SmallVector<Value> first;
    for (const Piece& piece : pieces) {
      Value sum;
      if (c_.bias) sum = evaluator_.Evaluate(c_.bias, {{e_.Add(col, piece.offset), 1}}, piece.lanes);
      if (c_.dot) {
        Value start = e_.Load(c_.rhs, e_.Add(rhs, piece.offset), 1, piece.lanes);
        sum = sum ? EmitAdd(e_, sum, start) : start;
      }
      first.push_back(sum ? sum : e_.Zero(c_.accumulator, piece.lanes));
    }
    if (c_.dot) rhs = e_.Add(rhs, width);
    for (int64_t r = 0; r < rows; ++r) sums.append(first.begin(), first.end());
    Value lhs = c_.guarded_lhs ? Value()
                               : e_.Add(c_.lhs_base(outer),
                                        e_.Add(e_.Mul(row, c_.lhs_row_stride), e_.Mul(col, c_.lhs_col_stride)));
    prefetch_->Begin(outer, row, rows, col, width, lhs, rhs);
    sums = Reduce(0, outer, row, rows, width, pieces, lhs, rhs, depth_, {}, sums);
    size_t i = 0;
    for (int64_t r = 0; r < rows; ++r) {
      for (const Piece& piece : pieces) {
        evaluator_.BindElement(c_.result, sums[i++]);
        store_(c_.result_index(outer, e_.Add(row, r), e_.Add(col, piece.offset), 1), piece.lanes);
      }
    }
    evaluator_.UnbindElements();
  }

  // Loops over the reduction from dimension d on. `inner` is the number of k steps inside one step of the dimension
  // before.
  llvm::SmallVector<Value> Reduce(size_t d, llvm::ArrayRef<Value> outer, Value row, int64_t rows, int64_t width,
                                  llvm::ArrayRef<Piece> pieces, Value lhs, Value rhs, int64_t inner,
                                  llvm::SmallVector<Value> k, mlir::ValueRange sums) {
    if (d == c_.k_sizes.size()) {
      prefetch_->Step(k);
      return Step(rows, pieces, lhs, rhs, sums);
    }
    bool last = d + 1 == c_.k_sizes.size();
    if (c_.guarded_lhs && last) {
      auto [guard, position] = c_.guarded_lhs(outer, row, k);
      llvm::SmallVector<Value> before(sums);
      return e_.If(
          guard, mlir::ValueRange(before).getTypes(),
          [&, position = position] {
            return Loop(d, outer, row, rows, width, pieces, position, rhs, inner, k, before);
          },
          [&] { return before; });
    }
    return Loop(d, outer, row, rows, width, pieces, lhs, rhs, inner, k, sums);
  }

  llvm::SmallVector<Value> Loop(size_t d, llvm::ArrayRef<Value> outer, Value row, int64_t rows, int64_t width,
                                llvm::ArrayRef<Piece> pieces, Value lhs, Value rhs, int64_t inner,
                                llvm::SmallVector<Value> k, mlir::ValueRange sums) {
    int64_t steps = inner / std::max<int64_t>(1, c_.k_sizes[d]);
    bool last = d + 1 == c_.k_sizes.size();
    return e_.Fold(
        e_.Constant(0), e_.Constant(c_.k_sizes[d]), sums,
        [&](Value iv, mlir::ValueRange carried) {
          Value l = c_.guarded_lhs && !last ? lhs : e_.Add(lhs, e_.Mul(iv, c_.lhs_k_strides[d]));
          Value r = e_.Add(rhs, e_.Mul(iv, c_.rhs_packed ? steps * width : c_.rhs_k_strides[d]));
          llvm::SmallVector<Value> position = k;
          position.push_back(iv);
          return Reduce(d + 1, outer, row, rows, width, pieces, l, r, steps, position, carried);
        },
        /*unroll=*/last ? 4 : 1);
  }

  llvm::SmallVector<Value> Step(int64_t rows, llvm::ArrayRef<Piece> pieces, Value lhs, Value rhs,
                                mlir::ValueRange sums) {
    if (c_.dot) return DotStep(rows, pieces, lhs, rhs, sums);
    llvm::SmallVector<Value> vectors;
    mlir::Type accumulator = c_.accumulator;
    // Without the zero point, for the lhs.
    auto centre = [&](Value value, int lanes) {
      if (c_.lhs_zero_point == 0) return value;
      return Value(mlir::arith::SubIOp::create(e_.builder(), e_.location(), value,
                                               e_.IntConstant(accumulator, c_.lhs_zero_point, lanes)));
    };
    auto widen = [&](Value value, const Buffer& buffer, int lanes) {
      return EmitCast(e_, value, buffer.element, accumulator, lanes);
    };
    for (const Piece& piece : pieces) {
      int64_t stride = c_.rhs_packed ? 1 : c_.rhs_col_stride;
      vectors.push_back(
          widen(e_.Load(c_.rhs, e_.Add(rhs, piece.offset * stride), stride, piece.lanes), c_.rhs, piece.lanes));
    }
    llvm::SmallVector<Value> results;
    size_t i = 0;
    for (int64_t r = 0; r < rows; ++r) {
      Value scalar;
      Value position = e_.Add(lhs, r * c_.lhs_row_stride);
      if (c_.lhs_col_stride == 0) scalar = centre(widen(e_.Load(c_.lhs, position, 0, 1), c_.lhs, 1), 1);
      for (auto [p, piece] : llvm::enumerate(pieces)) {
        Value factor = scalar ? e_.Splat(scalar, piece.lanes)
                              : centre(widen(e_.Load(c_.lhs, e_.Add(position, piece.offset * c_.lhs_col_stride),
                                                     c_.lhs_col_stride, piece.lanes),
                                             c_.lhs, piece.lanes),
                                       piece.lanes);
        results.push_back(e_.MulAdd(factor, vectors[p], sums[i++]));
      }
    }
    return results;
  }

  // One word of each row times one row of words.
  llvm::SmallVector<Value> DotStep(int64_t rows, llvm::ArrayRef<Piece> pieces, Value lhs, Value rhs,
                                   mlir::ValueRange sums) {
    llvm::SmallVector<Value> words, results;
    for (const Piece& piece : pieces) words.push_back(e_.Load(c_.rhs, e_.Add(rhs, piece.offset), 1, piece.lanes));
    size_t i = 0;
    for (int64_t r = 0; r < rows; ++r) {
      Value position = e_.Add(lhs, r * c_.lhs_row_stride);
      for (auto [p, piece] : llvm::enumerate(pieces)) {
        Value factor = LoadWord(e_, c_.lhs, position, piece.lanes);
        if (c_.dot->flip_sign) factor = FlipSigns(e_, factor, piece.lanes);
        results.push_back(EmitDotProduct(e_, factor, words[p], sums[i++], piece.lanes));
      }
    }
    return results;
  }

  Evaluator& evaluator_;
  Emitter& e_;
  const Contraction& c_;
  const StoreResults& store_;
  int64_t depth_ = 1;
  std::optional<TilePrefetch> prefetch_;
};

}  // namespace

void EmitContraction(Evaluator& evaluator, const Contraction& contraction, const StoreResults& store) {
  TileEmitter(evaluator, contraction, store).Run();
}

void EmitPacking(Evaluator& evaluator, const schedule::PanelPacking& packing, Value operand, const Buffer& panels,
                 const std::function<Indices(llvm::ArrayRef<Value> k, Value col, int64_t lane_step)>& index,
                 int lanes) {
  Emitter& e = evaluator.emitter();
  int64_t depth = packing.depth();
  e.Blocks(packing.cols, packing.width, [&](Value col, int64_t width) {
    e.Nest(packing.k_sizes, [&](llvm::ArrayRef<Value> k) {
      Value linear = e.Constant(0);
      for (size_t d = 0; d < k.size(); ++d) linear = e.Add(e.Mul(linear, packing.k_sizes[d]), k[d]);
      Value start = e.Add(e.Mul(col, depth), e.Mul(linear, width));
      for (const Piece& piece : Pieces(width, lanes)) {
        Value value = evaluator.Evaluate(operand, index(k, e.Add(col, piece.offset), 1), piece.lanes);
        e.Store(value, panels, e.Add(start, piece.offset), 1, piece.lanes);
      }
    });
  });
}

}  // namespace aot::codegen
