#include "compiler/codegen/rows.h"

namespace aot::codegen {

Rows::Rows(Evaluator& evaluator, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> reduced, mlir::Type element)
    : evaluator_(evaluator), e_(evaluator.emitter()), shape_(shape), lanes_(e_.Lanes(element)) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (llvm::is_contained(reduced, static_cast<int64_t>(d))) {
      reduced_.push_back(d);
      row_elements_ *= shape[d];
    } else {
      kept_.push_back(d);
    }
  }
  int64_t innermost = static_cast<int64_t>(shape.size()) - 1;
  along_ = !reduced_.empty() && reduced_.back() == innermost;
}

void Rows::ForEach(llvm::function_ref<void(const Indices&, int)> body) {
  llvm::SmallVector<int64_t> sizes;
  bool across = !along_ && !kept_.empty() && kept_.back() == static_cast<int64_t>(shape_.size()) - 1;
  for (int64_t d : kept_) sizes.push_back(shape_[d]);
  int64_t inner = across ? sizes.pop_back_val() : 1;
  if (inner == 0) return;
  e_.Nest(sizes, [&](llvm::ArrayRef<Value> outer) {
    Indices at(shape_.size(), LaneIndex{e_.Constant(0), 0});
    for (size_t i = 0; i < outer.size(); ++i) at[kept_[i]].base = outer[i];
    if (!across) {
      body(at, 1);
      return;
    }
    e_.Vectors(inner, lanes_, [&](Value start, int lanes) {
      Indices vector = at;
      vector[kept_.back()] = {start, lanes > 1 ? 1 : 0};
      body(vector, lanes);
    });
  });
}

llvm::SmallVector<Value> Rows::Fold(
    const Indices& at, int result_lanes, std::function<llvm::SmallVector<Value>(int)> initial,
    llvm::function_ref<llvm::SmallVector<Value>(const Indices&, Value, int, mlir::ValueRange)> step,
    llvm::function_ref<llvm::SmallVector<Value>(mlir::ValueRange, mlir::ValueRange)> combine) {
  using Body = llvm::function_ref<llvm::SmallVector<Value>(Value, mlir::ValueRange)>;
  // Four elements are joined as a tree, and long loops join the results of blocks: the chain of dependent additions is
  // a quarter as long, and the rounding error of a float sum grows with the chain's length, not with the number of
  // elements.
  constexpr int64_t kTree = 4, kBlock = 256;
  auto trees = [&](int64_t count, int64_t width, int lanes, mlir::ValueRange carried, Body body) {
    int64_t group = kTree * width, whole = count / group * group;
    auto joined = e_.Fold(
        e_.Constant(0), e_.Constant(whole), carried,
        [&](Value start, mlir::ValueRange outside) {
          auto left = body(e_.Add(start, width), body(start, initial(lanes)));
          auto right = body(e_.Add(start, 3 * width), body(e_.Add(start, 2 * width), initial(lanes)));
          return combine(outside, combine(left, right));
        },
        1, group);
    return e_.Fold(e_.Constant(whole), e_.Constant(count), joined, body, 1, width);
  };
  auto blocked = [&](int64_t first, int64_t last, int64_t width, int lanes, mlir::ValueRange carried, Body body) {
    int64_t block = kBlock * width, whole = (last - first) / block * block;
    auto from = [&](Value start, int64_t count, mlir::ValueRange begin) {
      return trees(count, width, lanes, begin,
                   [&](Value iv, mlir::ValueRange inside) { return body(e_.Add(start, iv), inside); });
    };
    if (last - first <= 4 * block) return from(e_.Constant(first), last - first, carried);
    auto joined = e_.Fold(
        e_.Constant(first), e_.Constant(first + whole), carried,
        [&](Value start, mlir::ValueRange outside) { return combine(outside, from(start, block, initial(lanes))); }, 1,
        block);
    return from(e_.Constant(first + whole), last - first - whole, joined);
  };

  llvm::SmallVector<int64_t> outer_dims(reduced_);
  int64_t inner = along_ ? shape_[outer_dims.pop_back_val()] : 1;
  Indices index = at;
  // One pass over the row for the elements [first, first + count) of the innermost dimension, `width` lanes at a time.
  auto pass = [&](int64_t first, int64_t count, int width, llvm::SmallVector<Value> start) {
    std::function<llvm::SmallVector<Value>(size_t, Value, mlir::ValueRange)> level = [&](size_t i, Value linear,
                                                                                         mlir::ValueRange carried) {
      if (i < outer_dims.size()) {
        int64_t size = shape_[outer_dims[i]];
        return blocked(0, size, 1, along_ ? width : result_lanes, carried, [&](Value iv, mlir::ValueRange inside) {
          index[outer_dims[i]].base = iv;
          return level(i + 1, e_.Add(e_.Mul(linear, size), iv), inside);
        });
      }
      if (!along_) return step(index, linear, result_lanes, carried);
      Value row = e_.Mul(linear, inner);
      return blocked(first, first + count, width, width, carried, [&](Value iv, mlir::ValueRange inside) {
        index.back() = {iv, width > 1 ? 1 : 0};
        return step(index, e_.Add(row, iv), width, inside);
      });
    };
    return level(0, e_.Constant(0), start);
  };
  if (!along_) return pass(0, 1, result_lanes, initial(result_lanes));
  // Vectors first, then the rest element by element; the lanes are joined with it.
  int64_t whole = inner / lanes_ * lanes_;
  llvm::SmallVector<Value> result;
  if (whole < inner || whole == 0) result = pass(whole, inner - whole, 1, initial(1));
  if (whole > 0) {
    llvm::SmallVector<Value> vectors = pass(0, whole, lanes_, initial(lanes_));
    for (int lanes = lanes_; lanes > 1; lanes /= 2) {
      llvm::SmallVector<Value> lower, upper;
      for (Value v : vectors) {
        lower.push_back(e_.Part(v, 0, lanes / 2));
        upper.push_back(e_.Part(v, lanes / 2, lanes / 2));
      }
      vectors = combine(lower, upper);
    }
    result = result.empty() ? vectors : combine(result, vectors);
  }
  return result;
}

void Rows::Visit(const Indices& at, int result_lanes, llvm::function_ref<void(const Indices&, Value, int)> body) {
  llvm::SmallVector<int64_t> outer_dims(reduced_), sizes;
  int64_t inner = along_ ? shape_[outer_dims.pop_back_val()] : 1;
  for (int64_t d : outer_dims) sizes.push_back(shape_[d]);
  if (inner == 0) return;
  e_.Nest(sizes, [&](llvm::ArrayRef<Value> outer) {
    Indices index = at;
    Value linear = e_.Constant(0);
    for (size_t i = 0; i < outer.size(); ++i) {
      index[outer_dims[i]].base = outer[i];
      linear = e_.Add(e_.Mul(linear, sizes[i]), outer[i]);
    }
    if (!along_) {
      body(index, linear, result_lanes);
      return;
    }
    e_.Vectors(inner, lanes_, [&](Value start, int lanes) {
      index.back() = {start, lanes > 1 ? 1 : 0};
      body(index, e_.Add(e_.Mul(linear, inner), start), lanes);
    });
  });
}

}  // namespace aot::codegen
