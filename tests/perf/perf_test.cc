// What the measurements rest on: file formats, sums, and the protocol of a peer.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/perf/binding.h"
#include "tests/perf/machine.h"
#include "tests/perf/peer_process.h"
#include "tests/perf/report.h"

namespace aot::perf {
namespace {

Binding Floats(const std::string& name, const std::vector<float>& values) {
  Binding binding{name, 1, {static_cast<int64_t>(values.size())}, {}};
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  binding.bytes.assign(bytes, bytes + values.size() * sizeof(float));
  return binding;
}

std::string Temporary(const std::string& name) { return std::string(getenv("TEST_TMPDIR")) + "/" + name; }

TEST(Binding, WhatIsWrittenIsRead) {
  const std::string path = Temporary("bindings");
  ASSERT_TRUE(WriteBindings(path, {Floats("a\nb", {1, 2}), Floats("empty", {})}).ok());
  auto read = ReadBindings(path);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].name, "a\nb");
  EXPECT_EQ((*read)[0].dims, std::vector<int64_t>{2});
  EXPECT_EQ((*read)[0].bytes, Floats("", {1, 2}).bytes);
  EXPECT_TRUE((*read)[1].bytes.empty());
  EXPECT_FALSE(ReadBindings(path + ".none").ok());
}

TEST(Binding, DifferenceIsRelativeToTheLargestElement) {
  EXPECT_DOUBLE_EQ(RelativeDifference({Floats("a", {1, 7})}, {Floats("b", {1, 8})}), 1.0 / 8);
  EXPECT_EQ(RelativeDifference({Floats("a", {1, 8})}, {Floats("b", {1, 8})}), 0);
  EXPECT_LT(RelativeDifference({Floats("a", {1})}, {Floats("b", {1, 8})}), 0);  // nothing to compare
  EXPECT_LT(RelativeDifference({}, {Floats("b", {1, 8})}), 0);
}

TEST(Report, GeometricMean) {
  EXPECT_DOUBLE_EQ(GeometricMean({1, 4, 16}), 4);
  EXPECT_EQ(GeometricMean({}), 0);
}

TEST(Machine, EachStepTakesTheLongerOfArithmeticAndBytes) {
  Machine machine;
  machine.flops = 1e9;
  machine.byte_ops = 4e9;
  machine.levels = {{"cache", 1000, 1e9}, {"memory", INT64_MAX, 1e8}};
  compiler::ScheduledStep products, bytes, skipped;
  products.multiply_adds = 500e6;  // a second
  products.byte_products = 2e9;    // a second
  products.weight_bytes = 100;
  bytes.activation_bytes = static_cast<int64_t>(2e8);
  skipped = products;
  skipped.conditional = true;
  // Half of the working set lies in the cache.
  EXPECT_DOUBLE_EQ(LeastSeconds(machine, {products, bytes, skipped}, 2000), 2 + (0.1 + 1));
  EXPECT_DOUBLE_EQ(LeastSeconds(machine, {bytes}, 1000), 0.2);
}

// The peer and an artifact for every x86-64 are this test's arguments.
std::string g_peer, g_artifact;

TEST(Peer, LoadsRunsAndSums) {
  const std::string inputs = Temporary("inputs");
  const Binding count{"count", 7, {1}, std::vector<uint8_t>(8)};
  ASSERT_TRUE(WriteBindings(inputs, {Floats("x", {1, 2, 3, 4, 5, 6, 7, 8}), count}).ok());
  auto peer = PeerProcess::Start({g_peer, g_artifact, inputs, "1", "0"});
  ASSERT_TRUE(peer.ok()) << peer.status();
  auto load = (*peer)->Ask("load");
  ASSERT_TRUE(load.ok()) << load.status();
  EXPECT_GT((*load)["load_seconds"].get<double>(), 0);
  auto outputs = (*peer)->Ask("outputs " + Temporary("outputs"));
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  auto bindings = ReadBindings(Temporary("outputs"));
  ASSERT_TRUE(bindings.ok()) << bindings.status();
  ASSERT_EQ(bindings->size(), 2u);
  EXPECT_EQ((*bindings)[1].bytes[0], 1);  // of the state, after one run
  auto block = (*peer)->Ask("block 0.01");
  ASSERT_TRUE(block.ok()) << block.status();
  EXPECT_LE((*block)["least"].get<double>(), (*block)["median"].get<double>());
  auto summary = (*peer)->Ask("summary");
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ((*summary)["runs"], (*block)["runs"]);
  EXPECT_FALSE((*peer)->Ask("dance").ok());
}

TEST(Peer, TellsWhatIsWrong) {
  const std::string inputs = Temporary("inputs");
  ASSERT_TRUE(WriteBindings(inputs, {Floats("x", {1})}).ok());
  auto peer = PeerProcess::Start({g_peer, inputs, inputs, "1", "0"});
  ASSERT_TRUE(peer.ok()) << peer.status();
  EXPECT_FALSE((*peer)->Ask("load").ok());
  EXPECT_FALSE(PeerProcess::Start({g_peer + ".none"}).ok());
}

}  // namespace
}  // namespace aot::perf

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3) return 2;
  aot::perf::g_peer = argv[1];
  aot::perf::g_artifact = argv[2];
  return RUN_ALL_TESTS();
}
