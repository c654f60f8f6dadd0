#include "clients/tensor_io/onnx_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aot::clients {
namespace {

namespace pb = ::aot::onnx;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

pb::TypeProto FloatTensorType() {
  pb::TypeProto type;
  type.mutable_tensor_type()->set_elem_type(pb::TensorProto::FLOAT);
  return type;
}

pb::TypeProto SequenceOf(const pb::TypeProto& element) {
  pb::TypeProto type;
  *type.mutable_sequence_type()->mutable_elem_type() = element;
  return type;
}

pb::TypeProto OptionalOf(const pb::TypeProto& element) {
  pb::TypeProto type;
  *type.mutable_optional_type()->mutable_elem_type() = element;
  return type;
}

pb::TensorProto Floats(const std::vector<float>& values) {
  pb::TensorProto tensor;
  tensor.set_data_type(pb::TensorProto::FLOAT);
  tensor.add_dims(static_cast<int64_t>(values.size()));
  for (float value : values) tensor.add_float_data(value);
  return tensor;
}

pb::SequenceProto TwoTensors() {
  pb::SequenceProto sequence;
  sequence.set_elem_type(1);
  *sequence.add_tensor_values() = Floats({1, 2});
  *sequence.add_tensor_values() = Floats({3});
  return sequence;
}

TEST(OnnxValueTest, TensorsAndSequencesAreLists) {
  auto tensor = ParseOnnxValue(Floats({1, 2}).SerializeAsString(), FloatTensorType(), "x.pb");
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  ASSERT_EQ(tensor->tensors.size(), 1u);
  EXPECT_EQ(tensor->tensors[0].GetFloat(1), 2);
  auto sequence = ParseOnnxValue(TwoTensors().SerializeAsString(), SequenceOf(FloatTensorType()), "x.pb");
  ASSERT_TRUE(sequence.ok()) << sequence.status();
  ASSERT_EQ(sequence->tensors.size(), 2u);
  EXPECT_EQ(sequence->tensors[1].shape(), reference::Shape{1});
  EXPECT_EQ(sequence->tensors[1].GetFloat(0), 3);
  auto empty = ParseOnnxValue("", SequenceOf(FloatTensorType()), "x.pb");
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_TRUE(empty->present && empty->tensors.empty());
}

TEST(OnnxValueTest, OptionalsHoldATensorASequenceOrNothing) {
  pb::OptionalProto optional;
  for (const pb::TypeProto& element : {FloatTensorType(), SequenceOf(FloatTensorType())}) {
    auto absent = ParseOnnxValue(optional.SerializeAsString(), OptionalOf(element), "x.pb");
    ASSERT_TRUE(absent.ok()) << absent.status();
    EXPECT_FALSE(absent->present);
  }
  *optional.mutable_sequence_value() = TwoTensors();
  auto sequence = ParseOnnxValue(optional.SerializeAsString(), OptionalOf(SequenceOf(FloatTensorType())), "x.pb");
  ASSERT_TRUE(sequence.ok()) << sequence.status();
  EXPECT_TRUE(sequence->present);
  EXPECT_EQ(sequence->tensors.size(), 2u);
  // The model says a tensor, the file holds a sequence.
  auto other = ParseOnnxValue(optional.SerializeAsString(), OptionalOf(FloatTensorType()), "x.pb");
  EXPECT_TRUE(absl::IsInvalidArgument(other.status())) << other.status();
}

TEST(OnnxValueTest, WhatDoesNotConsistOfTensorsIsRefused) {
  auto nested = ParseOnnxValue("", SequenceOf(SequenceOf(FloatTensorType())), "x.pb");
  EXPECT_TRUE(absl::IsUnimplemented(nested.status())) << nested.status();
  pb::SequenceProto sequence;
  sequence.add_sequence_values();
  auto value = ParseOnnxValue(sequence.SerializeAsString(), SequenceOf(FloatTensorType()), "x.pb");
  EXPECT_TRUE(absl::IsUnimplemented(value.status())) << value.status();
  auto rubbish = ParseOnnxValue("\xff\xff", SequenceOf(FloatTensorType()), "x.pb");
  EXPECT_TRUE(absl::IsInvalidArgument(rubbish.status()));
  EXPECT_THAT(std::string(rubbish.status().message()), HasSubstr("x.pb"));
}

TEST(OnnxValueTest, TensorsOfSequencesAreNumbered) {
  EXPECT_THAT(TensorNames("x", FloatTensorType(), 1), ElementsAre("x"));
  EXPECT_THAT(TensorNames("x", OptionalOf(FloatTensorType()), 0), ElementsAre());
  EXPECT_THAT(TensorNames("x", OptionalOf(SequenceOf(FloatTensorType())), 2), ElementsAre("x[0]", "x[1]"));
}

}  // namespace
}  // namespace aot::clients
