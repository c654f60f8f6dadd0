#include "clients/tensor_io/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "clients/tensor_io/file.h"
#include "clients/tensor_io/random_tensor.h"

namespace aot::clients {
namespace {

using reference::ElementType;
using reference::Tensor;
using reference::TensorType;
using ::testing::HasSubstr;

std::string Path(absl::string_view name) { return absl::StrCat(::testing::TempDir(), "/", name); }

TEST(TensorFileTest, TheExtensionChoosesTheFormat) {
  Tensor tensor = RandomTensor(TensorType{ElementType::kFloat32, {2, 3}}, 7);
  for (absl::string_view name : {"t.npy", "t.pb", "t.raw", "t"}) {
    ASSERT_TRUE(WriteTensorFile(Path(name), NamedTensor{"x", tensor}).ok());
    absl::StatusOr<NamedTensor> back = ReadTensorFile(Path(name), tensor.type());
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(back->tensor.bytes(), tensor.bytes());
  }
  EXPECT_EQ(ReadTypedTensorFile(Path("t.npy"))->tensor.type(), tensor.type());
  EXPECT_FALSE(ReadTypedTensorFile(Path("t.raw")).ok());
}

TEST(TensorFileTest, AWrongTypeIsToldWithBothTypes) {
  ASSERT_TRUE(WriteTensorFile(Path("w.npy"), NamedTensor{"", Tensor(TensorType{ElementType::kFloat64, {2}})}).ok());
  absl::Status status = ReadTensorFile(Path("w.npy"), TensorType{ElementType::kFloat32, {2}}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("holds float64 2 where the model takes float32 2"));
  ASSERT_TRUE(WriteFile(Path("w.raw"), "12345").ok());
  status = ReadTensorFile(Path("w.raw"), TensorType{ElementType::kFloat32, {2}}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("5 bytes"));
}

TEST(TensorFileTest, FilesThatAreMissingOrNotFilesAreTold) {
  EXPECT_EQ(ReadFile(Path("absent")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadFile(::testing::TempDir()).status().code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(WriteFile(Path("ten"), "0123456789").ok());
  EXPECT_EQ(ReadFile(Path("ten"), 9).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(WriteFile(Path("no/such/directory"), "x").ok());
}

}  // namespace
}  // namespace aot::clients
