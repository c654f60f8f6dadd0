#include <malloc.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "linux/seccomp.h"
#include "runtime/core/test_artifact.h"
#include "runtime/include/aot/aot.hpp"

namespace aot {
namespace {

class RunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = WriteTemporary("run.so", *Affine().File());
    aot_error error;
    ASSERT_EQ(model_.LoadFile(path.c_str(), &error), AOT_OK) << error.message;
  }
  Model model_;
};

TEST_F(RunTest, AnswersQuestions) {
  EXPECT_EQ(model_.input_count(), 2u);
  EXPECT_EQ(model_.output_count(), 2u);
  const aot_tensor_info x = model_.input(0), count = model_.input(1), out = model_.output(1);
  EXPECT_STREQ(x.name, "x");
  EXPECT_EQ(x.dtype, AOT_FLOAT32);
  ASSERT_EQ(x.rank, 2u);
  EXPECT_EQ(x.dims[0], 2);
  EXPECT_EQ(x.dims[1], 4);
  EXPECT_EQ(x.bytes, 32u);
  EXPECT_EQ(x.state, AOT_NO_STATE);
  EXPECT_EQ(count.state, 1u);
  EXPECT_EQ(out.state, 1u);
  EXPECT_EQ(model_.arena_bytes(), 64u);
  EXPECT_EQ(aot_arena_alignment(model_.get()), 64u);
  uint32_t index = 9;
  EXPECT_EQ(aot_input_index(model_.get(), "count", &index), AOT_OK);
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(aot_output_index(model_.get(), "nothing", &index), AOT_NOT_FOUND);
  aot_model_info info = {};
  EXPECT_EQ(aot_get_model_info(model_.get(), &info), AOT_INVALID_ARGUMENT) << "size is not set";
  info.size = sizeof info;
  ASSERT_EQ(aot_get_model_info(model_.get(), &info), AOT_OK);
  EXPECT_STREQ(info.model_name, "affine");
  EXPECT_STREQ(info.target_name, kHostTarget);
  EXPECT_EQ(std::string(info.key).substr(0, 8), "00010203");
  EXPECT_EQ(info.format_version, 1u);
  aot_tensor_info none = {};
  none.size = sizeof none;
  EXPECT_EQ(aot_input_info(model_.get(), 2, &none), AOT_INVALID_ARGUMENT);
}

TEST_F(RunTest, CallersOfOlderHeadersHaveSmallerStructures) {
  aot_tensor_info info = {};
  info.size = offsetof(aot_tensor_info, dims_output);
  info.dims_output = 77;
  ASSERT_EQ(aot_output_info(model_.get(), 0, &info), AOT_OK);
  EXPECT_EQ(info.bytes, 32u);
  EXPECT_EQ(info.dims_output, 77u) << "wrote behind the caller's structure";
  info.size -= 1;
  EXPECT_EQ(aot_output_info(model_.get(), 0, &info), AOT_INVALID_ARGUMENT);
}

TEST(BoundedOutput, TellsTheDimensionsThatARunFound) {
  emit::AffineArtifact artifact = Affine();
  ASSERT_TRUE(emit::Bound(artifact).ok());
  AlignedBytes file(*artifact.File());
  Model model;
  aot_error error;
  const Span<const unsigned char> bytes(reinterpret_cast<const unsigned char*>(file.data()), file.size());
  ASSERT_EQ(model.LoadMemory(bytes, &error), AOT_OK) << error.message;
  EXPECT_EQ(model.output(0).dims_output, 1u);
  EXPECT_EQ(model.output(0).dims[0], 8);
  EXPECT_EQ(model.output(1).dims_output, AOT_NO_DIMS);
  EXPECT_EQ(model.input(0).dims_output, AOT_NO_DIMS);
  AffineRun run;  // counts from 5 to 6
  ASSERT_EQ(aot_run(model.get(), &run.args), AOT_OK);
  const aot_tensor_info actual = model.actual_output(0, run.outputs);
  EXPECT_EQ(actual.dims[0], 6);
  EXPECT_EQ(actual.bytes, 24u);
  EXPECT_EQ(model.actual_output(1, run.outputs).bytes, 8u) << "as without bounds";
  EXPECT_EQ(model.actual_output(2, run.outputs).size, 0u);
  for (int64_t beyond : {int64_t{-1}, int64_t{9}, INT64_MAX}) {
    run.count = beyond;
    EXPECT_EQ(model.actual_output(0, run.outputs).size, 0u) << beyond;
  }
}

TEST_F(RunTest, EveryArenaSizeBelowTheNeedIsRefused) {
  alignas(64) unsigned char arena[64 + 64];
  for (uint64_t size = 0; size < 64; ++size) {
    std::memset(arena, 0xee, sizeof arena);
    AffineRun run;
    run.args.arena = arena;
    run.args.arena_bytes = size;
    ASSERT_EQ(aot_run(model_.get(), &run.args), AOT_ARENA_TOO_SMALL) << size;
    EXPECT_EQ(std::string(run.error.message), "an arena of " + std::to_string(size) + " bytes; the model needs 64");
    for (unsigned char byte : arena) ASSERT_EQ(byte, 0xee);
    EXPECT_EQ(run.count, 5) << "outputs were touched";
  }
  AffineRun run;
  run.args.arena = arena;
  run.args.arena_bytes = 64;
  ASSERT_EQ(aot_run(model_.get(), &run.args), AOT_OK);
  run.ExpectRight();
  for (int i = 64; i < 128; ++i) EXPECT_EQ(arena[i], 0xee) << "wrote behind the arena";
  run.args.arena = arena + 8;
  EXPECT_EQ(aot_run(model_.get(), &run.args), AOT_INVALID_ARGUMENT);
}

TEST_F(RunTest, WrongArguments) {
  const auto expect = [&](AffineRun& run, const char* message) {
    EXPECT_EQ(aot_run(model_.get(), &run.args), AOT_INVALID_ARGUMENT);
    EXPECT_NE(std::string(run.error.message).find(message), std::string::npos) << run.error.message;
    EXPECT_EQ(run.count, 5);
  };
  AffineRun counts;
  counts.args.input_count = 1;
  expect(counts, "1 inputs and 2 outputs, the model 2 and 2");
  AffineRun null;
  null.inputs[0] = nullptr;
  expect(null, "input 0 (x) has no buffer");
  AffineRun odd;
  odd.outputs[0] = reinterpret_cast<char*>(odd.y) + 1;
  expect(odd, "output 0 (y) is not aligned to 4");
  AffineRun sizes;
  const uint64_t bytes[2] = {32, 7};
  sizes.args.input_bytes = bytes;
  expect(sizes, "input 1 (count) has 7 bytes, 8 are needed");
  AffineRun state;
  int64_t elsewhere = 0;
  state.outputs[1] = &elsewhere;
  expect(state, "input 1 and output 1 are a state");
  AffineRun small;
  small.args.size = offsetof(aot_run_args, trace) - 8;
  EXPECT_EQ(aot_run(model_.get(), &small.args), AOT_INVALID_ARGUMENT);
  EXPECT_EQ(aot_run(model_.get(), nullptr), AOT_INVALID_ARGUMENT);
  EXPECT_EQ(aot_run(nullptr, &small.args), AOT_INVALID_ARGUMENT);
}

TEST_F(RunTest, ANewerCallerMayAskForNothingNew) {
  struct Newer {
    aot_run_args args;
    uint64_t more;
  } newer = {};
  AffineRun run;
  newer.args = run.args;
  newer.args.size = sizeof newer;
  EXPECT_EQ(aot_run(model_.get(), &newer.args), AOT_OK);
  run.ExpectRight();
  newer.more = 1;
  EXPECT_EQ(aot_run(model_.get(), &newer.args), AOT_UNSUPPORTED);
}

TEST_F(RunTest, AnOlderCallerHasNoTrace) {
  AffineRun run;
  run.args.size = offsetof(aot_run_args, trace);
  run.args.trace = reinterpret_cast<aot_trace>(uintptr_t{1});  // behind what the caller has
  EXPECT_EQ(aot_run(model_.get(), &run.args), AOT_OK);
  run.ExpectRight();
}

TEST_F(RunTest, WithoutAnArenaOfItsOwnEveryRunBringsOne) {
  const std::string path = WriteTemporary("no_arena.so", *Affine().File());
  aot_load_options options = {};
  options.size = sizeof options;
  options.flags = AOT_LOAD_NO_ARENA;
  Model model;
  ASSERT_EQ(model.LoadFile(path.c_str(), nullptr, &options), AOT_OK);
  AffineRun run;
  EXPECT_EQ(aot_run(model.get(), &run.args), AOT_ARENA_TOO_SMALL);
}

// A run that leaves the state to the model.
struct KeptRun : AffineRun {
  KeptRun() {
    inputs[1] = nullptr;
    outputs[1] = nullptr;
  }
};

TEST_F(RunTest, TheModelKeepsStates) {
  aot_error error = {};
  int64_t value = -1;
  for (int64_t i = 1; i <= 3; ++i) {
    KeptRun run;
    ASSERT_EQ(aot_run(model_.get(), &run.args), AOT_OK) << run.error.message;
    ASSERT_EQ(aot_read_state(model_.get(), 0, 1, &value, sizeof value, &error), AOT_OK) << error.message;
    EXPECT_EQ(value, i);
  }
  // A run with buffers of its own and a self-test leave it alone.
  AffineRun other;
  ASSERT_EQ(aot_run(model_.get(), &other.args), AOT_OK);
  other.ExpectRight();
  ASSERT_EQ(aot_self_test(model_.get(), &error), AOT_OK) << error.message;
  ASSERT_EQ(aot_read_state(model_.get(), 0, 1, &value, sizeof value, &error), AOT_OK);
  EXPECT_EQ(value, 3);
  value = 41;
  ASSERT_EQ(aot_write_state(model_.get(), 0, 1, &value, sizeof value, &error), AOT_OK);
  KeptRun run;
  alignas(64) unsigned char arena[64];
  run.args.arena = arena;
  run.args.arena_bytes = sizeof arena;
  ASSERT_EQ(aot_run(model_.get(), &run.args), AOT_OK);
  ASSERT_EQ(aot_read_state(model_.get(), 0, 1, &value, sizeof value, &error), AOT_OK);
  EXPECT_EQ(value, 42);
  ASSERT_EQ(aot_reset_states(model_.get(), &error), AOT_OK);
  ASSERT_EQ(aot_read_state(model_.get(), 0, 1, &value, sizeof value, &error), AOT_OK);
  EXPECT_EQ(value, 0);
}

TEST_F(RunTest, WrongUseOfStates) {
  aot_error error = {};
  int64_t value = 0;
  EXPECT_EQ(aot_read_state(model_.get(), 0, 0, &value, 32, &error), AOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "input 0 is no state");
  EXPECT_EQ(aot_write_state(model_.get(), 0, 1, &value, 4, &error), AOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "the state of input 1 (count) has 8 bytes, the buffer 4");
  EXPECT_EQ(aot_reset_states(nullptr, &error), AOT_INVALID_ARGUMENT);
  KeptRun half;
  half.outputs[1] = &half.count;
  EXPECT_EQ(aot_run(model_.get(), &half.args), AOT_INVALID_ARGUMENT);
  EXPECT_STREQ(half.error.message, "input 1 and output 1 are a state: they must be the same buffer");
  aot_load_options options = {};
  options.size = sizeof options;
  options.flags = AOT_LOAD_NO_STATE;
  Model model;
  ASSERT_EQ(model.LoadFile(WriteTemporary("no_state.so", *Affine().File()).c_str(), nullptr, &options), AOT_OK);
  KeptRun run;
  EXPECT_EQ(aot_run(model.get(), &run.args), AOT_INVALID_ARGUMENT);
  EXPECT_STREQ(run.error.message, "input 1 (count) has no buffer: NULL");
  EXPECT_EQ(model.ResetStates(&error), AOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "the model keeps no states: it was loaded with AOT_LOAD_NO_STATE");
}

// Runs tasks backwards, to show that order doesn't matter, and counts them.
void Backwards(void* pool, uint32_t count, aot_task task, void* context) {
  for (uint32_t i = count; i > 0; --i) task(context, i - 1);
  *static_cast<uint32_t*>(pool) += count;
}

// Waits inside the first run until a second one was refused.
struct Meeting {
  aot_model* model;
  aot_status second = AOT_OK;
};
void RunAgain(void* pool, uint32_t count, aot_task task, void* context) {
  auto* meeting = static_cast<Meeting*>(pool);
  AffineRun run;
  meeting->second = aot_run(meeting->model, &run.args);
  for (uint32_t i = 0; i < count; ++i) task(context, i);
}

TEST_F(RunTest, ParallelFor) {
  AffineRun run;
  uint32_t tasks = 0;
  run.args.parallel_for = Backwards;
  run.args.pool = &tasks;
  ASSERT_EQ(aot_run(model_.get(), &run.args), AOT_OK);
  run.ExpectRight();
  EXPECT_EQ(tasks, 2u);
}

TEST_F(RunTest, TheOwnArenaServesOneRunAtATime) {
  Meeting meeting = {model_.get()};
  AffineRun run;
  run.args.parallel_for = RunAgain;
  run.args.pool = &meeting;
  ASSERT_EQ(aot_run(model_.get(), &run.args), AOT_OK);
  run.ExpectRight();
  EXPECT_EQ(meeting.second, AOT_BUSY);
  AffineRun after;
  EXPECT_EQ(aot_run(model_.get(), &after.args), AOT_OK);
}

// Looks at the state in the middle of a run.
struct Look {
  aot_model* model;
  aot_status status = AOT_OK;
};
void ReadInside(void* pool, uint32_t count, aot_task task, void* context) {
  auto* look = static_cast<Look*>(pool);
  int64_t value;
  look->status = aot_read_state(look->model, 0, 1, &value, sizeof value, nullptr);
  for (uint32_t i = 0; i < count; ++i) task(context, i);
}

TEST_F(RunTest, AStateInUseIsBusy) {
  Look look = {model_.get()};
  KeptRun run;
  alignas(64) unsigned char arena[64];
  run.args.arena = arena;
  run.args.arena_bytes = sizeof arena;
  run.args.parallel_for = ReadInside;
  run.args.pool = &look;
  ASSERT_EQ(aot_run(model_.get(), &run.args), AOT_OK);
  EXPECT_EQ(look.status, AOT_BUSY);
}

TEST_F(RunTest, EightThreads) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      alignas(64) unsigned char arena[64];
      for (int round = 0; round < 2000; ++round) {
        AffineRun run;
        for (int i = 0; i < 8; ++i) run.x[i] = static_cast<float>(t + round);
        run.args.arena = arena;
        run.args.arena_bytes = sizeof arena;
        if (aot_run(model_.get(), &run.args) != AOT_OK || run.y[2] != 3.0f * static_cast<float>(t + round)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(RunTest, AllocatesNothing) {
  AffineRun run;
  const struct mallinfo2 before = mallinfo2();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(aot_run(model_.get(), &run.args), AOT_OK);
  EXPECT_EQ(mallinfo2().uordblks, before.uordblks);
}

// In a process that the kernel ends at any system call but read, write and exit.
TEST_F(RunTest, MakesNoSystemCall) {
  const pid_t child = fork();
  if (child == 0) {
    AffineRun run;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0) _exit(77);
    int wrong = 0;
    for (int i = 0; i < 100; ++i) wrong += aot_run(model_.get(), &run.args) != AOT_OK;
    syscall(SYS_exit, wrong == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no seccomp here";
  EXPECT_TRUE(WIFEXITED(status)) << "a system call was made";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(RunTest, SelfTest) {
  aot_error error;
  EXPECT_EQ(aot_self_test(model_.get(), &error), AOT_OK) << error.message;
}

aot_status SelfTestOf(emit::AffineArtifact& artifact, aot_error* error) {
  EXPECT_TRUE(artifact.Rebuild().ok());
  AlignedBytes file(*artifact.File());
  aot_model* model;
  EXPECT_EQ(aot_load_memory(file.data(), file.size(), nullptr, &model, error), AOT_OK);
  const aot_status status = aot_self_test(model, error);
  aot_unload(model);
  return status;
}

TEST(SelfTest, TellsWhatIsWrong) {
  emit::AffineArtifact artifact = Affine();
  const double right = artifact.data.self_test->outputs[0].samples[3].float_value;
  artifact.data.self_test->outputs[0].samples[3].float_value = 1234567;
  aot_error error;
  EXPECT_EQ(SelfTestOf(artifact, &error), AOT_SELF_TEST_FAILED);
  EXPECT_NE(std::string(error.message).find("output 0 (y), element 3 is "), std::string::npos) << error.message;
  EXPECT_NE(std::string(error.message).find("the reference has 1.234567e6"), std::string::npos) << error.message;
  artifact.data.self_test->outputs[0].samples[3].float_value = right + 1e-8;
  EXPECT_EQ(SelfTestOf(artifact, &error), AOT_OK) << error.message;
  artifact.data.self_test->outputs[1].samples[0].int_value += 1;
  EXPECT_EQ(SelfTestOf(artifact, &error), AOT_SELF_TEST_FAILED);
  artifact.data.self_test->outputs[1].tolerance = AOT_TOLERANCE_QUANTIZED;
  artifact.data.self_test->outputs[1].absolute = 1;
  EXPECT_EQ(SelfTestOf(artifact, &error), AOT_OK) << error.message;
}

TEST(SelfTest, StoredInputs) {
  emit::AffineArtifact artifact = Affine();
  artifact.data.self_test->inputs[1] = {AOT_SELF_TEST_DATA, 0, 0, 0, std::string("\x29\0\0\0\0\0\0\0", 8)};
  artifact.data.self_test->outputs[1].samples = {{0, 0, 42}};
  aot_error error;
  EXPECT_EQ(SelfTestOf(artifact, &error), AOT_OK) << error.message;
}

TEST(SelfTest, NoneIsToldApart) {
  emit::AffineArtifact artifact = Affine();
  artifact.data.self_test.reset();
  aot_error error;
  EXPECT_EQ(SelfTestOf(artifact, &error), AOT_NO_SELF_TEST);
}

TEST(Status, EveryCodeHasAName) {
  EXPECT_STREQ(aot_status_text(AOT_OK), "AOT_OK");
  EXPECT_STREQ(aot_status_text(AOT_LIMIT_EXCEEDED), "AOT_LIMIT_EXCEEDED");
  EXPECT_STREQ(aot_status_text(static_cast<aot_status>(999)), "AOT_UNKNOWN_STATUS");
}

}  // namespace
}  // namespace aot
