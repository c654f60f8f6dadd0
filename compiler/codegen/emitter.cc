#include "compiler/codegen/emitter.h"

#include "compiler/codegen/narrow_float.h"
#include "compiler/ir/NnDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace aot::codegen {
namespace arith = mlir::arith;
namespace scf = mlir::scf;
namespace vector = mlir::vector;

namespace {
// Tags of shared index arithmetic in the memo; keys of the evaluator start with positive numbers.
enum Tag { kAdd = -1, kSub = -2, kMul = -3, kDiv = -4, kRem = -5, kMin = -6, kMax = -7, kLess = -8, kEqual = -9 };

int64_t KeyOf(Value value) { return reinterpret_cast<int64_t>(value.getAsOpaquePointer()); }
}  // namespace

Emitter::Emitter(mlir::OpBuilder builder, mlir::Location location, mlir::Block* entry,
                 const target::Description& target)
    : builder_(builder), location_(location), entry_(entry), target_(target) {
  builder_.setInsertionPointToEnd(entry);
  Push();
}

Value Emitter::Constant(int64_t value) {
  Value& slot = constants_[value];
  if (!slot) {
    // Constants live at the head of the entry block, so that they dominate every use.
    mlir::OpBuilder::InsertionGuard guard(builder_);
    if (last_constant_)
      builder_.setInsertionPointAfter(last_constant_);
    else
      builder_.setInsertionPointToStart(entry_);
    slot = arith::ConstantIndexOp::create(builder_, location_, value);
    last_constant_ = slot.getDefiningOp();
  }
  return slot;
}

std::optional<int64_t> Emitter::ConstantOf(Value index) const {
  llvm::APInt value;
  if (mlir::matchPattern(index, mlir::m_ConstantInt(&value))) return value.getSExtValue();
  return std::nullopt;
}

Value Emitter::Recall(const MemoKey& key) const {
  for (auto scope = memo_.rbegin(); scope != memo_.rend(); ++scope) {
    auto found = scope->find(key);
    if (found != scope->end()) return found->second;
  }
  return {};
}

template <typename Op>
Value Emitter::Binary(int tag, Value a, Value b, bool commutes) {
  MemoKey key = {tag, KeyOf(a), KeyOf(b)};
  if (commutes && key[1] > key[2]) std::swap(key[1], key[2]);
  if (Value known = Recall(key)) return known;
  Value made = Op::create(builder_, location_, a, b);
  Remember(key, made);
  return made;
}

Value Emitter::Add(Value a, Value b) {
  auto x = ConstantOf(a), y = ConstantOf(b);
  if (x && y) return Constant(*x + *y);
  if (x && *x == 0) return b;
  if (y && *y == 0) return a;
  return Binary<arith::AddIOp>(kAdd, a, b, true);
}

Value Emitter::Sub(Value a, Value b) {
  auto x = ConstantOf(a), y = ConstantOf(b);
  if (x && y) return Constant(*x - *y);
  if (y) return Add(a, Constant(-*y));
  return Binary<arith::SubIOp>(kSub, a, b, false);
}

Value Emitter::Mul(Value a, int64_t b) {
  if (auto x = ConstantOf(a)) return Constant(*x * b);
  if (b == 0) return Constant(0);
  if (b == 1) return a;
  return Binary<arith::MulIOp>(kMul, a, Constant(b), false);
}

Value Emitter::Div(Value a, int64_t b) {
  if (b == 1) return a;
  if (auto x = ConstantOf(a)) return Constant(*x / b);
  return Binary<arith::DivUIOp>(kDiv, a, Constant(b), false);
}

Value Emitter::Rem(Value a, int64_t b) {
  if (b == 1) return Constant(0);
  if (auto x = ConstantOf(a)) return Constant(*x % b);
  return Binary<arith::RemUIOp>(kRem, a, Constant(b), false);
}

Value Emitter::Min(Value a, Value b) {
  auto x = ConstantOf(a), y = ConstantOf(b);
  if (x && y) return Constant(std::min(*x, *y));
  return Binary<arith::MinSIOp>(kMin, a, b, true);
}

Value Emitter::Max(Value a, Value b) {
  auto x = ConstantOf(a), y = ConstantOf(b);
  if (x && y) return Constant(std::max(*x, *y));
  return Binary<arith::MaxSIOp>(kMax, a, b, true);
}

Value Emitter::Less(Value a, Value b) {
  MemoKey key = {kLess, KeyOf(a), KeyOf(b)};
  if (Value known = Recall(key)) return known;
  Value made = arith::CmpIOp::create(builder_, location_, arith::CmpIPredicate::slt, a, b);
  Remember(key, made);
  return made;
}

Value Emitter::Equal(Value a, Value b) {
  MemoKey key = {kEqual, KeyOf(a), KeyOf(b)};
  if (Value known = Recall(key)) return known;
  Value made = arith::CmpIOp::create(builder_, location_, arith::CmpIPredicate::eq, a, b);
  Remember(key, made);
  return made;
}

Value Emitter::And(Value a, Value b) { return builder_.createOrFold<arith::AndIOp>(location_, a, b); }

Value Emitter::Select(Value condition, Value a, Value b) {
  return builder_.createOrFold<arith::SelectOp>(location_, condition, a, b);
}

void Emitter::For(Value lower, Value upper, int64_t step, llvm::function_ref<void(Value)> body) {
  auto first = ConstantOf(lower), last = ConstantOf(upper);
  if (first && last) {
    if (*first >= *last) return;
    if (*last - *first <= step) {
      body(lower);
      return;
    }
  }
  auto loop = scf::ForOp::create(builder_, location_, lower, upper, Constant(step));
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  body(loop.getInductionVar());
}

llvm::SmallVector<Value> Emitter::Fold(Value lower, Value upper, mlir::ValueRange initial,
                                       llvm::function_ref<llvm::SmallVector<Value>(Value, mlir::ValueRange)> body,
                                       int64_t unroll, int64_t step) {
  llvm::SmallVector<Value> values(initial);
  auto first = ConstantOf(lower), last = ConstantOf(upper);
  if (first && last && (*last - *first + step - 1) / step <= unroll) {
    for (int64_t i = *first; i < *last; i += step) values = body(Constant(i), values);
    return values;
  }
  auto loop = scf::ForOp::create(builder_, location_, lower, upper, Constant(step), values);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  auto results = body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(builder_, location_, results);
  return llvm::SmallVector<Value>(loop.getResults());
}

llvm::SmallVector<Value> Emitter::If(Value condition, mlir::TypeRange types,
                                     llvm::function_ref<llvm::SmallVector<Value>()> then,
                                     llvm::function_ref<llvm::SmallVector<Value>()> otherwise) {
  auto branch = scf::IfOp::create(builder_, location_, types, condition, /*withElseRegion=*/true);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  for (auto [region, make] :
       {std::pair(&branch.getThenRegion(), then), std::pair(&branch.getElseRegion(), otherwise)}) {
    // An if without results comes with its terminators.
    if (!region->front().empty()) region->front().getTerminator()->erase();
    builder_.setInsertionPointToEnd(&region->front());
    Scope scope(*this);
    auto results = make();
    scf::YieldOp::create(builder_, location_, results);
  }
  return llvm::SmallVector<Value>(branch.getResults());
}

void Emitter::Blocks(int64_t size, int64_t block, llvm::function_ref<void(Value, int64_t)> body) {
  int64_t whole = size / block * block;
  For(Constant(0), Constant(whole), block, [&](Value start) { body(start, block); });
  if (whole < size) {
    Scope scope(*this);
    body(Constant(whole), size - whole);
  }
}

void Emitter::Vectors(int64_t size, int lanes, llvm::function_ref<void(Value, int)> body) {
  int64_t done = 0;
  for (int width = lanes; width >= 1; width /= 2) {
    int64_t whole = done + (size - done) / width * width;
    For(Constant(done), Constant(whole), width, [&](Value start) {
      Scope scope(*this);
      body(start, width);
    });
    done = whole;
  }
}

void Emitter::Nest(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(llvm::ArrayRef<Value>)> body) {
  llvm::SmallVector<Value> ivs;
  std::function<void()> level = [&] {
    if (ivs.size() == shape.size()) {
      body(ivs);
      return;
    }
    For(shape[ivs.size()], [&](Value iv) {
      ivs.push_back(iv);
      level();
      ivs.pop_back();
    });
  };
  level();
}

mlir::Type Emitter::StorageType(mlir::Type element) const {
  if (auto integer = llvm::dyn_cast<mlir::IntegerType>(element)) {
    unsigned width = std::max(8u, integer.getWidth());
    return mlir::IntegerType::get(element.getContext(), width);
  }
  if (IsNarrowFloat(element)) return mlir::IntegerType::get(element.getContext(), 8);
  return element;
}

mlir::Type Emitter::ComputeType(mlir::Type element) const {
  if (auto integer = llvm::dyn_cast<mlir::IntegerType>(element))
    return mlir::IntegerType::get(element.getContext(), integer.getWidth());
  if (element.getIntOrFloatBitWidth() < 32) return mlir::Float32Type::get(element.getContext());
  return element;
}

mlir::Type Emitter::VectorOf(mlir::Type scalar, int lanes) const {
  return lanes == 1 ? scalar : mlir::Type(mlir::VectorType::get({lanes}, scalar));
}

int Emitter::Lanes(mlir::Type element) const {
  mlir::Type compute = ComputeType(element);
  // What is narrower than a byte is computed beside values of some other type: as wide as 32-bit elements.
  int bits = static_cast<int>(compute.getIntOrFloatBitWidth());
  if (bits < 8) bits = 32;
  return std::max(1, target_.vector_bits / bits);
}

Value Emitter::Part(Value vector, int first, int lanes) {
  if (lanes == 1) return Lane(vector, first);
  llvm::SmallVector<int64_t> mask;
  for (int lane = 0; lane < lanes; ++lane) mask.push_back(first + lane);
  return vector::ShuffleOp::create(builder_, location_, vector, vector, mask);
}

Value Emitter::LoadStrided(const Buffer& buffer, Value index, int64_t lane_step, int lanes) {
  // As many vectors as the step says, each beginning with the last element of the one before: together they end with
  // the last element that is wanted, so that nothing beyond it is read.
  mlir::Type type = mlir::VectorType::get({lanes}, StorageType(buffer.element));
  Value result;
  for (int64_t part = 0; part < lane_step; ++part) {
    int64_t start = part * (lanes - 1);
    Value next = vector::LoadOp::create(builder_, location_, type, buffer.memref, mlir::ValueRange{Add(index, start)});
    if (!result) result = next;
    llvm::SmallVector<int64_t> mask;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t at = lane * lane_step - start;
      // Lanes of later parts hold nothing yet.
      bool is_here = at >= 0 && at < lanes, is_done = at < 0;
      mask.push_back(is_here ? lanes + at : is_done ? lane : -1);
    }
    result = vector::ShuffleOp::create(builder_, location_, result, next, mask);
  }
  return result;
}

Value Emitter::Load(const Buffer& buffer, Value index, int64_t lane_step, int lanes) {
  mlir::Type storage = StorageType(buffer.element), compute = ComputeType(buffer.element);
  Value loaded;
  if (lanes == 1 || lane_step == 0) {
    loaded = mlir::memref::LoadOp::create(builder_, location_, buffer.memref, index);
  } else if (lane_step == 1) {
    loaded = vector::LoadOp::create(builder_, location_, mlir::VectorType::get({lanes}, storage), buffer.memref,
                                    mlir::ValueRange{index});
  } else if (lanes >= 4 && lane_step > 1 && lane_step <= 4) {
    loaded = LoadStrided(buffer, index, lane_step, lanes);
  } else {
    llvm::SmallVector<Value> scalars;
    for (int lane = 0; lane < lanes; ++lane)
      scalars.push_back(mlir::memref::LoadOp::create(builder_, location_, buffer.memref, Add(index, lane * lane_step)));
    loaded = FromLanes(scalars);
  }
  bool splat = lanes > 1 && lane_step == 0;
  mlir::Type wanted = VectorOf(compute, splat ? 1 : lanes);
  if (buffer.element.isInteger(1)) {
    Value zero = Zero(storage, splat ? 1 : lanes);
    loaded = arith::CmpIOp::create(builder_, location_, arith::CmpIPredicate::ne, loaded, zero);
  } else if (loaded.getType() != wanted) {
    if (llvm::isa<mlir::FloatType>(compute))
      loaded = Widen(loaded, buffer.element, splat ? 1 : lanes);
    else
      loaded = arith::TruncIOp::create(builder_, location_, wanted, loaded);
  }
  return splat ? Splat(loaded, lanes) : loaded;
}

void Emitter::Store(Value value, const Buffer& buffer, Value index, int64_t lane_step, int lanes) {
  mlir::Type storage = VectorOf(StorageType(buffer.element), lanes);
  if (value.getType() != storage) {
    if (llvm::isa<mlir::FloatType>(buffer.element)) {
      // Rounded already where it was made: an infinity stays one.
      value = Narrow(value, buffer.element, lanes, /*saturate=*/false);
    } else if (buffer.element.isInteger(1) || llvm::cast<mlir::IntegerType>(buffer.element).isUnsigned()) {
      value = arith::ExtUIOp::create(builder_, location_, storage, value);
    } else {
      value = arith::ExtSIOp::create(builder_, location_, storage, value);
    }
  }
  if (lanes == 1) {
    mlir::memref::StoreOp::create(builder_, location_, value, buffer.memref, index);
  } else if (lane_step == 1) {
    vector::StoreOp::create(builder_, location_, value, buffer.memref, mlir::ValueRange{index});
  } else {
    for (int lane = 0; lane < lanes; ++lane)
      mlir::memref::StoreOp::create(builder_, location_, Lane(value, lane), buffer.memref,
                                    Add(index, lane * lane_step));
  }
}

void Emitter::Prefetch(const Buffer& buffer, Value index, bool far) {
  mlir::memref::PrefetchOp::create(builder_, location_, buffer.memref, mlir::ValueRange{index}, /*isWrite=*/false,
                                   /*localityHint=*/far ? 2 : 3, /*isDataCache=*/true);
}

Value Emitter::Widen(Value value, mlir::Type from, int lanes) {
  if (IsNarrowFloat(from)) return DecodeNarrowFloat(*this, value, from, lanes);
  return arith::ExtFOp::create(builder_, location_, VectorOf(builder_.getF32Type(), lanes), value);
}

Value Emitter::Narrow(Value value, mlir::Type to, int lanes, bool saturate) {
  if (mlir::getElementTypeOrSelf(value.getType()).isF64()) value = RoundToOdd(*this, value, lanes);
  if (IsNarrowFloat(to)) return EncodeNarrowFloat(*this, value, to, saturate, lanes);
  if (!to.isBF16()) return arith::TruncFOp::create(builder_, location_, VectorOf(to, lanes), value);
  // Round to nearest even on the bit pattern; LLVM would call __truncsfbf2. A NaN keeps its sign and becomes quiet.
  mlir::Type i32 = builder_.getI32Type(), i16 = builder_.getI16Type();
  auto constant = [&](int64_t c) { return IntConstant(i32, c, lanes); };
  Value bits = arith::BitcastOp::create(builder_, location_, VectorOf(i32, lanes), value);
  Value high = arith::ShRUIOp::create(builder_, location_, bits, constant(16));
  Value odd = arith::AndIOp::create(builder_, location_, high, constant(1));
  Value bias = arith::AddIOp::create(builder_, location_, odd, constant(0x7fff));
  Value rounded =
      arith::ShRUIOp::create(builder_, location_, arith::AddIOp::create(builder_, location_, bits, bias), constant(16));
  Value quiet = arith::OrIOp::create(builder_, location_, high, constant(0x40));
  Value nan = arith::CmpFOp::create(builder_, location_, arith::CmpFPredicate::UNO, value, value);
  Value chosen = arith::SelectOp::create(builder_, location_, nan, quiet, rounded);
  Value narrow = arith::TruncIOp::create(builder_, location_, VectorOf(i16, lanes), chosen);
  return arith::BitcastOp::create(builder_, location_, VectorOf(to, lanes), narrow);
}

Value Emitter::Splat(Value scalar, int lanes) {
  if (lanes == 1 || llvm::isa<mlir::VectorType>(scalar.getType())) return scalar;
  return vector::BroadcastOp::create(builder_, location_, VectorOf(scalar.getType(), lanes), scalar);
}

Value Emitter::FloatConstant(mlir::Type scalar, double value, int lanes) {
  mlir::TypedAttr attribute = mlir::FloatAttr::get(scalar, value);
  if (lanes > 1)
    attribute = mlir::DenseElementsAttr::get(llvm::cast<mlir::ShapedType>(VectorOf(scalar, lanes)), attribute);
  return arith::ConstantOp::create(builder_, location_, attribute);
}

Value Emitter::IntConstant(mlir::Type scalar, int64_t value, int lanes) {
  unsigned width = scalar.getIntOrFloatBitWidth();
  mlir::TypedAttr attribute =
      mlir::IntegerAttr::get(scalar, llvm::APInt(width, static_cast<uint64_t>(value), false, /*implicitTrunc=*/true));
  if (lanes > 1)
    attribute = mlir::DenseElementsAttr::get(llvm::cast<mlir::ShapedType>(VectorOf(scalar, lanes)), attribute);
  return arith::ConstantOp::create(builder_, location_, attribute);
}

Value Emitter::Zero(mlir::Type scalar, int lanes) {
  return llvm::isa<mlir::FloatType>(scalar) ? FloatConstant(scalar, 0, lanes) : IntConstant(scalar, 0, lanes);
}

llvm::SmallVector<Value> Emitter::Interleave(llvm::ArrayRef<Value> vectors, int lanes) {
  int64_t count = static_cast<int64_t>(vectors.size());
  llvm::SmallVector<Value> results;
  for (int64_t part = 0; part < count; ++part) {
    Value result = vectors[0];
    for (int64_t v = 1; v < count; ++v) {
      llvm::SmallVector<int64_t> mask;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int64_t from = (part * lanes + lane) % count, at = (part * lanes + lane) / count;
        // The first vector is still in its own order when the second joins it.
        mask.push_back(from == v ? lanes + at : from > v ? -1 : v > 1 ? lane : at);
      }
      result = vector::ShuffleOp::create(builder_, location_, result, vectors[v], mask);
    }
    results.push_back(result);
  }
  return results;
}

llvm::SmallVector<Value> Emitter::TransposeTile(llvm::ArrayRef<Value> tile, int rows) {
  int columns = static_cast<int>(tile.size());
  if (rows == 1) return {FromLanes(tile)};
  llvm::SmallVector<Value> result;
  if (columns == 1) {
    for (int r = 0; r < rows; ++r) result.push_back(Lane(tile[0], r));
    return result;
  }
  // A square of vectors: what is missing holds nothing that anyone reads.
  int size = std::max(rows, columns);
  auto shuffle = [&](Value a, Value b, llvm::function_ref<int64_t(int)> source, int lanes) -> Value {
    llvm::SmallVector<int64_t> mask;
    for (int lane = 0; lane < lanes; ++lane) mask.push_back(source(lane));
    return vector::ShuffleOp::create(builder_, location_, a, b, mask);
  };
  llvm::SmallVector<Value> square;
  for (Value row : tile)
    square.push_back(rows == size ? row
                                  : shuffle(
                                        row, row, [&](int lane) { return lane < rows ? lane : -1; }, size));
  square.resize(size, square.front());
  // In each step, blocks off the diagonal change places (Eklundh, 1972).
  for (int step = 1; step < size; step *= 2) {
    for (int i = 0; i < size; ++i) {
      if ((i & step) != 0) continue;
      Value a = square[i], b = square[i + step];
      auto upper = [&](int lane) { return (lane & step) == 0 ? lane : size + lane - step; };
      auto lower = [&](int lane) { return (lane & step) == 0 ? lane + step : size + lane; };
      square[i] = shuffle(a, b, upper, size);
      square[i + step] = shuffle(a, b, lower, size);
    }
  }
  for (int r = 0; r < rows; ++r)
    result.push_back(columns == size ? square[r]
                                     : shuffle(
                                           square[r], square[r], [](int lane) { return lane; }, columns));
  return result;
}

Value Emitter::FromLanes(llvm::ArrayRef<Value> scalars) {
  if (scalars.size() == 1) return scalars[0];
  return vector::FromElementsOp::create(
      builder_, location_,
      llvm::cast<mlir::VectorType>(VectorOf(scalars[0].getType(), static_cast<int>(scalars.size()))), scalars);
}

Value Emitter::Lane(Value vector, int lane) {
  if (!llvm::isa<mlir::VectorType>(vector.getType())) return vector;
  return vector::ExtractOp::create(builder_, location_, vector, llvm::ArrayRef<int64_t>{lane});
}

Value Emitter::LaneVector(LaneIndex index, int lanes) {
  llvm::SmallVector<Value> scalars;
  for (int lane = 0; lane < lanes; ++lane) scalars.push_back(Add(index.base, lane * index.step));
  return FromLanes(scalars);
}

Value Emitter::MulAdd(Value a, Value b, Value c) {
  if (!llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(a.getType()))) {
    Value product = arith::MulIOp::create(builder_, location_, a, b);
    return arith::AddIOp::create(builder_, location_, product, c);
  }
  // fmuladd, not fma: a target without the instruction would call libm.
  return mlir::LLVM::FMulAddOp::create(builder_, location_, a, b, c);
}

void Emitter::Fill(const Buffer& buffer, Value start, int64_t count, Value scalar) {
  Vectors(count, Lanes(buffer.element),
          [&](Value offset, int lanes) { Store(Splat(scalar, lanes), buffer, Add(start, offset), 1, lanes); });
}

}  // namespace aot::codegen
