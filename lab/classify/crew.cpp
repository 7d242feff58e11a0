// SPDX-License-Identifier: Apache-2.0
#include "lab/classify/crew.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <system_error>

#include "base/figures/harness.hpp"
#include "pipeline/measure/flow_rows.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kCrewBatch = 256;
constexpr std::size_t kFew = 64;  ///< packets; a thread that finds fewer sleeps, to find more at once
constexpr std::chrono::microseconds kLook{500};

constexpr ClassifyShape kShapes[] = {
    {"1I-1Q-1P", "one queue, three threads in a row", 1, 1, 1},
    {"1I-2Q-1P", "two queues, one flow table with a lock per packet, and one classification thread", 1, 2, 1, false, 1},
    {"1I-2Q-1P-chunk", "the same, with a lock per 128 packets", 1, 2, 1, false, 128},
    {"1I-2Q-2P", "two queues, each with three threads and a flow table", 1, 2, 2},
    {"2I-1Q-2P", "two interfaces, the same", 2, 1, 2},
    {"1I-1Q-inline", "one queue, one thread for everything (run to completion)", 1, 1, 1, true},
    {"1I-2Q-inline", "two queues, each with one thread for everything", 1, 2, 2, true},
    {"2I-1Q-inline", "two interfaces, the same", 2, 1, 2, true},
};

std::uint64_t resident_bytes() {
  std::uint64_t mapped = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> mapped >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::shared_ptr<const StatisticSet> statistics_of(const CrewOptions& options) {
  auto set = make_statistics(std::array{std::string(FlowClass::kName)},
                             {.classifier = options.classifier,
                              .classes_told_by = options.shape->inlined ? ToldBy::worker : ToldBy::other_threads});
  return std::make_shared<const StatisticSet>(*std::move(set));
}

}  // namespace

std::span<const ClassifyShape> classify_shapes() noexcept { return kShapes; }

ClassifyCrew::ClassifyCrew(CrewOptions options, std::vector<std::unique_ptr<PacketSource>> queues)
    : options_(std::move(options)) {
  const ClassifyShape& shape = *options_.shape;
  const FlowIdentity identity(KeyFields::five_tuple, Identity::exact, options_.seed);
  for (auto& source : queues)
    queues_.push_back(std::make_unique<Queue>(
        std::make_unique<Lane>(std::move(source), FrontEnd(IpHeader::outermost, identity, Partition{}, std::nullopt),
                               kCrewBatch, ReadLimits{}),
        shape.inlined ? 2 : options_.ring_packets));
  const auto statistics = statistics_of(options_);
  for (std::size_t i = 0; i < shape.chains; ++i) {
    Chain& chain = *chains_.emplace_back(std::make_unique<Chain>());
    chain.stage = options_.table->make({.flows = options_.flows,
                                        .timeouts = options_.timeouts,
                                        .statistics = {statistics, 0},
                                        .snapshots = false,
                                        .populate = true,
                                        .seed = options_.seed,
                                        .can_wait = false,
                                        .class_rings = shape.inlined ? 0u : 1u,
                                        .class_ring_jobs = options_.ring_jobs});
    if (shape.inlined) continue;
    chain.classifiers.emplace(options_.classifier, 1, Waiting::asleep);
    const ClassJobs* const jobs = chain.stage->class_jobs();
    chain.classifiers->serve({&jobs, 1});
  }
}

ClassifyCrew::~ClassifyCrew() { end_threads(); }

std::uint64_t ClassifyCrew::memory_bytes(const CrewOptions& options) {
  const ClassifyShape& shape = *options.shape;
  std::uint64_t chain = options.table->memory_bytes(options.flows) +
                        std::bit_ceil(FlowStageOptions().ended_ring_bytes) +
                        FlowRows::memory_bytes(*statistics_of(options), options.table->slots(options.flows));
  if (shape.inlined) return shape.chains * chain;
  chain += 2 * std::bit_ceil(options.ring_jobs) * sizeof(ClassJob);
  return shape.chains * chain +
         shape.all_queues() * std::bit_ceil(options.ring_packets) * (sizeof(PacketFacts) + sizeof(LinkPlace));
}

unsigned ClassifyCrew::core_of(std::size_t queue) const noexcept {
  return options_.cores[queue % options_.cores.size()];
}

void ClassifyCrew::launch(Module module, void (ClassifyCrew::*body)(std::size_t), std::size_t queue) {
  threads_.emplace_back([this, module, body, queue] {
    name_this_thread(module == Module::sniffing ? "sniff" : "flows");
    while (!go_.load(std::memory_order_acquire)) std::this_thread::yield();
    const double began_ns = thread_cpu_ns();
    (this->*body)(queue);
    const double taken_ns = thread_cpu_ns() - began_ns;
    const std::lock_guard hold(cpu_lock_);
    run_.cpu_ns[static_cast<std::size_t>(module)].push_back(taken_ns);
  });
}

std::optional<Error> ClassifyCrew::start() {
  const bool pinned = options_.placement == Placement::chain;
  try {
    for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
      if (options_.shape->inlined) {
        launch(Module::flow_handling, &ClassifyCrew::do_all, queue);
      } else {
        launch(Module::sniffing, &ClassifyCrew::sniff, queue);
        if (pinned)
          if (auto error = pin(threads_.back(), core_of(queue))) return error;
        launch(Module::flow_handling, &ClassifyCrew::handle, queue);
      }
      sniffing_.fetch_add(1);
      if (pinned)
        if (auto error = pin(threads_.back(), core_of(queue))) return error;
    }
  } catch (const std::system_error& refused) {
    return Error{fmt::format("cannot start the {} threads of {}: {}", options_.shape->threads(), options_.shape->name,
                             refused.what())};
  }
  for (std::size_t i = 0; i < chains_.size(); ++i) {
    if (!chains_[i]->classifiers) continue;
    const unsigned core = core_of(i);
    if (auto error = chains_[i]->classifiers->start({&core, pinned ? 1u : 0u})) return error;
  }
  return std::nullopt;
}

/// Ends all threads that were started.
void ClassifyCrew::end_threads() {
  stop_.store(true, std::memory_order_relaxed);
  go_.store(true, std::memory_order_release);
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
  for (const auto& chain : chains_)
    if (chain->classifiers) chain->classifiers->stop();
}

Result<CrewRun> ClassifyCrew::run(std::chrono::nanoseconds how_long) {
  if (auto error = start()) return end_threads(), *std::move(error);
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  go_.store(true, std::memory_order_release);
  while (sniffing_.load(std::memory_order_acquire) != 0 && std::chrono::steady_clock::now() - start < how_long)
    std::this_thread::sleep_for(kLook);
  stop_.store(true, std::memory_order_relaxed);
  while (sniffing_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  run_.sniffing_s = seconds();
  for (std::thread& thread : threads_) thread.join();
  run_.seconds = seconds();
  for (const auto& chain : chains_)
    if (chain->classifiers)
      for (const std::uint64_t ns : chain->classifiers->cpu_ns())
        run_.cpu_ns[static_cast<std::size_t>(Module::classification)].push_back(static_cast<double>(ns));
  run_.resident_bytes = resident_bytes();
  end_threads();
  return account();
}

Result<CrewRun> ClassifyCrew::account() {
  for (std::size_t i = 0; i < chains_.size(); ++i) {
    Chain& chain = *chains_[i];
    ChainRun& run = run_.chains.emplace_back();
    for (std::size_t queue = 0; queue < queues_.size(); ++queue)
      if (options_.shape->chain_of(queue) == i) run.accounting += queues_[queue]->lane->counters();
    chain.stage->drain();
    chain.stage->finish({});
    const StageCounts counts = chain.stage->counts();
    run.accounting += counts;
    run.classes = counts.classes;
    if (const ClassJobs* const jobs = chain.stage->class_jobs()) run.jobs = jobs->counts();
    for (std::size_t id = 0; id + 1 < run.classes.size(); ++id) {
      run.classified += run.classes[id][ClassCounter::flows];
      run.classified_packets += run.classes[id][ClassCounter::packets];
    }
    run.told = options_.shape->inlined ? run.classified : run.jobs.told;
    if (const Accounting& all = run.accounting; !all.balanced() || run.told > run.classified)
      return Error{fmt::format(
          "{}, chain {}: of {} packets polled, {} arrived at a full ring, {} were counted, {} by the flow table, {} "
          "are in flows and {} in ended ones; of {} classes, {} came from classification threads",
          options_.shape->name, i, all[Counter::polled], all[Counter::ring_full], all.counted(), all[Counter::arrived],
          all[Counter::live_flow_packets], all[Counter::ended_record_packets], run.classified, run.told)};
  }
  return std::move(run_);
}

void ClassifyCrew::sniff(std::size_t index) {
  Queue& queue = *queues_[index];
  const auto staging = std::make_unique<InFlight>();
  Idle idle(Waiting::asleep);
  while (!stop_.load(std::memory_order_relaxed)) {
    const std::span<const RawPacket> packets = queue.lane->poll();
    hand_over(queue, packets, *staging);
    if (packets.empty() && queue.lane->done()) break;
    if (packets.size() < kFew) idle.wait();
  }
  queue.lane->publish(/*last=*/true);
  queue.receiving.store(false, std::memory_order_release);
  sniffing_.fetch_sub(1, std::memory_order_release);
}

/// Passes packets to the ring. If it is full, a source that can wait does so; for any other, the packet is lost.
void ClassifyCrew::hand_over(Queue& queue, std::span<const RawPacket> packets, InFlight& staging) noexcept {
  Lane& lane = *queue.lane;
  for (std::size_t at = 0; at < packets.size(); at += kGroup) {
    lane.front().accept(packets.subspan(at, std::min(kGroup, packets.size() - at)), staging);
    while (staging.size() != 0) {
      const auto group = staging.oldest(staging.size());
      for (std::size_t i = 0; i < group.size(); ++i) {
        LinkPlace place = staging.place(i);
        place.latest_ns = lane.note_time(group[i].time_ns);
        while (!queue.ring.stage(group[i], place, {})) {
          queue.ring.flush();
          if (!lane.source().lossless()) {
            lane.note_ring_full(1);
            break;
          }
          ::sched_yield();
        }
      }
      staging.pop(group.size());
    }
  }
  queue.ring.flush();
}

void ClassifyCrew::handle(std::size_t index) {
  Queue& queue = *queues_[index];
  Chain& chain = *chains_[options_.shape->chain_of(index)];
  Idle idle(Waiting::asleep);
  for (;;) {
    const bool last_round = !queue.receiving.load(std::memory_order_acquire);  // must be read before the ring
    const std::span<const PacketFacts> facts = queue.ring.readable(kCrewBatch);
    if (!facts.empty()) handle_batch(chain, queue.ring, facts);
    {
      const auto hold = locked(chain);
      if (facts.empty()) chain.stage->drain();
      keep_house(chain);
    }
    if (facts.empty() && last_round) break;
    if (facts.size() < kFew) idle.wait();
  }
}

std::unique_lock<std::mutex> ClassifyCrew::locked(Chain& chain) const {
  return options_.shape->lock_packets == 0 ? std::unique_lock(chain.lock, std::defer_lock)
                                           : std::unique_lock(chain.lock);
}

void ClassifyCrew::handle_batch(Chain& chain, FactsRing& ring, std::span<const PacketFacts> facts) noexcept {
  const std::span<const LinkPlace> places = ring.places(facts.size());
  const std::size_t piece = options_.shape->lock_packets == 0 ? facts.size() : options_.shape->lock_packets;
  for (std::size_t at = 0; at < facts.size(); at += piece) {
    const std::size_t count = std::min(piece, facts.size() - at);
    const auto hold = locked(chain);
    chain.stage->admit(facts.subspan(at, count), places.subspan(at, count), {});
  }
  ring.release(facts.size());
}

void ClassifyCrew::keep_house(Chain& chain) noexcept {
  chain.stage->housekeep({});
  chain.stage->ended().drain([](std::span<const std::byte>) {});
}

void ClassifyCrew::do_all(std::size_t index) {
  Lane& lane = *queues_[index]->lane;
  Chain& chain = *chains_[options_.shape->chain_of(index)];
  Idle idle(Waiting::asleep);
  while (!stop_.load(std::memory_order_relaxed)) {
    const std::span<const RawPacket> packets = lane.poll();
    chain.stage->run(lane.front(), packets);
    if (packets.empty()) chain.stage->drain();
    keep_house(chain);
    if (packets.empty() && lane.done()) break;
    if (packets.size() < kFew) idle.wait();
  }
  lane.publish(/*last=*/true);
  sniffing_.fetch_sub(1, std::memory_order_release);
}

}  // namespace parshall::lab
