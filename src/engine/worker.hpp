// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/doorbell.hpp"
#include "base/result.hpp"
#include "base/spsc_ring.hpp"
#include "engine/flow_stage.hpp"
#include "engine/input.hpp"
#include "engine/lane.hpp"
#include "engine/marking.hpp"
#include "engine/threads.hpp"
#include "engine/turns.hpp"

namespace parshall {

/// Distribution of the stages over threads.
enum class ThreadModel : std::uint8_t {
  run_to_completion,  ///< one thread per worker does everything; best throughput per core
  pipeline,           ///< one receive thread, then a ring and a flow thread per worker; absorbs bursts
  cooperative,        ///< the same two stages take turns on one thread, as FloWatcher-DPDK's L-threads do
};

struct ThreadOptions {
  ThreadModel model = ThreadModel::run_to_completion;
  Scheduler scheduler = Scheduler::other;
  std::vector<unsigned> cores;       ///< cores to pin threads to, in rotation; empty: not pinned
  std::size_t ring_packets = 65536;  ///< ring between receive and flow thread
  bool busy_poll = false;            ///< never sleep, even when nothing comes for a millisecond
  MarkingPlan marking = {};          ///< marks of forwarded packets
};

/// Queue of decoded packets.
class FactsRing {
 public:
  /// `with_tcp`: the front end also decodes TCP headers.
  explicit FactsRing(std::size_t packets, bool with_tcp = false)
      : facts_(packets), places_(packets), tcp_(with_tcp ? packets : 1), with_tcp_(with_tcp) {}

  bool stage(const PacketFacts& facts, LinkPlace at, const TcpFacts& tcp) noexcept {
    PacketFacts* const place = facts_.stage();
    if (place == nullptr) return false;
    *place = facts;
    *places_.stage() = at;
    if (with_tcp_) *tcp_.stage() = tcp;
    return true;
  }
  /// Flushes positions first, and so does release(): a thread that sees a packet, or room for one, must see its
  /// position.
  void flush() noexcept {
    if (with_tcp_) tcp_.flush();
    places_.flush();
    if (facts_.flush()) wake();
  }
  void wake() noexcept { bell_.ring(); }

  /// Lets the reader sleep until something was flushed, for `most` at most.
  void sleep(std::chrono::milliseconds most) {
    bell_.sleep(most, [this] { return !facts_.empty(); });
  }

  /// Returns true if the reader has finished everything that was flushed. Any thread.
  bool empty() const noexcept { return facts_.empty(); }

  std::span<const PacketFacts> readable(std::size_t most) noexcept { return facts_.readable(most); }
  std::span<const LinkPlace> places(std::size_t count) noexcept { return places_.readable(count); }
  std::span<const TcpFacts> tcp(std::size_t count) noexcept { return tcp_.readable(with_tcp_ ? count : 0); }
  void release(std::size_t count) noexcept {
    if (with_tcp_) tcp_.release(count);
    places_.release(count);
    facts_.release(count);
  }

 private:
  SpscRing<PacketFacts> facts_;
  SpscRing<LinkPlace> places_;
  SpscRing<TcpFacts> tcp_;
  Doorbell bell_;
  bool with_tcp_;
};

/// Threads of a run, which connect the five stages.
class Workers {
 public:
  /// Run to completion and cooperative have one lane per stage. In a pipeline, all lanes feed all stages. Packets
  /// are forwarded if a lane's source has a forwarder, by run to completion only. If lanes know their position in the
  /// input, a stop ends them all at the same packet.
  Workers(std::vector<std::unique_ptr<Lane>> lanes, std::vector<std::unique_ptr<FlowStage>> stages,
          ThreadOptions options, Dealing dealing);
  ~Workers();

  /// Starts the threads. Error: a core or a scheduling class is refused; nothing runs then.
  std::optional<Error> start();
  void stop() noexcept {
    stop_.store(true, std::memory_order_relaxed);
    for (const auto& stage : stages_) stage->stop_waiting();
  }
  std::size_t threads() const noexcept { return stages_.size() + (options_.model == ThreadModel::pipeline ? 1 : 0); }
  /// Returns true if all lanes wait between two intervals (ReadLimits::pause_every_ns), and all packets before are in
  /// the flows.
  bool paused() const noexcept;
  void go_on() noexcept {
    for (const auto& lane : lanes_) lane->go_on();
  }
  bool finished() const noexcept { return running_.load(std::memory_order_acquire) == 0; }
  void join();

  std::span<const std::unique_ptr<Lane>> lanes() const noexcept { return lanes_; }
  std::span<const std::unique_ptr<FlowStage>> stages() const noexcept { return stages_; }
  /// Returns one clock by stage, if stages have threads of their own.
  std::span<const BusyClock> stage_clocks() const noexcept { return stage_clocks_; }
  /// Returns one marker by lane; null if its packets are not forwarded.
  std::span<const std::unique_ptr<Marker>> markers() const noexcept { return markers_; }

 private:
  void launch(const char* name, void (Workers::*body)(std::size_t), std::size_t index);
  void work(std::size_t index);
  void work_in_turns(std::size_t index);
  void receive(std::size_t index);
  void run_stage(std::size_t index);

  void publish_handed(LinkPlace link) noexcept;
  void level_out(std::size_t index, InFlight& staging);
  void leave(std::size_t index, std::uint64_t last_ns);
  void process(std::size_t index, std::span<const RawPacket> packets, InFlight& staging) noexcept;

  void hand_over(Lane& lane, std::span<const RawPacket> packets, InFlight& staging,
                 std::span<const std::unique_ptr<FactsRing>> rings) noexcept;
  void decode(Lane& lane, std::span<const RawPacket> packets, InFlight& staging, Turns::Turn& turn) noexcept;
  bool admit_batch(FlowStage& stage, FactsRing& ring) noexcept;

  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::unique_ptr<FlowStage>> stages_;
  std::vector<std::unique_ptr<Marker>> markers_;
  std::vector<BusyClock> stage_clocks_;
  ThreadOptions options_;
  bool levels_out_;  ///< lanes end at the same packet at a stop
  std::vector<std::unique_ptr<FactsRing>> rings_;
  std::optional<Turns> turns_;  ///< set if lanes take turns
  std::vector<std::thread> threads_;
  std::atomic<bool> stop_{false}, go_{false};
  std::atomic<bool> receiving_{true};
  std::atomic<int> running_{0};
  std::atomic<std::size_t> stopped_lanes_{0}, left_{0};
  std::atomic<std::uint64_t> latest_ns_{0};                       ///< latest time that finished stages returned
  std::atomic<std::uint64_t> handed_position_{0}, handed_ns_{0};  ///< packets up to here are in the rings
  std::atomic<std::uint64_t> furthest_{0};                        ///< Lane::reached() of the lane that read most
};

}  // namespace parshall
