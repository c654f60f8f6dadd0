#include "clients/tensor_io/onnx_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "third_party/onnx/onnx.pb.h"

namespace aot::clients {
namespace {

using reference::ElementType;
using reference::Tensor;
using reference::TensorType;
using ::testing::HasSubstr;

TEST(OnnxTensorTest, RoundTripKeepsNameTypeAndBytes) {
  for (int element = 1; element <= static_cast<int>(ElementType::kInt2); ++element) {
    ElementType type = static_cast<ElementType>(element);
    if (reference::StorageBits(type) == 0 || type == ElementType::kComplex64 || type == ElementType::kComplex128)
      continue;
    Tensor tensor(TensorType{type, {3, 1}});
    absl::StatusOr<std::string> bytes = SerializeOnnxTensor("a:0", tensor);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    absl::StatusOr<NamedTensor> back = ParseOnnxTensor(*bytes, "a.pb");
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(back->name, "a:0");
    EXPECT_EQ(back->tensor.type(), tensor.type());
    EXPECT_EQ(back->tensor.bytes(), tensor.bytes());
  }
}

TEST(OnnxTensorTest, PackedFourBitValuesKeepTheirSigns) {
  Tensor tensor(TensorType{ElementType::kInt4, {3}});
  const int values[] = {-8, 7, -1};
  for (int i = 0; i < 3; ++i) tensor.mutable_bytes()[i] = static_cast<uint8_t>(values[i]);
  std::string bytes = *SerializeOnnxTensor("", tensor);
  onnx::TensorProto proto;
  ASSERT_TRUE(proto.ParseFromString(bytes));
  EXPECT_EQ(proto.raw_data(), std::string("\x78\x0f", 2));
  EXPECT_EQ(ParseOnnxTensor(bytes, "a.pb")->tensor.bytes(), tensor.bytes());
}

TEST(OnnxTensorTest, ReadsTypedFields) {
  onnx::TensorProto proto;
  proto.add_dims(2);
  proto.set_data_type(onnx::TensorProto::INT8);
  proto.add_int32_data(-3);
  proto.add_int32_data(100);
  absl::StatusOr<NamedTensor> tensor = ParseOnnxTensor(proto.SerializeAsString(), "a.pb");
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->tensor.GetInt(0), -3);
  EXPECT_EQ(tensor->tensor.GetInt(1), 100);
}

TEST(OnnxTensorTest, RefusalsNameTheFileAndTheReason) {
  onnx::TensorProto proto;
  auto error = [&] { return std::string(ParseOnnxTensor(proto.SerializeAsString(), "d/a.pb").status().message()); };
  EXPECT_THAT(error(), HasSubstr("d/a.pb"));
  proto.set_data_type(onnx::TensorProto::FLOAT);
  proto.add_dims(int64_t{1} << 40);
  EXPECT_THAT(error(), HasSubstr("1099511627776"));
  proto.set_dims(0, 2);
  proto.set_raw_data("1234567");
  EXPECT_THAT(error(), HasSubstr("8 bytes"));
  proto.set_dims(0, -1);
  EXPECT_THAT(error(), HasSubstr("-1"));
  EXPECT_FALSE(ParseOnnxTensor("rubbish", "d/a.pb").ok());
}

}  // namespace
}  // namespace aot::clients
