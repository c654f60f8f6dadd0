// Which operators the importer knows, and what handles each.
//
// One file an operator family; each defines the table of its family (declared at the end) and its handlers. Adding an
// operator touches its family's file alone; adding a family adds one line here and one in registry.cc.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/import/onnx/node.h"

namespace aot::import::onnx {

// Outputs in the operator's order; trailing optional ones may be missing, others absent values.
using Results = std::vector<Value>;
// UNIMPLEMENTED: valid, but not supported. INVALID_ARGUMENT: the node is wrong. The caller adds the node's name to the
// message.
using Handler = absl::StatusOr<Results> (*)(Node& n);

constexpr int kVariadic = 1 << 30;

struct Operator {
  absl::string_view name;
  // The opsets in which ONNX changed the operator, ascending, the first being the one that brought it.
  std::vector<int> versions;
  int least_inputs;
  int most_inputs;
  Handler handler;  // null: by the graph importer itself (operators with subgraphs)
  // Whether inputs may be sequences and optionals; handlers of the others see tensors alone.
  bool takes_containers = false;
};

constexpr absl::string_view kMlDomain = "ai.onnx.ml";
constexpr absl::string_view kPreviewDomain = "ai.onnx.preview";
constexpr absl::string_view kMicrosoftDomain = "com.microsoft";
// The newest version of a domain that the importer was checked against; 0 if it has no operators of that domain.
int64_t NewestOpset(absl::string_view domain);

struct Family {
  absl::string_view name;
  absl::Span<const Operator> operators;
  absl::string_view domain = "";  // ONNX's own
};

// All families in the order of documentation.
absl::Span<const Family> Families();
// Null if there is none. The domain of ONNX's own operators is "".
const Operator* FindOperator(absl::string_view domain, absl::string_view name);
// The since-version that an opset selects, or 0 if the operator came later.
int SelectVersion(const Operator& op, int64_t opset);

Family ArithmeticFamily();
Family ActivationFamily();
Family ComparisonFamily();
Family ConvolutionFamily();
Family PoolingFamily();
Family MatMulFamily();
Family NormalisationFamily();
Family SoftmaxFamily();
Family ReductionFamily();
Family ShapeFamily();
Family MovementFamily();
Family IndexingFamily();
Family DataSizesFamily();
Family GenerationFamily();
Family ResizeFamily();
Family QuantisationFamily();
Family AttentionFamily();
Family RecurrentFamily();
Family LinearAttentionFamily();
Family LossFamily();
Family SignalFamily();
Family GridFamily();
Family RegionsFamily();
Family DeterminantFamily();
Family NgramsFamily();
Family MelFamily();
Family RandomFamily();
Family ControlFlowFamily();
Family SequenceFamily();
Family OptionalFamily();
Family MlTreesFamily();
Family MlLinearFamily();
Family MlFeaturesFamily();
Family PreviewFamily();
Family MicrosoftFusedFamily();
Family MicrosoftNormalisationFamily();
Family MicrosoftAttentionFamily();
Family MicrosoftQuantisationFamily();
Family MicrosoftMatMulFamily();

}  // namespace aot::import::onnx
