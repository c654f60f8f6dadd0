#include "compiler/codegen/dot_product.h"

#include <algorithm>

#include "compiler/codegen/elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace aot::codegen {
namespace {

namespace vector = mlir::vector;
using target::DotProduct;

mlir::VectorType Vector(Emitter& e, int lanes, unsigned bits) {
  return mlir::VectorType::get({lanes}, e.builder().getIntegerType(bits));
}

// The instruction's intrinsic for this number of 32-bit lanes.
llvm::StringRef Intrinsic(DotProduct product, int lanes) {
  switch (product) {
    case DotProduct::kPairs:
      return lanes == 16  ? "llvm.x86.avx512.pmaddw.d.512"
             : lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                          : "llvm.x86.sse2.pmadd.wd";
    case DotProduct::kUnsignedSigned:
      return lanes == 16  ? "llvm.x86.avx512.vpdpbusd.512"
             : lanes == 8 ? "llvm.x86.avx512.vpdpbusd.256"
                          : "llvm.x86.avx512.vpdpbusd.128";
    case DotProduct::kSigned:
      return "llvm.aarch64.neon.sdot.v4i32.v16i8";
    case DotProduct::kNone:
      break;
  }
  llvm_unreachable("the plan asks for a dot product only where the target has one");
}

// The instructions start at four lanes: fewer are the first of four.
constexpr int kLeastLanes = 4;

Value Widened(Emitter& e, Value value, int lanes) {
  if (lanes == 1) return vector::BroadcastOp::create(e.builder(), e.location(), Vector(e, kLeastLanes, 32), value);
  llvm::SmallVector<int64_t> mask(kLeastLanes, -1);
  for (int i = 0; i < lanes; ++i) mask[i] = i;
  return vector::ShuffleOp::create(e.builder(), e.location(), value, value, mask);
}

Value Narrowed(Emitter& e, Value value, int lanes) {
  if (lanes == 1) return e.Lane(value, 0);
  llvm::SmallVector<int64_t> mask;
  for (int i = 0; i < lanes; ++i) mask.push_back(i);
  return vector::ShuffleOp::create(e.builder(), e.location(), value, value, mask);
}

}  // namespace

Value EmitDotProduct(Emitter& e, Value lhs, Value rhs, Value sums, int lanes) {
  int width = std::max(lanes, kLeastLanes);
  if (width != lanes) {
    lhs = Widened(e, lhs, lanes);
    rhs = Widened(e, rhs, lanes);
    sums = Widened(e, sums, lanes);
  }
  DotProduct product = e.target().dot_product;
  bool pairs = product == DotProduct::kPairs;
  mlir::VectorType parts = pairs ? Vector(e, 2 * width, 16) : Vector(e, 4 * width, 8);
  lhs = vector::BitCastOp::create(e.builder(), e.location(), parts, lhs);
  rhs = vector::BitCastOp::create(e.builder(), e.location(), parts, rhs);
  auto call = [&](mlir::ValueRange operands) -> Value {
    return mlir::LLVM::CallIntrinsicOp::create(e.builder(), e.location(), Vector(e, width, 32),
                                               e.builder().getStringAttr(Intrinsic(product, width)), operands)
        .getResult(0);
  };
  Value result = pairs ? Value(mlir::arith::AddIOp::create(e.builder(), e.location(), sums, call({lhs, rhs})))
                       : call({sums, lhs, rhs});
  return width == lanes ? result : Narrowed(e, result, lanes);
}

Value LowerHalves(Emitter& e, Value words, int lanes) {
  return mlir::arith::AndIOp::create(e.builder(), e.location(), words,
                                     e.IntConstant(e.builder().getI32Type(), 0xffff, lanes));
}

bool HasShortMulAdd(Emitter& e) {
  return e.target().dot_product == DotProduct::kPairs || e.target().dot_product == DotProduct::kUnsignedSigned;
}

Value EmitShortMulAdd(Emitter& e, Value lhs, Value rhs, Value sums, int lanes) {
  // The upper halves of lhs meet zeros.
  bool accumulates = e.target().dot_product == DotProduct::kUnsignedSigned;
  int width = std::max(lanes, kLeastLanes);
  if (width != lanes) {
    lhs = Widened(e, lhs, lanes);
    rhs = Widened(e, rhs, lanes);
    sums = Widened(e, sums, lanes);
  }
  llvm::StringRef intrinsic = !accumulates  ? Intrinsic(DotProduct::kPairs, width)
                              : width == 16 ? "llvm.x86.avx512.vpdpwssd.512"
                              : width == 8  ? "llvm.x86.avx512.vpdpwssd.256"
                                            : "llvm.x86.avx512.vpdpwssd.128";
  lhs = vector::BitCastOp::create(e.builder(), e.location(), Vector(e, 2 * width, 16), lhs);
  rhs = vector::BitCastOp::create(e.builder(), e.location(), Vector(e, 2 * width, 16), rhs);
  llvm::SmallVector<Value> operands =
      accumulates ? llvm::SmallVector<Value>{sums, lhs, rhs} : llvm::SmallVector<Value>{lhs, rhs};
  Value result = mlir::LLVM::CallIntrinsicOp::create(e.builder(), e.location(), Vector(e, width, 32),
                                                     e.builder().getStringAttr(intrinsic), operands)
                     .getResult(0);
  if (!accumulates) result = mlir::arith::AddIOp::create(e.builder(), e.location(), sums, result);
  return width == lanes ? result : Narrowed(e, result, lanes);
}

Value LoadWord(Emitter& e, const Buffer& bytes, Value position, int lanes) {
  Value four =
      vector::LoadOp::create(e.builder(), e.location(), Vector(e, 4, 8), bytes.memref, mlir::ValueRange{position});
  Value word = e.Lane(vector::BitCastOp::create(e.builder(), e.location(), Vector(e, 1, 32), four), 0);
  return e.Splat(word, lanes);
}

Value EmitCentred(Emitter& e, Value elements, mlir::Type from, int64_t zero_point, int lanes) {
  mlir::Type i16 = e.builder().getI16Type();
  Value wide = EmitCast(e, elements, from, i16, lanes);
  if (zero_point == 0) return wide;
  return mlir::arith::SubIOp::create(e.builder(), e.location(), wide, e.IntConstant(i16, zero_point, lanes));
}

Value FlipSigns(Emitter& e, Value words, int lanes) {
  Value top_bits = e.IntConstant(e.builder().getI32Type(), 0x80808080, lanes);
  return mlir::arith::XOrIOp::create(e.builder(), e.location(), words, top_bits);
}

}  // namespace aot::codegen
