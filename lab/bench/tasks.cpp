// SPDX-License-Identifier: Apache-2.0
// Question: what does each task cost a worker per packet, beyond counting? Unit: ns of thread CPU time per 64-byte
// frame, one core. Frames belong to TCP connections with advancing sequence and acknowledgement numbers: 65,536 flows,
// where each packet has data and acknowledges all. One window ends in each sample, including the cost of reporting its
// flows. The time of the analyst's thread has a column of its own. Arguments: --smoke, or tasks to run together
// ("bursty,retransmissions"), each a case. Without arguments, each task runs by itself, and two sets.
// A word as -g of parshall watch takes them replaces the traffic, and window=10ms the window. With --biflow, both
// directions of a connection share a record.
#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/figures/harness.hpp"
#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "base/random.hpp"
#include "engine/analyst.hpp"
#include "engine/tables.hpp"
#include "goals.hpp"
#include "traffic/memory_source.hpp"

namespace parshall::bench {
namespace {

using namespace lab;

constexpr std::uint64_t kSeed = 20260101;
constexpr std::size_t kBatch = 256;
constexpr std::size_t kSample = 1'500'000;  ///< packets of a window

struct Given {
  std::string traffic = "flows=65536,protocol=connections,rate=15000000";  ///< a TrafficSpec
  std::string window = "100ms";
  bool biflow = false;
};

/// A worker that counts, with some tasks.
class Worker {
 public:
  Worker(const Given& given, std::size_t flows, std::shared_ptr<const Trace> trace,
         const std::vector<std::string>& tasks)
      : source_(std::move(trace), ~std::uint64_t{0}), events_(/*can_wait=*/false) {
    std::vector<TaskSpec> specs;
    for (const std::string& task : tasks) specs.push_back({task});
    auto sets = TaskSets::make(specs, {.window = *parse_window(given.window), .keys = 2 * flows, .seed = kSeed});
    if (!sets) throw std::runtime_error(sets.error().message);
    const FlowStageOptions options{.flows = 2 * flows,
                                   .snapshots = false,
                                   .populate = true,
                                   .windows = sets->windows(),
                                   .findings = sets->findings(),
                                   .biflow = given.biflow,
                                   .seed = kSeed,
                                   .waiting_rows = kSample};  // each packet may begin a row, and none is read meanwhile
    stage_ = (*find_table("bucketed", Identity::exact))->make(options);
    const bool follows_tcp = options.findings[0].tcp;
    front_.emplace(IpHeader::outermost, FlowIdentity(KeyFields::five_tuple, Identity::exact, kSeed), Partition{},
                   std::nullopt, TcpWishes{.facts = follows_tcp, .biflow = given.biflow});
    if (!tasks.empty()) analyst_.emplace(*std::move(sets), std::vector{&stage_->window_messages()}, events_);
  }

  void run(std::size_t packets) {
    std::array<RawPacket, kBatch> batch;
    for (std::size_t done = 0, count; done < packets; done += count) {
      count = source_.poll({batch.data(), std::min(kBatch, packets - done)});
      stage_->run(*front_, {batch.data(), count});
      stage_->housekeep(front_->link());
    }
    given_ += packets;
  }

  /// Does the work of the analyst's thread.
  void analyse() {
    if (!analyst_) return;
    const double before = thread_cpu_ns();
    while (analyst_->poll()) {
    }
    analysis_ns_ += thread_cpu_ns() - before;
    found_ += events_.take().size();
  }

  double analysis_ns() const { return analysis_ns_ / static_cast<double>(given_); }
  std::size_t found() const { return found_; }

  bool right() {
    stage_->drain();
    stage_->finish({});
    analyse();
    const StageCounts counts = stage_->counts();
    return counts[Counter::arrived] == given_ &&
           counts[Counter::live_flow_packets] + counts[Counter::ended_record_packets] == given_ &&
           (!analyst_ || analyst_->balanced());
  }

 private:
  MemorySource source_;
  EventQueue events_;
  std::unique_ptr<FlowStage> stage_;
  std::optional<FrontEnd> front_;
  std::optional<Analyst> analyst_;
  std::uint64_t given_ = 0;
  std::size_t found_ = 0;
  double analysis_ns_ = 0;
};

struct Case {
  std::string name;
  std::vector<std::string> tasks;
};

constexpr const char* kOfMona = "MONA's four";

/// Updates random lines, prefetched well before, in as much memory as tasks about all flows have.
class RandomLines {
 public:
  RandomLines() : lines_(kBytes / sizeof(std::uint64_t)), random_(kSeed) { lines_.populate(); }

  void run(std::size_t updates) {
    constexpr std::size_t kAhead = 32;
    std::array<std::size_t, kAhead> next;
    for (std::size_t& one : next) one = place();
    for (std::size_t i = 0; i < updates; ++i) {
      std::size_t& one = next[i % kAhead];
      ++lines_[one];
      one = place();
      prefetch_line(&lines_[one]);
    }
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{64} << 20;
  std::size_t place() noexcept { return random_() % (kBytes / 64) * 8; }

  HugeBuffer<std::uint64_t> lines_;
  SplitMix64 random_;
};

std::vector<Case> cases(const std::vector<std::string>& asked) {
  std::vector<Case> cases{{"counting alone", {}}};
  for (const std::string& names : asked) {
    Case& one = cases.emplace_back(Case{names, {}});
    std::istringstream words(names);
    for (std::string name; std::getline(words, name, ',');) one.tasks.push_back(name);
  }
  if (!asked.empty()) return cases;
  std::vector<std::string> all;
  for (const TaskEntry* task : task_registry()) {
    cases.push_back({std::string(task->name), {std::string(task->name)}});
    all.emplace_back(task->name);
  }
  cases.push_back({kOfMona, {"heavy-hitters", "bursty", "retransmissions", "latency-change"}});
  cases.push_back({fmt::format("all {}", all.size()), all});
  return cases;
}

int main_of(bool smoke, const Given& given, const std::vector<std::string>& named) {
  const OnOneCore pinned;
  const int rounds = smoke ? 3 : 9;
  const std::size_t sample = smoke ? kSample / 20 : kSample;
  auto spec = TrafficSpec::parse(given.traffic);
  if (!spec) return fmt::print("{}\n", spec.error().message), 1;
  if (!spec->connected()) return fmt::print("{}: give protocol=connections or sessions\n", given.traffic), 1;
  if (!parse_window(given.window)) return fmt::print("window={}: not a window\n", given.window), 1;
  spec->seed = kSeed;
  spec->packets = sample * (static_cast<std::size_t>(rounds) + 1);
  auto made = Trace::make(*spec);
  if (!made) return fmt::print("{}\n", made.error().message), 1;
  const auto trace = std::make_shared<const Trace>(*std::move(made));
  const std::vector<Case> asked = cases(named);
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Variant> variants;
  for (const Case& one : asked) {
    Worker& worker = *workers.emplace_back(std::make_unique<Worker>(given, spec->flows, trace, one.tasks));
    worker.run(sample);
    worker.analyse();
    variants.push_back({one.name, [&worker](std::size_t n) { worker.run(n); }, [&worker] { worker.analyse(); }});
  }
  RandomLines lines;
  variants.push_back({"a random memory line, no packet", [&lines](std::size_t n) { lines.run(n); }});
  const std::vector<Cost> costs = Harness(sample, rounds).measure(variants);
  bool right = true;
  fmt::print("{:<26} {:>10} {:>14} {:>22} {:>12}\n", "task", "ns/packet", "over counting", "95 % interval of ns",
             "analyst ns");
  for (std::size_t v = 0; v < workers.size(); ++v) {
    fmt::print("{:<26} {:>10.2f} {:>14.2f} {:>12.2f} to {:>6.2f} {:>12.2f}   {} of {} samples, {} events\n",
               variants[v].name, costs[v].median_ns, costs[v].median_ns - costs[0].median_ns, costs[v].low_ns,
               costs[v].high_ns, workers[v]->analysis_ns(), costs[v].kept, costs[v].samples, workers[v]->found());
    if (!workers[v]->right()) right = false, fmt::print("WRONG ACCOUNT of {}\n", variants[v].name);
  }
  const double line_ns = costs.back().median_ns;
  fmt::print("{:<26} {:>10.2f}\n", variants.back().name, line_ns);
  std::vector<Goal> goals;
  for (std::size_t v = 0; v < workers.size(); ++v)
    if (asked[v].name == kOfMona)
      goals.push_back({fmt::format("{} over counting, in random lines of this run", kOfMona),
                       (costs[v].median_ns - costs[0].median_ns) / line_ns, 7, true});
  if (!smoke && !goals.empty()) print(goals);  // small samples carry no information
  fmt::print("{}\n", right ? "all accounts right" : "WRONG ACCOUNTS, see above");
  return right ? 0 : 1;
}

}  // namespace
}  // namespace parshall::bench

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool smoke = std::erase(words, "--smoke") != 0;
  parshall::bench::Given given;
  given.biflow = std::erase(words, "--biflow") != 0;
  std::erase_if(words, [&](const std::string& word) {
    if (word.find('=') == std::string::npos) return false;
    if (word.starts_with("window="))
      given.window = word.substr(7);
    else
      given.traffic = word;
    return true;
  });
  return parshall::bench::main_of(smoke, given, words);
}
