// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <new>
#include <span>

#include "base/prefetch.hpp"
#include "engine/measuring_stage.hpp"
#include "engine/own_table.hpp"
#include "pipeline/decode/application/dns.hpp"

namespace parshall {

/// Flow stage over one type of flow table.
///
/// The rolling pipeline has four steps. It decodes a group of packets. It counts the group from InFlight::kDistance
/// packets ago; between these packets it prefetches the decoded group's buckets, and headers kAhead packets on. It
/// prefetches the rows of the counted group. Then it measures the batch before that one.
template <FlowTable Table>
class TableStage final : private OwnTable<Table>, public MeasuringStage, private FlowSink {
 public:
  explicit TableStage(const FlowStageOptions& options)
      : OwnTable<Table>(options, *this),
        MeasuringStage(options, static_cast<std::uint32_t>(Table::slots_for(options.flows)), Table::kMoves) {
    use(options.statistics);
    if (options.populate) measure_stage_.populate_statistics();
    if (options.snapshots) snapshotter_.reserve(table_.slots(), statistics().set.get());
  }

  void run(FrontEnd& front, std::span<const RawPacket> packets) noexcept override {
    run_telling(front, packets, FrontEnd::kUntold);
    if (measure_stage_.reads_payloads()) [[unlikely]]
      drain();  // the packets are no longer there after that
  }

  void run_classified(FrontEnd& front, std::span<const RawPacket> packets,
                      std::span<ClassId> classes) noexcept override {
    if (!batch_flows_ || !measure_stage_.classifies()) return FlowStage::run_classified(front, packets, classes);
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
        classes[packet] = measure_stage_.class_of(slot).value_or(kNotClassified);
    });
  }

  void admit(std::span<const PacketFacts> packets, std::span<const LinkPlace> places,
             std::span<const TcpFacts> tcp) noexcept override {
    for (std::size_t i = 0; i < packets.size(); ++i) {
      in_flight_.next() = packets[i];
      if (!tcp.empty()) in_flight_.next_tcp() = tcp[i];
      in_flight_.next_raw() = nullptr;
      in_flight_.push_at(places[i]);
      table_.prefetcher()(packets[i].hash);
      if (in_flight_.size() >= InFlight::kDistance + kGroup) retire(InFlight::kDistance);
    }
  }

  void drain() noexcept override {
    retire(0);
    measure_stage_.flush(key_of());
  }

  bool housekeep(LinkPlace now) noexcept override {
    const bool more = housekeep_slice(now);
    publish_now_and_then(table_.buckets(), table_.size());
    return more;
  }

  std::uint64_t finish(LinkPlace now) noexcept override {
    measure_stage_.finish(now);
    publish(counts_but_live(table_.buckets(), table_.size()));
    std::uint64_t latest_ns = std::max(now.latest_ns, latest_ended_ns_);
    if (can_wait_ && table_.ends_quiet())
      for (std::uint32_t slot = 0; slot < table_.slots(); ++slot)
        if (table_.occupied(slot)) latest_ns = std::max(latest_ns, table_.record(slot).last_ns);
    return latest_ns;
  }

  void end_quiet(std::uint64_t now_ns) noexcept override {
    if (!can_wait_) return;  // so many records at once could be lost at an output, and devices differ in time
    table_.sweep(now_ns, static_cast<std::uint32_t>(table_.buckets()));
    table_.sweep(now_ns, 0);  // those whose end waits for the next sweep
    publish(counts_but_live(table_.buckets(), table_.size()));
  }

  void visit(const FlowVisitor& visitor) const override {
    for (std::uint32_t slot = 0; slot < table_.slots(); ++slot) visit_slot(slot, visitor);
  }
  std::uint32_t slots() const noexcept override { return static_cast<std::uint32_t>(table_.slots()); }
  void visit_slot(std::uint32_t slot, const FlowVisitor& visitor) const override {
    if (!table_.occupied(slot)) return;
    FlowRecord record = table_.record(slot);
    visitor(record, flow_of(record, slot).row);
  }

  StageCounts counts() const noexcept override {
    FlowTally counts = ended_.counts();
    for (std::uint32_t slot = 0; slot < table_.slots(); ++slot)
      if (table_.occupied(slot)) {
        FlowRecord record = table_.record(slot);
        counts.count_live(tally_of(record, slot));
      }
    add_flowless(counts, table_.buckets());
    counts.complete_bytes();
    return counts;
  }

 private:
  using OwnTable<Table>::table_;

  static constexpr std::size_t kAhead = 4 * kGroup;  ///< packet headers are prefetched this early

  /// Buckets prefetched at once. If the table has more pages than a TLB, one at a time would wait for each page walk;
  /// too many at once are too many for small tables.
  static constexpr std::size_t kAskedTogether = 4;
  static_assert(kGroup % kAskedTogether == 0);

  /// Prefetches the headers of the group that starts at `at`.
  [[gnu::always_inline]] static void ask_for_headers(std::span<const RawPacket> packets, std::size_t at) noexcept {
    if (at + kGroup <= packets.size()) [[likely]]
      for (std::size_t i = 0; i < kGroup; ++i) prefetch_line(packets[at + i].data);
    else
      for (std::size_t i = at; i < packets.size(); ++i) prefetch_line(packets[i].data);
  }

  /// Takes one step of the steady state: counts the oldest group and prefetches the memory of later ones. Returns
  /// false, without effect, if the ring holds more or fewer packets than that.
  [[gnu::always_inline]] bool roll(const RawPacket* soon) noexcept {
    const PacketFacts* const fresh = in_flight_.newest_group();
    const std::span<const PacketFacts> oldest = in_flight_.oldest(kGroup);
    if (fresh == nullptr || oldest.size() != kGroup || in_flight_.size() != InFlight::kDistance + kGroup) [[unlikely]]
      return false;
    if (filter_ != nullptr) [[unlikely]]
      for (std::size_t i = 0; i < kGroup; ++i) filter_->prefetch(fresh[i].hash);
    count_group(oldest, [=, lines = table_.prefetcher()](std::size_t i) {
      prefetch_line(soon[i].data);
      if (i % kAskedTogether == 0)
        for (std::size_t other = i; other < i + kAskedTogether; ++other) lines(fresh[other].hash);
    });
    return true;
  }

  /// Does the work of run(); `tell` as in FrontEnd::accept().
  template <class Tell>
  [[gnu::always_inline]] void run_telling(FrontEnd& front, std::span<const RawPacket> packets, Tell tell) noexcept {
    for (std::size_t at = 0; at < kAhead; at += kGroup) ask_for_headers(packets, at);
    for (std::size_t at = 0; at < packets.size(); at += kGroup) {
      const std::size_t fresh =
          front.accept(packets.subspan(at, std::min(kGroup, packets.size() - at)), in_flight_, tell);
      if (fresh == kGroup && at + kAhead + kGroup <= packets.size() && roll(&packets[at + kAhead])) [[likely]]
        continue;
      ask_for_headers(packets, at + kAhead);
      in_flight_.visit_newest(fresh, [lines = table_.prefetcher()](const PacketFacts& facts) { lines(facts.hash); });
      if (in_flight_.size() >= InFlight::kDistance + kGroup) retire(InFlight::kDistance);
    }
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
    latest_ns_ = group.back().time_ns;
    in_flight_.pop(group.size());
  }

  bool housekeep_slice(LinkPlace now) noexcept {
    if (guard_ && guard_->due(latest_ns_)) table_.filter_by(end_guard_window(table_.begun(), table_.size()));
    measure_stage_.take_classes();
    const bool more_windows = measure_stage_.has_windows() && measure_stage_.housekeep(now, [this] { drain(); });
    // A running snapshot has the layout of the present rows, so statistics must not change under it.
    if (!snapshotter_.is_copying())
      if (const auto wanted = wanted_statistics_.take()) change_statistics(*wanted);
    // On a link, time goes on even if no packet comes. In a capture, the next packet may be a little earlier; whether
    // it belongs to a quiet flow's record must not depend on this sweep.
    constexpr std::uint64_t kDisorderNs = 1'000'000'000;
    const std::uint64_t now_ns =
        can_wait_ ? latest_ns_ - std::min(latest_ns_, kDisorderNs) : std::max(latest_ns_, now.latest_ns);
    if (const std::uint32_t lines = sweep_.lines_due(now_ns, table_.buckets())) table_.sweep(now_ns, lines);
    if (snapshotter_.is_wanted()) begin_snapshot();
    const bool has_more = more_windows || sweep_.is_behind();
    if (!snapshotter_.is_copying()) return has_more;
    copy_slice();
    return snapshotter_.has_any() || has_more;
  }

  /// Does the optional work per packet: rows, the border of a running snapshot, merges.
  [[gnu::noinline]] void after_update(std::size_t count) noexcept {
    if (bytes_ && group_measured_ < count) bytes_->add(group_.subspan(group_measured_, count - group_measured_));
    if (observe_merges_ || snapshotter_.has_any())
      for (std::size_t i = group_measured_; i < count; ++i) {
        if (slots_[i].is_kept_out()) continue;
        const std::uint32_t slot = slots_[i].slot();
        if (in_snapshot(slot)) snapshotter_.add_later_packet();
        if (observe_merges_ && !(table_.key(slot) == group_[i].key)) merged_.insert(group_[i].key);
      }
    if (follows_batch_) follow_batch(count);
    if (const bool only_first = only_first_ && !measure_stage_.class_jobs_wait(); measure_stage_.any())
      for (std::size_t i = group_measured_; i < count; ++i)
        if (!only_first || slots_[i].may_be_first() || (reads_answers_ && is_dns_port(group_[i].key.src_port())))
          measure_stage_.add(slots_[i], group_[i], in_flight_.place(i), in_flight_.tcp(i), in_flight_.raw(i), key_of());
    group_measured_ = count;
  }

  [[gnu::noinline]] void follow_batch(std::size_t count) noexcept {
    for (std::size_t i = group_measured_; i < count; ++i) {
      if (slots_[i].is_kept_out()) {
        batch_flows_->note_kept_out();
        continue;
      }
      const std::uint32_t slot = slots_[i].slot();
      measure_stage_.prefetch(slot);
      batch_flows_->note_counted(slot, table_.key(slot));
    }
  }

  /// Ends a flow. The record's row must hold all of its packets, including those of the current group.
  void flow_ended(FlowRecord& record, std::uint32_t slot, std::size_t counted) noexcept override {
    latest_ended_ns_ = std::max(latest_ended_ns_, record.last_ns);
    if (extras_) {
      after_update(counted);
      measure_stage_.flush(key_of());
    }
    end_rows(slot, record);
    const TalliedFlow flow = flow_of(record, slot);
    ended_.add(flow, snapshotter_.flow_ended(flow, in_snapshot(slot)), generation_);
    if (record.end_reason == EndReason::active_timeout) go_on(slot, record);
  }

  bool is_closed(std::uint32_t slot, std::uint16_t tcp_flags, std::size_t counted) noexcept override {
    const Biflows* const biflows = measure_stage_.biflows();
    if (biflows == nullptr) return FlowSink::is_closed(slot, tcp_flags, counted);
    after_update(counted);
    measure_stage_.flush(key_of());
    return biflows->is_closed(slot);
  }

  void flow_ends_soon(std::uint32_t slot) noexcept override { prefetch_rows(slot); }

  /// Moves the row along with the flow, and its mark for the running snapshot.
  void flow_moved(std::uint32_t from, std::uint32_t to, std::size_t counted) noexcept override {
    if (!extras_) return;
    after_update(counted);
    measure_stage_.flush(key_of());
    move_rows(from, to);
    if (follows_batch_) batch_flows_->note_moved(from, to, table_.key(to));
    if (snapshotter_.has_any() && snapshotter_.flow_moved(from, to)) copy_flow(to);
  }

  void use(const StatisticChoice& choice) {
    use_statistics(choice);
    table_.first_packets(measure_stage_.first_packets());
  }

  void change_statistics(const StatisticChoice& choice) noexcept {
    measure_stage_.flush(key_of());
    try {
      use(choice);
    } catch (const std::bad_alloc&) {
      update_extras();  // no memory for the rows: their columns are absent, the counters go on
    }
  }

  /// Returns the flow of a row in the measure stage: that of a slot, or of one of its directions.
  struct RowKeys {
    const Table* table;
    bool of_biflows;

    FlowKey operator()(std::uint32_t row) const noexcept {
      if (!of_biflows) return table->key(row);
      const FlowKey key = table->key(Biflows::slot_of(row));
      return Biflows::is_back(row) ? opposite(key) : key;
    }
  };
  RowKeys key_of() const noexcept { return {&table_, measure_stage_.biflows() != nullptr}; }

  void begin_snapshot() noexcept {
    measure_stage_.flush(key_of());  // the rows may be replaced
    table_.settle();                 // slots are copied one after the other
    if (snapshotter_.begin(table_.slots(), statistics())) return;
    measure_stage_.drop_statistics();  // no memory for a copy of the rows: their columns are absent
    update_extras();
    snapshotter_.begin(table_.slots(), statistics());
  }

  void copy_slice() noexcept {
    drain();
    snapshotter_.advance([this](std::uint32_t slot) {
      if (table_.occupied(slot)) copy_flow(slot);
    });
    if (snapshotter_.has_all()) finish_snapshot(table_.buckets());
    update_extras();
  }

  void copy_flow(std::uint32_t slot) noexcept {
    FlowRecord record = table_.record(slot);
    snapshotter_.copy(flow_of(record, slot));
  }

  /// Returns true if a packet that now comes to the slot is later than the running snapshot.
  bool in_snapshot(std::uint32_t slot) const noexcept { return snapshotter_.has<Table::kMoves>(slot); }

  std::array<SlotRef, kGroup> slots_;
  std::span<const PacketFacts> group_;
  std::size_t group_measured_ = 0;  ///< packets of group_ that after_update() has handled
  std::uint64_t latest_ended_ns_ = 0;
};

}  // namespace parshall
