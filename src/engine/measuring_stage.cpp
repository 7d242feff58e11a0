// SPDX-License-Identifier: Apache-2.0
#include "engine/measuring_stage.hpp"

namespace parshall {
namespace {

std::unique_ptr<FloodGuard> make_guard(const FlowStageOptions& options) {
  if (options.flood_filter_bytes == 0) return nullptr;
  // Where a policy assumes other costs of a packet, those of starting a flow are in proportion.
  const double base_ns = options.control ? options.control->setup.base_ns : 0;
  const double insert_ns = FloodSwitch::kInsertNs * (base_ns > 0 ? base_ns / FloodGuard::kPacketNs : 1);
  auto guard = options.flood_filter_for_room
                   ? std::make_unique<FloodGuard>(options.flood_filter_bytes, options.flows, options.windows)
                   : std::make_unique<FloodGuard>(options.flood_filter_bytes, insert_ns);
  if (options.populate) guard->filter().populate();
  return guard;
}

}  // namespace

MeasuringStage::MeasuringStage(const FlowStageOptions& options, std::uint32_t slots, bool flows_move)
    : can_wait_(options.can_wait),
      reads_answers_(options.address_names != nullptr),
      observe_merges_(options.observe_merges),
      batch_flows_(options.classified_batch != 0 ? std::make_unique<BatchFlows>(options.classified_batch) : nullptr),
      guard_(make_guard(options)),
      bytes_(options.counts_bytes ? std::optional<ByteSum>(std::in_place) : std::nullopt),
      ended_(options.ended_ring_bytes, options.statistics.set.get()),
      measure_stage_(options, slots),
      sweep_(options.timeouts.shortest_quiet_ns(), options.can_wait),
      snapshotter_(flows_move, options.statistics.set.get(), measure_stage_.state_packets()) {}

void MeasuringStage::end_control_window(LinkPlace now, const WorkerLoad& load) noexcept {
  drain();
  WorkerLoad all = load;
  if (guard_) all.kept_out = guard_->filter().kept().packets;
  measure_stage_.end_control_window(now, all);
}

StatisticChoice MeasuringStage::statistics() const { return {measure_stage_.statistics(), generation_}; }

TalliedFlow MeasuringStage::tally_of(FlowRecord& record, std::uint32_t slot) const noexcept {
  if (const Biflows* const biflows = measure_stage_.biflows()) {
    biflows->divide(record, slot);
    slot = biflows->source_row(slot);
  }
  const bool counts_classes = ended_.counts().has_classes();
  return {record, {}, counts_classes ? measure_stage_.told_class(slot) : kNotClassified};
}

TalliedFlow MeasuringStage::flow_of(FlowRecord& record, std::uint32_t slot) const noexcept {
  TalliedFlow flow = tally_of(record, slot);
  flow.row = measure_stage_.row(slot);
  return flow;
}

void MeasuringStage::end_rows(std::uint32_t slot, const FlowRecord& record) noexcept {
  const EndReason reason = record.end_reason;
  if (measure_stage_.biflows() == nullptr) return measure_stage_.flow_ended(slot, reason);
  measure_stage_.flow_ended(Biflows::row_of(slot, false), reason);
  measure_stage_.flow_ended(Biflows::row_of(slot, true), reason);
}

void MeasuringStage::go_on(std::uint32_t slot, const FlowRecord& ended) noexcept {
  const Biflows* const biflows = measure_stage_.biflows();
  measure_stage_.flow_goes_on(biflows != nullptr ? biflows->source_row(slot) : slot, ended);
}

void MeasuringStage::move_rows(std::uint32_t from, std::uint32_t to) noexcept {
  if (measure_stage_.biflows() == nullptr) return measure_stage_.flow_moved(from, to);
  measure_stage_.biflow_moved(from, to);
  measure_stage_.flow_moved(Biflows::row_of(from, false), Biflows::row_of(to, false));
  measure_stage_.flow_moved(Biflows::row_of(from, true), Biflows::row_of(to, true));
}

void MeasuringStage::prefetch_rows(std::uint32_t slot) const noexcept {
  if (measure_stage_.biflows() == nullptr) return measure_stage_.prefetch(slot);
  measure_stage_.prefetch(Biflows::row_of(slot, false));
  measure_stage_.prefetch(Biflows::row_of(slot, true));
}

void MeasuringStage::add_flowless(StageCounts& counts, std::size_t table_lines) const noexcept {
  counts.set(Counter::arrived, in_flight_.pushed());
  counts.set(Counter::table_lines, table_lines);
  if (guard_) guard_->add_to(counts);
}

StageCounts MeasuringStage::counts_but_live(std::size_t table_lines, std::size_t live_flows) const noexcept {
  StageCounts counts(static_cast<const Counters&>(ended_.counts()));  // without classes, which would be allocated
  add_flowless(counts, table_lines);
  counts.set(Counter::live_flow_packets,
             counts[Counter::arrived] - counts[Counter::ended_record_packets] - counts[Counter::kept_out_packets]);
  counts.set(Counter::live_flows, live_flows);
  if (bytes_) {
    counts.set(Counter::ip_bytes, bytes_->ip_bytes());
    counts.set(Counter::wire_bytes, bytes_->wire_bytes());
  }
  return counts;
}

void MeasuringStage::publish_now_and_then(std::size_t table_lines, std::size_t live_flows) noexcept {
  constexpr std::uint64_t kPublishEvery = 4096;  // packets
  const std::uint64_t arrived = in_flight_.pushed();
  if (arrived != std::exchange(arrived_, arrived) && arrived - published_at_ < kPublishEvery) return;
  publish(counts_but_live(table_lines, live_flows));
  published_at_ = arrived;
}

FloodFilter* MeasuringStage::end_guard_window(std::uint64_t begun, std::uint64_t live) noexcept {
  const FloodLoad load{latest_ns_, in_flight_.pushed() - in_flight_.size(), begun, measure_stage_.evicted(), live};
  const bool on = guard_->end_window(load, measure_stage_.packet_ns().value_or(FloodGuard::kPacketNs));
  filter_ = on ? &guard_->filter() : nullptr;
  sees_part(on);
  return filter_;
}

void MeasuringStage::use_statistics(const StatisticChoice& choice) {
  measure_stage_.use(choice.set);
  only_first_ = measure_stage_.first_packets() != 0;
  generation_ = choice.generation;
  update_extras();
}

void MeasuringStage::finish_snapshot(std::size_t table_lines) noexcept {
  StageCounts flowless;
  add_flowless(flowless, table_lines);
  measure_stage_.fill(snapshotter_.states());
  snapshotter_.finish(ended_.counts(), flowless);
}

}  // namespace parshall
