// Shorthand for the tests of this folder: tensors from lists, one operation run and its values compared.
#pragma once

#include <cmath>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/reference/evaluate.h"
#include "gtest/gtest.h"

namespace aot::reference {

inline Tensor MakeTensor(ElementType element, Shape shape, const std::vector<double>& values) {
  Tensor tensor(TensorType{element, std::move(shape)});
  EXPECT_EQ(tensor.size(), static_cast<int64_t>(values.size()));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double value = values[static_cast<size_t>(i)];
    if (IsFloat(element)) {
      tensor.SetFloat(i, value);
    } else {
      tensor.SetInt(i, static_cast<int64_t>(value));
    }
  }
  return tensor;
}
inline Tensor F32(Shape shape, const std::vector<double>& values) {
  return MakeTensor(ElementType::kFloat32, std::move(shape), values);
}
inline Tensor I64(Shape shape, const std::vector<double>& values) {
  return MakeTensor(ElementType::kInt64, std::move(shape), values);
}

// Small integers, so that sums of products are exact in every order.
inline Tensor RandomTensor(ElementType element, Shape shape, uint32_t seed, int low = -8, int high = 8) {
  Tensor tensor(TensorType{element, std::move(shape)});
  std::minstd_rand random(seed);
  std::uniform_int_distribution<int> value(low, high);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (IsFloat(element)) {
      tensor.SetFloat(i, value(random));
    } else {
      tensor.SetInt(i, value(random));
    }
  }
  return tensor;
}

// 0, 1, 2, ...
inline Tensor Iota(ElementType element, Shape shape) {
  Tensor tensor(TensorType{element, std::move(shape)});
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (IsFloat(element)) {
      tensor.SetFloat(i, static_cast<double>(i));
    } else {
      tensor.SetInt(i, i);
    }
  }
  return tensor;
}

inline std::vector<double> ToVector(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.size(); ++i) values.push_back(tensor.GetFloat(i));
  return values;
}

// Runs an operation that must succeed; null operands are absent ones.
inline std::vector<Tensor> RunAll(const std::string& name, const Attributes& attributes,
                                  const std::vector<const Tensor*>& operands, const std::vector<TensorType>& results) {
  absl::StatusOr<std::vector<Tensor>> run = Evaluate(Operation{name, attributes, results}, operands);
  EXPECT_TRUE(run.ok()) << run.status();
  if (!run.ok()) return std::vector<Tensor>(results.size(), Tensor(TensorType{ElementType::kFloat32, {0}}));
  for (size_t i = 0; i < results.size(); ++i) EXPECT_TRUE((*run)[i].type() == results[i]) << name << " result " << i;
  return *run;
}
inline Tensor RunOne(const std::string& name, const Attributes& attributes, const std::vector<const Tensor*>& operands,
                     TensorType result) {
  return RunAll(name, attributes, operands, {std::move(result)})[0];
}

// The message of an operation that must fail.
inline std::string RunFailing(const std::string& name, const Attributes& attributes,
                              const std::vector<const Tensor*>& operands, TensorType result) {
  absl::StatusOr<std::vector<Tensor>> run = Evaluate(Operation{name, attributes, {std::move(result)}}, operands);
  EXPECT_FALSE(run.ok()) << name;
  return run.ok() ? "" : std::string(run.status().message());
}

// Equal, NaN to NaN, or within the relative tolerance.
inline void ExpectValues(const Tensor& actual, const std::vector<double>& expected, double tolerance = 0) {
  ASSERT_EQ(actual.size(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    double value = actual.GetFloat(static_cast<int64_t>(i));
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(value)) << "element " << i << " is " << value;
    } else if (std::isinf(expected[i]) || tolerance == 0) {
      EXPECT_EQ(value, expected[i]) << "element " << i;
    } else {
      EXPECT_NEAR(value, expected[i], tolerance * std::max(1.0, std::fabs(expected[i]))) << "element " << i;
    }
  }
}

}  // namespace aot::reference
