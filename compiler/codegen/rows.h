// Loops over a row: the elements that share a result of a reduction, softmax or normalisation. Lanes run along the row
// where its innermost dimension is the tensor's, else across neighbouring rows.
#pragma once

#include <functional>

#include "compiler/codegen/evaluator.h"

namespace aot::codegen {

class Rows {
 public:
  // The row dimensions `reduced` of a tensor of this shape.
  Rows(Evaluator& evaluator, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> reduced, mlir::Type element);

  // True if a row's lanes must be combined at the end.
  bool lanes_along_row() const { return along_; }
  int64_t elements_per_row() const { return row_elements_; }
  // body runs for each row (or each vector of neighbouring rows): at has the index with reduced dimensions at 0, and
  // `lanes` results.
  void ForEach(llvm::function_ref<void(const Indices& at, int lanes)> body);
  // Combines the row's elements: step(element index, linear number in the row, lanes, carried) -> carried. The carried
  // values have `result_lanes` lanes (the same as given to body); with lanes along the row `combine` joins vectors of
  // partial results into one element.
  llvm::SmallVector<Value> Fold(
      const Indices& at, int result_lanes, std::function<llvm::SmallVector<Value>(int lanes)> initial,
      llvm::function_ref<llvm::SmallVector<Value>(const Indices&, Value, int, mlir::ValueRange)> step,
      llvm::function_ref<llvm::SmallVector<Value>(mlir::ValueRange, mlir::ValueRange)> combine);
  // Visits the row's elements in order: body(index, linear number in the row, lanes).
  void Visit(const Indices& at, int result_lanes, llvm::function_ref<void(const Indices&, Value, int)> body);

 private:
  Value Linear(llvm::ArrayRef<Value> outer);

  Evaluator& evaluator_;
  Emitter& e_;
  llvm::SmallVector<int64_t> shape_, reduced_, kept_;
  int lanes_;
  bool along_;
  int64_t row_elements_ = 1;
};

}  // namespace aot::codegen
