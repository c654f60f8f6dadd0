#include "compiler/import/onnx/registry.h"

#include "absl/container/flat_hash_map.h"

namespace aot::import::onnx {

absl::Span<const Family> Families() {
  static const auto* const families = new std::vector<Family>{
      ArithmeticFamily(), ActivationFamily(),    ComparisonFamily(), ConvolutionFamily(), PoolingFamily(),
      MatMulFamily(),     NormalisationFamily(), SoftmaxFamily(),    ReductionFamily(),   ShapeFamily(),
      MovementFamily(),   IndexingFamily(),      GenerationFamily(), ResizeFamily(),      QuantisationFamily(),
      AttentionFamily(),  ControlFlowFamily()};
  return *families;
}

const Operator* FindOperator(absl::string_view name) {
  static const auto* const operators = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, const Operator*>();
    for (const Family& family : Families()) {
      for (const Operator& op : family.operators) map->emplace(op.name, &op);
    }
    return map;
  }();
  auto found = operators->find(name);
  return found == operators->end() ? nullptr : found->second;
}

Family ControlFlowFamily() {
  static const std::vector<Operator> operators = {{"If", {1, 11, 13, 16, 19, 21, 23, 24, 25}, 1, 1, nullptr}};
  return {"control flow", operators};
}

int SelectVersion(const Operator& op, int64_t opset) {
  int selected = 0;
  for (int version : op.versions) {
    if (version <= opset) selected = version;
  }
  return selected;
}

}  // namespace aot::import::onnx
