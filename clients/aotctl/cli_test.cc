// The program as its users start it: exit statuses, JSON, and a small model from file to verified answer, without a
// server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "clients/tensor_io/file.h"
#include "clients/tensor_io/tensor_file.h"
#include "third_party/onnx/onnx.pb.h"

namespace aot::clients {
namespace {

using reference::ElementType;
using reference::Tensor;
using ::testing::HasSubstr;

struct Outcome {
  int exit_code = -1;
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

class CliTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ =
        absl::StrCat(::testing::TempDir(), "/", ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(directory_);
  }

  std::string Path(absl::string_view name) const { return absl::StrCat(directory_, "/", name); }

  // Arguments are split at spaces by the shell.
  Outcome Aotctl(const std::string& arguments) {
    Outcome outcome;
    std::string command = absl::StrCat("clients/aotctl/aotctl ", arguments, " 2>", Path("stderr"));
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return outcome;
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) outcome.out.append(buffer, n);
    int status = pclose(pipe);
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    outcome.err = ReadFile(Path("stderr")).value_or("");
    return outcome;
  }

  // y = relu(x + w) with w = (-2, 0.5, 1), x float32 [N,3]; the operator's name can be another one.
  std::string WriteModel(const std::string& op = "Relu") {
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(17);
    onnx::GraphProto* graph = model.mutable_graph();
    graph->set_name("tiny");
    AddValue(graph->add_input(), "x");
    AddValue(graph->add_output(), "y");
    onnx::TensorProto* w = graph->add_initializer();
    w->set_name("w");
    w->add_dims(3);
    w->set_data_type(onnx::TensorProto::FLOAT);
    for (float value : {-2.0f, 0.5f, 1.0f}) w->add_float_data(value);
    AddNode(graph, "Add", "sum", {"x", "w"}, "s");
    AddNode(graph, op, "activation", {"s"}, "y");
    EXPECT_TRUE(WriteFile(Path("model.onnx"), model.SerializeAsString()).ok());
    return Path("model.onnx");
  }

  static void AddValue(onnx::ValueInfoProto* value, const std::string& name) {
    value->set_name(name);
    auto* type = value->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    type->mutable_shape()->add_dim()->set_dim_param("N");
    type->mutable_shape()->add_dim()->set_dim_value(3);
  }

  static void AddNode(onnx::GraphProto* graph, const std::string& op, const std::string& name,
                      const std::vector<std::string>& inputs, const std::string& output) {
    onnx::NodeProto* node = graph->add_node();
    node->set_op_type(op);
    node->set_name(name);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(output);
  }

  static Tensor Row(std::initializer_list<double> values) {
    Tensor tensor({ElementType::kFloat32, {1, 3}});
    int64_t i = 0;
    for (double value : values) tensor.SetFloat(i++, value);
    return tensor;
  }

  std::string directory_;
};

TEST_F(CliTest, UsageErrorsExitWith2) {
  EXPECT_EQ(Aotctl("--help").exit_code, 0);
  EXPECT_EQ(Aotctl("").exit_code, 2);
  EXPECT_EQ(Aotctl("no-such-verb").exit_code, 2);
  EXPECT_EQ(Aotctl("compile").exit_code, 2);
  EXPECT_EQ(Aotctl("compile --local --model x.onnx --opt 9").exit_code, 2);
  Outcome outcome = Aotctl("compile --local --model x.onnx --target cortex-a75");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--output"));
}

TEST_F(CliTest, JsonIsOneObjectOnStdout) {
  Outcome codes = Aotctl("help exit-codes --json");
  EXPECT_EQ(codes.json()["exit_codes"][5]["code"], "unavailable");
  Outcome targets = Aotctl("--json targets --local");
  EXPECT_EQ(targets.exit_code, 0);
  EXPECT_GE(targets.json()["targets"].size(), 6u);
}

TEST_F(CliTest, AnAnswerThatCantBeWrittenIsAFailure) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this host has no /dev/full";
  for (absl::string_view arguments : {"targets --local", "targets --local --json", "help exit-codes", "--help"}) {
    Outcome outcome = Aotctl(absl::StrCat(arguments, " >/dev/full"));
    EXPECT_EQ(outcome.exit_code, 1) << arguments;
  }
  EXPECT_THAT(Aotctl("targets --local >/dev/full").err, HasSubstr("can't be written"));
}

TEST_F(CliTest, NoServerIsExit5AndSaysWhatToDo) {
  Outcome outcome =
      Aotctl(absl::StrCat("compile --json --server 127.0.0.1:1 --target cortex-a75 --model ", WriteModel()));
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_EQ(outcome.json()["error"]["code"], "unavailable");
  EXPECT_THAT(outcome.err, HasSubstr("--local"));
}

TEST_F(CliTest, BadInputIsToldByKind) {
  auto compile = [&](const std::string& rest) {
    return Aotctl(absl::StrCat("compile --local -o ", Path("out.so"), " ", rest));
  };
  EXPECT_EQ(compile(absl::StrCat("--target cortex-a75 --model ", Path("absent.onnx"))).exit_code, 4);
  EXPECT_EQ(compile(absl::StrCat("--target no-such --dim N=1 --model ", WriteModel())).exit_code, 4);
  Outcome unbound = compile(absl::StrCat("--target cortex-a75 --model ", WriteModel()));
  EXPECT_EQ(unbound.exit_code, 7);
  EXPECT_THAT(unbound.err, HasSubstr("N"));
  ASSERT_TRUE(WriteFile(Path("rubbish.onnx"), "rubbish").ok());
  EXPECT_EQ(compile(absl::StrCat("--target cortex-a75 --model ", Path("rubbish.onnx"))).exit_code, 7);
  Outcome unsupported = compile(absl::StrCat("--target cortex-a75 --dim N=1 --model ", WriteModel("NoSuchOperator")));
  EXPECT_EQ(unsupported.exit_code, 3);
  EXPECT_THAT(unsupported.err, HasSubstr("activation"));
  EXPECT_THAT(unsupported.err, HasSubstr("NoSuchOperator"));
  EXPECT_FALSE(std::filesystem::exists(Path("out.so")));
  EXPECT_EQ(Aotctl(absl::StrCat("inspect ", Path("rubbish.onnx"))).exit_code, 7);
  EXPECT_EQ(Aotctl(absl::StrCat("run --random ", Path("rubbish.onnx"))).exit_code, 7);
}

TEST_F(CliTest, TwoDirectoriesGiveTheSameBytesForEachTarget) {
  WriteModel();
  for (absl::string_view out : {"a", "b"}) {
    std::string copy = Path(absl::StrCat("m_", out, ".onnx"));
    std::filesystem::copy_file(Path("model.onnx"), copy);
    Outcome outcome = Aotctl(absl::StrCat("compile --json --local --target cortex-a75,x86-64-v2 --dim N=1 --model ",
                                          copy, " -o ", Path(out)));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    ASSERT_EQ(outcome.json()["artifacts"].size(), 2u);
    EXPECT_EQ(outcome.json()["artifacts"][0]["cache_hit"], false);
  }
  for (absl::string_view target : {"cortex-a75", "x86-64-v2"}) {
    absl::StatusOr<std::string> a = ReadFile(Path(absl::StrCat("a/m_a-", target, ".so")));
    absl::StatusOr<std::string> b = ReadFile(Path(absl::StrCat("b/m_b-", target, ".so")));
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(*a, *b);
  }
}

TEST_F(CliTest, FromModelToAnswer) {
  std::string compile = absl::StrCat("compile --local --dim N=1 --model ", WriteModel(), " -o ", Path("tiny.so"));
  ASSERT_EQ(Aotctl(compile).exit_code, 0);

  Outcome inspect = Aotctl(absl::StrCat("inspect --json ", Path("tiny.so")));
  ASSERT_EQ(inspect.exit_code, 0) << inspect.err;
  EXPECT_EQ(inspect.json()["inputs"][0]["name"], "x");
  EXPECT_EQ(inspect.json()["inputs"][0]["shape"], (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(inspect.json()["outputs"][0]["type"], "float32");

  ASSERT_TRUE(WriteTensorFile(Path("x.npy"), {"", Row({1, 1, -3})}).ok());
  Outcome run = Aotctl(absl::StrCat("run --json ", Path("tiny.so"), " -i x=", Path("x.npy"), " -o ", Path("out")));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  absl::StatusOr<NamedTensor> y = ReadTypedTensorFile(run.json()["outputs"][0]["file"]);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->tensor.bytes(), Row({0, 1.5, 0}).bytes());
  EXPECT_EQ(Aotctl(absl::StrCat("run ", Path("tiny.so"))).exit_code, 2);

  Outcome bench = Aotctl(absl::StrCat("bench --json --runs 50 --warmup 1 ", Path("tiny.so")));
  ASSERT_EQ(bench.exit_code, 0) << bench.err;
  EXPECT_GT(bench.json()["median_seconds"], 0);
}

TEST_F(CliTest, ScheduleIsShownAndHeldAgainstMeasurements) {
  const std::string model = absl::StrCat("--dim N=1 ", WriteModel());
  Outcome schedule = Aotctl(absl::StrCat("inspect --schedule --json --clock 2 ", model));
  ASSERT_EQ(schedule.exit_code, 0) << schedule.err;
  ASSERT_EQ(schedule.json()["steps"].size(), 1u);
  EXPECT_EQ(schedule.json()["steps"][0]["value"], "y");
  EXPECT_GT(schedule.json()["steps"][0]["predicted_seconds"], 0);
  EXPECT_THAT(Aotctl(absl::StrCat("inspect --schedule ", model)).out, HasSubstr("without fusion"));
  EXPECT_EQ(Aotctl(absl::StrCat("inspect ", model)).exit_code, 2);  // --dim is of --schedule
  EXPECT_EQ(Aotctl(absl::StrCat("inspect --schedule --target x86-64-v2,cortex-a75 ", model)).exit_code, 2);

  ASSERT_TRUE(WriteFile(Path("schedule.json"), schedule.out).ok());
  ASSERT_EQ(Aotctl(absl::StrCat("compile --local -o ", Path("tiny.so"), " --model ", Path("model.onnx"), " --dim N=1"))
                .exit_code,
            0);
  auto bench = [&](const std::string& file) {
    return Aotctl(absl::StrCat("bench --json --runs 5 --per-layer --schedule ", Path(file), " ", Path("tiny.so")));
  };
  Outcome layers = bench("schedule.json");
  ASSERT_EQ(layers.exit_code, 0) << layers.err;
  EXPECT_EQ(layers.json()["layers"][0]["predicted_seconds"], schedule.json()["steps"][0]["predicted_seconds"]);
  EXPECT_GT(layers.json()["layers"][0]["median_seconds"], 0);
  Outcome other = Aotctl(absl::StrCat("inspect --schedule --json --opt 0 ", model));
  ASSERT_TRUE(WriteFile(Path("other.json"), other.out).ok());
  EXPECT_THAT(bench("other.json").err, HasSubstr("the same model and options"));
  EXPECT_EQ(bench("model.onnx").exit_code, 7);
}

TEST_F(CliTest, ExternalDataIsCompiledIn) {
  ASSERT_EQ(
      Aotctl(absl::StrCat("compile --local --dim N=1 --model ", WriteModel(), " -o ", Path("inside.so"))).exit_code, 0);
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(*ReadFile(Path("model.onnx"))));
  onnx::TensorProto* w = model.mutable_graph()->mutable_initializer(0);
  std::string values(reinterpret_cast<const char*>(w->float_data().data()), 12);
  w->clear_float_data();
  w->set_data_location(onnx::TensorProto::EXTERNAL);
  w->add_external_data()->set_key("location");
  w->mutable_external_data(0)->set_value("w.bin");
  ASSERT_TRUE(WriteFile(Path("external.onnx"), model.SerializeAsString()).ok());
  std::string compile =
      absl::StrCat("compile --local --dim N=1 --model ", Path("external.onnx"), " -o ", Path("outside.so"));
  Outcome missing = Aotctl(compile);
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_THAT(missing.err, HasSubstr("w.bin"));
  ASSERT_TRUE(WriteFile(Path("w.bin"), values).ok());
  ASSERT_EQ(Aotctl(compile).exit_code, 0);
  ASSERT_TRUE(WriteTensorFile(Path("x.npy"), {"", Row({1, 1, -3})}).ok());
  for (absl::string_view artifact : {"inside.so", "outside.so"}) {
    Outcome run = Aotctl(absl::StrCat("run --json ", Path(artifact), " -i ", Path("x.npy")));
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.json()["outputs"][0]["max"], 1.5);
  }
}

TEST_F(CliTest, VerifyFindsWhatIsWrong) {
  std::string verify = absl::StrCat("verify --json --local --model ", WriteModel());
  EXPECT_EQ(Aotctl(absl::StrCat(verify, " --dim N=2")).exit_code, 0);  // no data sets: against the reference

  std::string set = Path("test_data_set_0");
  std::filesystem::create_directories(set);
  ASSERT_TRUE(WriteTensorFile(absl::StrCat(set, "/input_0.pb"), {"x", Row({1, 1, 1})}).ok());
  ASSERT_TRUE(WriteTensorFile(absl::StrCat(set, "/output_0.pb"), {"y", Row({0, 1.5, 2})}).ok());
  Outcome right = Aotctl(verify);  // the set binds N
  EXPECT_EQ(right.exit_code, 0) << right.err;
  EXPECT_EQ(right.json()["vectors"], 1);

  ASSERT_TRUE(WriteTensorFile(absl::StrCat(set, "/output_0.pb"), {"y", Row({0, 1.5, 2.5})}).ok());
  Outcome wrong = Aotctl(verify);
  EXPECT_EQ(wrong.exit_code, 6);
  EXPECT_EQ(wrong.json()["failed"], 1);
  EXPECT_THAT(wrong.err, HasSubstr("[0,2]"));

  // A set that says nothing about the outputs proves nothing.
  std::filesystem::remove(absl::StrCat(set, "/output_0.pb"));
  Outcome empty = Aotctl(verify);
  EXPECT_EQ(empty.exit_code, 4);
  EXPECT_THAT(empty.err, HasSubstr(set));
  EXPECT_THAT(empty.err, HasSubstr("output_0.pb"));
}

}  // namespace
}  // namespace aot::clients
