#include "compiler/target/target.h"

#include <algorithm>
#include <set>

#include "gtest/gtest.h"
#include "runtime/format/cpu_features.h"

namespace aot::target {
namespace {

TEST(Target, NamesAreSortedAndUnique) {
  std::vector<std::string> names;
  for (const Description& d : All()) names.push_back(d.name);
  EXPECT_EQ(names, (std::vector<std::string>{"cortex-a53", "cortex-a75", "neoverse-n1", "x86-64-v2", "x86-64-v3",
                                             "x86-64-v4", "x86-64-v4-vnni"}));
}

TEST(Target, UnknownNameListsTheKnownOnes) {
  const absl::Status status = Find("pentium\n").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find("\"pentium\\n\""), absl::string_view::npos) << status;
  EXPECT_NE(status.message().find("cortex-a75"), absl::string_view::npos) << status;
}

TEST(Target, TheLoaderKnowsEveryRequiredFeature) {
  for (const Description& d : All()) {
    const uint32_t arch = aot_cpu_arch_of_triple(d.triple.data(), d.triple.size());
    ASSERT_NE(arch, AOT_ARCH_UNKNOWN) << d.triple;
    EXPECT_FALSE(d.required_features.empty()) << d.name;
    for (const std::string& feature : d.required_features) {
      EXPECT_NE(aot_cpu_feature_bits(arch, feature.data(), feature.size()), 0u) << d.name << ": " << feature;
    }
  }
}

TEST(Target, DigestsTellDescriptionsApart) {
  std::set<std::string> digests;
  for (const Description& d : All()) {
    EXPECT_EQ(d.name.find('\n'), std::string::npos);
    EXPECT_EQ(Digest(d).size(), 64u);
    digests.insert(Digest(d));
    Description changed = d;
    changed.l2_bytes += 1;
    EXPECT_NE(Digest(d), Digest(changed));
  }
  EXPECT_EQ(digests.size(), All().size());
}

TEST(Target, VectorFactsFitTheTriple) {
  for (const Description& d : All()) {
    EXPECT_EQ(d.lanes(32), d.vector_bits / 32);
    EXPECT_TRUE(d.vector_registers == 16 || d.vector_registers == 32) << d.name;
    EXPECT_GE(d.max_page_size, 4096) << d.name;
  }
}

}  // namespace
}  // namespace aot::target
