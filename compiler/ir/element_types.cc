#include "compiler/ir/element_types.h"

#include <algorithm>
#include <iterator>

namespace aot::nn {
namespace {

// Sorted.
constexpr absl::string_view kFloatOperations[] = {
    "acos",        "acosh",         "asin",     "asinh",      "atan",       "atanh",        "avg_pool",
    "batch_norm",  "ceil",          "celu",     "cos",        "cosh",       "elu",          "erf",
    "exp",         "floor",         "gelu",     "group_norm", "gru",        "hard_sigmoid", "hard_swish",
    "hardmax",     "instance_norm", "is_inf",   "is_nan",     "layer_norm", "leaky_relu",   "log",
    "log_softmax", "lp_pool",       "lrn",      "lstm",       "mish",       "reciprocal",   "rms_norm",
    "rnn",         "round",         "selu",     "shrink",     "sigmoid",    "sin",          "sinh",
    "softmax",     "softplus",      "softsign", "sqrt",       "tan",        "tanh",         "thresholded_relu"};

}  // namespace

bool NeedsFloats(absl::string_view operation) {
  return std::binary_search(std::begin(kFloatOperations), std::end(kFloatOperations), operation);
}

}  // namespace aot::nn
