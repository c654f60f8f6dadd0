// The nn dialect: a model as a graph of tensor values with static shapes.
//
// Conventions that hold for every operation:
//  * Tensors are `tensor<...xT>` with static shapes. Signed integers are signless (`i8`), unsigned ones `ui8`,
//    booleans `i1`.
//  * Axes and permutations are normalised (non-negative). Operands that ONNX gives as tensors but that decide
//    shapes are attributes here; the result type states the resulting shape.
//  * Attributes have one meaning whatever the opset of the model was: compiler/import/onnx does that mapping.
//  * The plain meaning of each operation is compiler/reference; an operation's name without the prefix and its
//    attributes are what reference::Evaluate takes.
#ifndef AOT_NN_OPS_TD
#define AOT_NN_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Nn_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::aot::nn";
  let summary = "Neural network graphs over statically shaped tensors";
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 0;
}

def Nn_Tensor : StaticShapeTensorOf<[AnyType]>;
def Nn_BoolTensor : StaticShapeTensorOf<[I1]>;
def Nn_IndexTensor : StaticShapeTensorOf<[I32, I64]>;

class Nn_Op<string mnemonic, list<Trait> traits = []> : Op<Nn_Dialect, mnemonic, traits>;

// Elementwise operations apply one scalar function to each element; operands of a lower rank or with
// dimensions of size 1 broadcast as in NumPy. Fusion and code generation treat all of them alike.
def Nn_Elementwise : NativeOpTrait<"Elementwise"> { let cppNamespace = "::aot::nn"; }
// Operations that only move elements: code generation turns them into index arithmetic.
def Nn_DataMovement : NativeOpTrait<"DataMovement"> { let cppNamespace = "::aot::nn"; }

//===-- Constants ------------------------------------------------------------------------------------===//

def Nn_ConstantOp : Nn_Op<"constant", [ConstantLike, Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "A tensor known at compile time";
  let description = [{ `value` is a splat or dense attribute for small tensors that the compiler made, and a resource blob
    that points into the uploaded bytes for weights. }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

//===-- Elementwise ----------------------------------------------------------------------------------===//

class Nn_Unary<string mnemonic, string what, list<Trait> traits = []>
    : Nn_Op<mnemonic, [Pure, Nn_Elementwise, SameOperandsAndResultType] # traits> {
  let summary = what;
  let arguments = (ins Nn_Tensor:$input);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}

def Nn_AbsOp : Nn_Unary<"abs", "|x|">;
def Nn_NegOp : Nn_Unary<"neg", "-x">;
def Nn_ExpOp : Nn_Unary<"exp", "e^x">;
def Nn_LogOp : Nn_Unary<"log", "natural logarithm">;
def Nn_SqrtOp : Nn_Unary<"sqrt", "square root">;
def Nn_ReciprocalOp : Nn_Unary<"reciprocal", "1/x">;
def Nn_SignOp : Nn_Unary<"sign", "-1, 0 or 1">;
def Nn_FloorOp : Nn_Unary<"floor", "largest integer not above x">;
def Nn_CeilOp : Nn_Unary<"ceil", "smallest integer not below x">;
def Nn_RoundOp : Nn_Unary<"round", "nearest integer, ties to even">;
def Nn_SinOp : Nn_Unary<"sin", "sine">;
def Nn_CosOp : Nn_Unary<"cos", "cosine">;
def Nn_TanOp : Nn_Unary<"tan", "tangent">;
def Nn_AsinOp : Nn_Unary<"asin", "arc sine">;
def Nn_AcosOp : Nn_Unary<"acos", "arc cosine">;
def Nn_AtanOp : Nn_Unary<"atan", "arc tangent">;
def Nn_SinhOp : Nn_Unary<"sinh", "hyperbolic sine">;
def Nn_CoshOp : Nn_Unary<"cosh", "hyperbolic cosine">;
def Nn_TanhOp : Nn_Unary<"tanh", "hyperbolic tangent">;
def Nn_AsinhOp : Nn_Unary<"asinh", "inverse hyperbolic sine">;
def Nn_AcoshOp : Nn_Unary<"acosh", "inverse hyperbolic cosine">;
def Nn_AtanhOp : Nn_Unary<"atanh", "inverse hyperbolic tangent">;
def Nn_ErfOp : Nn_Unary<"erf", "Gauss error function">;
def Nn_SigmoidOp : Nn_Unary<"sigmoid", "1 / (1 + e^-x)">;
def Nn_ReluOp : Nn_Unary<"relu", "max(x, 0); NaN stays NaN">;
def Nn_SoftplusOp : Nn_Unary<"softplus", "log(1 + e^x)">;
def Nn_SoftsignOp : Nn_Unary<"softsign", "x / (1 + |x|)">;
def Nn_MishOp : Nn_Unary<"mish", "x * tanh(softplus(x))">;
def Nn_HardSwishOp : Nn_Unary<"hard_swish", "x * max(0, min(1, x/6 + 0.5))">;
def Nn_LogicalNotOp : Nn_Unary<"logical_not", "boolean negation">;
def Nn_BitwiseNotOp : Nn_Unary<"bitwise_not", "complement of every bit">;

class Nn_UnaryWith<string mnemonic, string what, dag attributes> : Nn_Unary<mnemonic, what> {
  let arguments = !con((ins Nn_Tensor:$input), attributes);
}
def Nn_LeakyReluOp : Nn_UnaryWith<"leaky_relu", "x < 0 ? alpha x : x", (ins F32Attr:$alpha)>;
def Nn_EluOp : Nn_UnaryWith<"elu", "x < 0 ? alpha (e^x - 1) : x", (ins F32Attr:$alpha)>;
def Nn_SeluOp : Nn_UnaryWith<"selu", "gamma (x <= 0 ? alpha (e^x - 1) : x)", (ins F32Attr:$alpha, F32Attr:$gamma)>;
def Nn_CeluOp : Nn_UnaryWith<"celu", "max(0,x) + min(0, alpha (e^(x/alpha) - 1))", (ins F32Attr:$alpha)>;
def Nn_HardSigmoidOp : Nn_UnaryWith<"hard_sigmoid", "max(0, min(1, alpha x + beta))", (ins F32Attr:$alpha, F32Attr:$beta)>;
def Nn_ThresholdedReluOp : Nn_UnaryWith<"thresholded_relu", "x > alpha ? x : 0", (ins F32Attr:$alpha)>;
def Nn_ShrinkOp : Nn_UnaryWith<"shrink", "x < -lambd ? x + bias : x > lambd ? x - bias : 0", (ins F32Attr:$bias, F32Attr:$lambd)>;
def Nn_GeluOp : Nn_UnaryWith<"gelu", "x Phi(x); approximate: the tanh form", (ins BoolAttr:$approximate)>;

class Nn_Predicate<string mnemonic, string what, dag attributes = (ins)> : Nn_Op<mnemonic, [Pure, Nn_Elementwise]> {
  let summary = what;
  let arguments = !con((ins Nn_Tensor:$input), attributes);
  let results = (outs Nn_BoolTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}
def Nn_IsNanOp : Nn_Predicate<"is_nan", "true where x is NaN">;
def Nn_IsInfOp : Nn_Predicate<"is_inf", "true where x is infinite with an accepted sign",
                              (ins BoolAttr:$detect_negative, BoolAttr:$detect_positive)>;

class Nn_Binary<string mnemonic, string what, list<Trait> traits = []>
    : Nn_Op<mnemonic, [Pure, Nn_Elementwise] # traits> {
  let summary = what;
  let arguments = (ins Nn_Tensor:$lhs, Nn_Tensor:$rhs);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}
def Nn_AddOp : Nn_Binary<"add", "a + b (integers wrap)">;
def Nn_SubOp : Nn_Binary<"sub", "a - b (integers wrap)">;
def Nn_MulOp : Nn_Binary<"mul", "a * b (integers wrap)">;
def Nn_DivOp : Nn_Binary<"div", "a / b; integers truncate toward zero, x/0 = 0, MIN/-1 = MIN">;
def Nn_PowOp : Nn_Binary<"pow", "a ^ b in the type of a; b may have another type">;
def Nn_MinOp : Nn_Binary<"min", "smaller of both; NaN if either is NaN">;
def Nn_MaxOp : Nn_Binary<"max", "larger of both; NaN if either is NaN">;
def Nn_ModOp : Nn_Binary<"mod", "remainder: sign of b, or of a if fmod (C's fmod); x mod 0 = 0 for integers"> {
  let arguments = (ins Nn_Tensor:$lhs, Nn_Tensor:$rhs, BoolAttr:$fmod);
}
def Nn_PreluOp : Nn_Binary<"prelu", "a < 0 ? a b : a">;
def Nn_LogicalAndOp : Nn_Binary<"logical_and", "boolean and">;
def Nn_LogicalOrOp : Nn_Binary<"logical_or", "boolean or">;
def Nn_LogicalXorOp : Nn_Binary<"logical_xor", "boolean exclusive or">;
def Nn_BitwiseAndOp : Nn_Binary<"bitwise_and", "and of every bit">;
def Nn_BitwiseOrOp : Nn_Binary<"bitwise_or", "or of every bit">;
def Nn_BitwiseXorOp : Nn_Binary<"bitwise_xor", "exclusive or of every bit">;
def Nn_ShiftLeftOp : Nn_Binary<"shift_left", "a << b; 0 if b is not below the width">;
def Nn_ShiftRightOp : Nn_Binary<"shift_right", "a >> b (unsigned); 0 if b is not below the width">;
def Nn_EqualOp : Nn_Binary<"equal", "a == b">;
def Nn_LessOp : Nn_Binary<"less", "a < b">;
def Nn_LessEqualOp : Nn_Binary<"less_equal", "a <= b">;
def Nn_GreaterOp : Nn_Binary<"greater", "a > b">;
def Nn_GreaterEqualOp : Nn_Binary<"greater_equal", "a >= b">;

def Nn_WhereOp : Nn_Op<"where", [Pure, Nn_Elementwise]> {
  let summary = "condition ? lhs : rhs";
  let arguments = (ins Nn_BoolTensor:$condition, Nn_Tensor:$lhs, Nn_Tensor:$rhs);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$condition `,` $lhs `,` $rhs attr-dict `:` type($condition) `,` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}

def Nn_CastOp : Nn_Op<"cast", [Pure, Nn_Elementwise]> {
  let summary = "Conversion of the element type";
  let description = [{ Float to integer truncates toward zero; NaN gives 0 and values out of range the nearest representable one
    (also for sources and targets narrower than 32 bits). Integer to integer wraps. Anything to i1 is `x != 0`. Float to a narrower float rounds
    to nearest even; `saturate` rules overflow to the 8-bit float types. }];
  let arguments = (ins Nn_Tensor:$input, DefaultValuedAttr<BoolAttr, "true">:$saturate);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

//===-- Products -------------------------------------------------------------------------------------===//

def Nn_MatMulOp : Nn_Op<"matmul", [Pure]> {
  let summary = "Matrix product over the last two dimensions; leading ones broadcast";
  let description = [{ lhs [..., M, K] (or [..., K, M] if trans_a), rhs [..., K, N] (or [..., N, K] if trans_b), result [..., M, N].
    Both ranks are at least 2: the importer reshapes vectors. Integer operands accumulate in the result's type;
    lhs_zero_point is subtracted from each element of an integer lhs first. }];
  let arguments = (ins Nn_Tensor:$lhs, Nn_Tensor:$rhs, DefaultValuedAttr<BoolAttr, "false">:$trans_a,
                       DefaultValuedAttr<BoolAttr, "false">:$trans_b, DefaultValuedAttr<I64Attr, "0">:$lhs_zero_point);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}

// Spatial attributes: one entry a spatial dimension; pads has all begins, then all ends.
// Layouts: input [N, C, spatial...], filter [M, C/group, kernel...], result [N, M, spatial...];
// with channels_last: input [N, spatial..., C], filter [kernel..., C/group, M], result [N, spatial..., M].
def Nn_ConvOp : Nn_Op<"conv", [Pure]> {
  let summary = "Convolution (cross-correlation) over 1 to 3 spatial dimensions";
  let description = [{ Integer operands accumulate in the result's type; input_zero_point is subtracted from each element of an
    integer input first, so that padding, which is zero, stands for that value. }];
  let arguments = (ins Nn_Tensor:$input, Nn_Tensor:$filter, Optional<Nn_Tensor>:$bias, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations, I64Attr:$group, UnitAttr:$channels_last,
                       DefaultValuedAttr<I64Attr, "0">:$input_zero_point);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input `,` $filter (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Nn_ConvTransposeOp : Nn_Op<"conv_transpose", [Pure]> {
  let summary = "Transposed convolution";
  let description = [{ filter is [C, M/group, kernel...]; with channels_last [kernel..., C, M/group]. Output element
    o receives input i and tap k where o = i * stride + k * dilation - pad_begin; the result type states the size. }];
  let arguments = (ins Nn_Tensor:$input, Nn_Tensor:$filter, Optional<Nn_Tensor>:$bias, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations, I64Attr:$group, UnitAttr:$channels_last);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input `,` $filter (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
}

//===-- Pooling and reductions -----------------------------------------------------------------------===//

class Nn_Pool<string mnemonic, string what, dag attributes = (ins)> : Nn_Op<mnemonic, [Pure]> {
  let summary = what;
  let arguments = !con((ins Nn_Tensor:$input, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                            DenseI64ArrayAttr:$dilations), attributes, (ins UnitAttr:$channels_last));
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}
// The result type states the output size (so ceil_mode is resolved); cells outside the input are ignored.
def Nn_MaxPoolOp : Nn_Pool<"max_pool", "Largest element of each window">;
def Nn_AvgPoolOp : Nn_Pool<"avg_pool", "Mean of each window; divides by the cells inside the input, or, with count_include_pad, inside the padded input",
                           (ins BoolAttr:$count_include_pad)>;
def Nn_LpPoolOp : Nn_Pool<"lp_pool", "(sum |x|^p)^(1/p) of each window", (ins I64Attr:$p)>;

// Reductions keep reduced dimensions as size 1; a reshape drops them. No axes: the identity (the importer resolves defaults).
class Nn_Reduce<string mnemonic, string what> : Nn_Op<mnemonic, [Pure]> {
  let summary = what;
  let arguments = (ins Nn_Tensor:$input, DenseI64ArrayAttr:$axes);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}
def Nn_ReduceSumOp : Nn_Reduce<"reduce_sum", "Sum over axes">;
def Nn_ReduceMeanOp : Nn_Reduce<"reduce_mean", "Mean over axes">;
def Nn_ReduceProdOp : Nn_Reduce<"reduce_prod", "Product over axes">;
def Nn_ReduceMaxOp : Nn_Reduce<"reduce_max", "Largest element over axes; NaN wins; of an empty range the type's least value">;
def Nn_ReduceMinOp : Nn_Reduce<"reduce_min", "Smallest element over axes; NaN wins; of an empty range the type's largest value">;

class Nn_ArgReduce<string mnemonic, string what> : Nn_Op<mnemonic, [Pure]> {
  let summary = what;
  let arguments = (ins Nn_Tensor:$input, I64Attr:$axis, BoolAttr:$select_last);
  let results = (outs Nn_IndexTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}
def Nn_ArgMaxOp : Nn_ArgReduce<"arg_max", "Index of the largest element along axis; the dimension stays as 1">;
def Nn_ArgMinOp : Nn_ArgReduce<"arg_min", "Index of the smallest element along axis; the dimension stays as 1">;

def Nn_CumSumOp : Nn_Op<"cumsum", [Pure, SameOperandsAndResultType]> {
  let summary = "Running sum along axis";
  let arguments = (ins Nn_Tensor:$input, I64Attr:$axis, BoolAttr:$exclusive, BoolAttr:$reverse);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}

//===-- Normalisation and softmax --------------------------------------------------------------------===//

class Nn_AlongAxis<string mnemonic, string what> : Nn_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let summary = what;
  let arguments = (ins Nn_Tensor:$input, I64Attr:$axis);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}
def Nn_SoftmaxOp : Nn_AlongAxis<"softmax", "e^(x - max) / sum along axis">;
def Nn_LogSoftmaxOp : Nn_AlongAxis<"log_softmax", "x - max - log(sum e^(x - max)) along axis">;
def Nn_HardmaxOp : Nn_AlongAxis<"hardmax", "1 at the first largest element along axis, else 0">;

def Nn_LayerNormOp : Nn_Op<"layer_norm", [Pure, AttrSizedOperandSegments]> {
  let summary = "(x - mean) / sqrt(variance + epsilon) over the dimensions from axis on, times scale plus bias";
  let description = [{ scale and bias broadcast to the input. }];
  let arguments = (ins Nn_Tensor:$input, Optional<Nn_Tensor>:$scale, Optional<Nn_Tensor>:$bias, I64Attr:$axis, F32Attr:$epsilon);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input (`scale` $scale^)? (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
}
def Nn_RmsNormOp : Nn_Op<"rms_norm", [Pure]> {
  let summary = "x / sqrt(mean(x^2) + epsilon) over the dimensions from axis on, times scale";
  let arguments = (ins Nn_Tensor:$input, Nn_Tensor:$scale, I64Attr:$axis, F32Attr:$epsilon);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input `,` $scale attr-dict `:` functional-type(operands, results)";
}
// Channel dimension 1 (the last one with channels_last); scale, bias, mean, variance are [C].
def Nn_BatchNormOp : Nn_Op<"batch_norm", [Pure]> {
  let summary = "(x - mean) / sqrt(variance + epsilon) * scale + bias with given statistics";
  let arguments = (ins Nn_Tensor:$input, Nn_Tensor:$scale, Nn_Tensor:$bias, Nn_Tensor:$mean, Nn_Tensor:$variance, F32Attr:$epsilon,
                       UnitAttr:$channels_last);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Nn_InstanceNormOp : Nn_Op<"instance_norm", [Pure]> {
  let summary = "Normalisation over the spatial dimensions of each instance and channel";
  let arguments = (ins Nn_Tensor:$input, Nn_Tensor:$scale, Nn_Tensor:$bias, F32Attr:$epsilon);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Nn_GroupNormOp : Nn_Op<"group_norm", [Pure]> {
  let summary = "Normalisation over groups of channels; scale and bias are [C]";
  let arguments = (ins Nn_Tensor:$input, Nn_Tensor:$scale, Nn_Tensor:$bias, I64Attr:$groups, F32Attr:$epsilon);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Nn_LrnOp : Nn_Op<"lrn", [Pure, SameOperandsAndResultType]> {
  let summary = "Local response normalisation over size channels: x / (bias + alpha/size * sum x^2)^beta";
  let arguments = (ins Nn_Tensor:$input, I64Attr:$size, F32Attr:$alpha, F32Attr:$beta, F32Attr:$bias);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}

//===-- Recurrence -----------------------------------------------------------------------------------===//

// One direction of a recurrent layer. Common to the three:
//  * input is the projection of all time steps with the biases added, [steps, batch, gates * size], so that a matrix
//    product before the loop does most of the work; recurrent is [gates * size, size]; gates are in ONNX's order.
//  * initial_h (and initial_c) are [batch, size]; absent: zeros. lengths [batch]: from there on a sequence keeps its
//    state, and its hidden states are 0. reverse: from the last step to the first.
//  * activations are names that commas separate (compiler/math/recurrent.h), alphas and betas have an entry for each.
//    A positive clip bounds what they are applied to; 0 doesn't.
//  * hidden is [steps, batch, size], last_h (and last_c) [batch, size]. float32 alone.
def Nn_LstmOp : Nn_Op<"lstm", [Pure, AttrSizedOperandSegments]> {
  let summary = "Long short-term memory: gates input, output, forget and cell";
  let description = [{ peephole is [3 * size], for input, output and forget. input_forget: the forget gate is 1 - input. }];
  let arguments = (ins Nn_Tensor:$input, Nn_Tensor:$recurrent, Optional<Nn_Tensor>:$initial_h, Optional<Nn_Tensor>:$initial_c,
                       Optional<Nn_Tensor>:$peephole, Optional<Nn_IndexTensor>:$lengths, StrAttr:$activations,
                       DenseF32ArrayAttr:$alphas, DenseF32ArrayAttr:$betas, F32Attr:$clip, BoolAttr:$input_forget, BoolAttr:$reverse);
  let results = (outs Nn_Tensor:$hidden, Nn_Tensor:$last_h, Nn_Tensor:$last_c);
  let assemblyFormat = "$input `,` $recurrent (`h` $initial_h^)? (`c` $initial_c^)? (`peephole` $peephole^)? (`lengths` $lengths^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Nn_GruOp : Nn_Op<"gru", [Pure, AttrSizedOperandSegments]> {
  let summary = "Gated recurrent unit: gates update, reset and hidden";
  let description = [{ hidden_bias [size] joins the hidden gate's recurrent product before the reset gate scales that (linear_before_reset);
    without linear_before_reset the reset gate scales the state, and there is no hidden_bias. }];
  let arguments = (ins Nn_Tensor:$input, Nn_Tensor:$recurrent, Optional<Nn_Tensor>:$initial_h, Optional<Nn_Tensor>:$hidden_bias,
                       Optional<Nn_IndexTensor>:$lengths, StrAttr:$activations, DenseF32ArrayAttr:$alphas, DenseF32ArrayAttr:$betas,
                       F32Attr:$clip, BoolAttr:$linear_before_reset, BoolAttr:$reverse);
  let results = (outs Nn_Tensor:$hidden, Nn_Tensor:$last_h);
  let assemblyFormat = "$input `,` $recurrent (`h` $initial_h^)? (`bias` $hidden_bias^)? (`lengths` $lengths^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Nn_RnnOp : Nn_Op<"rnn", [Pure, AttrSizedOperandSegments]> {
  let summary = "Simple recurrent layer: one activation";
  let arguments = (ins Nn_Tensor:$input, Nn_Tensor:$recurrent, Optional<Nn_Tensor>:$initial_h, Optional<Nn_IndexTensor>:$lengths,
                       StrAttr:$activations, DenseF32ArrayAttr:$alphas, DenseF32ArrayAttr:$betas, F32Attr:$clip, BoolAttr:$reverse);
  let results = (outs Nn_Tensor:$hidden, Nn_Tensor:$last_h);
  let assemblyFormat = "$input `,` $recurrent (`h` $initial_h^)? (`lengths` $lengths^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===-- Data movement --------------------------------------------------------------------------------===//

class Nn_Move<string mnemonic, string what, dag attributes> : Nn_Op<mnemonic, [Pure, Nn_DataMovement]> {
  let summary = what;
  let arguments = !con((ins Nn_Tensor:$input), attributes);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}
def Nn_ReshapeOp : Nn_Move<"reshape", "The same elements in row-major order under another shape", (ins)> {
  let hasFolder = 1;
}
def Nn_BitcastOp : Nn_Op<"bitcast", [Pure]> {
  let summary = "The same bytes under an element type of the same width";
  let description = [{ Elements of less than a byte count as the byte that holds them. Like a reshape it costs nothing, and it never joins a
    group: there, floats of 16 bits and less have another form. }];
  let arguments = (ins Nn_Tensor:$input);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}
def Nn_TransposeOp : Nn_Move<"transpose", "result dimension i is input dimension perm[i]", (ins DenseI64ArrayAttr:$perm)> {
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def Nn_BroadcastOp : Nn_Move<"broadcast", "NumPy broadcast to the result's shape", (ins)> {
  let hasFolder = 1;
}
def Nn_SliceOp : Nn_Move<"slice", "result[i] = input[starts + i * steps]; steps may be negative, all accesses are inside",
                         (ins DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$steps)> {
  let hasFolder = 1;
}

def Nn_ConcatOp : Nn_Op<"concat", [Pure, Nn_DataMovement]> {
  let summary = "Operands one after the other along axis";
  let arguments = (ins Variadic<Nn_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$inputs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Nn_PadOp : Nn_Op<"pad", [Pure, Nn_DataMovement]> {
  let summary = "Elements around the input; mode is constant, reflect, edge or wrap; negative pads crop";
  let description = [{ begins has one entry a dimension; the result type states the ends. value is a scalar tensor (constant mode only). }];
  let arguments = (ins Nn_Tensor:$input, Optional<Nn_Tensor>:$value, DenseI64ArrayAttr:$begins, StrAttr:$mode);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input (`value` $value^)? attr-dict `:` functional-type(operands, results)";
}

//===-- Indexing -------------------------------------------------------------------------------------===//

// Negative indices count from the end. Indices out of range read or write nothing outside the tensor: gathers clamp, scatters skip.
def Nn_GatherOp : Nn_Op<"gather", [Pure]> {
  let summary = "result = input taken at indices along axis: shape in[:axis] + indices + in[axis+1:]";
  let arguments = (ins Nn_Tensor:$input, Nn_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input `,` $indices attr-dict `:` functional-type(operands, results)";
}
def Nn_GatherElementsOp : Nn_Op<"gather_elements", [Pure]> {
  let summary = "result[i..] = input[i.. with dimension axis replaced by indices[i..]]";
  let arguments = (ins Nn_Tensor:$input, Nn_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input `,` $indices attr-dict `:` functional-type(operands, results)";
}
def Nn_GatherNdOp : Nn_Op<"gather_nd", [Pure]> {
  let summary = "Slices of input at index tuples, after batch_dims common dimensions";
  let arguments = (ins Nn_Tensor:$input, Nn_IndexTensor:$indices, I64Attr:$batch_dims);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input `,` $indices attr-dict `:` functional-type(operands, results)";
}
def Nn_ScatterElementsOp : Nn_Op<"scatter_elements", [Pure]> {
  let summary = "input with updates written (reduction none) or combined (add, mul, min, max) at indices along axis";
  let arguments = (ins Nn_Tensor:$input, Nn_IndexTensor:$indices, Nn_Tensor:$updates, I64Attr:$axis, StrAttr:$reduction);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input `,` $indices `,` $updates attr-dict `:` functional-type(operands, results)";
}
def Nn_ScatterNdOp : Nn_Op<"scatter_nd", [Pure]> {
  let summary = "input with slices of updates written or combined at index tuples";
  let arguments = (ins Nn_Tensor:$input, Nn_IndexTensor:$indices, Nn_Tensor:$updates, StrAttr:$reduction);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input `,` $indices `,` $updates attr-dict `:` functional-type(operands, results)";
}
def Nn_OneHotOp : Nn_Op<"one_hot", [Pure]> {
  let summary = "A new dimension axis, on where its position equals the index (negative ones count from the end), else off";
  let description = [{ on_off is [off, on]; the depth is the result's size along axis. indices may have any numeric type. }];
  let arguments = (ins Nn_Tensor:$indices, Nn_Tensor:$on_off, I64Attr:$axis);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$indices `,` $on_off attr-dict `:` functional-type(operands, results)";
}
def Nn_TopKOp : Nn_Op<"topk", [Pure]> {
  let summary = "The k largest or smallest elements along axis and their indices, sorted; ties to the lower index";
  let arguments = (ins Nn_Tensor:$input, I64Attr:$axis, BoolAttr:$largest);
  let results = (outs Nn_Tensor:$values, Nn_IndexTensor:$indices);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

//===-- Sizes that the data decides ------------------------------------------------------------------===//

// Results have room for as many elements as there may be; `count` [1] says how many there are, and what is beyond them is 0.
def Nn_NonZeroOp : Nn_Op<"nonzero", [Pure]> {
  let summary = "Row-major positions of the elements that hold, ascending";
  let arguments = (ins Nn_BoolTensor:$input);
  let results = (outs Nn_IndexTensor:$positions, Nn_IndexTensor:$count);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Nn_UniqueOp : Nn_Op<"unique", [Pure]> {
  let summary = "The distinct rows of a matrix [n, m]";
  let description = [{ Distinct rows come in ascending lexicographic order (sorted), or in order of their first occurrence. positions [n] are those
    first occurrences, inverse [n] the number of each row's distinct row, repeats [n] how often a distinct row occurs. NaN equals NaN, is above every number; -0
    equals 0. `inverse` has no part that is beyond. }];
  let arguments = (ins Nn_Tensor:$input, BoolAttr:$sorted);
  let results = (outs Nn_IndexTensor:$positions, Nn_IndexTensor:$inverse, Nn_IndexTensor:$repeats, Nn_IndexTensor:$count);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Nn_NonMaxSuppressionOp : Nn_Op<"non_max_suppression", [Pure, AttrSizedOperandSegments]> {
  let summary = "Boxes [batch, n, 4] by falling score [batch, classes, n], none that overlaps a better one of its class";
  let description = [{ A box is taken if its score is above score_threshold (absent: whatever it is, but not NaN) and its intersection over union with none of
    those taken before is above iou_threshold (absent: 0), at most `limit` in each batch and class; equal scores go by position. Boxes are corners [y1, x1, y2, x2]
    in any order, or [x, y, width, height] around a center. selected [room, 3] has rows of batch, class and box. Operands but boxes and scores have one element. }];
  let arguments = (ins Nn_Tensor:$boxes, Nn_Tensor:$scores, Nn_IndexTensor:$limit, Optional<Nn_Tensor>:$iou_threshold,
                       Optional<Nn_Tensor>:$score_threshold, BoolAttr:$center);
  let results = (outs Nn_IndexTensor:$selected, Nn_IndexTensor:$count);
  let assemblyFormat = "$boxes `,` $scores `,` $limit (`iou` $iou_threshold^)? (`score` $score_threshold^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Nn_PackOp : Nn_Op<"pack", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "The elements whose indices are below `dims`, one after the other in row-major order, then zeros";
  let description = [{ dims has one entry a dimension, each at most the dimension. }];
  let arguments = (ins Nn_Tensor:$input, Nn_IndexTensor:$dims);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input `,` $dims attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===-- Resampling -----------------------------------------------------------------------------------===//

def Nn_ResizeOp : Nn_Op<"resize", [Pure]> {
  let summary = "ONNX Resize with scales and region of interest resolved";
  let description = [{ mode: nearest, linear, cubic. coordinates: half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric,
    tf_crop_and_resize. nearest: round_prefer_floor, round_prefer_ceil, floor, ceil. scales and roi (starts, then ends) have one entry a dimension. }];
  let arguments = (ins Nn_Tensor:$input, StrAttr:$mode, StrAttr:$coordinates, StrAttr:$nearest, DenseF32ArrayAttr:$scales,
                       DenseF32ArrayAttr:$roi, F32Attr:$cubic_coeff_a, F32Attr:$extrapolation_value, BoolAttr:$exclude_outside, BoolAttr:$antialias);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

//===-- Quantisation ---------------------------------------------------------------------------------===//

def Nn_QuantizeOp : Nn_Op<"quantize", [Pure]> {
  let summary = "saturate(round_half_even(x / scale) + zero_point)";
  let description = [{ scale and zero_point broadcast to the input (the importer reshapes per-axis and blocked ones). }];
  let arguments = (ins Nn_Tensor:$input, Nn_Tensor:$scale, Optional<Nn_Tensor>:$zero_point);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input `,` $scale (`zero_point` $zero_point^)? attr-dict `:` functional-type(operands, results)";
}
def Nn_DequantizeOp : Nn_Op<"dequantize", [Pure]> {
  let summary = "(x - zero_point) * scale; operands broadcast as in quantize";
  let arguments = (ins Nn_Tensor:$input, Nn_Tensor:$scale, Optional<Nn_Tensor>:$zero_point);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input `,` $scale (`zero_point` $zero_point^)? attr-dict `:` functional-type(operands, results)";
}

//===-- Structure ------------------------------------------------------------------------------------===//

def Nn_GroupOp : Nn_Op<"group", [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "Operations that become one kernel function";
  let description = [{ Made by the fusion pass: an anchor (a product, pooling, reduction, normalisation, ...) with its elementwise and data
    movement neighbours, or such neighbours alone. The block arguments are the operands. }];
  let arguments = (ins Variadic<Nn_Tensor>:$inputs, DefaultValuedAttr<StrAttr, "\"cpu\"">:$device);
  let results = (outs Variadic<Nn_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` attr-dict `:` functional-type(operands, results) $body";
}
def Nn_YieldOp : Nn_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"GroupOp">]> {
  let summary = "The results of a group";
  let arguments = (ins Variadic<Nn_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
