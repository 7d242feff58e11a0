// SPDX-License-Identifier: Apache-2.0
// One suite over every sketch: what the interface promises is what they do.
#include <map>
#include <tuple>

#include "../thorough.hpp"
#include "sketch_traffic.hpp"

namespace parshall {
namespace {

using namespace testing;

template <class S, class Kind>
struct Case {
  using Sketch = S;
  using Keys = Kind;
};
template <class K>
using CountMinOf = CountMin<K>;
template <class K>
using ConservativeOf = CountMin<K, CountMinUpdate::conservative>;
template <class K>
using CountArrayOf = CountArray<K>;
template <class K>
using HeavyKeeperOf = HeavyKeeper<K>;

template <template <class> class S>
struct WithAllKeys {
  using Flow = Case<S<FlowKey>, MixedKeys>;
  using Lab = Case<S<lab::LabKey<16>>, LabKeys>;
};
template <class... All>
using Flat = ::testing::Types<typename All::Flow..., typename All::Lab...>;
using AllSketches = Flat<WithAllKeys<CountArrayOf>, WithAllKeys<CountMinOf>, WithAllKeys<ConservativeOf>,
                         WithAllKeys<SpaceSaving>, WithAllKeys<HeavyKeeperOf>>;

template <class C>
class Sketches : public ::testing::Test {
 public:
  using S = typename C::Sketch;
  using Keys = typename C::Keys;
  using Counted = ByFlow<S, Keys>;

  static constexpr bool kHeavyKeeper = std::is_same_v<S, HeavyKeeper<typename S::Key>>;
  static constexpr bool kSpaceSaving = std::is_same_v<S, SpaceSaving<typename S::Key>>;
};
TYPED_TEST_SUITE(Sketches, AllSketches);

constexpr std::size_t kPackets = 20'000;
constexpr std::uint32_t kSketchFlows = 5000;
constexpr SketchSize kSize{256, 3};

/// Returns the same stream to each sketch that asks for it: most of the time of a test was to draw it again.
const Stream& stream_of(double zipf, std::size_t flows, std::size_t count, std::uint64_t seed) {
  static std::map<std::tuple<double, std::size_t, std::size_t, std::uint64_t>, Stream> streams;
  return streams.try_emplace({zipf, flows, count, seed}, zipf, flows, count, seed).first->second;
}

TYPED_TEST(Sketches, SatisfyTheConcept) {
  static_assert(Sketch<typename TestFixture::S>);
  static_assert(MergeableSketch<typename TestFixture::S> == !(TestFixture::kHeavyKeeper || TestFixture::kSpaceSaving));
  static_assert(RankingSketch<typename TestFixture::S> == (TestFixture::kHeavyKeeper || TestFixture::kSpaceSaving));
}

TYPED_TEST(Sketches, KeepTheirBoundForAllButAsManyKeysAsTheySay) {
  const unsigned seeds = thorough() ? 200 : 40;
  constexpr double kFailures = 0.05;
  typename TestFixture::Counted probe(kSize, 0);
  probe.add(Stream(0, kSketchFlows, kPackets, 0));
  const ErrorBound some = probe.sketch().error_bound(kFailures);
  const auto few = std::max<std::size_t>(2, kPackets * 4 / 5 / std::max({some.over, some.under, std::uint64_t{1}}));
  // With so few flows, any that meets another is beyond the bound: Markov's inequality is nearly reached.
  const std::pair<double, std::size_t> traffic[] = {
      {0, kSketchFlows}, {1, kSketchFlows}, {1.5, kSketchFlows}, {0, few}};
  for (const auto& [zipf, flows] : traffic) {
    unsigned largest = 0, of_a_packet = 0, any = 0;
    double failures = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Stream& stream = stream_of(zipf, flows, kPackets, seed);
      typename TestFixture::Counted counted(kSize, seed + 1000);
      counted.add(stream);
      ASSERT_EQ(counted.sketch().packets(), kPackets);
      const ErrorBound bound = counted.sketch().error_bound(kFailures);
      failures = bound.failure_probability;
      largest += !counted.keeps(bound, stream, 0);
      of_a_packet += !counted.keeps(bound, stream, stream.packets[seed]);
      any += !counted.keeps(bound, stream, static_cast<std::uint32_t>(seed % flows));
    }
    SCOPED_TRACE(::testing::Message() << "Zipf " << zipf << ", " << flows << " flows");
    EXPECT_LE(failures, kFailures);
    EXPECT_LE(largest, tolerable(seeds, failures));
    EXPECT_LE(of_a_packet, tolerable(seeds, failures));
    EXPECT_LE(any, tolerable(seeds, failures));
  }
}

TYPED_TEST(Sketches, AreAsAccurateAsTheyWereAskedToBe) {
  for (const auto& [epsilon, probability] : {std::pair{0.1, 0.1}, {0.03, 0.02}, {0.2, 1e-3}}) {
    const auto size = TestFixture::S::size_for(epsilon, probability);
    ASSERT_TRUE(size);
    typename TestFixture::Counted counted(*size, 1);
    counted.add(Stream(1, kSketchFlows, 10 * kPackets, 1));
    const ErrorBound bound = counted.sketch().error_bound(probability);
    EXPECT_LE(bound.failure_probability, probability);
    EXPECT_LE(static_cast<double>(std::max(bound.over, bound.under)), epsilon * 10 * kPackets);
    EXPECT_GE(static_cast<double>(std::max(bound.over, bound.under)), epsilon * 10 * kPackets / 20)
        << "far more memory than that takes";
  }
}

TYPED_TEST(Sketches, RefuseAnAccuracyThatTakesTooMuch) {
  for (const double nonsense : {0.0, 1e-300, -0.1, std::nan("")}) {
    EXPECT_FALSE(TestFixture::S::size_for(nonsense, 0.01)) << nonsense;
    if constexpr (!TestFixture::kSpaceSaving) {
      EXPECT_FALSE(TestFixture::S::size_for(0.01, nonsense)) << nonsense;
    }
  }
  const auto largest = TestFixture::S::size_for(1.0 / (1 << 20), 0.01);
  ASSERT_TRUE(largest);
  EXPECT_GE(largest->width, std::size_t{1} << 20);
}

TYPED_TEST(Sketches, AnswerAlikeForTheSameSeedAndOtherwiseForAnother) {
  const Stream stream(1, kSketchFlows, kPackets, 3);
  typename TestFixture::Counted a(kSize, 7), b(kSize, 7), c(kSize, 8);
  for (auto* counted : {&a, &b, &c}) counted->add(stream);
  EXPECT_EQ(a.estimates(kSketchFlows), b.estimates(kSketchFlows));
  if constexpr (!TestFixture::kSpaceSaving) {  // which hashes nothing but its index
    EXPECT_NE(a.estimates(kSketchFlows), c.estimates(kSketchFlows));
  }
}

TYPED_TEST(Sketches, ReturnTheNewEstimateWhenTheyCount) {
  const Stream stream(1, kSketchFlows, kPackets, 4);
  for (const SketchSize size : {kSize, SketchSize{8, 1}}) {
    typename TestFixture::Counted counted(size, 7);
    for (const std::uint32_t flow : stream.packets) {
      const std::uint64_t estimate = counted.add(flow);
      ASSERT_EQ(estimate, counted[flow]);
    }
  }
}

TYPED_TEST(Sketches, AreExactForOneKey) {
  typename TestFixture::Counted counted(kSize, 5);
  EXPECT_EQ(counted[7], 0u);
  for (std::uint64_t n = 1; n <= 1000; ++n) {
    counted.add(7);
    ASSERT_EQ(counted[7], n);
  }
}

TYPED_TEST(Sketches, AreRightAtTheirSmallestAndWithSizesThatAreNone) {
  const Stream stream(1, 100, 2000, 1);
  for (const SketchSize size : {SketchSize{0, 0}, {1, 1}, {2, 1}, {3, 2}, {1, 99}}) {
    typename TestFixture::Counted counted(size, 1);
    counted.add(stream);
    const ErrorBound bound = counted.sketch().error_bound(0.01);
    for (std::uint32_t flow = 0; flow < 100; ++flow) {
      if constexpr (!TestFixture::kHeavyKeeper) {
        ASSERT_GE(counted[flow], stream.count(flow));
      }
      ASSERT_TRUE(counted.keeps(bound, stream, flow)) << "a bound of all packets, or none";
    }
    EXPECT_GE(TestFixture::S::memory_bytes(size), 4u);
  }
}

TYPED_TEST(Sketches, KeepWhatHoldsAlwaysWhereAllHashesAreEqual) {
  using Key = typename TestFixture::S::Key;
  if constexpr (std::is_same_v<Key, FlowKey>) {
    const Stream stream(1, 300, 5000, 1);
    ByFlow<typename TestFixture::S, EqualHashes> counted(kSize, 1);
    counted.add(stream);
    for (std::uint32_t flow = 0; flow < 300; ++flow) {
      const std::uint64_t estimate = counted[flow], truth = stream.count(flow);
      if constexpr (!TestFixture::kHeavyKeeper) {
        ASSERT_GE(estimate, truth);
      }
      if constexpr (TestFixture::kSpaceSaving) {
        ASSERT_LE(estimate, truth + 5000 / kSize.width);
      }
      ASSERT_LE(estimate, 5000u);
    }
  }
}

TYPED_TEST(Sketches, UseTheMemoryTheySay) {
  const std::size_t bytes = TestFixture::S::memory_bytes({1 << 14, 3});
  using Key = typename TestFixture::S::Key;
  const std::size_t entry = 8 * ((sizeof(Key) + 8 + 4 + 7) / 8), listed = 24 + 2 * entry;
  if constexpr (TestFixture::kSpaceSaving)
    EXPECT_EQ(bytes, (1 << 14) * listed);
  else if constexpr (TestFixture::kHeavyKeeper)
    EXPECT_EQ(bytes, 3 * (1 << 14) * 8 + (1 << 11) * listed);
  else if constexpr (std::is_same_v<typename TestFixture::S, CountArray<Key>>)
    EXPECT_EQ(bytes, 4u << 14);
  else
    EXPECT_EQ(bytes, 3 * (4u << 14));
  EXPECT_EQ(TestFixture::S::memory_bytes({~std::size_t{0}, ~0u}),
            TestFixture::S::memory_bytes({SketchSize::kMaxWidth, SketchSize::kMaxRows}))
      << "a size wraps";
}

}  // namespace
}  // namespace parshall
