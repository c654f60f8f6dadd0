// Constants whose memory goes before the context does.
//
// Bytes of large constants lie in blobs of the MLIR context and live as long as it does, so that a weight which a pass
// replaces would keep its memory for the rest of the compile. Temporary constants are those that a pass computed and
// that the module alone refers to.
#pragma once

#include <cstdint>

#include "compiler/reference/tensor.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/MLIRContext.h"

namespace aot::nn {

// As FromTensor (reference_bridge.h), for a temporary constant.
mlir::ElementsAttr FromTemporaryTensor(const reference::Tensor& tensor, mlir::MLIRContext* context);

// Counts who refers to each temporary constant, and gives its memory back after the last. Attributes that share their
// bytes (other shapes of them, copies) count as one. All others are passed over. Not thread-safe.
class TemporaryUses {
 public:
  void Add(mlir::ElementsAttr constant);
  // After the last use no attribute with these bytes may be read any more.
  void Remove(mlir::ElementsAttr constant);

 private:
  llvm::DenseMap<const void*, int64_t> uses_;
};

}  // namespace aot::nn
