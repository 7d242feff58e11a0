// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/tables.hpp"
#include "engine/worker.hpp"
#include "lab/classifier_threads.hpp"
#include "lab/classify_shape.hpp"

namespace parshall::lab {

struct CrewOptions {
  const ClassifyShape* shape = nullptr;  ///< not null
  Placement placement = Placement::chain;
  std::vector<unsigned> cores;        ///< that may be used
  const TableEntry* table = nullptr;  ///< not null
  std::size_t flows = 1 << 20;        ///< of each chain's table
  Timeouts timeouts;
  std::shared_ptr<const Classifier> classifier;  ///< not null
  std::size_t ring_packets = 65536;              ///< between a thread that sniffs and one that handles flows
  std::size_t ring_jobs = ClassJobRing::kJobs;
  std::uint64_t seed = 1;
};

/// What became of one chain's packets.
struct ChainRun {
  Accounting accounting;
  std::vector<ClassCounts> classes;
  ClassJobCounts jobs;
  std::uint64_t classified = 0;          ///< flows that have a class
  std::uint64_t classified_packets = 0;  ///< of these
  std::uint64_t told = 0;                ///< of these, told by threads before anybody read the flow
};

struct CrewRun {
  std::vector<ChainRun> chains;
  double sniffing_s = 0;                             ///< until the threads that sniff had ended
  double seconds = 0;                                ///< until all had
  std::array<std::vector<double>, kModules> cpu_ns;  ///< by module and thread
  std::uint64_t resident_bytes = 0;                  ///< of the process, in the end

  /// Over all chains.
  template <class Of>
  std::uint64_t sum(Of of) const {
    std::uint64_t all = 0;
    for (const ChainRun& chain : chains) all += of(chain);
    return all;
  }
};

/// The threads of a classifying system over given queues, made of the parts that a session is made of. While little or
/// nothing comes they sleep, so that their CPU time says how much they have to do. Records of ended flows are dropped.
///
/// One crew runs once.
class ClassifyCrew {
 public:
  /// Of each interface all of its queues, and then the next interface's. Takes all memory. Throws std::bad_alloc.
  ClassifyCrew(CrewOptions options, std::vector<std::unique_ptr<PacketSource>> queues);
  ~ClassifyCrew();

  /// For so long, or until no queue has any packet more. An error: what cannot be started or pinned, and an account
  /// that does not balance: packets of a chain have to be polled = ring full + of no flow + counted, and counted = in
  /// live flows + in ended records.
  Result<CrewRun> run(std::chrono::nanoseconds how_long);

  /// Of all chains' tables, rows and rings, at most.
  static std::uint64_t memory_bytes(const CrewOptions& options);

 private:
  struct Queue {
    Queue(std::unique_ptr<Lane> own_lane, std::size_t ring_packets) : lane(std::move(own_lane)), ring(ring_packets) {}

    std::unique_ptr<Lane> lane;
    FactsRing ring;
    std::atomic<bool> receiving{true};
  };
  struct Chain {
    std::unique_ptr<FlowStage> monitor;
    std::optional<ClassifierThreads> classifiers;
    std::mutex lock;  ///< of the monitor, where queues share it
  };

  std::optional<Error> start();
  void launch(Module module, void (ClassifyCrew::*body)(std::size_t), std::size_t queue);
  unsigned core_of(std::size_t queue) const noexcept;
  void sniff(std::size_t queue);
  void handle(std::size_t queue);
  void handle_batch(Chain& chain, FactsRing& ring, std::span<const PacketFacts> facts) noexcept;
  void do_all(std::size_t queue);
  void hand_over(Queue& queue, std::span<const RawPacket> packets, InFlight& staging) noexcept;
  void keep_house(Chain& chain) noexcept;
  std::unique_lock<std::mutex> locked(Chain& chain) const;
  void end_threads();
  Result<CrewRun> account();

  CrewOptions options_;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<std::unique_ptr<Chain>> chains_;
  std::vector<std::thread> threads_;
  std::atomic<bool> go_{false}, stop_{false};
  std::atomic<std::size_t> sniffing_{0};
  std::mutex cpu_lock_;
  CrewRun run_;
};

}  // namespace parshall::lab
