#include "compiler/reference/evaluate.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/reference/call.h"
#include "compiler/reference/kernels.h"

namespace aot::reference {
namespace {

// A result beyond this is a mistake in the model or an attack, not work to be done at compile time.
constexpr int64_t kMaxResultBytes = int64_t{4} << 30;

using Table = std::unordered_map<std::string, KernelFunction>;

const Table& Kernels() {
  static const Table* const kTable = [] {
    auto* table = new Table;
    for (absl::Span<const Kernel> family :
         {UnaryKernels(), ActivationKernels(), BinaryKernels(), LogicKernels(), CastKernels(), MatMulKernels(),
          ConvKernels(), PoolKernels(), ReduceKernels(), NormalisationKernels(), SoftmaxKernels(), MovementKernels(),
          GatherKernels(), ScatterKernels(), SelectionKernels(), ResizeKernels(), QuantiseKernels(), RecurrentKernels(),
          DataSizeKernels()}) {
      for (const Kernel& kernel : family) table->emplace(kernel.name, kernel.function);
    }
    return table;
  }();
  return *kTable;
}

absl::Status CheckResults(const Operation& operation) {
  for (const TensorType& type : operation.results) {
    if (StorageBits(type.element) == 0 && type.element != ElementType::kString) {
      return absl::InvalidArgumentError(absl::StrCat(operation.name, ": a result has no element type"));
    }
    std::optional<int64_t> count = ElementCount(type.shape);
    if (!count.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(operation.name, ": result shape ", ToString(type.shape),
                                                     " has a negative dimension or too many elements"));
    }
    int64_t element_bytes = std::max(StorageBits(type.element) / 8, 1);
    if (*count > kMaxResultBytes / element_bytes) {
      return absl::ResourceExhaustedError(absl::StrCat(operation.name, ": a result of shape ", ToString(type.shape),
                                                       " and type ", Name(type.element), " exceeds ", kMaxResultBytes,
                                                       " bytes"));
    }
  }
  return absl::OkStatus();
}

// That each operand holds what its type says, so that no kernel reads outside.
absl::Status CheckOperands(const Operation& operation, absl::Span<const Tensor* const> operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] == nullptr) continue;
    const Tensor& tensor = *operands[i];
    std::optional<int64_t> count = ElementCount(tensor.shape());
    bool whole;
    if (tensor.element() == ElementType::kString) {
      whole = count.has_value() && tensor.strings != nullptr && static_cast<int64_t>(tensor.strings->size()) == *count;
    } else {
      int64_t element_bytes = StorageBits(tensor.element()) / 8, bytes;
      whole = count.has_value() && element_bytes > 0 && !__builtin_mul_overflow(*count, element_bytes, &bytes) &&
              static_cast<int64_t>(tensor.bytes().size()) == bytes;
    }
    if (!whole) {
      return absl::InvalidArgumentError(
          absl::StrCat(operation.name, ": operand ", i, " of shape ", ToString(tensor.shape()), " and type ",
                       Name(tensor.element()), " has ", tensor.bytes().size(), " bytes of data, which does not match"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool IsKnown(absl::string_view name) { return Kernels().count(std::string(name)) != 0; }

absl::StatusOr<std::vector<Tensor>> Evaluate(const Operation& operation, absl::Span<const Tensor* const> operands) {
  auto kernel = Kernels().find(operation.name);
  if (kernel == Kernels().end()) {
    return absl::UnimplementedError(absl::StrCat(operation.name, ": the reference does not know this operation"));
  }
  if (absl::Status status = CheckResults(operation); !status.ok()) return status;
  if (absl::Status status = CheckOperands(operation, operands); !status.ok()) return status;
  Call call(operation, operands);
  return kernel->second(call);
}

}  // namespace aot::reference
