// SPDX-License-Identifier: Apache-2.0
// Memory that a session maps, and the tables and rows in it.
#include <algorithm>
#include <bit>

#include "engine/biflows.hpp"
#include "engine/event_queue.hpp"
#include "engine/measure_stage.hpp"
#include "engine/packet_counter.hpp"
#include "engine/recall_board.hpp"
#include "engine/session.hpp"

namespace parshall {
namespace {

/// Waiting records: those being reported and newer ones, each twice if no file can be written.
constexpr std::uint64_t kSpoolMemoryBytes = 4 * SpoolLimits().memory_bytes;

/// Returns the memory of findings and recalls on their way to a consumer.
std::uint64_t findings_bytes(const SessionOptions& options) noexcept {
  if (options.stage.windows.empty()) return 0;
  const RecallBoard* const recalls = options.stage.control ? options.stage.control->recalls.get() : nullptr;
  return EventQueue::memory_bytes() +
         (recalls != nullptr && recalls->windows ? FindingQueue<WindowRecall>::memory_bytes() : 0);
}

}  // namespace

bool SessionOptions::follows_tcp() const noexcept { return std::ranges::any_of(stage.findings, &FindingNeeds::tcp); }

std::uint64_t Session::memory_bytes(const SessionOptions& options, const Schema& schema) {
  if (options.table == nullptr) return 0;
  const std::size_t slots = options.table->slots(options.stage.flows);
  std::uint64_t bytes =
      options.table->memory_bytes(options.stage.flows) + std::bit_ceil(options.stage.ended_ring_bytes);
  if (options.snapshots) bytes += slots * (sizeof(RecordHeader) + schema.statistics()->row_bytes());
  if (!options.stage.windows.empty()) bytes += std::bit_ceil(options.stage.window_ring_bytes);
  const std::size_t rows = options.stage.biflow ? Biflows::rows_for(slots) : slots;
  if (options.stage.biflow) bytes += Biflows::memory_bytes(slots);
  bytes += MeasureStage::row_memory_bytes(options.stage, rows);
  if (schema.statistics()->direction_row_bytes() != 0)
    bytes += FlowRows::memory_bytes(*schema.statistics(), rows, options.stage.can_wait);
  if (schema.statistics()->both())
    bytes += FlowRows::memory_bytes(*schema.statistics()->both(), slots, options.stage.can_wait);
  if (options.threads.model != ThreadModel::run_to_completion)
    bytes += std::bit_ceil(options.threads.ring_packets) *
             (sizeof(PacketFacts) + sizeof(LinkPlace) + (options.reads_headers() ? sizeof(TcpFacts) : 0));
  if (options.stage.flood_filter_bytes != 0) bytes += FloodFilter::memory_bytes();
  const std::uint64_t class_rings =
      options.classifiers == 0 ? 0 : std::max(options.classifiers, options.workers) * ClassJobRing::kMemoryBytes;
  const std::uint64_t shared = options.stage.states ? options.stage.states->memory_bytes() : 0;
  const std::uint64_t names =
      (options.stage.address_names ? AddressNames::kMostBytes : 0) + (options.labeller ? Labeller::kMostBytes : 0);
  const FlowClass* const classes = schema.statistics()->flow_class();
  const std::uint64_t model = classes == nullptr ? 0 : classes->classifier()->memory_bytes();
  const std::uint64_t flows = options.workers * slots;
  const std::uint64_t bases =
      schema.needs_interval() && options.snapshots ? IntervalBases::memory_bytes(most_reported(options)) : 0;
  const std::uint64_t merger = options.workers > 1 && options.threads.model != ThreadModel::pipeline
                                   ? FlowMerger::memory_bytes(flows)
                                   : 0;  // it may not be needed
  return options.workers * bytes + class_rings + model + shared + names + bases + merger + findings_bytes(options) +
         kSpoolMemoryBytes;
}

std::uint64_t Session::most_reported(const SessionOptions& options) noexcept {
  if (options.table == nullptr) return 0;
  const std::size_t flows = options.stage.flows;
  return options.workers * IntervalBases::most_flows(flows, options.table->slots(flows));
}

bool Session::tables_grow(const SessionOptions& options, const Schema& schema, bool can_wait) noexcept {
  return can_wait && !options.snapshots && !options.stage.observe_merges && options.identity != Identity::nic_hash &&
         !schema.statistics()->classifies() && options.stage.windows.empty() && !options.stage.tracks_flows();
}

Session::Stages Session::make_stages(const SessionOptions& options, const Schema& schema, bool can_wait) {
  FlowStageOptions stage = options.stage;
  stage.statistics = {schema.statistics(), 0};
  stage.snapshots = options.snapshots;
  stage.populate = !can_wait;
  stage.can_wait = can_wait;
  if (can_wait) stage.control = nullptr;
  stage.seed = options.seed;
  if (!options.threads.marking.empty()) stage.classified_batch = options.batch;
  if (tables_grow(options, schema, can_wait))
    stage.grow_by = FlowIdentity(options.key, options.identity, options.seed, options.hash);
  Stages stages;
  std::optional<CommitLater> later;
  if (!options.commits_first) later.emplace();
  for (std::size_t i = 0; i < options.workers; ++i) {
    stage.class_rings = class_rings_of(i, options.workers, options.classifiers);
    stages.workers.push_back(options.table == nullptr ? std::make_unique<PacketCounter>() : options.table->make(stage));
  }
  if (later) stages.memory = later->take();
  return stages;
}

}  // namespace parshall
