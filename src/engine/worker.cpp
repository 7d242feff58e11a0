// SPDX-License-Identifier: Apache-2.0
#include "engine/worker.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "engine/arrivals.hpp"

namespace parshall {
namespace {

constexpr std::size_t kRingBatch = 256;
constexpr std::size_t kFewPackets = 64;
constexpr std::chrono::microseconds kGather{10};  ///< 149 packets at 10 GbE line rate; a queue holds 4096
constexpr int kIdleSlices = 64;                   ///< slices of housekeeping while no packet waits: about 100 us
constexpr std::chrono::microseconds kLeftNap{200};

/// Waits for a few packets to gather. An underloaded worker takes packets one by one, and each then costs several times
/// as much, which would say nothing about its capacity.
void gather() noexcept {
  const auto until = std::chrono::steady_clock::now() + kGather;
  while (std::chrono::steady_clock::now() < until) __builtin_ia32_pause();
}

/// Does some housekeeping, more if nothing else waits. Returns true if all is done.
bool keep_house(FlowStage& monitor, LinkPlace now, bool is_idle) noexcept {
  for (int slices = is_idle ? kIdleSlices : 1; slices > 0; --slices)
    if (!monitor.housekeep(now)) return true;
  return false;
}

}  // namespace

Workers::Workers(std::vector<std::unique_ptr<Lane>> lanes, std::vector<std::unique_ptr<FlowStage>> monitors,
                 ThreadOptions options, Dealing dealing)
    : lanes_(std::move(lanes)),
      monitors_(std::move(monitors)),
      monitor_clocks_(options.model == ThreadModel::pipeline ? monitors_.size() : 0),
      options_(std::move(options)),
      levels_out_((dealing == Dealing::all_to_each || dealing == Dealing::by_flow) && lanes_.size() > 1) {
  for (const auto& lane : lanes_)
    markers_.push_back(
        lane->source().forwarder() == nullptr ? nullptr : std::make_unique<Marker>(options_.marking, lane->batch()));
  if (dealing == Dealing::in_turns)
    turns_.emplace(lanes_.size(), lanes_.front()->batch(), lanes_.front()->front().reads_tcp());
  if (options_.model != ThreadModel::run_to_completion)
    for (std::size_t i = 0; i < monitors_.size(); ++i)
      rings_.push_back(std::make_unique<FactsRing>(options_.ring_packets, lanes_[0]->front().reads_tcp()));
}

Workers::~Workers() {
  stop();
  go_.store(true, std::memory_order_release);
  join();
}

void Workers::join() {
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

/// Returns true if all lanes wait or have ended. A lane that ends early, such as that of a file truncated meanwhile,
/// does not block the others.
bool Workers::paused() const noexcept {
  return std::ranges::any_of(lanes_, [](const auto& lane) { return lane->paused(); }) &&
         std::ranges::all_of(lanes_, [](const auto& lane) { return lane->paused() || lane->ended(); }) &&
         std::ranges::all_of(rings_, [](const auto& ring) { return ring->empty(); });
}

void Workers::launch(const char* name, void (Workers::*body)(std::size_t), std::size_t index) {
  running_.fetch_add(1, std::memory_order_relaxed);
  threads_.emplace_back([this, name, body, index] {
    name_this_thread(name);
    while (!go_.load(std::memory_order_acquire)) std::this_thread::yield();
    (this->*body)(index);
    running_.fetch_sub(1, std::memory_order_release);
  });
}

std::optional<Error> Workers::start() {
  std::optional<Error> error;
  try {
    const bool is_pipeline = options_.model == ThreadModel::pipeline;
    if (is_pipeline) launch("receive", &Workers::receive, 0);
    for (std::size_t i = 0; i < monitors_.size(); ++i)
      launch(is_pipeline ? "monitor" : "worker",
             is_pipeline ? &Workers::monitor
             : turns_    ? &Workers::work_in_turns
                         : &Workers::work,
             i);
  } catch (const std::system_error& refused) {
    running_.fetch_sub(1);  // launch() counted it
    levels_out_ = false;    // lanes that were never launched must not be waited for
    error = Error{fmt::format("cannot start {} workers: {}; ask for fewer with --workers, or raise ulimit -u",
                              monitors_.size(), refused.what())};
  }
  for (std::size_t i = 0; i < threads_.size() && !error; ++i) {
    if (!options_.cores.empty()) error = pin(threads_[i], options_.cores[i % options_.cores.size()]);
    if (!error) error = set_scheduler(threads_[i], options_.scheduler);
  }
  if (error) stop();
  go_.store(true, std::memory_order_release);
  if (error) join();
  return error;
}

/// Processes a batch in a thread that runs both stages.
void Workers::process(std::size_t index, std::span<const RawPacket> packets, InFlight& staging) noexcept {
  if (markers_[index]) return markers_[index]->pass_on(*lanes_[index], *monitors_[index], packets);
  if (options_.model == ThreadModel::run_to_completion) return monitors_[index]->run(lanes_[index]->front(), packets);
  hand_over(*lanes_[index], packets, staging, {&rings_[index], 1});
  while (monitor_batch(*monitors_[index], *rings_[index])) {
  }
}

void Workers::work(std::size_t index) {
  Lane& lane = *lanes_[index];
  FlowStage& monitor = *monitors_[index];
  const bool controlled = monitor.control() != nullptr;
  const auto staging = std::make_unique<InFlight>();
  Idle idle(options_.busy_poll);
  Arrivals arrivals({&lanes_[index], 1});
  while (!stop_.load(std::memory_order_relaxed)) {
    const std::span<const RawPacket> packets = lane.poll();
    if (!packets.empty()) {
      process(index, packets, *staging);
      idle.reset();
    } else {
      monitor.drain();
      if (lane.done()) break;
      arrivals.wait(idle);
    }
    lane.publish(/*last=*/false);
    if (controlled && monitor.control_window_ends(lane.link())) monitor.end_control_window(lane.link(), lane.load());
    if (!keep_house(monitor, lane.link(), packets.empty()) && packets.empty()) idle.stay_awake();
    if (controlled && !packets.empty() && packets.size() < std::min(kFewPackets, lane.batch() / 4)) {
      lane.rest();
      gather();
    }
  }
  if (stop_.load(std::memory_order_relaxed) && lane.end_intake())
    for (auto packets = lane.poll_waiting(); !packets.empty(); packets = lane.poll_waiting())
      process(index, packets, *staging);
  level_out(index, *staging);
  monitor.drain();
  monitor.finish(lane.link());
  lane.publish(/*last=*/true);
  leave(index);
}

/// Works in turns. Counts available packets first, since other workers may wait for their room.
void Workers::work_in_turns(std::size_t index) {
  Lane& lane = *lanes_[index];
  FlowStage& monitor = *monitors_[index];
  const auto staging = std::make_unique<InFlight>();
  Turns::Reader reader{.worker = index};
  Idle idle(options_.busy_poll);
  while (!turns_->is_at_end(reader)) {
    if (stop_.load(std::memory_order_relaxed)) turns_->close();
    if (const Turns::Part* const part = turns_->take(reader)) {
      if (idle.waiting()) lane.work();
      monitor.admit(part->facts(), part->places(), part->tcp());
      turns_->release(reader);
      monitor.housekeep(reader.link);
      idle.reset();
      continue;
    }
    std::span<const RawPacket> packets;
    const auto poll = [&] { return !(packets = lane.poll()).empty(); };
    if (Turns::Turn* const turn = turns_->begin(poll, [&] { return lane.done(); })) {
      decode(lane, packets, *staging, *turn);
      turns_->publish(*turn);
      lane.publish(/*last=*/false);
      idle.reset();
      continue;
    }
    monitor.housekeep(reader.link);
    if (!idle.waiting()) lane.rest();
    idle.wait();
  }
  monitor.drain();
  monitor.finish(reader.link);
  lane.publish(/*last=*/true);
  leave(index);
}

/// Decodes several groups at a time: memory just written in parts cannot be read as a whole without a stall.
void Workers::decode(Lane& lane, std::span<const RawPacket> packets, InFlight& staging, Turns::Turn& turn) noexcept {
  constexpr std::size_t kTogether = 8 * kGroup;
  const auto workers = static_cast<std::uint32_t>(lanes_.size());
  while (!packets.empty()) {
    const std::span<const RawPacket> some = packets.first(std::min(kTogether, packets.size()));
    packets = packets.subspan(some.size());
    for (std::size_t at = 0; at < some.size(); at += kGroup)
      lane.front().accept(some.subspan(at, std::min(kGroup, some.size() - at)), staging);
    while (staging.size() != 0) {
      const std::span<const PacketFacts> facts = staging.oldest(staging.size());
      for (std::size_t i = 0; i < facts.size(); ++i)
        turn.add(facts[i], staging.tcp(i), Share::index_of(lane.front().share_hash(facts[i]), workers));
      staging.pop(facts.size());
    }
  }
}

/// Lets lanes that read the same input continue to the furthest of them after a stop, so that the report covers one
/// prefix of the input.
void Workers::level_out(std::size_t index, InFlight& staging) {
  if (!levels_out_) return;
  Lane& lane = *lanes_[index];
  std::uint64_t furthest = furthest_.load();
  while (furthest < lane.reached() && !furthest_.compare_exchange_weak(furthest, lane.reached())) {
  }
  stopped_lanes_.fetch_add(1);
  if (!stop_.load()) return;  // this lane ended by itself, so it is the furthest
  while (stopped_lanes_.load() < lanes_.size()) std::this_thread::sleep_for(kLeftNap);
  lane.end_at(furthest_.load());
  while (!lane.done()) process(index, lane.poll(), staging);
}

/// Keeps a worker whose input has ended answering requests while others go on.
void Workers::leave(std::size_t index) {
  left_.fetch_add(1);
  while (left_.load() < monitors_.size() && !stop_.load(std::memory_order_relaxed)) {
    while (monitors_[index]->housekeep({})) {
    }
    std::this_thread::sleep_for(kLeftNap);
  }
}

/// Passes one batch to the rings. If a ring is full, a source that can wait does so; for any other, the packet is
/// dropped.
void Workers::hand_over(Lane& lane, std::span<const RawPacket> packets, InFlight& staging,
                        std::span<const std::unique_ptr<FactsRing>> rings) noexcept {
  for (std::size_t at = 0; at < packets.size(); at += kGroup) {
    lane.front().accept(packets.subspan(at, std::min(kGroup, packets.size() - at)), staging);
    while (staging.size() != 0) {
      const auto group = staging.oldest(staging.size());
      for (std::size_t i = 0; i < group.size(); ++i) {
        const std::size_t to =
            Share::index_of(lane.front().share_hash(group[i]), static_cast<std::uint32_t>(rings.size()));
        LinkPlace place = staging.place(i);
        place.latest_ns = lane.note_time(std::max(place.latest_ns, group[i].time_ns));
        while (!rings[to]->stage(group[i], place, staging.tcp(i))) {
          for (const auto& ring : rings) ring->flush();  // monitors may be waiting for packets that were not flushed
          if (!lane.lossless()) {
            lane.note_ring_full(1);
            break;
          }
          publish_handed(place);  // an idle monitor must know the link's position, since others may wait for its report
          ::sched_yield();
        }
      }
      staging.pop(group.size());
    }
  }
  for (const auto& ring : rings) ring->flush();
}

/// Publishes that all packets before are in the rings. The position never decreases: several lanes may feed them.
void Workers::publish_handed(LinkPlace link) noexcept {
  handed_position_.store(std::max(link.position, handed_position_.load(std::memory_order_relaxed)),
                         std::memory_order_release);
  handed_ns_.store(std::max(link.latest_ns, handed_ns_.load(std::memory_order_relaxed)), std::memory_order_release);
}

bool Workers::monitor_batch(FlowStage& monitor, FactsRing& ring) noexcept {
  const auto facts = ring.readable(kRingBatch);
  if (facts.empty()) return false;
  monitor.admit(facts, ring.places(facts.size()), ring.tcp(facts.size()));
  ring.release(facts.size());
  return true;
}

void Workers::receive(std::size_t) {
  std::vector<std::unique_ptr<InFlight>> staging;
  for (std::size_t i = 0; i < lanes_.size(); ++i) staging.push_back(std::make_unique<InFlight>());
  Idle idle(options_.busy_poll);
  Arrivals arrivals(lanes_);
  while (!stop_.load(std::memory_order_relaxed)) {
    bool any = false, all_done = true;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      Lane& lane = *lanes_[i];
      const std::span<const RawPacket> packets = lane.poll();
      hand_over(lane, packets, *staging[i], rings_);
      const bool busy = !packets.empty();
      any |= busy;
      all_done &= !busy && lane.done();
      lane.publish(/*last=*/false);
    }
    LinkPlace link;
    for (const auto& lane : lanes_) {
      link.position = std::max(link.position, lane->link().position);
      link.latest_ns = std::max(link.latest_ns, lane->link().latest_ns);
    }
    publish_handed(link);
    if (all_done) break;
    if (any)
      idle.reset();
    else
      arrivals.wait(idle);
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = *lanes_[i];
    if (!stop_.load(std::memory_order_relaxed) || !lane.end_intake()) continue;
    for (auto packets = lane.poll_waiting(); !packets.empty(); packets = lane.poll_waiting())
      hand_over(lane, packets, *staging[i], rings_);
    publish_handed(lane.link());
  }
  for (const auto& lane : lanes_) lane->publish(/*last=*/true);
  receiving_.store(false, std::memory_order_release);
  for (const auto& ring : rings_) ring->wake();
}

void Workers::monitor(std::size_t index) {
  FlowStage& monitor = *monitors_[index];
  FactsRing& ring = *rings_[index];
  BusyClock& clock = monitor_clocks_[index];
  Idle idle(options_.busy_poll);
  LinkPlace now;
  clock.begin();
  for (;;) {
    const bool last_turn = !receiving_.load(std::memory_order_acquire);  // must be read before the ring, like the next
                                                                         // two
    const std::uint64_t handed_ns = handed_ns_.load(std::memory_order_acquire);
    const LinkPlace handed{handed_position_.load(std::memory_order_acquire), handed_ns};
    now = {};
    const bool has_worked = monitor_batch(monitor, ring);
    if (has_worked) {
      idle.reset();
    } else {
      now = handed;
      monitor.drain();
      if (last_turn) break;
      idle.wait([&ring] { ring.sleep(Arrivals::kLongest); });
    }
    if (!keep_house(monitor, now, !has_worked)) idle.stay_awake();
    clock.end_turn(has_worked);  // includes the nap of an idle turn
  }
  clock.end_turn(/*was_work=*/false);
  monitor.finish(now);
  leave(index);
}

}  // namespace parshall
