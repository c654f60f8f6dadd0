// Prints docs/operators.md from what the importer knows and what the conformance list says.
//
//   operators_doc EXPECTED.json
#include <iostream>
#include <set>

#include "clients/tensor_io/file.h"
#include "compiler/import/onnx/import.h"
#include "tests/conformance/expected.h"
#include "tools/docs/markdown.h"

namespace aot::tests {
namespace {

using docs::Code;
using docs::Row;
using docs::Table;
using import::onnx::SupportedOperator;

// Of the suites in the list, the newest decides: the older ones repeat its cases for older opsets.
constexpr char kNewestSuite[] = "onnx-1.22";

constexpr char kHead[] = R"(# Operators

Generated from `compiler/import/onnx` and `tests/conformance/expected.json` by `bazel run //tools/docs:update`; a test fails when it is stale.

"Opsets" are those in which ONNX changed the operator; every model opset from the first on is taken, up to opset )";

constexpr char kColumns[] = R"(.
"Cases" counts the cases of ONNX's own conformance suite that contain the operator: how many pass, of how many. A case may need other
operators too. Beside it stands what is left out, in the compiler's words; a model that needs it is refused by name, never compiled wrongly.
)";

constexpr char kUnknown[] = R"(
## Not supported

Operators of the conformance suite that the compiler refuses.

)";

std::string Join(const std::vector<int>& versions) { return absl::StrJoin(versions, ", "); }

std::string Cases(const ExpectedSuite& suite, const std::string& op) {
  auto count = suite.operators.find(op);
  return count == suite.operators.end() ? "-" : absl::StrCat(count->second.pass, " of ", count->second.of);
}

// The distinct reasons of an operator with the number of cases of each.
std::string Limits(const ExpectedSuite& suite, const std::string& op) {
  std::map<std::string, int> reasons;
  for (const auto& [member, shortfall] : suite.shortfalls) {
    if (shortfall.op == op) ++reasons[shortfall.reason];
  }
  return absl::StrJoin(reasons, "<br>", [](std::string* out, const auto& reason) {
    absl::StrAppend(out, reason.first, " (", reason.second, ")");
  });
}

std::string Page(const ExpectedSuite& suite) {
  std::string page = absl::StrCat(kHead, import::onnx::NewestOpset(), kColumns);
  std::set<std::string> supported;
  std::string family;
  std::vector<Row> rows;
  auto flush = [&] {
    if (!rows.empty()) absl::StrAppend(&page, "\n## ", family, "\n\n", Table(rows));
  };
  for (const SupportedOperator& op : import::onnx::SupportedOperators()) {
    if (op.family != family) {
      flush();
      family = op.family;
      rows = {{"Operator", "Opsets", "Cases", "Left out"}};
    }
    rows.push_back({Code(op.name), Join(op.versions), Cases(suite, op.name), Limits(suite, op.name)});
    supported.insert(op.name);
  }
  flush();
  std::map<std::string, std::string> unknown;
  for (const auto& [op, count] : suite.operators) {
    if (supported.count(op) == 0) unknown[op] = Limits(suite, op);
  }
  rows = {{"Operator", "Cases", "Why"}};
  for (const auto& [op, why] : unknown) rows.push_back({Code(op), Cases(suite, op), why});
  if (rows.size() > 1) absl::StrAppend(&page, kUnknown, Table(rows));
  return page;
}

}  // namespace
}  // namespace aot::tests

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: operators_doc EXPECTED.json\n";
    return 2;
  }
  absl::StatusOr<std::string> text = aot::clients::ReadFile(argv[1]);
  absl::StatusOr<aot::tests::Expected> expected = text.ok() ? aot::tests::ParseExpected(*text) : text.status();
  if (!expected.ok()) {
    std::cerr << expected.status().message() << "\n";
    return 1;
  }
  std::cout << aot::tests::Page((*expected)[aot::tests::kNewestSuite]) << std::flush;
  return std::cout ? 0 : 1;
}
