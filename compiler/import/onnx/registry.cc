#include "compiler/import/onnx/registry.h"

#include "absl/container/flat_hash_map.h"

namespace aot::import::onnx {

absl::Span<const Family> Families() {
  static const auto* const families = new std::vector<Family>{
      ArithmeticFamily(),
      ActivationFamily(),
      ComparisonFamily(),
      ConvolutionFamily(),
      PoolingFamily(),
      MatMulFamily(),
      NormalisationFamily(),
      SoftmaxFamily(),
      ReductionFamily(),
      ShapeFamily(),
      MovementFamily(),
      IndexingFamily(),
      GenerationFamily(),
      ResizeFamily(),
      QuantisationFamily(),
      AttentionFamily(),
      RecurrentFamily(),
      ControlFlowFamily(),
      MlTreesFamily(),
      MlLinearFamily(),
      MlFeaturesFamily(),
      LinearAttentionFamily(),
      LossFamily(),
      SignalFamily(),
      GridFamily(),
      SequenceFamily(),
      OptionalFamily(),
      RegionsFamily(),
      DeterminantFamily(),
      NgramsFamily(),
      MelFamily(),
      RandomFamily(),
      PreviewFamily(),
      MicrosoftFusedFamily(),
      MicrosoftNormalisationFamily(),
      MicrosoftAttentionFamily(),
      MicrosoftQuantisationFamily(),
      MicrosoftMatMulFamily(),
      DataSizesFamily(),
  };
  return *families;
}

const Operator* FindOperator(absl::string_view domain, absl::string_view name) {
  using Key = std::pair<absl::string_view, absl::string_view>;
  static const auto* const operators = [] {
    auto* map = new absl::flat_hash_map<Key, const Operator*>();
    for (const Family& family : Families()) {
      for (const Operator& op : family.operators) map->emplace(Key(family.domain, op.name), &op);
    }
    return map;
  }();
  auto found = operators->find(Key(domain, name));
  return found == operators->end() ? nullptr : found->second;
}

Family ControlFlowFamily() {
  static const std::vector<Operator> operators = {
      {"If", {1, 11, 13, 16, 19, 21, 23, 24, 25}, 1, 1, nullptr},
      {"Loop", {1, 11, 13, 16, 19, 21, 23, 24, 25}, 2, kVariadic, nullptr},
      {"Scan", {8, 9, 11, 16, 19, 21, 23, 24, 25}, 1, kVariadic, nullptr},
  };
  return {"control flow", operators};
}

Family PreviewFamily() {
  static const std::vector<Operator> operators = {{"FlexAttention", {1}, 3, 3, nullptr}};
  return {"operators in preview", operators, kPreviewDomain};
}

int64_t NewestOpset(absl::string_view domain) {
  if (domain.empty()) return kNewestOpset;
  if (domain == kMlDomain) return 5;
  return domain == kPreviewDomain || domain == kMicrosoftDomain ? 1 : 0;
}

int SelectVersion(const Operator& op, int64_t opset) {
  int selected = 0;
  for (int version : op.versions) {
    if (version <= opset) selected = version;
  }
  return selected;
}

}  // namespace aot::import::onnx
