// SPDX-License-Identifier: Apache-2.0
#include "lab/contention/contention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/machine.hpp"
#include "lab/contention/counting_crew.hpp"
#include "lab/contention/merge_cost.hpp"
#include "lab/contention/shared_array.hpp"
#include "lab/contention/sharing_candidate.hpp"

namespace parshall::lab {
namespace {

/// Short enough that other programs rarely interrupt it.
constexpr std::size_t kContentionSample = std::size_t{1} << 16;
constexpr std::size_t kContentionWarmUp = std::size_t{1} << 18;

template <class Table>
std::vector<std::unique_ptr<Candidate>> candidates(std::span<const std::size_t> flows_of_core, std::size_t flows,
                                                   std::uint64_t seed) {
  std::vector<std::unique_ptr<Candidate>> made;
  std::shared_ptr<Table> table;
  for (const std::size_t seen : flows_of_core) {
    if (!table || !Table::kShared) table = std::make_shared<Table>(Table::kShared ? flows : seen);
    made.push_back(std::make_unique<SharingCandidate<Table>>(table, seed));
  }
  return made;
}

constexpr bool kShared = true, kExact = true, kOneTable = true;

/// Makes a way of counting with a SharedTable or a SharedArray.
template <class Table>
constexpr CountingWay way(std::string_view name, std::string_view help, bool exact = true) {
  return {
      name, help, Table::kShared, exact, Table::kShared, Table::kFlowsApart, candidates<Table>, Table::memory_bytes};
}

constexpr CountingWay kCountingWays[] = {
    way<SharedTable<Single>>("separate", "each core counts in its own table"),
    {"separate-merge", "the same, with the cost of merging the tables once an epoch", !kShared, kExact, kOneTable, true,
     nullptr, SharedTable<Single>::memory_bytes},
    way<SharedTable<CompareExchange>>("shared-cas", "all cores count in one table, by a compare-and-swap loop"),
    way<SharedTable<FetchAdd>>("shared-add", "the same, by an atomic addition"),
    way<SharedTable<Racy>>("shared-racy", "the same, by load and store: loses packets", !kExact),
    way<SharedArray<Single>>("array-separate", "each core counts in its own array, which merges flows"),
    way<SharedArray<CompareExchange>>("array-cas", "all cores count in one array, by a compare-and-swap loop"),
};

std::size_t memory_of(const CountingWay& way, std::span<const CoreUse> shares, std::size_t flows) noexcept {
  const std::size_t whole = way.memory_bytes(flows);
  if (way.shared) return whole;
  std::size_t bytes = way.one_table ? whole : 0;
  for (const CoreUse& share : shares) bytes += way.memory_bytes(share.flows.size());
  return bytes;
}

/// Checks an upper bound of memory; split traffic needs less.
std::optional<Error> enough_memory(const ContentionCase& of) {
  std::size_t needed = of.flows * (2 * sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t));  // order, truth, counts
  for (const CountingWay& way : counting_ways()) needed += (way.shared ? 1 : of.cores) * way.memory_bytes(of.flows);
  const std::size_t available = available_bytes();
  if (needed <= available) return std::nullopt;
  return Error{fmt::format("{} MB may be needed for {} flows on {} cores, but {} MB are available: name fewer flows",
                           needed >> 20, of.flows, of.cores, available >> 20)};
}

ContentionRow with_merging(ContentionRow row, const MergeCost& merge) {
  const Cost before = row.cost;
  row.cost.ratio = 1 + merge.median_ns / before.median_ns;
  row.cost.ratio_low = 1 + merge.low_ns / before.high_ns;
  row.cost.ratio_high = 1 + merge.high_ns / before.low_ns;
  row.cost.median_ns += merge.median_ns;
  row.cost.low_ns += merge.low_ns;
  row.cost.high_ns += merge.high_ns;
  row.merge_ns = merge.median_ns;
  row.batches = {};
  return row;
}

std::vector<std::uint64_t> truth_of(std::span<const CoreUse> shares, std::size_t flows) {
  std::vector<std::uint64_t> truth(flows);
  for (const CoreUse& share : shares) {
    for (const std::uint32_t flow : share.flows) ++truth[flow];
    count_packets(share, share.packets.size(), truth);
  }
  return truth;
}

using Crews = std::vector<std::unique_ptr<CountingCrew>>;

/// Makes a crew for each way that counts, and checks it once filled.
Result<Crews> fill_crews(const ContentionCase& of, std::span<const CoreUse> shares, std::span<const int> others,
                         std::uint64_t seed) {
  const std::vector<std::uint64_t> truth = truth_of(shares, of.flows);
  const auto counting = std::ranges::count_if(counting_ways(), [](const auto& way) { return way.make != nullptr; });
  Crews crews;
  for (const CountingWay& way : counting_ways()) {
    if (way.make == nullptr) continue;
    auto& crew = *crews.emplace_back(std::make_unique<CountingCrew>(way, shares, others, of.flows, seed));
    if (auto error = crew.fill(truth)) return *std::move(error);
    crew.enter(crews.size() - 1, static_cast<std::size_t>(counting));
  }
  return crews;
}

/// Measures a case; returns no rows if `stop` returned true.
Result<std::vector<ContentionRow>> measure(const ContentionSweep& sweep, const ContentionCase& of,
                                           const Traffic& traffic, const std::function<bool()>& stop) {
  const OnOneCore pinned;
  if (of.cores > pinned.others().size() + 1)
    return Error{fmt::format("{} cores are needed, but this process may use {}", of.cores, pinned.others().size() + 1)};
  if (auto error = enough_memory(of)) return *std::move(error);
  const std::vector<CoreUse> shares = share_out(traffic, of.cores, of.sharing, sweep.seed);
  if (std::ranges::any_of(shares, [](const CoreUse& share) { return share.packets.empty(); }))
    return Error{fmt::format("{} flows, {}, split over {} cores leave one without packets: name more flows", of.flows,
                             of.traffic, of.cores)};
  const auto merge = measure_merge(shares, pinned.others(), of.flows, sweep.epoch_packets, sweep.rounds, sweep.seed);
  if (!merge) return merge.error();
  const auto crews = fill_crews(of, shares, pinned.others(), sweep.seed);
  if (!crews) return crews.error();
  std::vector<Variant> variants;
  for (const auto& crew : *crews) variants.push_back(crew->variant());
  const std::vector<Cost> costs =
      Harness(kContentionSample, sweep.rounds, std::min(2 * of.flows, kContentionWarmUp)).measure(variants, stop);
  std::vector<ContentionRow> rows;
  auto crew = crews->begin();
  for (const CountingWay& way : counting_ways()) {
    if (costs.empty()) break;
    if (way.make == nullptr) {
      rows.push_back(with_merging(rows.back(), *merge));
    } else {
      const auto lost = (*crew)->leave();
      if (!lost) return lost.error();
      rows.push_back((*crew)->row(costs[static_cast<std::size_t>(crew - crews->begin())], *lost));
      ++crew;
    }
    rows.back().way = &way;
    rows.back().of = of;
    rows.back().memory_bytes = memory_of(way, shares, of.flows);
  }
  return rows;
}

/// Measures all cases of one traffic; returns how many were passed on.
Result<std::size_t> measure_all(const ContentionSweep& sweep, const Traffic& traffic,
                                const std::function<void(std::span<const ContentionRow>)>& done,
                                const std::function<bool()>& stop) {
  std::size_t measured = 0;
  for (const Sharing sharing : sweep.sharing)
    for (const std::size_t cores : sweep.cores) {
      if (stop()) return measured;
      const auto rows = measure(sweep, {traffic.name, traffic.flows, traffic.zipf, sharing, cores}, traffic, stop);
      if (!rows) return rows.error();
      if (rows->empty()) return measured;
      done(*rows);
      ++measured;
    }
  return measured;
}

}  // namespace

std::span<const CountingWay> counting_ways() noexcept { return kCountingWays; }

std::size_t cases(const ContentionSweep& sweep) noexcept {
  return sweep.flows.size() * sweep.zipf.size() * sweep.sharing.size() * sweep.cores.size();
}

Result<std::size_t> measure_contention(const ContentionSweep& sweep,
                                       const std::function<void(std::span<const ContentionRow>)>& done,
                                       const std::function<bool()>& stop) {
  std::size_t measured = 0;
  for (const std::size_t flows : sweep.flows)
    for (const double zipf : sweep.zipf) {
      if (stop()) return measured;
      try {
        const auto more = measure_all(sweep, random_traffic(flows, zipf, sweep.trace_packets, sweep.seed), done, stop);
        if (!more) return more.error();
        measured += *more;
      } catch (const std::bad_alloc&) {
        return Error{fmt::format("no memory for {} flows: name fewer", flows)};
      }
    }
  return measured;
}

}  // namespace parshall::lab
