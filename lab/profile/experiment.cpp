// SPDX-License-Identifier: Apache-2.0
#include "lab/profile/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>

#include "base/figures/row_columns.hpp"
#include "base/machine.hpp"
#include "lab/profile/cache_hits.hpp"
#include "lab/profile/lookups.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kSamples = 20'000;       ///< lookups of each kind over all rounds, at least
constexpr std::size_t kPilot = 4'096;          ///< lookups that show if a table is cached
constexpr std::size_t kBatches = 4;            ///< lookups in a round
constexpr std::size_t kBatchesStarted = 60;    ///< insertions over all rounds
constexpr std::size_t kUnknownL3 = 32u << 20;  ///< size assumed for the last-level cache if unknown
constexpr std::size_t kLeastFlows = 1 << 10;   ///< flows of the cached table, at least
constexpr std::size_t kMostFlows = 1u << 27;   ///< flows of the table in memory, at most
constexpr double kShareFromMemory = 0.05;      ///< most lookups from memory in a table that counts as cached
constexpr double kMostHits = 0.5, kShareDropped = 0.01, kTimesL3 = 4;

/// Rounds a number for a file, since more digits carry no information.
double rounded(double number) { return std::strtod(fmt::format("{:.6g}", number).c_str(), nullptr); }

Timed timed(std::string what, const Times& times) {
  const Estimate median = estimate(times.ns);
  const double sum = std::accumulate(times.ns.begin(), times.ns.end(), 0.0);
  return {.what = std::move(what),
          .ns = median.median,
          .mean_ns = sum / static_cast<double>(std::max<std::size_t>(1, times.ns.size())),
          .low_ns = median.low,
          .high_ns = median.high,
          .samples = times.ns.size(),
          .dropped = times.dropped};
}

Timed timed(std::string what, const Cost& cost) {
  return {.what = std::move(what),
          .ns = cost.median_ns,
          .mean_ns = std::nullopt,
          .low_ns = cost.low_ns,
          .high_ns = cost.high_ns,
          .samples = cost.kept,
          .dropped = cost.samples - cost.kept};
}

/// Returns the cost beyond counting alone. It is computed in each round separately, since a slow round slows both.
Timed added(std::string what, const Cost& cost, const Cost& counting) {
  const auto more = [&](double ratio) { return std::max(0.0, rounded(counting.median_ns * (ratio - 1))); };
  return {.what = std::move(what),
          .ns = more(cost.ratio),
          .mean_ns = std::nullopt,
          .low_ns = more(cost.ratio_low),
          .high_ns = more(cost.ratio_high),
          .samples = cost.kept,
          .dropped = cost.samples - cost.kept};
}

double share_below(const std::vector<double>& times, double border) {
  const auto below = std::ranges::count_if(times, [&](double time) { return time < border; });
  return static_cast<double>(below) / static_cast<double>(std::max<std::size_t>(1, times.size()));
}

/// Returns the time that all but one of 20 lookups of flushed lines exceed; faster ones may come from a cache.
double memory_begins_at(LookupProbe& probe) {
  LookupProbe::Ticks flushed;
  probe.time_lookups(kPilot, Entries::flushed, flushed);
  std::vector<double> ns = probe.one_at_a_time(flushed).ns;
  std::ranges::sort(ns);
  return ns[ns.size() / 20];
}

/// Table that fits in the caches, with its measured times.
struct CachedTable {
  std::unique_ptr<LookupProbe> probe;
  double share_from_memory = 0;  ///< share of lookups, judged by their time
  LookupProbe::Ticks lookups, batched;

  /// Measures a round. Reloads the caches again and again, since other programs may evict the table.
  void round(std::size_t samples) {
    constexpr std::size_t kAtOnce = 256;
    for (std::size_t done = 0; done < samples; done += kAtOnce) {
      probe->warm();
      probe->time_lookups(std::min(kAtOnce, samples - done), Entries::as_they_are, lookups);
    }
    for (std::size_t batch = 0; batch < kBatches; ++batch) {
      probe->warm();
      probe->time_batched_lookups(1, batched);
    }
  }

  void note_share() { share_from_memory = 1 - share_below(probe->one_at_a_time(lookups).ns, memory_begins_at(*probe)); }
};

/// Finds the largest table that stays in the caches, starting at an eighth of the last-level cache and halving. No
/// other measure shows how much of a shared cache this process gets. Returns nullopt if `stop` returned true.
std::optional<CachedTable> find_cached(std::size_t l3_bytes, std::size_t most_flows, std::uint64_t seed,
                                       const std::function<bool()>& stop) {
  std::optional<CachedTable> best;
  const std::size_t eighth = (l3_bytes != 0 ? l3_bytes : kUnknownL3) / 8 / sizeof(ExactLine);
  for (std::size_t flows = std::clamp(eighth, kLeastFlows, most_flows); flows >= kLeastFlows; flows /= 2) {
    CachedTable table{.probe = std::make_unique<LookupProbe>(flows, seed), .lookups = {}, .batched = {}};
    if (!table.probe->fill(flows, stop)) return std::nullopt;
    table.round(kPilot);
    table.note_share();
    table.lookups.clear();
    table.batched.clear();
    const bool stays = table.share_from_memory <= kShareFromMemory;
    if (!best || table.share_from_memory < best->share_from_memory) best = std::move(table);
    if (stays) break;
  }
  return best;
}

/// Returns the flows of a table far larger than the last-level cache, as far as memory allows, with room for
/// `insertions`. Error: too little memory; the message says what to do.
Result<std::size_t> flows_beyond(std::size_t l3_bytes, std::size_t memory_bytes, std::size_t insertions) {
  const auto wanted = kTimesL3 * static_cast<double>(l3_bytes != 0 ? l3_bytes : kUnknownL3);
  // Two thirds of the lines is the most that a table of this size has room for.
  std::size_t lines = LookupProbe::lines(kMostFlows);
  const auto flows = [&] { return lines * 2 / 3; };
  while (lines > 1 && (LookupProbe::memory_bytes(flows()) > memory_bytes ||
                       static_cast<double>(LookupProbe::touched_bytes(flows() / 2)) >= wanted))
    lines /= 2;
  const std::size_t least = 2 * insertions;
  if (flows() >= least) return flows();
  return Error{fmt::format("--memory: a table of at most {} MB is too small to measure; give at least {} MB",
                           memory_bytes >> 20, (LookupProbe::memory_bytes(least) >> 20) + 1)};
}

/// Table that lies in memory, with its measured times.
struct TableInMemory {
  LookupProbe probe;
  LookupProbe::Ticks lookups, batched, insertions, batched_insertions;

  void round(std::size_t samples, std::size_t batches_started) {
    probe.time_lookups(samples, Entries::as_they_are, lookups);
    probe.time_batched_lookups(kBatches, batched);
    probe.time_insertions(samples, insertions);
    probe.time_batched_insertions(batches_started, batched_insertions);
  }
};

/// Fits the models of a retrieval time, and records the timings. Error: the samples are unsuitable.
std::optional<Error> conclude(const std::string& from, Times one, const Times& batched, ProfileFigures& figures,
                              TimedRetrieval& retrieval) {
  figures.timed.push_back(timed(fmt::format("find a flow, {}, one at a time", from), one));
  retrieval.mean_ns = *figures.timed.back().mean_ns;
  auto fits = fit_all(one.ns);
  if (!fits) return Error{fmt::format("the times to find a flow, {}: {}", from, fits.error().message)};
  figures.timed.push_back(timed(fmt::format("find a flow, {}, in batches", from), batched));
  retrieval.batched_ns = figures.timed.back().ns;
  retrieval.fits = *std::move(fits);
  const auto dropped = static_cast<double>(one.dropped), all = static_cast<double>(one.ns.size()) + dropped;
  if (dropped > kShareDropped * all)
    figures.warnings.push_back(
        fmt::format("{:.1f} % of the lookups {} took so long that they must have been interrupted: the machine is busy",
                    100 * dropped / all, from));
  return std::nullopt;
}

void note_cached(const CachedTable& table, std::size_t l3_bytes, ProfileFigures& figures) {
  const std::size_t touched = LookupProbe::touched_bytes(table.probe->flows());
  figures.notes.push_back(fmt::format(
      "in cache: {} flows in {:.1f} MB of lines; by their times, {:.1f} % of the lookups nevertheless read from memory",
      table.probe->flows(), megabytes(touched), 100 * table.share_from_memory));
  if (table.share_from_memory > kShareFromMemory)
    figures.warnings.push_back(
        fmt::format("{:.1f} % of the lookups in cache took as long as from memory, because other programs use the "
                    "caches; repeat when the machine is less busy",
                    100 * table.share_from_memory));
  else if (table.probe->flows() < l3_bytes / 8 / sizeof(ExactLine))
    figures.notes.push_back(
        fmt::format("this process gets less than {1:.1f} MB of the L3 cache of {0:.0f} MB: other programs share it",
                    megabytes(l3_bytes), 2 * megabytes(touched)));
}

void note_in_memory(TableInMemory& table, const Times& one, std::size_t l3_bytes, ProfileFigures& figures) {
  const auto touched = static_cast<double>(LookupProbe::touched_bytes(table.probe.flows()));
  std::string by_size;
  if (l3_bytes != 0)
    by_size = fmt::format(", and the L3 cache holds at most {:.0f} % of the lines",
                          100 * std::min(1.0, static_cast<double>(l3_bytes) / touched));
  const double may_have_hit = share_below(one.ns, memory_begins_at(table.probe));
  figures.notes.push_back(
      fmt::format("from memory: {} flows in {:.0f} MB of lines; {:.1f} % of the lookups may have hit a cache: they "
                  "were faster than 95 % of lookups with flushed lines{}",
                  table.probe.flows(), touched / 1e6, 100 * may_have_hit, by_size));
  if (may_have_hit > kMostHits)
    figures.warnings.push_back("too many lookups of the table in memory hit a cache: give more with --memory");
}

/// Times lookups in the cached table and in the one in memory alternately. Returns false if `stop` returned true.
Result<bool> time_lookups(const ProfilePlan& plan, const std::function<void(const std::string&)>& tell,
                          const std::function<bool()>& stop, ProfileFigures& figures) {
  const std::size_t l3_bytes = last_level_cache_bytes();
  const auto rounds = static_cast<std::size_t>(plan.sweep.rounds), samples = (kSamples + rounds - 1) / rounds;
  const std::size_t insertions = rounds * samples + kBatchesStarted * LookupProbe::kBatchedLookups;
  const auto flows = flows_beyond(l3_bytes, plan.memory_bytes, insertions);
  if (!flows) return flows.error();
  const OnOneCore pinned;
  tell("measuring how large a table stays in the caches");
  auto cached = find_cached(l3_bytes, *flows, plan.sweep.seed, stop);
  if (!cached) return false;
  tell(fmt::format("filling a table with {} flows", *flows));
  TableInMemory in_memory{LookupProbe(*flows, plan.sweep.seed), {}, {}, {}, {}};
  if (!in_memory.probe.fill(*flows - insertions, stop)) return false;
  tell(fmt::format("finding and starting flows, {} rounds", rounds));
  for (std::size_t round = 0; round < rounds; ++round) {
    if (stop()) return false;
    cached->round(samples);
    in_memory.round(samples, (round + 1) * kBatchesStarted / rounds - round * kBatchesStarted / rounds);
  }
  const LookupProbe& probe = in_memory.probe;
  cached->note_share();
  note_cached(*cached, l3_bytes, figures);
  const Times one = probe.one_at_a_time(in_memory.lookups);
  note_in_memory(in_memory, one, l3_bytes, figures);
  if (!cached->probe->right() || !probe.right())
    return Error{"the table lost flows during the measurement: its times are invalid"};
  if (auto wrong = conclude("in cache", cached->probe->one_at_a_time(cached->lookups),
                            LookupProbe::per_lookup(cached->batched), figures, figures.cached))
    return *std::move(wrong);
  if (auto wrong = conclude("from memory", one, LookupProbe::per_lookup(in_memory.batched), figures, figures.uncached))
    return *std::move(wrong);
  figures.timed.push_back(timed("start a flow, in memory, one at a time", probe.one_at_a_time(in_memory.insertions)));
  figures.timed.push_back(
      timed("start a flow, in memory, in batches", LookupProbe::per_lookup(in_memory.batched_insertions)));
  return true;
}

/// Checks if the models of both times make sense, and adds warnings.
void compare(ProfileFigures& figures) {
  const TimedRetrieval &cached = figures.cached, &uncached = figures.uncached;
  if (cached.mean_ns >= uncached.mean_ns)
    figures.warnings.push_back(
        "a flow is found in memory as fast as in a cache: times do not show whether a lookup hit the cache");
  else if (const auto hits = CacheHits::make(cached.fits.front().model, uncached.fits.front().model); !hits)
    figures.warnings.push_back(hits.error().message);
  else
    figures.notes.push_back(fmt::format(
        "a lookup of at most {:.1f} ns counts as a cache hit: this is wrong for {:.2f} % of hits and of misses",
        hits->threshold_ns(), 100 * hits->mistaken_share()));
  figures.notes.push_back(fmt::format(
      "a lookup in a batch takes {:.2f} of the time of a single lookup in cache, and {:.2f} from memory: sums of "
      "single lookups are too high by that factor",
      cached.batched_ns / cached.mean_ns, uncached.batched_ns / uncached.mean_ns));
}

/// Times the workloads. Returns false if `stop` returned true.
Result<bool> time_workloads(const ProfilePlan& plan, const Frames& frames, const std::function<bool()>& stop,
                            ProfileFigures& figures) {
  const auto measured = measure_workloads(plan.sweep, frames, stop);
  if (!measured) return measured.error();
  if (!*measured) return false;
  const WorkloadCosts& costs = **measured;
  figures.timed.insert(figures.timed.begin(), {timed("poll, decode and hash a packet", costs.input),
                                               timed("also count it, without tasks", costs.counting)});
  for (std::size_t i = 0; i < plan.sweep.workloads.size(); ++i) {
    const Workload& workload = plan.sweep.workloads[i];
    figures.timed.push_back(added(fmt::format("{} {}", plan.are_states ? "more in state" : "more for", workload.name),
                                  costs.workloads[i], costs.counting));
  }
  if (const SampleLength sample = sample_length(plan.sweep.workloads, plan.sweep.rate_pps); !sample.whole)
    figures.warnings.push_back(
        fmt::format("some windows have more than {} packets: the costs do not include the reports of these windows",
                    sample.packets));
  if (frames.size() < packets_wanted(plan.sweep))
    figures.warnings.push_back(
        "the traffic is played more than once: TCP sequence numbers start over, so tasks that follow TCP take longer");
  return true;
}

}  // namespace

Result<std::optional<ProfileFigures>> measure_profile(const ProfilePlan& plan, const Frames& frames,
                                                      const std::function<void(const std::string&)>& tell,
                                                      const std::function<bool()>& stop) {
  ProfileFigures figures;
  try {
    const auto lookups = time_lookups(plan, tell, stop, figures);
    if (!lookups) return lookups.error();
    if (!*lookups) return std::optional<ProfileFigures>();
  } catch (const std::bad_alloc&) {
    return Error{
        fmt::format("not enough memory for a table of {} MB: give less with --memory", plan.memory_bytes >> 20)};
  }
  compare(figures);
  tell(fmt::format("{} monitors, {} rounds", plan.sweep.workloads.size() + 2, plan.sweep.rounds));
  const auto workloads = time_workloads(plan, frames, stop, figures);
  if (!workloads) return workloads.error();
  return *workloads ? std::optional(std::move(figures)) : std::nullopt;
}

}  // namespace parshall::lab
