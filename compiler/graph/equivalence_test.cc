// No pass changes what a function computes: random graphs, interpreted before and after.
#include <cmath>
#include <random>

#include "compiler/graph/group_verifier.h"
#include "compiler/graph/matchers.h"
#include "compiler/graph/passes.h"
#include "compiler/graph/pipeline.h"
#include "compiler/ir/reference_bridge.h"
#include "gtest/gtest.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace aot::graph {
namespace {

using llvm::SmallVector;
using mlir::Value;
using nn::TensorTypeOf;
using Shape = SmallVector<int64_t>;

// Builds functions of 10 to 25 operations whose values stay small, so that rounding is the only difference.
class RandomGraph {
 public:
  RandomGraph(mlir::MLIRContext& context, unsigned seed)
      : random_(seed), builder_(&context), location_(builder_.getUnknownLoc()) {}

  mlir::OwningOpRef<mlir::ModuleOp> Build() {
    auto module = mlir::ModuleOp::create(location_);
    builder_.setInsertionPointToEnd(module.getBody());
    auto image = Type({1, 2 * (1 + Below(3)), 4 + Below(5), 4 + Below(5)}), tokens = Type({2, 4 + Below(4), 8});
    auto function =
        mlir::func::FuncOp::create(builder_, location_, "main", builder_.getFunctionType({image, tokens}, {}));
    builder_.setInsertionPointToEnd(function.addEntryBlock());
    values_.assign(function.getArguments().begin(), function.getArguments().end());
    int64_t count = 10 + Below(15);
    for (int64_t i = 0; i < count; ++i) {
      Value value = Step(Pick());
      if (value && TensorTypeOf(value).getNumElements() <= 8192) values_.push_back(value);
    }
    // Whatever has no use, and one value that has.
    SmallVector<Value> results = {Pick()};
    for (Value value : values_)
      if (value.use_empty()) results.push_back(value);
    mlir::func::ReturnOp::create(builder_, location_, results);
    function.setFunctionType(
        builder_.getFunctionType(function.getArgumentTypes(), mlir::ValueRange(results).getTypes()));
    return module;
  }

 private:
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  double Real() { return static_cast<double>(random_() % 2001) / 1000.0 - 1.0; }
  Value Pick() {
    // Recent values more often, so that chains form.
    int64_t size = static_cast<int64_t>(values_.size());
    return Below(3) ? values_[size - 1 - Below(std::min<int64_t>(size, 3))] : values_[Below(size)];
  }
  mlir::RankedTensorType Type(llvm::ArrayRef<int64_t> shape) {
    return mlir::RankedTensorType::get(shape, builder_.getF32Type());
  }
  Shape ShapeOf(Value value) { return Shape(TensorTypeOf(value).getShape()); }

  Value Constant(llvm::ArrayRef<int64_t> shape, bool positive = false) {
    std::vector<double> elements(Type(shape).getNumElements());
    for (double& element : elements) element = positive ? std::fabs(Real()) + 0.5 : Real();
    return MakeFloatConstant(builder_, location_, builder_.getF32Type(), shape, elements);
  }
  Value Splat(double value) { return MakeFloatConstant(builder_, location_, builder_.getF32Type(), {}, {value}); }

  template <typename Op>
  Value Unary(Value x) {
    return Op::create(builder_, location_, x.getType(), x);
  }
  template <typename Op>
  Value Binary(Value a, Value b) {
    auto shape = nn::BroadcastShapes(ShapeOf(a), ShapeOf(b));
    return failed(shape) ? Value() : Op::create(builder_, location_, Type(*shape), a, b).getResult();
  }
  mlir::DenseI64ArrayAttr Array(llvm::ArrayRef<int64_t> values) { return builder_.getDenseI64ArrayAttr(values); }

  Value Convolution(Value x) {
    Shape shape = ShapeOf(x);
    if (shape.size() < 3 || shape.size() > 4) return {};
    size_t spatial = shape.size() - 2;
    int64_t kernel = Below(2) ? 3 : 1, stride = 1 + Below(2), pad = Below(2),
            group = Below(2) && shape[1] % 2 == 0 ? 2 : 1;
    int64_t features = 2 * (1 + Below(4));
    Shape filter = {features, shape[1] / group}, result = {shape[0], features};
    bool transposed = Below(4) == 0;
    if (transposed) filter = {shape[1], features / group};
    for (size_t i = 0; i < spatial; ++i) {
      filter.push_back(kernel);
      if (shape[i + 2] + 2 * pad < kernel) return {};
      result.push_back(transposed ? (shape[i + 2] - 1) * stride + kernel - 2 * pad
                                  : (shape[i + 2] + 2 * pad - kernel) / stride + 1);
      if (result.back() < 1) return {};
    }
    Value weights = Constant(filter), bias = Below(2) ? Constant({features}) : Value();
    SmallVector<int64_t> strides(spatial, stride), pads(2 * spatial, pad), dilations(spatial, 1);
    if (transposed)
      return nn::ConvTransposeOp::create(builder_, location_, Type(result), x, weights, bias, Array(strides),
                                         Array(pads), Array(dilations), builder_.getI64IntegerAttr(group),
                                         mlir::UnitAttr());
    return nn::ConvOp::create(builder_, location_, Type(result), x, weights, bias, Array(strides), Array(pads),
                              Array(dilations), builder_.getI64IntegerAttr(group), mlir::UnitAttr());
  }

  Value Pool(Value x) {
    Shape shape = ShapeOf(x), result = shape;
    if (shape.size() != 4 || shape[2] < 2 || shape[3] < 2) return {};
    for (int i : {2, 3}) result[i] = (shape[i] - 2) / 2 + 1;
    auto two = Array({2, 2}), zero = Array({0, 0, 0, 0}), one = Array({1, 1});
    if (Below(2))
      return nn::MaxPoolOp::create(builder_, location_, Type(result), x, two, two, zero, one, mlir::UnitAttr());
    return nn::AvgPoolOp::create(builder_, location_, Type(result), x, two, two, zero, one,
                                 builder_.getBoolAttr(Below(2)), mlir::UnitAttr());
  }

  Value BatchNorm(Value x) {
    Shape shape = ShapeOf(x);
    if (shape.size() < 2) return {};
    int64_t c = shape[1];
    return nn::BatchNormOp::create(builder_, location_, x.getType(), x, Constant({c}), Constant({c}), Constant({c}),
                                   Constant({c}, true), builder_.getF32FloatAttr(0.01f), mlir::UnitAttr());
  }

  // One factor or offset for each index of a dimension.
  Value AlongDimension(Value x) {
    Shape shape = ShapeOf(x);
    if (shape.empty()) return {};
    size_t dimension = Below(2) ? std::min<size_t>(1, shape.size() - 1) : Below(shape.size());
    Shape constant(shape.size() - dimension, 1);
    constant[0] = shape[dimension];
    Value c = Constant(constant, true);
    switch (Below(4)) {
      case 0:
        return Binary<nn::AddOp>(x, c);
      case 1:
        return Binary<nn::SubOp>(x, c);
      case 2:
        return Binary<nn::DivOp>(x, c);
      default:
        return Binary<nn::MulOp>(c, x);
    }
  }

  Value Transpose(Value x) {
    Shape shape = ShapeOf(x), perm, result;
    for (size_t i = 0; i < shape.size(); ++i) perm.push_back(i);
    if (Below(2) && shape.size() >= 3) {
      perm.erase(perm.begin() + 1);
      perm.push_back(1);  // to channels last
    } else {
      for (size_t i = shape.size(); i > 1; --i) std::swap(perm[i - 1], perm[Below(i)]);
    }
    for (int64_t p : perm) result.push_back(shape[p]);
    return nn::TransposeOp::create(builder_, location_, Type(result), x, perm);
  }

  Value Reshape(Value x) {
    Shape shape = ShapeOf(x);
    if (shape.empty()) return {};
    size_t i = Below(shape.size());
    if (Below(3) == 0) {
      shape.insert(shape.begin() + i, 1);
    } else if (i + 1 < shape.size()) {
      shape[i] *= shape[i + 1];
      shape.erase(shape.begin() + i + 1);
    }
    return shape.size() > 5 ? Value() : nn::ReshapeOp::create(builder_, location_, Type(shape), x).getResult();
  }

  Value Slice(Value x) {
    Shape shape = ShapeOf(x), starts, steps(shape.size(), 1);
    for (int64_t& size : shape) {
      starts.push_back(size > 2 ? Below(2) : 0);
      size -= starts.back();
    }
    return nn::SliceOp::create(builder_, location_, Type(shape), x, starts, steps);
  }

  Value Pad(Value x) {
    Shape shape = ShapeOf(x), begins;
    for (size_t i = 0; i < shape.size(); ++i) {
      begins.push_back(i >= 2 ? Below(2) : 0);
      shape[i] += begins.back() + (i >= 2 ? Below(2) : 0);
    }
    return nn::PadOp::create(builder_, location_, Type(shape), x, Splat(Below(2) ? 0.0 : 0.5), begins, "constant");
  }

  Value Concat(Value x) {
    Value y = Pick();
    Shape shape = ShapeOf(x), other = ShapeOf(y);
    if (shape.empty() || shape.size() != other.size()) return {};
    int64_t axis = Below(shape.size());
    for (size_t i = 0; i < shape.size(); ++i)
      if (static_cast<int64_t>(i) != axis && shape[i] != other[i]) return {};
    shape[axis] += other[axis];
    return nn::ConcatOp::create(builder_, location_, Type(shape), mlir::ValueRange({x, y}), axis);
  }

  Value Reduce(Value x) {
    Shape shape = ShapeOf(x), axes;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (Below(2)) continue;
      axes.push_back(i);
      shape[i] = 1;
    }
    if (Below(2)) return nn::ReduceMeanOp::create(builder_, location_, Type(shape), x, axes);
    return nn::ReduceMaxOp::create(builder_, location_, Type(shape), x, axes);
  }

  Value Softmax(Value x) {
    if (ShapeOf(x).empty()) return {};
    return nn::SoftmaxOp::create(builder_, location_, x.getType(), x, Below(ShapeOf(x).size()));
  }

  Value MatMul(Value x) {
    Shape shape = ShapeOf(x);
    if (shape.size() < 2) return {};
    int64_t k = shape.back(), n = 2 + Below(8);
    shape.back() = n;
    bool transpose = Below(2);
    Value weights = transpose ? Constant({n, k}) : Constant({k, n});
    return nn::MatMulOp::create(builder_, location_, Type(shape), x, weights, false, transpose);
  }

  Value Gather(Value x) {
    Shape shape = ShapeOf(x);
    if (shape.empty()) return {};
    int64_t axis = Below(shape.size());
    auto type = mlir::RankedTensorType::get({3}, builder_.getI64Type());
    Value indices = nn::MakeConstant(builder_, location_, type, {0.0, static_cast<double>(shape[axis] - 1), -1.0});
    shape[axis] = 3;
    return nn::GatherOp::create(builder_, location_, Type(shape), x, indices, axis);
  }

  Value Resize(Value x) {
    Shape shape = ShapeOf(x);
    if (shape.size() != 4) return {};
    for (int i : {2, 3}) shape[i] *= 2;
    return nn::ResizeOp::create(builder_, location_, Type(shape), x, Below(2) ? "linear" : "nearest", "asymmetric",
                                "floor", llvm::ArrayRef<float>{1, 1, 2, 2}, llvm::ArrayRef<float>{},
                                llvm::APFloat(-0.75f), llvm::APFloat(0.0f), false, false);
  }

  Value SpelledOutLayerNorm(Value x) {
    Shape shape = ShapeOf(x);
    if (shape.empty() || shape.back() < 2) return {};
    SmallVector<int64_t> axes = {static_cast<int64_t>(shape.size()) - 1};
    Shape reduced = shape;
    reduced.back() = 1;
    Value mean = nn::ReduceMeanOp::create(builder_, location_, Type(reduced), x, axes);
    Value centred = Binary<nn::SubOp>(x, mean), square = Binary<nn::PowOp>(centred, Splat(2));
    Value variance = nn::ReduceMeanOp::create(builder_, location_, Type(reduced), square, axes);
    Value deviation = Unary<nn::SqrtOp>(Binary<nn::AddOp>(variance, Splat(0.01)));
    Value norm = Binary<nn::DivOp>(centred, deviation);
    return Binary<nn::AddOp>(Binary<nn::MulOp>(norm, Constant({shape.back()})), Constant({shape.back()}));
  }

  Value SpelledOutGelu(Value x) {
    Value erf = Unary<nn::ErfOp>(Binary<nn::DivOp>(x, Splat(std::sqrt(2.0))));
    Value sum = Binary<nn::AddOp>(erf, Splat(1));
    return Below(2) ? Binary<nn::MulOp>(Binary<nn::MulOp>(x, sum), Splat(0.5))
                    : Binary<nn::MulOp>(Binary<nn::MulOp>(x, Splat(0.5)), sum);
  }

  Value Step(Value x) {
    switch (Below(26)) {
      case 0:
        return Unary<nn::ReluOp>(x);
      case 1:
        return Unary<nn::TanhOp>(x);
      case 2:
        return Unary<nn::NegOp>(x);
      case 3:
        return Binary<nn::MulOp>(x, Unary<nn::SigmoidOp>(x));
      case 4:
        return Binary<nn::PowOp>(Unary<nn::TanhOp>(x), Splat(2));
      case 5:
        return Binary<nn::AddOp>(x, Pick());
      case 6:
        return Binary<nn::MulOp>(Unary<nn::TanhOp>(x), Pick());
      case 7:
        return Binary<nn::MaxOp>(Pick(), x);
      case 8:
        return Binary<nn::AddOp>(Splat(Below(3)), x);
      case 9:
        return Binary<nn::DivOp>(x, Splat(Below(2) ? 4.0 : 3.0));
      case 10:
        return AlongDimension(x);
      case 11:
      case 12:
        return Convolution(x);
      case 13:
        return Pool(x);
      case 14:
        return BatchNorm(x);
      case 15:
        return Transpose(x);
      case 16:
        return Reshape(x);
      case 17:
        return Slice(x);
      case 18:
        return Pad(x);
      case 19:
        return Concat(x);
      case 20:
        return Reduce(x);
      case 21:
        return Softmax(x);
      case 22:
        return MatMul(x);
      case 23:
        return Below(2) ? Gather(x) : Resize(x);
      case 24:
        return SpelledOutLayerNorm(x);
      default:
        return SpelledOutGelu(x);
    }
  }

  std::mt19937 random_;
  mlir::OpBuilder builder_;
  mlir::Location location_;
  std::vector<Value> values_;
};

class EquivalenceTest : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() {
    registerGraphPasses();
    mlir::registerTransformsPasses();
    RegisterGraphPipeline();
  }
};

std::vector<reference::Tensor> RandomInputs(mlir::func::FuncOp function, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<reference::Tensor> inputs;
  for (mlir::Type type : function.getArgumentTypes()) {
    inputs.emplace_back(*nn::ToTensorType(type));
    for (int64_t i = 0; i < inputs.back().size(); ++i)
      inputs.back().SetFloat(i, static_cast<double>(random() % 2001) / 1000.0 - 1.0);
  }
  return inputs;
}

std::string Text(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, mlir::OpPrintingFlags().elideLargeElementsAttrs(8));
  return text;
}

TEST_P(EquivalenceTest, KeepsResults) {
  mlir::DialectRegistry registry;
  registry.insert<nn::NnDialect, mlir::func::FuncDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  for (unsigned seed = 0; seed < 60; ++seed) {
    auto module = RandomGraph(context, seed).Build();
    std::string before = Text(*module);
    ASSERT_TRUE(succeeded(mlir::verify(*module))) << "seed " << seed << "\n" << before;
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    std::vector<reference::Tensor> inputs = RandomInputs(function, seed);
    auto expected = nn::Interpret(function, inputs);
    ASSERT_TRUE(expected.ok()) << "seed " << seed << ": " << expected.status() << "\n" << before;

    mlir::PassManager manager(&context);
    ASSERT_TRUE(succeeded(mlir::parsePassPipeline(GetParam(), manager)));
    ASSERT_TRUE(succeeded(manager.run(*module))) << "seed " << seed << "\n" << before;
    std::string after = Text(*module);
    if (std::string(GetParam()).find("pipeline") != std::string::npos ||
        std::string(GetParam()).find("fuse") != std::string::npos) {
      ASSERT_TRUE(succeeded(VerifyGroups(function))) << "seed " << seed << "\n" << after;
    }
    auto actual = nn::Interpret(function, inputs);
    ASSERT_TRUE(actual.ok()) << "seed " << seed << ": " << actual.status() << "\n" << before << after;
    ASSERT_EQ(expected->size(), actual->size());
    for (size_t r = 0; r < expected->size(); ++r) {
      const reference::Tensor &want = (*expected)[r], &have = (*actual)[r];
      ASSERT_EQ(want.shape(), have.shape());
      double largest = 1;
      for (int64_t i = 0; i < want.size(); ++i) largest = std::fmax(largest, std::fabs(want.GetFloat(i)));
      for (int64_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(want.GetFloat(i), have.GetFloat(i), 1e-4 * largest)
            << "seed " << seed << " result " << r << " element " << i << "\n"
            << before << after;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Passes, EquivalenceTest,
                         ::testing::Values("func.func(nn-canonicalize)", "func.func(nn-canonicalize{strict-math=true})",
                                           "func.func(nn-constant-fold)", "func.func(nn-decompose)",
                                           "func.func(nn-recognise-layer-norm)", "func.func(nn-recognise-gelu)",
                                           "func.func(nn-fold-batch-norm)", "func.func(nn-fold-scale)",
                                           "func.func(nn-fold-scale{strict-math=true})", "func.func(nn-fold-pad)",
                                           "func.func(nn-assign-layout)", "func.func(nn-fuse)",
                                           "func.func(nn-fuse{single=true})", "func.func(nn-fuse{max-operations=3})",
                                           "nn-pipeline", "nn-pipeline{strict-math=true}", "nn-pipeline{opt-level=0}"),
                         [](const ::testing::TestParamInfo<const char*>& info) {
                           std::string name;
                           for (char c : std::string(info.param))
                             if (std::isalnum(static_cast<unsigned char>(c))) name += c;
                           return name;
                         });

}  // namespace
}  // namespace aot::graph
