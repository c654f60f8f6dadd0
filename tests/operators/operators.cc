// Compares the importer's meaning of operators with ONNX Runtime's, on random data: bazel run //tests/operators --
// --ort LIBRARY [--seed N] [--only TEXT]. The last line counts.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/operators/cases.h"
#include "tests/perf/ort_session.h"

namespace aot::tests {
namespace {

using import::onnx::ModelBuilder;
using reference::Tensor;

struct Prepared {
  ModelBuilder model{17};
  std::vector<std::string> names;
  std::vector<Tensor> inputs;  // those that aren't constants
};

aot::onnx::TensorProto ToProto(const std::string& name, const Tensor& tensor) {
  aot::onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(static_cast<int>(tensor.element()));
  for (int64_t dim : tensor.shape()) proto.add_dims(dim);
  proto.set_raw_data(tensor.bytes().data(), tensor.bytes().size());
  return proto;
}

Prepared Prepare(const OperatorCase& c) {
  Prepared p;
  p.model.proto().set_ir_version(8);
  for (const auto& [domain, version] : {std::pair<const char*, int>("com.microsoft", 1), {"ai.onnx.ml", 3}}) {
    auto* import = p.model.proto().add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }
  std::vector<std::string> operands, results;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const Tensor& input = c.inputs[i];
    const std::string name = input.element() == reference::ElementType::kUndefined ? "" : absl::StrCat("x", i);
    operands.push_back(name);
    if (name.empty()) continue;
    if (std::find(c.constants.begin(), c.constants.end(), i) != c.constants.end()) {
      p.model.Constant(ToProto(name, input));
      continue;
    }
    p.model.Input(name, input.shape(), static_cast<aot::onnx::TensorProto::DataType>(input.element()));
    p.names.push_back(name);
    p.inputs.push_back(input);
  }
  for (int i = 0; i < c.outputs; ++i) {
    results.push_back(absl::StrCat("y", i));
    p.model.Output(results.back());
  }
  p.model.Node(c.op, operands, results, c.attributes);
  p.model.proto().mutable_graph()->set_name("case");
  p.model.proto().mutable_graph()->mutable_node(0)->set_domain(c.domain);
  return p;
}

// Empty if both agree.
std::string Difference(const Tensor& ours, const Tensor& theirs, double tolerance) {
  if (!(ours.type() == theirs.type())) {
    return absl::StrCat(reference::Name(ours.element()), " ", reference::ToString(ours.shape()), " instead of ",
                        reference::Name(theirs.element()), " ", reference::ToString(theirs.shape()));
  }
  const std::vector<double> a = import::onnx::Values(ours), b = import::onnx::Values(theirs);
  double largest = 1;
  if (reference::IsFloat(ours.element())) {
    for (double value : b) largest = std::isfinite(value) ? std::max(largest, std::fabs(value)) : largest;
  }
  for (size_t i = 0; i < a.size(); ++i) {
    const bool equal = (std::isnan(a[i]) && std::isnan(b[i])) || std::fabs(a[i] - b[i]) <= tolerance * largest;
    if (!equal) return absl::StrCat("element ", i, " is ", a[i], " instead of ", b[i]);
  }
  return "";
}

std::string Run(const OperatorCase& c, const std::string& library) {
  const Prepared p = Prepare(c);
  const std::string path = absl::StrCat("/tmp/aot-operator-", getpid(), ".onnx");
  std::ofstream(path, std::ios::binary) << p.model.Model().bytes;
  auto session = OrtSession::Create(library, path, p.names, p.inputs);
  std::remove(path.c_str());
  if (!session.ok()) return absl::StrCat("ONNX Runtime: ", session.status().message());
  auto theirs = (*session)->Run();
  if (!theirs.ok()) return absl::StrCat("ONNX Runtime: ", theirs.status().message());
  auto ours = import::onnx::RunModel(p.model, p.inputs);
  if (!ours.ok()) return std::string(ours.status().message());
  for (size_t i = 0; i < theirs->size(); ++i) {
    const std::string difference = Difference((*ours)[i], (*theirs)[i], c.tolerance);
    if (!difference.empty()) return absl::StrCat("output ", i, ": ", difference);
  }
  return "";
}

int Main(int argc, char** argv) {
  std::string library, only;
  uint32_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--ort") library = argv[i + 1];
    if (option == "--only") only = argv[i + 1];
    if (option == "--seed") seed = static_cast<uint32_t>(std::atoi(argv[i + 1]));
  }
  int right = 0, all = 0;
  for (const OperatorCase& c : OperatorCases(seed)) {
    if (!absl::StrContains(c.name, only)) continue;
    ++all;
    const std::string difference = Run(c, library);
    if (difference.empty()) ++right;
    std::printf("%s %s %s\n", difference.empty() ? "right" : "WRONG", c.name.c_str(), difference.c_str());
  }
  std::printf("operators: %d right, %d wrong, of %d\n", right, all - right, all);
  return right == all ? 0 : 1;
}

}  // namespace
}  // namespace aot::tests

int main(int argc, char** argv) { return aot::tests::Main(argc, argv); }
