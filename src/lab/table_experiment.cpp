// SPDX-License-Identifier: Apache-2.0
#include "lab/table_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <new>
#include <numeric>
#include <optional>

#include "base/random.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kSamplePackets = std::size_t{1} << 18;
constexpr std::size_t kProbedPackets = std::size_t{1} << 16;

struct Combination {
  std::size_t flows;
  double zipf;
  std::size_t value_bytes;

  std::string name() const { return fmt::format("{} flows, Zipf {}, {} byte values", flows, zipf, value_bytes); }
};

/// Plays a trace to a candidate, over and over, from a place of its own: else the first to read a part of it would
/// bring that part to the shared cache for the others.
class Player {
 public:
  Player(std::span<const std::uint32_t> trace, std::size_t begin, Candidate& candidate)
      : trace_(trace), at_(begin), candidate_(&candidate) {}

  void play(std::size_t packets) {
    while (packets != 0) {
      const std::size_t count = std::min(packets, trace_.size() - at_);
      candidate_->run(trace_.subspan(at_, count));
      at_ = at_ + count == trace_.size() ? 0 : at_ + count;
      packets -= count;
    }
  }

 private:
  std::span<const std::uint32_t> trace_;
  std::size_t at_;
  Candidate* candidate_;
};

std::vector<std::uint32_t> make_trace(const Combination& of, const TableSweep& sweep) {
  std::vector<std::uint32_t> trace(sweep.trace_packets);
  SplitMix64 random(sweep.seed);
  if (of.zipf > 0) {
    const Zipf zipf(of.zipf, of.flows);
    for (auto& flow : trace) flow = static_cast<std::uint32_t>(zipf(random));
  } else {
    for (auto& flow : trace) flow = static_cast<std::uint32_t>(random.below(of.flows));
  }
  return trace;
}

/// After every flow had one packet and the trace was played once.
std::optional<Error> check(const TableUnderTest& table, const Candidate& candidate, const Combination& of,
                           std::span<const std::uint32_t> trace) {
  if (!table.whole_keys) return std::nullopt;
  std::vector<std::uint64_t> truth(of.flows, 1), counts(of.flows);
  for (const std::uint32_t flow : trace) ++truth[flow];
  candidate.counts(counts);
  std::uint64_t counted = 0;
  for (std::size_t flow = 0; flow < of.flows; ++flow) {
    counted += counts[flow];
    if (counts[flow] != truth[flow] && (counts[flow] != 0 || candidate.rejected() == 0))
      return Error{fmt::format("{} counted {} of {} packets of flow {} ({})", table.name, counts[flow], truth[flow],
                               flow, of.name())};
  }
  if (counted + candidate.rejected() != of.flows + trace.size())
    return Error{fmt::format("{} counted {} packets and rejected {} of {} ({})", table.name, counted,
                             candidate.rejected(), of.flows + trace.size(), of.name())};
  return std::nullopt;
}

/// Free or given up by the page cache when asked for.
std::size_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (std::size_t kilobytes = 0; std::sscanf(line.c_str(), "MemAvailable: %zu", &kilobytes) == 1)
      return kilobytes << 10;
  return ~std::size_t{0};
}

std::optional<Error> enough_memory(const TableSweep& sweep, const Combination& of) {
  std::size_t needed = sweep.trace_packets * sizeof(std::uint32_t) +
                       of.flows * (sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t));  // order, truth, counts
  for (const TableUnderTest* table : sweep.tables) needed += table->memory_bytes(of.flows, of.value_bytes);
  const std::size_t available = available_bytes();
  if (needed <= available) return std::nullopt;
  return Error{fmt::format("{} MB may be needed for {}, and {} MB are available: name fewer tables, or fewer flows",
                           needed >> 20, of.name(), available >> 20)};
}

/// Every flow once, in an order that has nothing to do with how popular they are.
std::vector<std::uint32_t> every_flow(const Combination& of, std::uint64_t seed) {
  std::vector<std::uint32_t> every(of.flows);
  std::iota(every.begin(), every.end(), 0u);
  std::shuffle(every.begin(), every.end(), SplitMix64(~seed));
  return every;
}

Result<std::vector<TableRow>> measure(const TableSweep& sweep, const Combination& of,
                                      const std::function<bool()>& stop) {
  if (auto error = enough_memory(sweep, of)) return *std::move(error);
  const std::vector<std::uint32_t> trace = make_trace(of, sweep), every = every_flow(of, sweep.seed);
  std::vector<std::unique_ptr<Candidate>> candidates;
  std::vector<Player> players;
  std::vector<Variant> variants;
  std::vector<double> rejected_share;
  players.reserve(sweep.tables.size());
  for (std::size_t i = 0; i < sweep.tables.size(); ++i) {
    const TableUnderTest& table = *sweep.tables[i];
    Candidate& candidate = *candidates.emplace_back(table.make(of.flows, of.value_bytes, sweep.seed));
    candidate.run(every);
    candidate.run(trace);
    if (auto error = check(table, candidate, of, trace)) return *std::move(error);
    rejected_share.push_back(static_cast<double>(candidate.rejected()) / static_cast<double>(of.flows + trace.size()));
    players.emplace_back(trace, trace.size() / sweep.tables.size() * i, candidate);
    variants.push_back({std::string(table.name), [&player = players[i]](std::size_t n) { player.play(n); }});
  }
  const std::size_t sample = std::min(kSamplePackets, trace.size());
  const std::vector<Cost> costs = Harness(sample, sweep.rounds, std::min(2 * of.flows, sample)).measure(variants, stop);

  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const TableUnderTest& table = *sweep.tables[i];
    rows.push_back(
        {.table = &table,
         .flows = of.flows,
         .zipf = of.zipf,
         .value_bytes = table.any_value ? of.value_bytes : 0,
         .cost = costs[i],
         .ratio = costs[i].median_ns / costs[0].median_ns,
         .memory_bytes = table.memory_bytes(of.flows, of.value_bytes),
         .size = candidates[i]->size(),
         .places = candidates[i]->places(),
         .rejected_share = rejected_share[i],
         .mean_probes = candidates[i]->mean_probes(std::span(trace).first(std::min(kProbedPackets, trace.size())))});
  }
  return rows;
}

}  // namespace

Result<std::size_t> measure_tables(const TableSweep& sweep, const std::function<void(std::span<const TableRow>)>& done,
                                   const std::function<bool()>& stop) {
  std::size_t combinations = 0;
  for (const std::size_t flows : sweep.flows)
    for (const double zipf : sweep.zipf)
      for (const std::size_t value_bytes : sweep.value_bytes) {
        if (stop()) return combinations;
        const Combination of{flows, zipf, value_bytes};
        try {
          const auto rows = measure(sweep, of, stop);
          if (!rows) return rows.error();
          if (rows->empty()) return combinations;
          done(*rows);
        } catch (const std::bad_alloc&) {
          return Error{fmt::format("no memory for {}: name fewer tables, or fewer flows", of.name())};
        }
        ++combinations;
      }
  return combinations;
}

}  // namespace parshall::lab
