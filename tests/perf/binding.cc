#include "tests/perf/binding.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"

namespace aot::perf {
namespace {

// onnx.TensorProto.DataType, as far as outputs are compared.
enum DataType { kFloat = 1, kUint8 = 2, kInt8 = 3, kInt32 = 6, kInt64 = 7 };

template <typename T>
std::vector<double> Numbers(const Binding& binding) {
  std::vector<double> numbers(binding.bytes.size() / sizeof(T));
  for (size_t i = 0; i < numbers.size(); ++i) {
    T value;
    std::memcpy(&value, binding.bytes.data() + i * sizeof(T), sizeof(T));
    numbers[i] = static_cast<double>(value);
  }
  return numbers;
}

std::vector<double> NumbersOf(const Binding& binding) {
  switch (binding.dtype) {
    case kFloat:
      return Numbers<float>(binding);
    case kUint8:
      return Numbers<uint8_t>(binding);
    case kInt8:
      return Numbers<int8_t>(binding);
    case kInt32:
      return Numbers<int32_t>(binding);
    case kInt64:
      return Numbers<int64_t>(binding);
    default:
      return {};
  }
}

}  // namespace

absl::Status WriteBindings(const std::string& path, const std::vector<Binding>& bindings) {
  nlohmann::json header = nlohmann::json::array();
  for (const Binding& b : bindings) {
    header.push_back({{"name", b.name}, {"dtype", b.dtype}, {"dims", b.dims}, {"bytes", b.bytes.size()}});
  }
  std::ofstream file(path, std::ios::binary);
  file << header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  for (const Binding& b : bindings) {
    file.write(reinterpret_cast<const char*>(b.bytes.data()), static_cast<std::streamsize>(b.bytes.size()));
  }
  file.close();
  return file ? absl::OkStatus() : absl::UnknownError(absl::StrCat(path, " can't be written"));
}

absl::StatusOr<std::vector<Binding>> ReadBindings(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!std::getline(file, line)) return absl::NotFoundError(absl::StrCat(path, " can't be read"));
  const nlohmann::json header = nlohmann::json::parse(line, nullptr, false);
  if (!header.is_array()) return absl::InvalidArgumentError(absl::StrCat(path, " is no file of tensors"));
  std::vector<Binding> bindings;
  for (const nlohmann::json& entry : header) {
    Binding b;
    b.name = entry.at("name");
    b.dtype = entry.at("dtype");
    b.dims = entry.at("dims").get<std::vector<int64_t>>();
    b.bytes.resize(entry.at("bytes").get<size_t>());
    file.read(reinterpret_cast<char*>(b.bytes.data()), static_cast<std::streamsize>(b.bytes.size()));
    bindings.push_back(std::move(b));
  }
  if (!file) return absl::InvalidArgumentError(absl::StrCat(path, " is too short"));
  return bindings;
}

double RelativeDifference(const std::vector<Binding>& outputs, const std::vector<Binding>& reference) {
  if (outputs.size() < reference.size() || reference.empty()) return -1;
  double difference = -1;
  for (size_t i = 0; i < reference.size(); ++i) {
    const std::vector<double> got = NumbersOf(outputs[i]), want = NumbersOf(reference[i]);
    if (got.size() != want.size() || want.empty()) continue;
    double largest = 1e-30, error = 0;
    for (size_t k = 0; k < want.size(); ++k) {
      const double distance = std::fabs(got[k] - want[k]);
      if (!(distance <= error)) error = distance;
      largest = std::max(largest, std::fabs(want[k]));
    }
    difference = std::max(difference, error / largest);
  }
  return difference;
}

}  // namespace aot::perf
