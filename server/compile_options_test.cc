#include "server/compile_options.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "proto/aot/v1/compile.pb.h"

namespace aot::server {
namespace {

aot::v1::CompileOptions Options() {
  aot::v1::CompileOptions options;
  options.set_target("cortex-a75");
  return options;
}

TEST(CompileOptions, DefaultsAreTheCompilers) {
  absl::StatusOr<compiler::Options> options = FromProto(Options());
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->target, "cortex-a75");
  EXPECT_EQ(options->opt_level, compiler::Options().opt_level);
  EXPECT_FALSE(options->strict_math);
}

TEST(CompileOptions, EveryOptionArrives) {
  aot::v1::CompileOptions proto = Options();
  proto.set_opt_level(0);
  (*proto.mutable_dims())["batch"] = 4;
  (*proto.mutable_input_shapes())["x"].add_dims(3);
  (*proto.mutable_input_shapes())["x"].add_dims(48);
  (*proto.mutable_input_elements())["s"] = 2;
  (*proto.mutable_input_elements())["o"] = -1;
  aot::v1::TensorValue& axes = (*proto.mutable_bind_inputs())["axes"];
  axes.set_type(7);
  axes.add_dims(1);
  axes.set_data(std::string("\2\0\0\0\0\0\0\0", 8));
  (*proto.mutable_states())["h"] = "h_next";
  (*proto.add_buckets()->mutable_dims())["length"] = 8;
  (*proto.add_buckets()->mutable_dims())["length"] = 16;
  proto.set_strict_math(true);
  proto.set_model_name("ocr");
  absl::StatusOr<compiler::Options> options = FromProto(proto);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->opt_level, 0);
  EXPECT_EQ(options->dims.at("batch"), 4);
  EXPECT_EQ(options->input_shapes.at("x"), (std::vector<int64_t>{3, 48}));
  EXPECT_EQ(options->input_elements, (std::map<std::string, int64_t>{{"o", compiler::kAbsent}, {"s", 2}}));
  const reference::Tensor& bound = options->bind_inputs.at("axes");
  EXPECT_EQ(bound.element(), reference::ElementType::kInt64);
  EXPECT_EQ(bound.shape(), reference::Shape{1});
  EXPECT_EQ(bound.GetInt(0), 2);
  EXPECT_EQ(options->states, (std::map<std::string, std::string>{{"h", "h_next"}}));
  EXPECT_EQ(options->buckets, (std::vector<std::map<std::string, int64_t>>{{{"length", 8}}, {{"length", 16}}}));
  EXPECT_TRUE(options->strict_math);
  EXPECT_EQ(options->model_name, "ocr");
}

TEST(CompileOptions, RefusesStatesAndBucketsThatContradictThemselves) {
  aot::v1::CompileOptions states = Options();
  (*states.mutable_states())["a"] = "y";
  (*states.mutable_states())["b"] = "y";
  EXPECT_EQ(FromProto(states).status().message(),
            "options: output 'y' is the state of inputs 'a' and 'b'; each output can be the state of one");
  (*states.mutable_states())["b"] = "";
  EXPECT_EQ(FromProto(states).status().code(), absl::StatusCode::kInvalidArgument);
  aot::v1::CompileOptions buckets = Options();
  for (int i = 1; i <= 33; ++i) (*buckets.add_buckets()->mutable_dims())["n"] = i;
  EXPECT_EQ(FromProto(buckets).status().code(), absl::StatusCode::kInvalidArgument);
  aot::v1::CompileOptions zero = Options();
  (*zero.add_buckets()->mutable_dims())["n"] = 0;
  EXPECT_EQ(FromProto(zero).status().message(), "options: bucket n=0: dimension 'n' is 0, not at least 1");
}

TEST(CompileOptions, RefusesWhatIsOutOfRange) {
  EXPECT_TRUE(absl::IsInvalidArgument(FromProto({}).status())) << "no target";
  aot::v1::CompileOptions proto = Options();
  proto.set_opt_level(4);
  EXPECT_TRUE(absl::IsInvalidArgument(FromProto(proto).status()));
  proto = Options();
  (*proto.mutable_dims())["batch"] = 0;
  absl::Status status = FromProto(proto).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_TRUE(absl::StrContains(status.message(), "'batch'")) << status;
  proto = Options();
  (*proto.mutable_input_shapes())["x"].add_dims(-1);
  EXPECT_TRUE(absl::IsInvalidArgument(FromProto(proto).status()));
  proto = Options();
  (*proto.mutable_input_elements())["s"] = -2;
  EXPECT_TRUE(absl::IsInvalidArgument(FromProto(proto).status()));
  proto = Options();
  for (int i = 0; i < 100; ++i) (*proto.mutable_dims())[std::string(1000, 'n') + std::to_string(i)] = 1;
  EXPECT_TRUE(absl::IsInvalidArgument(FromProto(proto).status())) << "a canonical text of 100 kB";
  proto = Options();
  proto.set_model_name(std::string(5000, 'x'));
  EXPECT_TRUE(absl::IsInvalidArgument(FromProto(proto).status()));
}

TEST(CompileOptions, AShapeMayHaveNoElements) {
  aot::v1::CompileOptions proto = Options();
  (*proto.mutable_input_shapes())["x"].add_dims(0);
  (*proto.mutable_input_shapes())["x"].add_dims(3);
  absl::StatusOr<compiler::Options> options = FromProto(proto);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->input_shapes.at("x"), (std::vector<int64_t>{0, 3}));
}

TEST(CompileOptions, RefusesBoundInputsThatContradictThemselves) {
  const auto with = [](int type, int64_t dim, size_t bytes) {
    aot::v1::CompileOptions proto = Options();
    aot::v1::TensorValue& value = (*proto.mutable_bind_inputs())["axes"];
    value.set_type(type);
    value.add_dims(dim);
    value.set_data(std::string(bytes, '\0'));
    return FromProto(proto).status();
  };
  EXPECT_TRUE(with(7, 1, 8).ok());
  for (const absl::Status& status : {with(7, 1, 7), with(7, -1, 8), with(8, 1, 8), with(99, 1, 8), with(-1, 1, 8),
                                     with(7, INT64_MAX, 8), with(7, 1 << 20, 8 << 20)}) {
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "bind_inputs")) << status;
  }
}

TEST(RefuseUnknownFields, FindsThemAtEveryDepth) {
  aot::v1::CompileRequest request;
  *request.mutable_options() = Options();
  EXPECT_TRUE(RefuseUnknownFields(request).ok());
  // An option of a later version, as it arrives here.
  request.mutable_options()->GetReflection()->MutableUnknownFields(request.mutable_options())->AddVarint(99, 1);
  aot::v1::CompileRequest received;
  ASSERT_TRUE(received.ParseFromString(request.SerializeAsString()));
  absl::Status status = RefuseUnknownFields(received);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_TRUE(absl::StrContains(status.message(), "CompileOptions")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "99")) << status;
}

}  // namespace
}  // namespace aot::server
