// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/mailbox.hpp"
#include "base/prefetch.hpp"
#include "engine/batch_flows.hpp"
#include "engine/ended_flows.hpp"
#include "engine/flood_guard.hpp"
#include "engine/flow_stage.hpp"
#include "engine/idle_sweep.hpp"
#include "engine/measurement.hpp"
#include "engine/shedder.hpp"
#include "engine/snapshotter.hpp"
#include "pipeline/flow/key_hash.hpp"

namespace parshall {

/// The monitor over one kind of flow table.
///
/// The rolling pipeline: decode a group of packets; count the group from InFlight::kDistance packets ago, and between
/// its packets ask for the decoded group's buckets and the headers kAhead packets on; ask for the counted group's rows;
/// then measure the batch before that one.
template <FlowTable Table>
class FlowMonitor final : public FlowStage, private FlowSink {
 public:
  explicit FlowMonitor(const FlowStageOptions& options)
      : options_(options),
        table_(options_.flows, options_.timeouts, *this,
               {.populate = options_.populate, .grow_by = options_.grow_by ? &*options_.grow_by : nullptr}),
        ended_(options.ended_ring_bytes, options.statistics.set.get()),
        shedder_(options, measurement_, clock_),
        measurement_(options, table_.slots(), shedder_.sample()),
        sweep_(options.timeouts.idle_ns, options.can_wait),
        observe_merges_(options.observe_merges),
        snapshotter_(Table::kMoves, options.statistics.set.get(), measurement_.state_packets()) {
    if (options.flood_filter_bytes != 0) make_guard();
    if (options.classified_batch != 0) batch_flows_ = std::make_unique<BatchFlows>(options.classified_batch);
    if (measurement_.any()) table_.settle();  // rows are addressed by slot
    use(options.statistics);
    if (options.populate) measurement_.populate_statistics();
    if (options.snapshots) snapshotter_.reserve(table_.slots(), statistics().set.get());
  }

  void run(FrontEnd& front, std::span<const RawPacket> packets) noexcept override {
    run_telling(front, packets, FrontEnd::kUntold);
  }

  void run_classified(FrontEnd& front, std::span<const RawPacket> packets,
                      std::span<ClassId> classes) noexcept override {
    if (!batch_flows_ || !measurement_.classifies()) return FlowStage::run_classified(front, packets, classes);
    std::ranges::fill(classes, kNotClassified);
    drain();
    batch_flows_->clear();
    follows_batch_ = true;
    run_telling(front, packets, [first = packets.data(), flows = batch_flows_.get()](const RawPacket& packet) {
      flows->note_accepted(static_cast<std::size_t>(&packet - first));
    });
    drain();
    follows_batch_ = false;
    batch_flows_->visit([&](std::size_t packet, std::uint32_t slot, const FlowKey& key) {
      if (table_.occupied(slot) && table_.key(slot) == key)
        classes[packet] = measurement_.class_of(slot).value_or(kNotClassified);
    });
  }

  void admit(std::span<const PacketFacts> packets, std::span<const LinkPlace> places,
             std::span<const TcpFacts> tcp) noexcept override {
    for (std::size_t i = 0; i < packets.size(); ++i) {
      if (shedder_.sheds() && !shedder_.takes(packets[i].key)) [[unlikely]] {
        Shedder::Run run;
        shed(packets[i], places[i], run);
        shedder_.end(run, key_of());
        continue;
      }
      in_flight_.next() = packets[i];
      if (!tcp.empty()) in_flight_.next_tcp() = tcp[i];
      in_flight_.push_at(places[i]);
      table_.prefetcher()(packets[i].hash);
      if (in_flight_.size() >= InFlight::kDistance + kGroup) retire(InFlight::kDistance);
    }
  }

  void drain() noexcept override {
    retire(0);
    measurement_.flush(key_of());
  }

  bool housekeep(LinkPlace now) noexcept override {
    const bool more = housekeep_slice(now);
    publish(counts_but_live());
    return more;
  }

  const ControlCounts* control() const noexcept override { return measurement_.control(); }
  bool control_window_ends(LinkPlace now) const noexcept override { return measurement_.control_window_ends(now); }
  void end_control_window(LinkPlace now, const WorkerLoad& load) noexcept override {
    drain();
    WorkerLoad all = load;
    if (guard_) all.kept_out = guard_->filter().kept().packets;
    all.shed = shedder_.packets().packets;
    const std::uint32_t one_in = measurement_.end_control_window(now, all);
    if (shedder_.look_at_one_in(one_in) && !shedder_.sheds()) in_flight_.close_gaps(now.position);
  }

  void finish(LinkPlace now) noexcept override {
    measurement_.finish(now, key_of());
    publish(counts_but_live());
  }

  void request_snapshot(std::uint64_t number) noexcept override { snapshotter_.request(number); }
  Snapshot* snapshot_ready() noexcept override { return snapshotter_.ready(); }

  void request_statistics(StatisticChoice choice) override { wanted_statistics_.leave(std::move(choice)); }

  void visit(const FlowVisitor& visitor) const override {
    for (std::uint32_t slot = 0; slot < table_.slots(); ++slot)
      if (table_.occupied(slot)) visitor(table_.record(slot), measurement_.row(slot));
  }

  MonitorCounts counts() const noexcept override {
    FlowTally counts = ended_.counts();
    for (std::uint32_t slot = 0; slot < table_.slots(); ++slot)
      if (table_.occupied(slot)) counts.count_live(flow_of(table_.record(slot), slot));
    add_flowless(counts);
    counts.complete_bytes();
    return counts;
  }

  StatisticChoice statistics() const override {
    return {measurement_.rows() != nullptr ? measurement_.rows()->set() : nullptr, generation_};
  }

  void stop_waiting() noexcept override { measurement_.stop_waiting(); }
  std::uint64_t dropped_segments() const noexcept override { return measurement_.dropped_segments(); }
  const StageCost* cost(MeasureStage stage) const noexcept override { return measurement_.cost(stage); }
  std::vector<StatePackets> state_packets() const override { return measurement_.state_packets(); }

  const ClassJobs* class_jobs() const noexcept override { return measurement_.class_jobs(); }
  RecordRing& ended() noexcept override { return ended_.ring(); }
  RecordRing& window_messages() noexcept override { return measurement_.messages(); }
  std::uint64_t observed_merges() const noexcept override { return merged_.size(); }

 private:
  static constexpr std::size_t kAhead = 4 * kGroup;  ///< packet headers are asked for this early

  /// Of the group that starts at `at`.
  [[gnu::always_inline]] static void ask_for_headers(std::span<const RawPacket> packets, std::size_t at) noexcept {
    if (at + kGroup <= packets.size()) [[likely]]
      for (std::size_t i = 0; i < kGroup; ++i) prefetch_line(packets[at + i].data);
    else
      for (std::size_t i = at; i < packets.size(); ++i) prefetch_line(packets[i].data);
  }

  /// One step of the steady state: counts the oldest group and asks for the memory of later ones. Returns false, and
  /// does nothing, where the ring holds more or less than that.
  [[gnu::always_inline]] bool roll(const RawPacket* soon) noexcept {
    const PacketFacts* const fresh = in_flight_.newest_group();
    const std::span<const PacketFacts> oldest = in_flight_.oldest(kGroup);
    if (fresh == nullptr || oldest.size() != kGroup || in_flight_.size() != InFlight::kDistance + kGroup) [[unlikely]]
      return false;
    if (filter_ != nullptr) [[unlikely]]
      for (std::size_t i = 0; i < kGroup; ++i) filter_->prefetch(fresh[i].hash);
    count_group(oldest, [=, lines = table_.prefetcher()](std::size_t i) {
      prefetch_line(soon[i].data);
      lines(fresh[i].hash);
    });
    return true;
  }

  /// run(); `tell` as in FrontEnd::accept().
  template <class Tell>
  [[gnu::always_inline]] void run_telling(FrontEnd& front, std::span<const RawPacket> packets, Tell tell) noexcept {
    if (shedder_.sheds()) [[unlikely]]
      return run_sample(front, packets, tell);
    for (std::size_t at = 0; at < kAhead; at += kGroup) ask_for_headers(packets, at);
    for (std::size_t at = 0; at < packets.size(); at += kGroup) {
      const std::size_t fresh =
          front.accept(packets.subspan(at, std::min(kGroup, packets.size() - at)), in_flight_, tell);
      if (fresh == kGroup && at + kAhead + kGroup <= packets.size() && roll(&packets[at + kAhead])) [[likely]]
        continue;
      ask_for_headers(packets, at + kAhead);
      in_flight_.visit_newest(fresh, [lines = table_.prefetcher()](const PacketFacts& facts) { lines(facts.hash); });
      retire(InFlight::kDistance);
    }
  }

  /// The same of one flow in so many.
  template <class Tell>
  [[gnu::noinline]] void run_sample(FrontEnd& front, std::span<const RawPacket> packets, Tell tell) noexcept {
    for (std::size_t at = 0; at < kAhead; at += kGroup) ask_for_headers(packets, at);
    for (std::size_t at = 0; at < packets.size(); at += kGroup) {
      ask_for_headers(packets, at + kAhead);
      Shedder::Run run;
      const std::size_t fresh = front.accept_some(
          packets.subspan(at, std::min(kGroup, packets.size() - at)), in_flight_,
          [sample = shedder_.sample()](const PacketFacts& facts) { return sample->takes(facts.key); },
          [&](const PacketFacts& facts, LinkPlace place) { shed(facts, place, run); }, tell);
      shedder_.end(run, key_of());
      in_flight_.visit_newest(fresh, [lines = table_.prefetcher()](const PacketFacts& facts) { lines(facts.hash); });
      if (in_flight_.size() >= InFlight::kDistance + kGroup) retire(InFlight::kDistance);
    }
  }

  [[gnu::always_inline]] void shed(const PacketFacts& facts, LinkPlace place, Shedder::Run& run) noexcept {
    shedder_.shed(facts, place, run, key_of(), [this] { drain(); });
  }

  /// Counts the oldest packets until `keep` are left in flight.
  [[gnu::noinline]] void retire(std::size_t keep) noexcept {
    while (in_flight_.size() > keep)
      count_group(in_flight_.oldest(std::min(kGroup, in_flight_.size() - keep)), Nothing{});
  }

  template <class Meanwhile>
  [[gnu::always_inline]] void count_group(std::span<const PacketFacts> group, Meanwhile meanwhile) noexcept {
    group_ = group;
    group_measured_ = 0;
    table_.update(group, slots_, meanwhile);
    if (extras_) [[unlikely]]
      after_update(group.size());
    clock_.latest_ns = clock_.counted_ns = group.back().time_ns;
    in_flight_.pop(group.size());
  }

  bool housekeep_slice(LinkPlace now) noexcept {
    if (guard_ && guard_->due(clock_.latest_ns)) end_guard_window();
    measurement_.take_classes();
    const bool more_windows = measurement_.has_windows() && measurement_.housekeep(now, key_of(), [this] { drain(); });
    // Not under a running snapshot: it was laid out for the rows there are.
    if (!snapshotter_.is_copying())
      if (const auto wanted = wanted_statistics_.take()) change_statistics(*wanted);
    // While nothing comes, on a link time goes on.
    const std::uint64_t now_ns = options_.can_wait ? clock_.counted_ns : std::max(clock_.counted_ns, now.latest_ns);
    if (const std::uint32_t lines = sweep_.lines_due(now_ns, table_.buckets())) table_.sweep(now_ns, lines);
    if (snapshotter_.is_wanted()) begin_snapshot();
    if (!snapshotter_.is_copying()) return more_windows;
    copy_slice();
    return snapshotter_.has_any() || more_windows;
  }

  /// Everything that not every run wants: rows, the border of a running snapshot, merges.
  [[gnu::noinline]] void after_update(std::size_t count) noexcept {
    if (observe_merges_ || snapshotter_.has_any())
      for (std::size_t i = group_measured_; i < count; ++i) {
        if (slots_[i].is_kept_out()) continue;
        const std::uint32_t slot = slots_[i].slot();
        if (in_snapshot(slot)) snapshotter_.add_later_packet();
        if (observe_merges_ && !(table_.key(slot) == group_[i].key)) merged_.insert(group_[i].key);
      }
    if (follows_batch_) follow_batch(count);
    if (const bool only_first = only_first_ && !measurement_.class_jobs_wait(); measurement_.any())
      for (std::size_t i = group_measured_; i < count; ++i)
        if (!only_first || slots_[i].may_be_first())
          measurement_.add(slots_[i], group_[i], in_flight_.place(i), in_flight_.tcp(i), key_of());
    group_measured_ = count;
  }

  [[gnu::noinline]] void follow_batch(std::size_t count) noexcept {
    for (std::size_t i = group_measured_; i < count; ++i) {
      if (slots_[i].is_kept_out()) {
        batch_flows_->note_kept_out();
        continue;
      }
      const std::uint32_t slot = slots_[i].slot();
      measurement_.prefetch(slot);
      batch_flows_->note_counted(slot, table_.key(slot));
    }
  }

  void make_guard() {
    guard_ = std::make_unique<FloodGuard>(
        options_.flood_filter_bytes, options_.control ? options_.control->packet.new_flow_ns : FloodSwitch::kInsertNs);
    if (options_.populate) guard_->filter().populate();
  }

  void end_guard_window() noexcept {
    const FloodLoad load{clock_.latest_ns, in_flight_.pushed() - in_flight_.size(), table_.begun()};
    const bool on = guard_->end_window(load, measurement_.packet_ns().value_or(FloodGuard::kPacketNs));
    filter_ = on ? &guard_->filter() : nullptr;
    table_.filter_by(filter_);
  }

  MeasuredFlow flow_of(const FlowRecord& record, std::uint32_t slot) const noexcept {
    const bool counts_classes = ended_.counts().has_classes();
    return {record, measurement_.row(slot),
            counts_classes ? measurement_.class_of(slot).value_or(kNotClassified) : kNotClassified};
  }

  /// What came, and what of it came to no flow.
  void add_flowless(MonitorCounts& counts) const noexcept {
    counts.set(Counter::arrived, in_flight_.pushed() + shedder_.packets().packets);
    counts.set(Counter::table_lines, table_.buckets());
    counts.add_shed(shedder_.packets());
    if (guard_) guard_->add_to(counts);
  }

  /// All that takes no walk over the table.
  MonitorCounts counts_but_live() const noexcept {
    MonitorCounts counts(static_cast<const Counters&>(ended_.counts()));  // no classes: they would be allocated
    add_flowless(counts);
    using enum Counter;
    counts.set(live_flow_packets,
               counts[arrived] - counts[ended_record_packets] - counts[kept_out_packets] - counts[shed_packets]);
    return counts;
  }

  /// The record's row must hold all of its packets, those of the current group too.
  void flow_ended(const FlowRecord& record, std::uint32_t slot, std::size_t counted) noexcept override {
    if (extras_) {
      after_update(counted);
      measurement_.flush(key_of());
    }
    measurement_.flow_ended(slot, record.key);
    const MeasuredFlow flow = flow_of(record, slot);
    ended_.add(flow, snapshotter_.flow_ended(flow, in_snapshot(slot)), generation_);
  }

  void flow_ends_soon(std::uint32_t slot) noexcept override { measurement_.prefetch(slot); }

  /// The row goes with the flow, and so does whether the running snapshot has it.
  void flow_moved(std::uint32_t from, std::uint32_t to, std::size_t counted) noexcept override {
    if (!extras_) return;
    after_update(counted);
    measurement_.flush(key_of());
    measurement_.flow_moved(from, to, table_.key(to));
    if (follows_batch_) batch_flows_->note_moved(from, to, table_.key(to));
    if (snapshotter_.has_any() && snapshotter_.flow_moved(from, to)) copy_flow(to);
  }

  void use(const StatisticChoice& choice) {
    if (choice.set && choice.set->row_bytes() != 0) table_.settle();  // rows are addressed by slot
    measurement_.use(choice.set);
    table_.first_packets(measurement_.first_packets());
    only_first_ = measurement_.first_packets() != 0;
    generation_ = choice.generation;
    update_extras();
  }

  void change_statistics(const StatisticChoice& choice) noexcept {
    measurement_.flush(key_of());
    try {
      use(choice);
    } catch (const std::bad_alloc&) {
      update_extras();  // no memory for the rows: their columns are absent, the counters go on
    }
  }

  void update_extras() noexcept { extras_ = measurement_.any() || observe_merges_ || snapshotter_.has_any(); }

  auto key_of() const noexcept {
    return [table = &table_](std::uint32_t slot) { return table->key(slot); };
  }

  void begin_snapshot() noexcept {
    measurement_.flush(key_of());  // the rows may go
    table_.settle();               // slots are copied one after the other
    if (snapshotter_.begin(table_.slots(), statistics())) return;
    measurement_.drop_statistics();  // no memory for a copy of the rows: their columns are absent, the counters go on
    update_extras();
    snapshotter_.begin(table_.slots(), statistics());
  }

  void copy_slice() noexcept {
    drain();
    snapshotter_.advance([this](std::uint32_t slot) {
      if (table_.occupied(slot)) copy_flow(slot);
    });
    if (snapshotter_.has_all()) finish_snapshot();
    update_extras();
  }

  void copy_flow(std::uint32_t slot) noexcept { snapshotter_.copy(flow_of(table_.record(slot), slot)); }

  void finish_snapshot() noexcept {
    MonitorCounts flowless;
    add_flowless(flowless);
    measurement_.fill(snapshotter_.states());
    snapshotter_.finish(ended_.counts(), flowless);
  }

  /// Whether what comes to the slot now is later than the running snapshot.
  bool in_snapshot(std::uint32_t slot) const noexcept { return snapshotter_.has<Table::kMoves>(slot); }

  FlowStageOptions options_;
  Table table_;
  InFlight in_flight_;
  FloodFilter* filter_ = nullptr;  ///< while it is on
  std::array<SlotRef, kGroup> slots_;
  std::span<const PacketFacts> group_;
  std::size_t group_measured_ = 0;  ///< packets of group_ that after_update() has seen
  PacketClock clock_;
  bool extras_ = false;
  bool only_first_ = false;  ///< later packets of a flow than its first ones have nothing to measure

  std::unique_ptr<BatchFlows> batch_flows_;  ///< null: nobody asks for the classes of packets
  bool follows_batch_ = false;               ///< during run_classified()

  std::unique_ptr<FloodGuard> guard_;  ///< null: every flow comes into the table
  EndedFlows ended_;
  Shedder shedder_;
  Measurement measurement_;
  std::uint64_t generation_ = 0;
  Mailbox<StatisticChoice> wanted_statistics_;

  IdleSweep sweep_;

  bool observe_merges_;
  std::unordered_set<FlowKey, KeyHash> merged_;

  Snapshotter snapshotter_;
};

}  // namespace parshall
