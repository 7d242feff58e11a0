// SPDX-License-Identifier: Apache-2.0
// Question: what does a packet cost from memory to counted flow, beyond decoding and hashing, as flows outgrow each
// cache? And how does that compare with the minimum of such a loop? Unit: ns of thread CPU time per 64-byte frame, one
// core, and ratios within one run. Traces and tables are made, and every flow is in its table, before a clock starts;
// answers are checked after. At the end, each goal is printed with its figure.
#include <fmt/core.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "base/figures/harness.hpp"
#include "engine/tables.hpp"
#include "flat.hpp"
#include "goals.hpp"
#include "lab/profile/decode_alone.hpp"
#include "pipeline/flow/bucketed_table.hpp"
#include "rivals.hpp"
#include "traffic/memory_source.hpp"

namespace parshall::bench {
namespace {

using namespace lab;

constexpr std::uint64_t kSeed = 20260101;
constexpr std::size_t kBatch = 256;

/// Gives each variant a source of its own with the same packets in the same order. Each begins elsewhere in the trace;
/// otherwise the first variant would load the packets of a sample into the L3 cache for the others.
class Sources {
 public:
  /// Makes sources for at most this many variants, a power of two, so that a round has whole batches.
  Sources(std::shared_ptr<const Trace> trace, std::size_t variants)
      : trace_(std::move(trace)), apart_(trace_->packets() / variants) {}

  std::size_t next_begin() noexcept { return apart_ * begun_++; }
  MemorySource next() {
    MemorySource source(trace_, ~std::uint64_t{0});
    std::array<RawPacket, kBatch> batch;
    for (std::size_t left = next_begin(); left != 0;) left -= source.poll({batch.data(), std::min(kBatch, left)});
    return source;
  }
  const std::shared_ptr<const Trace>& trace() const noexcept { return trace_; }

 private:
  std::shared_ptr<const Trace> trace_;
  std::size_t apart_;
  std::size_t begun_ = 0;
};

class Ours {
 public:
  Ours(std::unique_ptr<FlowStage> stage, MemorySource source)
      : stage_(std::move(stage)),
        source_(std::move(source)),
        front_(IpHeader::outermost, FlowIdentity(KeyFields::five_tuple, Identity::exact, kSeed), Partition{},
               std::nullopt) {}

  void run(std::size_t packets) {
    std::array<RawPacket, kBatch> batch;
    for (std::size_t done = 0; done < packets;) {
      const std::size_t count = source_.poll(batch);
      stage_->run(front_, {batch.data(), count});
      done += count;
    }
    given_ += packets;
  }

  StageCounts counts() {
    stage_->drain();
    return stage_->counts();
  }
  std::uint64_t given() const { return given_; }

 private:
  std::unique_ptr<FlowStage> stage_;
  MemorySource source_;
  FrontEnd front_;
  std::uint64_t given_ = 0;
};

std::unique_ptr<FlowStage> make_stage(Identity identity, std::size_t flows,
                                      const std::vector<std::string>& statistics = {},
                                      QuantileMethod quantiles = QuantileMethod::p2) {
  FlowStageOptions options{.flows = flows};
  const auto set = make_statistics(statistics, {.quantiles = quantiles});
  if (!statistics.empty())
    options.statistics = {std::make_shared<const StatisticSet>(std::move(*const_cast<Result<StatisticSet>&>(set))), 0};
  return (*find_table("bucketed", identity))->make(options);
}

/// Measures the least cost of a packet: reading its own line in order and updating its flow's line. There are as many
/// lines as in a table, on the same kind of pages, both prefetched at the best distance.
class MemoryBound {
 public:
  /// Lines and flows must be powers of two.
  MemoryBound(Sources& sources, std::size_t flows, std::size_t lines)
      : trace_(sources.trace()),
        lines_(lines * 8),
        shift_(std::countr_zero(lines) - std::countr_zero(flows)),
        next_(sources.next_begin()) {}

  void run(std::size_t packets) {
    constexpr std::size_t kFramesAhead = 64, kLinesAhead = 32;
    for (std::size_t i = next_; i < next_ + packets; ++i) {
      prefetch_line(trace_->frame(at(i + kFramesAhead)));
      prefetch_line(&lines_[line(i + kLinesAhead)]);
      std::uint64_t word;
      std::memcpy(&word, trace_->frame(at(i)), sizeof word);
      lines_[line(i)] += word | 1;
    }
    next_ += packets;
  }

 private:
  std::size_t at(std::size_t i) const noexcept { return i & (trace_->packets() - 1); }
  std::size_t line(std::size_t i) const noexcept {
    const std::size_t flow = trace_->flow_of(at(i));
    return (shift_ < 0 ? flow >> -shift_ : flow << shift_) * 8;
  }

  std::shared_ptr<const Trace> trace_;
  HugeBuffer<std::uint64_t> lines_;
  int shift_;
  std::size_t next_;
};

/// Returns the share of this process's memory on huge pages, without mapped files such as libraries. With 4 KB pages, a
/// table larger than the L2 cache costs up to a third more.
double share_on_huge_pages() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  double resident = 0, huge = 0;
  for (std::string line; std::getline(rollup, line);) {
    std::sscanf(line.c_str(), "Anonymous: %lf", &resident);
    std::sscanf(line.c_str(), "AnonHugePages: %lf", &huge);
  }
  return resident == 0 ? 0 : huge / resident;
}

struct Case {
  const char* name;
  unsigned log2_flows;
  double zipf;
  bool rivals;
};

struct Sizes {
  std::size_t packets, sample;
  int rounds;
};

bool answers_right(const char* name, Ours& ours, std::size_t distinct) {
  const StageCounts counts = ours.counts();
  const bool right = counts[Counter::arrived] == ours.given() &&
                     counts[Counter::live_flow_packets] + counts[Counter::ended_record_packets] == ours.given() &&
                     (distinct == 0 || counts[Counter::live_flows] == distinct);
  if (!right)
    fmt::print("WRONG ANSWER of {}: {} of {} packets, {} of {} flows\n", name,
               counts[Counter::live_flow_packets] + counts[Counter::ended_record_packets], ours.given(),
               counts[Counter::live_flows], distinct);
  return right;
}

bool run_case(const Case& what, const Sizes& sizes, std::vector<Goal>& goals) {
  const std::size_t flows = std::size_t{1} << what.log2_flows;
  auto made = Trace::make({.flows = flows, .zipf_exponent = what.zipf, .seed = kSeed, .packets = sizes.packets});
  if (!made) {
    fmt::print("{}: {}\n", what.name, made.error().message);
    return false;
  }
  const auto trace = std::make_shared<const Trace>(*std::move(made));
  std::vector<bool> seen(flows);
  for (std::uint64_t i = 0; i < trace->packets(); ++i) seen[trace->flow_of(i)] = true;
  const auto distinct = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));

  Sources sources(trace, what.rivals ? 16 : 8);
  Ours parse(make_decode_alone({.flows = flows}), sources.next()),
      exact(make_stage(Identity::exact, flows), sources.next()),
      fingerprint(make_stage(Identity::fingerprint, flows), sources.next());
  MemoryBound exact_bound(sources, flows, BucketStore<ExactLine>::lines_for(flows)),
      fingerprint_bound(sources, flows, BucketStore<FingerprintLine>::lines_for(flows));
  const auto flat = [&] { return FlatInput{trace, sources.next_begin(), flows, kSeed}; };
  const auto flat_parse = make_flat_parse(flat()), flat_fingerprint = make_flat_fingerprint(flat()),
             flat_exact = make_flat_exact(flat());
  enum Place { kParse, kExact, kFingerprint, kExactBound, kFingerprintBound, kFlatParse, kFlatFingerprint };
  std::vector<Variant> variants{{"parse + hash alone", [&](std::size_t n) { parse.run(n); }},
                                {"exact", [&](std::size_t n) { exact.run(n); }},
                                {"fingerprint", [&](std::size_t n) { fingerprint.run(n); }},
                                {"memory bound of exact", [&](std::size_t n) { exact_bound.run(n); }},
                                {"memory bound of fingerprint", [&](std::size_t n) { fingerprint_bound.run(n); }},
                                {"flat loop, parse + hash", [&](std::size_t n) { flat_parse->run(n); }},
                                {"flat loop, fingerprint", [&](std::size_t n) { flat_fingerprint->run(n); }}};
  const auto add = [&](std::string name, std::function<void(std::size_t)> run) {
    variants.push_back({std::move(name), std::move(run)});
    return variants.size() - 1;
  };
  std::optional<std::size_t> at_flat_exact, at_p2, at_histogram;
  if (flat_exact) at_flat_exact = add("flat loop, exact", [&](std::size_t n) { flat_exact->run(n); });
  std::optional<Ours> p2, histogram;
  std::unique_ptr<Rival> rte, flowatcher, toeplitz;
  std::optional<MemorySource> rte_source, flowatcher_source, toeplitz_source;
  if (what.rivals) {
    p2.emplace(make_stage(Identity::exact, flows, {"gap_p99"}), sources.next());
    histogram.emplace(make_stage(Identity::exact, flows, {"gap_p99"}, QuantileMethod::histogram), sources.next());
    flowatcher_source = sources.next();
    toeplitz_source = sources.next();
    rte_source = sources.next();
    at_p2 = add("exact + P-square p99 of the gap", [&](std::size_t n) { p2->run(n); });
    at_histogram = add("exact + histogram p99 of the gap", [&](std::size_t n) { histogram->run(n); });
    flowatcher = make_double_hash(flows, kSeed);
    add("FloWatcher double hash", [&](std::size_t n) { flowatcher->run(*flowatcher_source, n); });
    toeplitz = make_double_hash_toeplitz(flows);
    add("FloWatcher, software Toeplitz", [&](std::size_t n) { toeplitz->run(*toeplitz_source, n); });
    rte = make_rte_hash(flows, kSeed);
    if (rte)
      add("rte_hash bulk lookup", [&](std::size_t n) { rte->run(*rte_source, n); });
    else
      fmt::print("SKIPPED rte_hash: built without DPDK\n");
  }
  for (const Variant& variant : variants) variant.run(trace->packets());
  Harness harness(sizes.sample, sizes.rounds);
  const std::vector<Cost> costs = harness.measure(variants);
  const auto ns = [&](std::size_t variant) { return costs[variant].median_ns; };

  for (std::size_t v = 0; v < variants.size(); ++v)
    fmt::print(
        "{:<14} {:<34} {:7.2f} ns {:8.1f} Mpps   {:5.2f} of parse + hash   {:5.2f} times as long as exact   (spread "
        "{:.2f}, {} of {} samples)\n",
        what.name, variants[v].name, ns(v), 1e3 / ns(v), ns(v) / ns(kParse), ns(v) / ns(kExact), costs[v].spread,
        costs[v].kept, costs[v].samples);
  fmt::print("{:<14} {:.1f} % of memory is on 2 MB pages\n", what.name, 100 * share_on_huge_pages());
  if (flowatcher)
    fmt::print("{:<14} FloWatcher's double hash counted {:.2f} % of its packets\n", what.name,
               100.0 * static_cast<double>(flowatcher->counted()) /
                   static_cast<double>(trace->packets() + sizes.sample * sizes.rounds));
  std::fflush(stdout);

  const auto goal = [&](std::string_view of, double figure, double limit, bool at_most) {
    goals.push_back({fmt::format("{}: {}", what.name, of), figure, limit, at_most});
  };
  const double exact_share = ns(kExactBound) / ns(kExact), fingerprint_share = ns(kFingerprintBound) / ns(kFingerprint);
  if (what.log2_flows == 16) {
    if (at_flat_exact) goal("exact over the flat loop", ns(kExact) / ns(*at_flat_exact), 1.2, true);
    goal("fingerprint over the flat loop", ns(kFingerprint) / ns(kFlatFingerprint), 1.3, true);
  } else {
    goal("exact over fingerprint", ns(kExact) / ns(kFingerprint), 1.1, true);
  }
  if (what.log2_flows == 20 && what.zipf == 0) {
    goal("share of the memory bound that exact reaches", exact_share, 0.75, false);
    goal("share of it that fingerprint reaches", fingerprint_share, 0.8, false);
  }
  if (what.log2_flows == 24) {
    goal("share of the memory bound that exact reaches", exact_share, 0.6, false);
    goal("spread of exact", costs[kExact].spread, 1.3, true);
  }
  if (at_p2) {
    goal("P-square p99 of the gap over counting", ns(*at_p2) / ns(kExact), 2.4, true);
    goal("histogram p99 of the gap over counting", ns(*at_histogram) / ns(kExact), 3, true);
  }

  bool right = answers_right("exact", exact, distinct);
  right &= answers_right("fingerprint", fingerprint, 0);
  if (p2) right &= answers_right("exact + P-square", *p2, distinct);
  if (histogram) right &= answers_right("exact + histogram", *histogram, distinct);
  for (const auto& [name, loop] :
       {std::pair("flat fingerprint", flat_fingerprint.get()), {"flat exact", flat_exact.get()}})
    if (loop != nullptr && loop->counted() != exact.given()) {
      fmt::print("WRONG ANSWER of {}: {} of {} packets\n", name, loop->counted(), exact.given());
      right = false;
    }
  return right;
}

int main_of(bool smoke, const char* only) {
  const OnOneCore pinned;
  const Sizes sizes = smoke ? Sizes{1 << 16, 1 << 14, 3} : Sizes{1 << 24, 1 << 20, 15};
  constexpr Case kCases[] = {{"2^16 uniform", 16, 0, true},
                             {"2^16 Zipf 1.1", 16, 1.1, false},
                             {"2^20 Zipf 1.1", 20, 1.1, false},
                             {"2^20 uniform", 20, 0, false},
                             {"2^24 uniform", 24, 0, false}};
  bool right = true;
  std::vector<Goal> goals;
  for (const Case& what : kCases) {
    if (only != nullptr && std::strcmp(only, what.name) != 0) continue;
    if (smoke && what.log2_flows > 16) continue;
    right &= run_case(what, sizes, goals);
  }
  if (!smoke) print(goals);  // small samples carry no information
  fmt::print("{}\n", right ? "all answers right" : "WRONG ANSWERS, see above");
  return right ? 0 : 1;
}

}  // namespace
}  // namespace parshall::bench

int main(int argc, char** argv) {
  const bool smoke = argc > 1 && std::strcmp(argv[1], "--smoke") == 0;
  return parshall::bench::main_of(smoke, !smoke && argc > 1 ? argv[1] : nullptr);
}
