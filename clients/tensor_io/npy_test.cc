#include "clients/tensor_io/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace aot::clients {
namespace {

using reference::ElementType;
using reference::Tensor;
using reference::TensorType;
using ::testing::HasSubstr;

std::string File(absl::string_view header, absl::string_view data, char major = 1) {
  std::string out("\x93NUMPY", 6);
  out.append({major, '\0', static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)});
  if (major > 1) out.append(2, '\0');
  return absl::StrCat(out, header, data);
}

TEST(NpyTest, EveryTypeAndRankComesBack) {
  for (ElementType element : {ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat64, ElementType::kInt8,
                              ElementType::kInt16, ElementType::kInt32, ElementType::kInt64, ElementType::kUint8,
                              ElementType::kUint16, ElementType::kUint32, ElementType::kUint64, ElementType::kBool}) {
    for (const reference::Shape& shape : {reference::Shape{}, {3}, {2, 3}, {2, 0, 4}, {1, 2, 1, 2}}) {
      Tensor tensor(TensorType{element, shape});
      for (int64_t i = 0; i < tensor.size(); ++i) {
        if (reference::IsFloat(element)) {
          tensor.SetFloat(i, 0.5 * static_cast<double>(i));
        } else {
          tensor.SetInt(i, i % 2);
        }
      }
      absl::StatusOr<std::string> bytes = SerializeNpy(tensor);
      ASSERT_TRUE(bytes.ok()) << bytes.status();
      absl::StatusOr<Tensor> back = ParseNpy(*bytes, "a.npy");
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(back->type(), tensor.type());
      EXPECT_EQ(back->bytes(), tensor.bytes());
    }
  }
}

// What numpy.save wrote for numpy.arange(3, dtype='<f4'): the header ends at a multiple of 64 bytes.
TEST(NpyTest, WritesWhatNumPyWrites) {
  Tensor tensor(TensorType{ElementType::kFloat32, {3}});
  for (int i = 0; i < 3; ++i) tensor.SetFloat(i, i);
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  header.append(117 - header.size(), ' ').push_back('\n');
  std::string data("\0\0\0\0\0\0\x80\x3f\0\0\0\x40", 12);
  EXPECT_EQ(*SerializeNpy(tensor), File(header, data));
}

TEST(NpyTest, SwapsBigEndianValuesAndReadsVersion2) {
  absl::StatusOr<Tensor> tensor = ParseNpy(
      File("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }\n", std::string("\0\1\1\0", 4), 2), "a.npy");
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->GetInt(0), 1);
  EXPECT_EQ(tensor->GetInt(1), 256);
}

TEST(NpyTest, RefusalsNameTheFileAndTheReason) {
  auto error = [](const std::string& bytes) { return std::string(ParseNpy(bytes, "dir/a.npy").status().message()); };
  EXPECT_THAT(error(""), HasSubstr("dir/a.npy"));
  EXPECT_THAT(error(File("{'descr': '<f4', 'fortran_order': True, 'shape': (2,2), }", std::string(16, 0))),
              HasSubstr("ascontiguousarray"));
  EXPECT_THAT(error(File("{'descr': '<U4', 'fortran_order': False, 'shape': (1,), }", std::string(16, 0))),
              HasSubstr("'<U4'"));
  EXPECT_THAT(error(File("{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }", std::string(16, 0))),
              HasSubstr("16 bytes"));
  EXPECT_THAT(error(File("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "")), HasSubstr("'-1'"));
  EXPECT_THAT(error(File("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,4294967296), }", "")),
              HasSubstr("doesn't fit"));
  EXPECT_THAT(error(File("{'descr': '<f4', 'fortran_order': False}", "")), HasSubstr("shape"));
  EXPECT_FALSE(SerializeNpy(Tensor(TensorType{ElementType::kBfloat16, {1}})).ok());
}

TEST(NpyTest, EveryTruncationIsAnError) {
  std::string whole = *SerializeNpy(Tensor(TensorType{ElementType::kInt32, {2, 2}}));
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(ParseNpy(whole.substr(0, n), "a.npy").ok()) << n;
}

}  // namespace
}  // namespace aot::clients
