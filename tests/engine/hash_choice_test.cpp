// SPDX-License-Identifier: Apache-2.0
// Sessions under each hash of the registry: what is counted does not depend on it; what a fingerprint merges does.
#include <gtest/gtest.h>

#include "lab/rivals/hashes/murmur3.hpp"
#include "pipeline/flow/hashes/registry.hpp"
#include "run.hpp"

namespace parshall {
namespace {

using namespace testing;

std::vector<Row> run(const RunPlan& plan, const std::shared_ptr<const Traffic>& traffic,
                     ReportSummary* summary = nullptr) {
  const auto session = make_session(plan, traffic);
  EXPECT_FALSE(session->start());
  const Report report = session->final_report();
  expect_balanced(report.summary.total);
  if (summary != nullptr) *summary = report.summary;
  return rows_of(report);
}

TEST(HashChoice, EveryHashCountsEveryPacketInTheRightFlowInEveryModel) {
  const auto traffic = make_traffic({.packets = 10'000, .flows = 1000, .zipf_exponent = 1.0});
  for (const HashFunction& hash : hash_registry()) {
    if (!hash.available()) continue;
    for (const ThreadModel model : {ThreadModel::run_to_completion, ThreadModel::pipeline, ThreadModel::cooperative})
      for (const std::size_t workers : {1, 2, 4}) {
        SCOPED_TRACE(::testing::Message() << hash.name << ", " << workers << " workers");
        const auto rows = run({.model = model, .workers = workers, .hash = &hash}, traffic);
        EXPECT_GE(rows.size(), traffic->by_flow().size());
        const bool spreads = hash.name != "addition" && hash.name != "xor";
        EXPECT_TRUE(!spreads || rows.size() == traffic->by_flow().size());
        expect_exact(rows, *traffic);
        if (HasFatalFailure()) return;
      }
  }
}

/// As a hash of few bits would be.
template <unsigned kBits>
struct FewBits {
  static std::uint64_t of(std::span<const std::uint8_t> bytes) noexcept {
    return Murmur3::of(bytes) & ((1u << kBits) - 1);
  }
};

TEST(HashChoice, ByExactIdentityAHashThatCollidesCostsRecordsAndNoPacket) {
  constexpr HashFunction kThreeBits{"three-bits", "", 3, false, kBytewise<FewBits<3>>};
  const auto traffic = make_traffic({.packets = 20'000, .flows = 600});
  for (const std::size_t workers : {1, 2}) {
    ReportSummary summary;
    const auto rows = run({.workers = workers, .hash = &kThreeBits}, traffic, &summary);
    EXPECT_GT(summary.total[Counter::evicted_records], 1000u) << "eight words have room for 256 flows";
    expect_exact(rows, *traffic);
  }
}

TEST(HashChoice, MergesOfFingerprintsAreExpectedFromTheBitsOfTheHash) {
  constexpr HashFunction kTwelveBits{"twelve-bits", "", 12, false, kBytewise<FewBits<12>>};
  const auto traffic = make_traffic({.packets = 20'000, .flows = 600});
  ReportSummary summary;
  const auto rows =
      run({.identity = Identity::fingerprint, .hash = &kTwelveBits, .observe_merges = true}, traffic, &summary);
  const auto flows = static_cast<double>(traffic->by_flow().size());
  const auto observed = static_cast<double>(summary.observed_merges.value());
  EXPECT_EQ(observed, flows - static_cast<double>(rows.size()));
  EXPECT_NEAR(summary.expected_merges, observed, 5 * std::sqrt(observed));
  EXPECT_GT(observed, 10) << "hardly anything is tested";
  run({.identity = Identity::fingerprint, .hash = *find_hash("xxh3"), .observe_merges = true}, traffic, &summary);
  EXPECT_EQ(summary.observed_merges, 0u);
  EXPECT_LT(summary.expected_merges, 1e-3);
}

}  // namespace
}  // namespace parshall
