// SPDX-License-Identifier: Apache-2.0
#include "lab/contention/merge_cost.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/figures/harness.hpp"
#include "lab/contention/sharing_candidate.hpp"
#include "lab/cores/co_runners.hpp"
#include "lab/tables/player.hpp"

namespace parshall::lab {

Result<MergeCost> measure_merge(std::span<const CoreUse> shares, std::span<const int> other_cores, std::size_t flows,
                                std::size_t epoch, int rounds, std::uint64_t seed) {
  if (shares.size() == 1) return MergeCost();
  constexpr std::size_t kBatch = 32;
  const std::size_t packets = epoch / shares.size();  // per core
  std::vector<SharingCandidate<SharedTable<Single>>> cores;
  for (const CoreUse& share : shares)
    cores.emplace_back(std::make_shared<SharedTable<Single>>(share.flows.size()), seed);
  const auto merged = std::make_shared<SharedTable<Single>>(flows);
  std::vector<std::uint64_t> truth(flows), counts(flows);
  std::vector<double> costs;
  for (int round = 0; round < rounds; ++round) {
    on_each_core(shares.size(), other_cores, [&](std::size_t core) {
      Player(shares[core].packets, shares[core].begin, kBatch, cores[core]).play(packets);
      cores[core].drain();
    });
    merged->clear();
    const double start = thread_cpu_ns();
    for (const auto& core : cores) merged->merge(core.table());
    costs.push_back((thread_cpu_ns() - start) / static_cast<double>(packets * shares.size()));
    if (round != 0) continue;
    for (const CoreUse& share : shares) count_packets(share, packets, truth);
    SharingCandidate<SharedTable<Single>>(merged, seed).counts(counts);
    if (counts != truth) return Error{fmt::format("merging the tables of {} cores gives wrong counts", shares.size())};
  }
  const Estimate cost = estimate(std::move(costs));
  return MergeCost{.median_ns = cost.median, .low_ns = cost.low, .high_ns = cost.high};
}

}  // namespace parshall::lab
