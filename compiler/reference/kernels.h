// The registration table of the reference: one function for each file that implements a family of operations. A new
// family adds a line here and in evaluate.cc.
#pragma once

#include "absl/types/span.h"
#include "compiler/reference/call.h"

namespace aot::reference {

absl::Span<const Kernel> UnaryKernels();
absl::Span<const Kernel> ActivationKernels();
absl::Span<const Kernel> BinaryKernels();
absl::Span<const Kernel> LogicKernels();
absl::Span<const Kernel> CastKernels();
absl::Span<const Kernel> MatMulKernels();
absl::Span<const Kernel> ConvKernels();
absl::Span<const Kernel> PoolKernels();
absl::Span<const Kernel> ReduceKernels();
absl::Span<const Kernel> NormalisationKernels();
absl::Span<const Kernel> SoftmaxKernels();
absl::Span<const Kernel> MovementKernels();
absl::Span<const Kernel> GatherKernels();
absl::Span<const Kernel> ScatterKernels();
absl::Span<const Kernel> SelectionKernels();
absl::Span<const Kernel> ResizeKernels();
absl::Span<const Kernel> QuantiseKernels();
absl::Span<const Kernel> RecurrentKernels();
absl::Span<const Kernel> DataSizeKernels();

}  // namespace aot::reference
