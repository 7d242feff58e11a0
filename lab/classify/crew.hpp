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
#include "lab/classify/shape.hpp"
#include "lab/rivals/classifier_threads.hpp"

namespace parshall::lab {

struct CrewOptions {
  const ClassifyShape* shape = nullptr;  ///< not null
  Placement placement = Placement::chain;
  std::vector<unsigned> cores;        ///< cores that may be used
  const TableEntry* table = nullptr;  ///< not null
  std::size_t flows = 1 << 20;        ///< capacity of each chain's table
  Timeouts timeouts;
  std::shared_ptr<const Classifier> classifier;  ///< not null
  std::size_t ring_packets = 65536;              ///< ring between the sniffing and the flow handling thread
  std::size_t ring_jobs = ClassJobRing::kJobs;
  std::uint64_t seed = 1;
};

/// Results for one chain's packets.
struct ChainRun {
  Accounting accounting;
  std::vector<ClassCounts> classes;
  ClassJobCounts jobs;
  std::uint64_t classified = 0;          ///< flows with a class
  std::uint64_t classified_packets = 0;  ///< packets of these flows
  std::uint64_t told = 0;                ///< flows of these that threads classified before the flow was read
};

struct CrewRun {
  std::vector<ChainRun> chains;
  double sniffing_s = 0;                             ///< until the sniffing threads had ended
  double seconds = 0;                                ///< until all threads had ended
  std::array<std::vector<double>, kModules> cpu_ns;  ///< by module and thread
  std::uint64_t resident_bytes = 0;                  ///< memory of the process at the end

  /// Returns a sum over all chains.
  template <class Of>
  std::uint64_t sum(Of of) const {
    std::uint64_t all = 0;
    for (const ChainRun& chain : chains) all += of(chain);
    return all;
  }
};

/// Threads of a classifying system over given queues, made of the same parts as a session. They sleep while little
/// comes, so that their CPU time shows the amount of work. Records of ended flows are dropped.
///
/// One crew runs once.
class ClassifyCrew {
 public:
  /// Takes all queues of the first interface, then those of the next. Allocates all memory. Throws std::bad_alloc.
  ClassifyCrew(CrewOptions options, std::vector<std::unique_ptr<PacketSource>> queues);
  ~ClassifyCrew();

  /// Runs for this long, or until no queue has any packet left. Error: a thread cannot be started or pinned, or an
  /// account does not balance. For each chain, polled = ring full + in no flow + counted, and counted = in live flows +
  /// in ended records.
  Result<CrewRun> run(std::chrono::nanoseconds how_long);

  /// Returns the most memory of all chains' tables, rows and rings.
  static std::uint64_t memory_bytes(const CrewOptions& options);

 private:
  struct Queue {
    Queue(std::unique_ptr<Lane> own_lane, std::size_t ring_packets) : lane(std::move(own_lane)), ring(ring_packets) {}

    std::unique_ptr<Lane> lane;
    FactsRing ring;
    std::atomic<bool> receiving{true};
  };
  struct Chain {
    std::unique_ptr<FlowStage> stage;
    std::optional<ClassifierThreads> classifiers;
    std::mutex lock;  ///< lock of the stage, if queues share it
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
