// SPDX-License-Identifier: Apache-2.0
#include "lab/heavy_hitters/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include "engine/analyst.hpp"
#include "engine/tables.hpp"
#include "lab/profile/stage_run.hpp"
#include "pipeline/flow/key_hash.hpp"
#include "pipeline/measure/sketches/heavy_keeper.hpp"
#include "pipeline/measure/sketches/nitro_sketch.hpp"
#include "pipeline/measure/sketches/space_saving.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kHeavyHittersSample = std::size_t{1} << 19;
constexpr std::size_t kHeavyHittersBatch = 256;

constexpr HeavyHittersWayEntry kHeavyHittersWays[] = {
    {"all-flows", "every flow in a table, with windows, and the task over them: worker and analyst",
     HeavyHittersWay::all_flows},
    {"worker", "the same without the analyst, which usually has its own core", HeavyHittersWay::worker},
    {"heavy-keeper", "a sketch of two rows of fingerprints and counts", HeavyHittersWay::heavy_keeper},
    {"space-saving", "a list of keys; if it is full, the key with the fewest packets is replaced",
     HeavyHittersWay::space_saving},
    {"nitro", "NitroSketch: a count sketch of three rows, each of which counts a sample of the packets",
     HeavyHittersWay::nitro},
};

/// Reported sources by window, each as a hash of its key.
using Reports = std::map<std::uint64_t, std::set<std::size_t>>;

class HeavyHittersContestant {
 public:
  virtual ~HeavyHittersContestant() = default;
  virtual void run(std::size_t packets) = 0;
  /// Returns the reports of windows that ended since construction or the last call. Old ones are discarded if nothing
  /// calls this.
  virtual Reports take_reports() { return {}; }
  virtual std::uint64_t memory_bytes() const = 0;
};

/// The stage as `parshall watch --tasks heavy-hitters` runs it.
class AllFlows final : public HeavyHittersContestant {
 public:
  static Result<std::unique_ptr<HeavyHittersContestant>> make(const HeavyHittersSweep& sweep, std::uint64_t window_ns,
                                                              const Frames& frames, std::size_t flows, bool analysed) {
    const TaskSpec spec{
        fmt::format("heavy-hitters:key=src,by=packets,threshold={:f}%,most=1000000", 100 * sweep.threshold)};
    auto tasks =
        TaskSets::make(std::span(&spec, 1), {.window = {WindowLength::Unit::ns, window_ns}, .seed = sweep.seed});
    if (!tasks) return tasks.error();
    const auto table = find_table("bucketed", Identity::exact);
    if (!table) return table.error();
    FlowStageOptions options{.flows = flows, .snapshots = false, .seed = sweep.seed};
    options.windows = tasks->windows();
    options.findings = tasks->findings();
    auto stage = (*table)->make(options);
    std::uint64_t bytes = (*table)->memory_bytes(flows) + tasks->memory_bytes();
    for (const WindowPlan& plan : options.windows) bytes += WindowRows::memory_bytes(plan, flows, options.waiting_rows);
    return std::unique_ptr<HeavyHittersContestant>(
        new AllFlows(std::move(stage), sweep.seed, frames.source(0), *std::move(tasks), analysed, bytes));
  }

  void run(std::size_t packets) override {
    for (std::size_t count; packets != 0; packets -= count) {
      count = run_->run_batch(packets);
      if (analyst_)
        analyst_->poll();
      else
        run_->take_window_messages([](std::span<const std::byte>) {});
    }
    for (const Event& event : events_.take()) reports_[event.window.number].insert(KeyHash()(event.key));
    if (reports_.size() > kMostKept) reports_.clear();  // take_reports() is no longer called
  }
  Reports take_reports() override { return std::exchange(reports_, {}); }
  std::uint64_t memory_bytes() const override { return bytes_; }

 private:
  static constexpr std::size_t kMostKept = 100'000;

  AllFlows(std::unique_ptr<FlowStage> stage, std::uint64_t seed, std::unique_ptr<PacketSource> source, TaskSets tasks,
           bool analysed, std::uint64_t bytes)
      : bytes_(bytes) {
    if (analysed) analyst_.emplace(std::move(tasks), std::vector{&stage->window_messages()}, events_);
    run_ = std::make_unique<StageRun>(std::move(stage), FlowIdentity(KeyFields::five_tuple, Identity::exact, seed),
                                      std::move(source), kHeavyHittersBatch);
  }

  std::uint64_t bytes_;
  EventQueue events_{/*can_wait=*/false};
  std::optional<Analyst> analyst_;
  std::unique_ptr<StageRun> run_;
  Reports reports_;
};

/// Polls, decodes and hashes like a worker, by source only, and feeds the sketch. At a window's end it reports the
/// listed sources, and starts again.
template <class S>
class SketchAlone final : public HeavyHittersContestant {
 public:
  SketchAlone(const HeavyHittersSweep& sweep, std::uint64_t window_ns, const Frames& frames, SketchSize size,
              std::uint32_t one_in)
      : window_ns_(window_ns),
        threshold_(sweep.threshold),
        seed_(sweep.seed),
        size_(size),
        one_in_(one_in),
        identity_(KeyFields::src, Identity::exact, sweep.seed),
        front_(IpHeader::outermost, identity_, {}, std::nullopt),
        source_(frames.source(0)),
        sketch_(fresh()) {}

  void run(std::size_t packets) override {
    for (std::size_t count; packets != 0; packets -= count) {
      count = source_->poll({batch_.data(), std::min(packets, kHeavyHittersBatch)});
      const std::span<const RawPacket> all(batch_.data(), count);
      for (std::size_t at = 0; at < count; at += kGroup) {
        if (at + kAhead < count) prefetch_line(all[at + kAhead].data);
        const std::size_t fresh = front_.accept(all.subspan(at, std::min(kGroup, count - at)), in_flight_);
        in_flight_.visit_newest(fresh, [&](const PacketFacts& facts) { sketch_.prefetch(facts.hash); });
        while (in_flight_.size() > InFlight::kDistance) {
          const auto group = in_flight_.oldest(std::min(kGroup, in_flight_.size() - InFlight::kDistance));
          for (const PacketFacts& facts : group) add(facts);
          in_flight_.pop(group.size());
        }
      }
    }
  }
  Reports take_reports() override { return std::exchange(reports_, {}); }
  std::uint64_t memory_bytes() const override { return S::memory_bytes(size_); }

 private:
  static constexpr std::size_t kAhead = 4 * kGroup;

  S fresh() const {
    if constexpr (std::constructible_from<S, SketchSize, std::uint64_t, std::uint32_t>)
      return S(size_, ~seed_, one_in_);
    else
      return S(size_, ~seed_);
  }

  void add(const PacketFacts& facts) noexcept {
    if (facts.time_ns >= border_ns_) [[unlikely]]
      end_window(facts.time_ns);
    sketch_.add(facts.hash, facts.key);
  }

  [[gnu::noinline]] void end_window(std::uint64_t time_ns) {
    if (sketch_.packets() != 0) {
      std::set<std::size_t>& found = reports_[border_ns_ / window_ns_ - 1];
      const double least = threshold_ * static_cast<double>(sketch_.packets());
      sketch_.visit([&](const HeavyKey<FlowKey>& heavy) {
        const std::uint64_t packets =
            sketch_.estimate(identity_.hash(heavy.key), heavy.key);  // a list's count may be out of date
        if (static_cast<double>(packets) >= least) found.insert(KeyHash()(heavy.key));
      });
      if (reports_.size() > kMostKept) reports_.clear();  // take_reports() is no longer called
      sketch_ = fresh();
    }
    border_ns_ = (time_ns / window_ns_ + 1) * window_ns_;
  }

  static constexpr std::size_t kMostKept = 100'000;

  std::uint64_t window_ns_, border_ns_ = 0;
  double threshold_;
  std::uint64_t seed_;
  SketchSize size_;
  std::uint32_t one_in_;
  FlowIdentity identity_;
  FrontEnd front_;
  std::unique_ptr<PacketSource> source_;
  std::array<RawPacket, kHeavyHittersBatch> batch_;
  InFlight in_flight_;
  S sketch_;
  Reports reports_;
};

/// Returns the heavy hitters by window, for the frames played once.
Reports truth_of(const HeavyHittersSweep& sweep, std::uint64_t window_ns, const Frames& frames) {
  FrontEnd front(IpHeader::outermost, FlowIdentity(KeyFields::src, Identity::exact, sweep.seed), {}, std::nullopt);
  const auto source = frames.source(0);
  const auto in_flight = std::make_unique<InFlight>();
  std::map<std::uint64_t, std::unordered_map<std::size_t, std::uint64_t>> windows;
  std::array<RawPacket, kGroup> group;
  for (std::size_t left = frames.size(); left != 0;) {
    const std::size_t count = source->poll({group.data(), std::min(left, group.size())});
    left -= count;
    front.accept({group.data(), count}, *in_flight);
    while (in_flight->size() != 0) {
      for (const PacketFacts& facts : in_flight->oldest(kGroup))
        ++windows[facts.time_ns / window_ns][KeyHash()(facts.key)];
      in_flight->pop(in_flight->oldest(kGroup).size());
    }
  }
  if (!windows.empty()) windows.erase(std::prev(windows.end()));  // incomplete
  Reports reports;
  for (const auto& [window, packets] : windows) {
    double all = 0;
    for (const auto& [key, count] : packets) all += static_cast<double>(count);
    auto& found = reports[window];
    for (const auto& [key, count] : packets)
      if (static_cast<double>(count) >= sweep.threshold * all) found.insert(key);
  }
  return reports;
}

void compare(const Reports& truth, Reports reports, HeavyHittersRow& row) {
  std::size_t there = 0, right = 0, found = 0;
  for (const auto& [window, keys] : truth) {
    const auto& reported = reports[window];
    there += keys.size(), found += reported.size();
    right += static_cast<std::size_t>(
        std::ranges::count_if(reported, [&true_keys = keys](std::size_t key) { return true_keys.contains(key); }));
  }
  row.windows = truth.size();
  row.recall = there == 0 ? 1 : static_cast<double>(right) / static_cast<double>(there);
  row.precision = found == 0 ? 1 : static_cast<double>(right) / static_cast<double>(found);
}

Result<std::unique_ptr<HeavyHittersContestant>> make(const HeavyHittersSweep& sweep, const HeavyHittersRow& row,
                                                     const Frames& frames, std::size_t flows) {
  const auto sketch = [&]<class S>(unsigned rows) -> std::unique_ptr<HeavyHittersContestant> {
    return std::make_unique<SketchAlone<S>>(sweep, row.window_ns, frames, SketchSize{row.width, rows},
                                            static_cast<std::uint32_t>(row.one_in));
  };
  switch (row.way->way) {
    case HeavyHittersWay::heavy_keeper:
      return sketch.template operator()<HeavyKeeper<FlowKey>>(2);
    case HeavyHittersWay::space_saving:
      return sketch.template operator()<SpaceSaving<FlowKey>>(1);
    case HeavyHittersWay::nitro:
      return sketch.template operator()<NitroSketch<FlowKey>>(3);
    default:
      return AllFlows::make(sweep, row.window_ns, frames, flows, row.way->way == HeavyHittersWay::all_flows);
  }
}

bool is_sketch(HeavyHittersWay way) noexcept {
  return way != HeavyHittersWay::worker && way != HeavyHittersWay::all_flows;
}

}  // namespace

std::span<const HeavyHittersWayEntry> heavy_hitters_ways() noexcept { return kHeavyHittersWays; }

Result<std::size_t> measure_heavy_hitters(const HeavyHittersSweep& sweep, const Frames& frames,
                                          const std::string& traffic,
                                          const std::function<void(std::span<const HeavyHittersRow>)>& done,
                                          const std::function<bool()>& stop) {
  const std::size_t flows = std::max<std::size_t>(1, frames.distinct_flows());
  std::size_t parts = 0;
  for (const std::uint64_t window_ns : sweep.windows_ns) {
    const Reports truth = truth_of(sweep, window_ns, frames);
    if (truth.empty()) return Error{"the traffic is shorter than two windows: give more packets, or shorter windows"};
    std::vector<HeavyHittersRow> rows;
    for (const HeavyHittersWayEntry* way : sweep.ways)
      for (const std::size_t width : is_sketch(way->way) ? sweep.widths : std::vector<std::size_t>{0})
        for (const std::size_t one_in : way->way == HeavyHittersWay::nitro ? sweep.one_in : std::vector<std::size_t>{1})
          rows.push_back(
              {.way = way, .traffic = traffic, .window_ns = window_ns, .width = width, .one_in = one_in, .cost = {}});
    std::vector<std::unique_ptr<HeavyHittersContestant>> contestants;
    std::vector<Variant> variants;
    for (HeavyHittersRow& row : rows) {
      if (stop()) return parts;
      auto made = make(sweep, row, frames, flows);
      if (!made) return made.error();
      HeavyHittersContestant& contestant = *contestants.emplace_back(*std::move(made));
      // Reports about a window are read within half of the next one.
      contestant.run(frames.size() + frames.size() / truth.size() * 2);
      if (row.way->way != HeavyHittersWay::worker) compare(truth, contestant.take_reports(), row);
      row.memory_bytes = contestant.memory_bytes();
      variants.push_back(
          {.name = std::string(row.way->name), .run = [&contestant](std::size_t count) { contestant.run(count); }});
    }
    const std::vector<Cost> costs =
        Harness(kHeavyHittersSample, sweep.rounds, kHeavyHittersSample / 2).measure(variants, stop);
    if (costs.empty()) return parts;
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].cost = costs[i];
    done(rows);
    ++parts;
  }
  return parts;
}

}  // namespace parshall::lab
