// SPDX-License-Identifier: Apache-2.0
// Question: what does it cost a worker to classify each flow, beyond counting? Unit: ns of thread CPU time per 64-byte
// frame, one core, including everything from the frame to the record that leaves the table. Making the frames of short
// flows is included too. Reading the records is not: they are dropped.
#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/figures/harness.hpp"
#include "base/random.hpp"
#include "classify/registry.hpp"
#include "engine/tables.hpp"
#include "goals.hpp"
#include "lab/classify/class_model.hpp"
#include "traffic/memory_source.hpp"

namespace parshall::bench {
namespace {

using namespace lab;

constexpr std::uint64_t kSeed = 20260101;
constexpr std::size_t kBatch = 256, kSample = 2'000'000, kClasses = 10, kPackets = 4;

struct Traffic {
  const char* name;
  const char* spec;
  std::size_t flows;
  std::uint64_t idle_ns;
  bool sizes_vary = false;
};
// At 14.88 Mpps: 100 ms are 300,000 flows of five packets.
constexpr Traffic kTraffics[] = {
    {"5 packets a flow, each new", "flows=1,dist=trains:5,packets=1000000", 1 << 19, 100'000'000},
    {"5 packets a flow, of all sizes", "flows=1,dist=trains:5,packets=1000000", 1 << 19, 100'000'000, true},
    {"5 packets, 1000 flows at once", "flows=1000,dist=trains:5,packets=1000000", 1 << 19, 100'000'000},
    {"50 packets, 65,536 flows at once", "flows=65536,dist=trains:50,packets=1000000", 1 << 19, 300'000'000},
    {"flows that go on, Zipf 1.1", "flows=65536,dist=zipf:1.1,packets=4000000", 1 << 17, 0},
};

/// Varies the frame length in captured headers, since a single size would hit the same four rows of a model's tables
/// for every flow. The source makes the frames anew for each packet.
class Lengths {
 public:
  Lengths() {
    SplitMix64 random(kSeed);
    for (std::uint16_t& one : ip_bytes_) one = static_cast<std::uint16_t>(46 + random() % 1455);
  }

  void put_into(std::span<RawPacket> packets) noexcept {
    for (RawPacket& packet : packets) {
      const std::uint16_t bytes = ip_bytes_[next_++ % ip_bytes_.size()];
      auto* const length = const_cast<std::uint8_t*>(packet.data) + 16;
      length[0] = static_cast<std::uint8_t>(bytes >> 8);
      length[1] = static_cast<std::uint8_t>(bytes);
      packet.wire_bytes = bytes + 14u;
    }
  }

 private:
  std::array<std::uint16_t, 4096> ip_bytes_;
  std::size_t next_ = 0;
};

class Worker {
 public:
  /// Takes frames without reading them.
  Worker(std::shared_ptr<const Trace> trace, const Traffic& traffic)
      : source_(std::move(trace), ~std::uint64_t{0}, kTrafficStartNs) {
    if (traffic.sizes_vary) lengths_.emplace();
  }
  Worker(std::shared_ptr<const Trace> trace, const Traffic& traffic, std::shared_ptr<const Classifier> classifier)
      : Worker(std::move(trace), traffic) {
    FlowStageOptions options{.flows = traffic.flows,
                             .timeouts = {.idle_ns = traffic.idle_ns},
                             .snapshots = false,
                             .populate = true,
                             .can_wait = false};
    if (classifier) {
      auto set = make_statistics(std::array{std::string(FlowClass::kName)}, {.classifier = std::move(classifier)});
      options.statistics.set = std::make_shared<const StatisticSet>(*std::move(set));
    }
    stage_ = (*find_table("bucketed", Identity::exact))->make(options);
    front_.emplace(IpHeader::outermost, FlowIdentity(KeyFields::five_tuple, Identity::exact, kSeed), Partition{},
                   std::nullopt, TcpWishes{});
  }

  void run(std::size_t packets) {
    std::array<RawPacket, kBatch> batch;
    for (std::size_t done = 0, count; done < packets; done += count) {
      count = source_.poll({batch.data(), std::min(kBatch, packets - done)});
      if (lengths_) lengths_->put_into({batch.data(), count});
      if (!stage_) continue;
      stage_->run(*front_, {batch.data(), count});
      stage_->housekeep(front_->link());
      stage_->ended().drain([this](std::span<const std::byte>) { ++ended_; });
    }
    given_ += packets;
  }

  bool right() {
    if (!stage_) return true;
    stage_->drain();
    const StageCounts counts = stage_->counts();
    std::uint64_t classified = 0;
    for (const ClassCounts& one : counts.classes) classified += one[ClassCounter::packets];
    return counts[Counter::arrived] == given_ &&
           counts[Counter::live_flow_packets] + counts[Counter::ended_record_packets] == given_ &&
           (counts.classes.empty() || classified == given_);
  }

  /// Returns how many flows were classified, per packet.
  double classified() {
    if (!stage_) return 0;
    const StageCounts counts = stage_->counts();
    std::uint64_t told = 0;
    for (std::size_t i = 0; i + 1 < counts.classes.size(); ++i) told += counts.classes[i][ClassCounter::flows];
    return static_cast<double>(told) / static_cast<double>(given_);
  }

 private:
  MemorySource source_;
  std::optional<Lengths> lengths_;
  std::unique_ptr<FlowStage> stage_;
  std::optional<FrontEnd> front_;
  std::uint64_t given_ = 0, ended_ = 0;
};

int main_of(bool smoke) {
  const OnOneCore pinned;
  const int rounds = smoke ? 3 : 9;
  const std::size_t sample = smoke ? kSample / 20 : kSample;
  bool right = true;
  std::vector<Goal> goals;
  const Samples known = made_samples(kClasses, kPackets, kSeed);
  fmt::print("{:<34} {:<22} {:>9} {:>22} {:>7} {:>16} {:>6} {:>8}\n", "traffic", "classes by", "ns/packet",
             "95 % interval of ns", "ratio", "interval", "Mpps", "Mclass/s");
  for (const Traffic& traffic : kTraffics) {
    const auto spec = TrafficSpec::parse(traffic.spec, TrafficSpec::kAll);
    auto made = Trace::make(*spec);
    if (!made) return fmt::print("{}\n", made.error().message), 1;
    const auto trace = std::make_shared<const Trace>(*std::move(made));
    std::vector<std::unique_ptr<Worker>> workers;
    std::vector<Variant> variants;
    const auto add = [&](const std::string& name, std::shared_ptr<const Classifier> classifier) {
      Worker& worker = *workers.emplace_back(std::make_unique<Worker>(trace, traffic, std::move(classifier)));
      worker.run(2 * sample);
      variants.push_back({name, [&worker](std::size_t n) { worker.run(n); }});
    };
    add("none: counting alone", nullptr);
    for (const ModelKind& kind : model_kinds()) add(std::string(kind.name), kind.train(known, {}));
    Worker& frames = *workers.emplace_back(std::make_unique<Worker>(trace, traffic));
    variants.push_back({"no stage: the frames", [&frames](std::size_t n) { frames.run(n); }});
    const std::vector<Cost> costs = Harness(sample, rounds).measure(variants);
    if (traffic.sizes_vary) {
      goals.push_back({fmt::format("{}: counting, ns", traffic.name), costs.front().median_ns, 26, true});
      for (std::size_t v = 1; v + 1 < variants.size(); ++v)
        goals.push_back({fmt::format("{}: classes by {} over counting", traffic.name, variants[v].name), costs[v].ratio,
                         1.35, true});
    }
    for (std::size_t v = 0; v < variants.size(); ++v) {
      const double mpps = 1e3 / costs[v].median_ns;
      fmt::print(
          "{:<34} {:<22} {:>9.2f} {:>12.2f} to {:>6.2f} {:>7.2f} {:>8.2f} to {:>4.2f} {:>6.1f} {:>8.2f}   {} of {} "
          "samples\n",
          traffic.name, variants[v].name, costs[v].median_ns, costs[v].low_ns, costs[v].high_ns, costs[v].ratio,
          costs[v].ratio_low, costs[v].ratio_high, mpps, mpps * workers[v]->classified(), costs[v].kept,
          costs[v].samples);
      if (!workers[v]->right()) right = false, fmt::print("WRONG ACCOUNT of {}\n", variants[v].name);
    }
  }
  if (!smoke) print(goals);  // small samples carry no information
  fmt::print("{}\n", right ? "all accounts right" : "WRONG ACCOUNTS, see above");
  return right ? 0 : 1;
}

}  // namespace
}  // namespace parshall::bench

int main(int argc, char** argv) { return parshall::bench::main_of(argc > 1 && std::strcmp(argv[1], "--smoke") == 0); }
