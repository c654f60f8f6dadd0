#include "clients/aotctl/statistics.h"

#include <gtest/gtest.h>

namespace aot::clients {
namespace {

TEST(StatisticsTest, QuantilesAreSamplesOfTheNearestRank) {
  std::vector<double> samples;
  for (int i = 1000; i >= 1; --i) samples.push_back(i);
  LatencyStatistics s = Describe(samples);
  EXPECT_EQ(s.median, 500);
  EXPECT_EQ(s.p99_9, 999);
  EXPECT_EQ(s.least, 1);
  EXPECT_EQ(s.most, 1000);
  EXPECT_DOUBLE_EQ(s.mean, 500.5);
  EXPECT_DOUBLE_EQ(s.jitter, 499.0 / 500);
}

TEST(StatisticsTest, OneSampleAndNone) {
  LatencyStatistics one = Describe({3});
  EXPECT_EQ(one.median, 3);
  EXPECT_EQ(one.p99_9, 3);
  EXPECT_EQ(one.jitter, 0);
  EXPECT_EQ(Describe({}).median, 0);
}

}  // namespace
}  // namespace aot::clients
