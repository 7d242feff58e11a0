// SPDX-License-Identifier: Apache-2.0
#include "compare/clocks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/random.hpp"

namespace parshall::testing {
namespace {

constexpr std::uint64_t kBegin = 1'700'000'000'000'000'000;
constexpr std::int64_t kMs = 1'000'000;

struct Link {
  std::int64_t there_ns = 2 * kMs, back_ns = 2 * kMs;  ///< least delays
  std::int64_t offset_ns = 0;
  double drift = 0;

  /// Returns packets of ten seconds whose delays are up to 3 ms longer than the least one.
  std::vector<Passage> passages(bool back, std::uint64_t seed) const {
    SplitMix64 random(seed);
    std::vector<Passage> found;
    for (std::uint64_t i = 0; i < 5000; ++i) {
      const std::uint64_t at = i * 2'000'000;
      const auto delay = (back ? back_ns : there_ns) + static_cast<std::int64_t>(random() % (3 * kMs));
      found.push_back(
          {kBegin + at, offset_ns + std::llround(static_cast<double>(at) * drift) + (back ? -delay : delay)});
    }
    return found;
  }
  Clocks compared() const { return compare_clocks(passages(false, 1), passages(true, 2)); }
};

TEST(CompareClocks, ThatAgreeAreLeftAlone) {
  const Clocks clocks = Link().compared();
  EXPECT_EQ(clocks.kind, Clocks::Kind::agree);
  EXPECT_EQ(clocks.true_difference_ns({kBegin, 5}), 5);
  EXPECT_NEAR(static_cast<double>(*clocks.error_ns), 2.0 * kMs, 0.01 * kMs);
}

TEST(CompareClocks, TheOffsetIsWithinItsError) {
  for (const std::int64_t offset : {-40 * kMs, 30 * kMs, 86'400'000 * kMs, -1'000'000'000 * kMs})
    for (const std::int64_t back : {kMs, 2 * kMs, 8 * kMs}) {
      const Clocks clocks = Link{.back_ns = back, .offset_ns = offset}.compared();
      ASSERT_EQ(clocks.kind, Clocks::Kind::corrected);
      EXPECT_LE(std::abs(clocks.offset_ns - offset), *clocks.error_ns + kMs / 100);
      EXPECT_NEAR(static_cast<double>(*clocks.error_ns), static_cast<double>(2 * kMs + back) / 2, 0.02 * kMs);
    }
}

TEST(CompareClocks, DriftIsFoundFromBothDirections) {
  for (const double drift : {20e-6, -100e-6}) {
    const Clocks clocks = Link{.offset_ns = -37 * kMs, .drift = drift}.compared();
    ASSERT_EQ(clocks.kind, Clocks::Kind::corrected);
    EXPECT_NEAR(clocks.drift, drift, 1e-6);
    const std::uint64_t later = 9'000'000'000;
    const auto difference = -37 * kMs + std::llround(drift * static_cast<double>(later)) + 2 * kMs;
    EXPECT_NEAR(static_cast<double>(clocks.true_difference_ns({kBegin + later, difference})), 2.0 * kMs, 0.05 * kMs);
  }
}

TEST(CompareClocks, OneDirectionSaysDelaysAboveTheLeast) {
  const Link link{.offset_ns = -37 * kMs, .drift = 20e-6};
  const std::vector<Passage> there = link.passages(false, 3), back = link.passages(true, 4);
  const Clocks clocks = compare_clocks(there, {});
  ASSERT_EQ(clocks.kind, Clocks::Kind::one_way);
  EXPECT_FALSE(clocks.error_ns.has_value());
  std::int64_t least = clocks.true_difference_ns(there.front());
  for (const Passage& passage : there) least = std::min(least, clocks.true_difference_ns(passage));
  EXPECT_EQ(least, 0);

  const Clocks other = compare_clocks({}, Link{.offset_ns = 37 * kMs}.passages(true, 4));
  ASSERT_EQ(other.kind, Clocks::Kind::one_way);
  EXPECT_NEAR(static_cast<double>(other.offset_ns), 35.0 * kMs, 0.05 * kMs);
}

TEST(CompareClocks, NothingIsKnownOfNoPackets) {
  EXPECT_EQ(compare_clocks({}, {}).kind, Clocks::Kind::unknown);
  EXPECT_EQ(compare_clocks({{kBegin, -5}}, {}).kind, Clocks::Kind::one_way);  // a single packet
  EXPECT_EQ(compare_clocks({{kBegin, -5}, {kBegin, -3}}, {{kBegin, -7}}).kind, Clocks::Kind::corrected);
}

}  // namespace
}  // namespace parshall::testing
