#include "compiler/ir/temporary_constant.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/ir/reference_bridge.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace aot::nn {
namespace {

// Keys of temporary blobs start with this.
constexpr llvm::StringLiteral kPrefix = "temporary_";

// What identifies a temporary blob, or null.
const void* BlobOf(mlir::ElementsAttr constant) {
  auto resource = mlir::dyn_cast_if_present<mlir::DenseResourceElementsAttr>(constant);
  if (!resource || !resource.getRawHandle().getKey().starts_with(kPrefix)) return nullptr;
  return resource.getRawHandle().getResource();
}

}  // namespace

mlir::ElementsAttr FromTemporaryTensor(const reference::Tensor& tensor, mlir::MLIRContext* context) {
  // Small constants and splats are no blobs; other blobs move to a key of their own, and the first one is emptied.
  mlir::ElementsAttr constant = FromTensor(tensor, context);
  auto resource = mlir::dyn_cast_if_present<mlir::DenseResourceElementsAttr>(constant);
  if (!resource || !resource.getRawHandle().getBlob()) return constant;
  auto& manager = mlir::DenseResourceElementsHandle::getManagerInterface(context);
  mlir::AsmResourceBlob blob = std::move(*resource.getRawHandle().getBlob());
  manager.update(resource.getRawHandle().getKey(), mlir::AsmResourceBlob());
  return mlir::DenseResourceElementsAttr::get(
      resource.getType(), absl::StrCat(kPrefix.str(), resource.getRawHandle().getKey().str()), std::move(blob));
}

void TemporaryUses::Add(mlir::ElementsAttr constant) {
  if (const void* blob = BlobOf(constant)) ++uses_[blob];
}

void TemporaryUses::Remove(mlir::ElementsAttr constant) {
  const void* blob = BlobOf(constant);
  if (!blob || --uses_[blob] > 0) return;
  mlir::DenseResourceElementsHandle handle = mlir::cast<mlir::DenseResourceElementsAttr>(constant).getRawHandle();
  mlir::DenseResourceElementsHandle::getManagerInterface(constant.getContext())
      .update(handle.getKey(), mlir::AsmResourceBlob());
}

}  // namespace aot::nn
