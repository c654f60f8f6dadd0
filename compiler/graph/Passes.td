// The graph passes: stage 2 of the compiler. One file and one lit test each; pipeline.cc gives the order.
#ifndef AOT_GRAPH_PASSES_TD
#define AOT_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

class Graph_Pass<string name> : Pass<name, "::mlir::func::FuncOp"> {
  let dependentDialects = ["::aot::nn::NnDialect"];
}

def Canonicalize : Graph_Pass<"nn-canonicalize"> {
  let summary = "Local identities: cancels, merges and normalises operations of the nn dialect";
  let description = [{ Exact rewrites always; merging of constants in chains of floating-point operations changes rounding and is off
    with strict-math. Operations without uses disappear. }];
  let options = [
    Option<"strict_math", "strict-math", "bool", "false", "Apply no rewrite that changes rounding">
  ];
}

def ConstantFold : Graph_Pass<"nn-constant-fold"> {
  let summary = "Evaluates operations on constants through compiler/reference";
  let description = [{ A result that is larger than max-growth-bytes and than its operands together is left to run time. }];
  let options = [
    Option<"max_growth_bytes", "max-growth-bytes", "int64_t", "65536", "Largest result that may exceed the bytes of its operands">,
    Option<"keep_quantised", "keep-quantised", "bool", "false", "Leave dequantised 8-bit operands of products to nn-integer-products">
  ];
}

def IntegerProducts : Graph_Pass<"nn-integer-products"> {
  let summary = "Products of dequantised or widened bytes run on the bytes, with exact 32-bit sums";
  let options = [
    Option<"strict_math", "strict-math", "bool", "false", "Only products that are integer already: no rounding changes">
  ];
}

def FoldRequantisation : Graph_Pass<"nn-fold-requantisation"> {
  let summary = "The scale of a quantisation goes into the constants between an integer product and it";
}

def RecogniseLayerNorm : Graph_Pass<"nn-recognise-layer-norm"> {
  let summary = "Mean, variance, division written out become nn.layer_norm";
}

def RecogniseGelu : Graph_Pass<"nn-recognise-gelu"> {
  let summary = "x * 0.5 * (1 + erf(x / sqrt(2))) written out becomes nn.gelu";
}

def FoldBatchNorm : Graph_Pass<"nn-fold-batch-norm"> {
  let summary = "Batch normalisation with known statistics goes into the product before it, or becomes multiply and add";
}

def FoldScale : Graph_Pass<"nn-fold-scale"> {
  let summary = "Per-channel multiplications and additions by constants go into the filter and bias of the product before them";
  let options = [
    Option<"strict_math", "strict-math", "bool", "false", "Only additions that become a bias: no rounding changes">
  ];
}

def SplitPool : Graph_Pass<"nn-split-pool"> {
  let summary = "A large maximum pooling becomes one along the last dimension and one along the others";
}

def FoldPad : Graph_Pass<"nn-fold-pad"> {
  let summary = "Zero padding before a convolution or a pooling becomes its pads attribute";
}

def Decompose : Graph_Pass<"nn-decompose"> {
  let summary = "Operations without a kernel template become several that have one";
}

def WidenFloat16 : Graph_Pass<"nn-widen-float16"> {
  let summary = "float16 and bfloat16 values between operations become float32";
}

def AssignLayout : Graph_Pass<"nn-assign-layout"> {
  let summary = "Convolutions, poolings and what lies between them run with channels last";
  let description = [{ The layout of each value is a minimum cut: convolutions need channels last, graph inputs and outputs and operations
    that name dimensions in a fixed order need them as they are, everything else takes part in either; the bytes that transposes move are
    least. A function without convolutions is left alone. }];
}

def Fuse : Graph_Pass<"nn-fuse"> {
  let summary = "Clusters operations into nn.group, the unit of code generation";
  let options = [
    Option<"single", "single", "bool", "false", "One operation a group">,
    Option<"max_operations", "max-operations", "int64_t", "48", "Most operations of one group">
  ];
}

#endif
