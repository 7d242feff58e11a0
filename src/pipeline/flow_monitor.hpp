// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sched.h>

#include "base/prefetch.hpp"
#include "pipeline/flow/key_hash.hpp"
#include "pipeline/monitor.hpp"

namespace parshall {

/// The monitor over one kind of flow table.
///
/// The rolling pipeline: decode a group of packets; count the group from InFlight::kDistance packets ago, and between
/// its packets ask for the decoded group's buckets and the headers kAhead packets on; ask for the counted group's rows;
/// then measure the batch before that one.
template <FlowTable Table>
class FlowMonitor final : public Monitor, private FlowSink {
 public:
  explicit FlowMonitor(const MonitorOptions& options)
      : options_(options),
        table_(options_.flows, options_.timeouts, *this,
               {.populate = options_.populate, .grow_by = options_.grow_by ? &*options_.grow_by : nullptr}),
        ended_(options.ended_ring_bytes),
        window_messages_(options.windows.empty() ? 64 : options.window_ring_bytes),
        sweeps_(options.timeouts.idle_ns != 0),
        observe_merges_(options.observe_merges) {
    if (!options.windows.empty()) table_.settle();  // rows are addressed by slot
    for (std::uint32_t i = 0; i < options.windows.size(); ++i)
      windows_.push_back(
          std::make_unique<WindowRows>(options.windows[i], i, table_.slots(), window_messages_, options.can_wait));
    use(options.statistics);
    if (options.snapshots) map_snapshot(sizeof(RecordHeader) + (rows_ ? rows_->set()->row_bytes() : 0));
  }

  void run(FrontEnd& front, std::span<const RawPacket> packets) noexcept override {
    for (std::size_t at = 0; at < kAhead; at += kGroup) ask_for_headers(packets, at);
    for (std::size_t at = 0; at < packets.size(); at += kGroup) {
      const std::size_t fresh = front.accept(packets.subspan(at, std::min(kGroup, packets.size() - at)), in_flight_);
      if (fresh == kGroup && at + kAhead + kGroup <= packets.size() && roll(&packets[at + kAhead])) [[likely]]
        continue;
      ask_for_headers(packets, at + kAhead);
      in_flight_.visit_newest(fresh, [lines = table_.prefetcher()](const PacketFacts& facts) { lines(facts.hash); });
      retire(InFlight::kDistance);
    }
  }

  void admit(std::span<const PacketFacts> packets, std::span<const LinkPlace> places) noexcept override {
    for (std::size_t i = 0; i < packets.size(); ++i) {
      in_flight_.next() = packets[i];
      in_flight_.push_at(places[i]);
      table_.prefetcher()(packets[i].hash);
      if (in_flight_.size() >= InFlight::kDistance + kGroup) retire(InFlight::kDistance);
    }
  }

  void drain() noexcept override {
    retire(0);
    measure_pending();
  }

  bool housekeep(LinkPlace now) noexcept override {
    const bool more_windows = !windows_.empty() && housekeep_windows(now);
    // Not under a running snapshot: it was laid out for the rows there are.
    if (snapshot_state_.load(std::memory_order_relaxed) != SnapshotState::copying)
      if (StatisticChoice* const wanted = wanted_statistics_.exchange(nullptr, std::memory_order_acquire))
        change_statistics(wanted);
    if (sweeps_) {
      drain();
      table_.sweep(latest_ns_, kSweepLines);
    }
    if (snapshot_state_.load(std::memory_order_acquire) == SnapshotState::wanted) begin_snapshot();
    if (snapshot_state_.load(std::memory_order_relaxed) != SnapshotState::copying) return more_windows;
    copy_slice();
    return copied_ != 0 || more_windows;
  }

  void finish(LinkPlace now) noexcept override {
    for (const auto& rows : windows_) rows->finish(later_of(now), key_of());
  }

  void request_snapshot(std::uint64_t number) noexcept override {
    snapshot_.number = number;
    snapshot_state_.store(SnapshotState::wanted, std::memory_order_release);
  }
  Snapshot* snapshot_ready() noexcept override {
    return snapshot_state_.load(std::memory_order_acquire) == SnapshotState::ready ? &snapshot_ : nullptr;
  }

  void request_statistics(StatisticChoice choice) override {
    delete wanted_statistics_.exchange(new StatisticChoice(std::move(choice)), std::memory_order_acq_rel);
  }

  void visit(const FlowVisitor& visitor) const override {
    for (std::uint32_t slot = 0; slot < table_.slots(); ++slot)
      if (table_.occupied(slot)) visitor(table_.record(slot), row(slot));
  }

  MonitorCounts counts() const noexcept override {
    MonitorCounts counts = ended_counts_;
    counts.counted = in_flight_.pushed();
    counts.buckets = table_.buckets();
    for (std::uint32_t slot = 0; slot < table_.slots(); ++slot) {
      if (!table_.occupied(slot)) continue;
      const FlowRecord record = table_.record(slot);
      counts.live_packets += record.packets;
      ++counts.live_flows;
      counts.add(record);
    }
    return counts;
  }

  StatisticChoice statistics() const override { return {rows_ ? rows_->set() : nullptr, generation_}; }

  RecordRing& ended() noexcept override { return ended_; }
  RecordRing& window_messages() noexcept override { return window_messages_; }
  std::uint64_t observed_merges() const noexcept override { return merged_.size(); }

  ~FlowMonitor() override { delete wanted_statistics_.load(); }

 private:
  enum class SnapshotState : std::uint8_t { idle, wanted, copying, ready };
  static constexpr std::size_t kAhead = 4 * kGroup;  ///< packet headers are asked for this early
  static constexpr std::uint32_t kSweepLines = 256;  ///< a few microseconds
  static constexpr std::uint32_t kCopySlots = 256;   ///< likewise
  static constexpr std::uint32_t kTellRows = 512;    ///< likewise; twice a batch: half a window's packets tell it all

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
    count_group(oldest, [=, lines = table_.prefetcher()](std::size_t i) {
      prefetch_line(soon[i].data);
      lines(fresh[i].hash);
    });
    return true;
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

  /// Everything that not every run wants: rows, the border of a running snapshot, merges.
  [[gnu::noinline]] void after_update(std::size_t count) noexcept {
    if (observe_merges_ || copied_ != 0)
      for (std::size_t i = group_measured_; i < count; ++i) {
        const std::uint32_t slot = slots_[i].slot();
        if (in_snapshot(slot)) ++later_.counted;
        if (observe_merges_ && !(table_.key(slot) == group_[i].key)) merged_.insert(group_[i].key);
      }
    if (rows_ || !windows_.empty())
      for (std::size_t i = group_measured_; i < count; ++i) {
        const std::uint32_t slot = slots_[i].slot();
        if (rows_) rows_->prefetch(slot);
        for (const auto& windows : windows_) windows->prefetch(slot);
        LinkPlace place = in_flight_.place(i);
        place.latest_ns = link_.latest_ns = std::max({link_.latest_ns, place.latest_ns, group_[i].time_ns});
        link_.position = place.position + 1;
        pending_[added_++ % pending_.size()] = {slot, slots_[i].is_new(), group_[i].counts, group_[i].time_ns, place};
        if (added_ - measured_ == pending_.size()) measure_oldest();
      }
    group_measured_ = count;
  }

  /// At most kStatBatch packets. Only the last call of measure_pending(), which starts over, finds fewer: so measured_
  /// is a multiple of kStatBatch, and none of its packets is behind the ring's end.
  void measure_oldest() noexcept {
    const std::size_t count = std::min<std::size_t>(kStatBatch, added_ - measured_);
    const std::span packets(&pending_[measured_ % pending_.size()], count);
    if (rows_) rows_->update(packets);
    for (const auto& windows : windows_) windows->update(packets, key_of());
    measured_ += count;
  }

  void measure_pending() noexcept {
    while (measured_ != added_) measure_oldest();
    added_ = measured_ = 0;
  }

  std::span<const std::byte> row(std::uint32_t slot) const noexcept {
    return rows_ ? rows_->statistics(slot) : std::span<const std::byte>();
  }

  /// The record's row must hold all of its packets, those of the current group too.
  void flow_ended(const FlowRecord& record, std::uint32_t slot, std::size_t counted) noexcept override {
    if (extras_) {
      after_update(counted);
      measure_pending();
    }
    for (const auto& windows : windows_) windows->flow_ended(slot, record.key);
    const bool later = in_snapshot(slot);
    RecordHeader header{.snapshot = next_snapshot_ + (later ? 1 : 0), .generation = generation_, .record = record};
    for (MonitorCounts* counts : {&ended_counts_, later ? &later_ : nullptr}) {
      if (counts == nullptr) continue;
      counts->ended_packets += record.packets;
      ++counts->ended_records;
      counts->evicted_records += record.end_reason == EndReason::lack_of_resources;
      counts->add(record);
    }
    const std::span head(reinterpret_cast<const std::byte*>(&header), sizeof header);
    while (!ended_.push(head, row(slot))) ::sched_yield();  // waiting loses nothing: a device counts what it misses
  }

  /// The row goes with the flow, and so does whether the running snapshot has it.
  void flow_moved(std::uint32_t from, std::uint32_t to, std::size_t counted) noexcept override {
    if (!extras_) return;
    after_update(counted);
    measure_pending();
    if (rows_) rows_->move(from, to);
    for (const auto& windows : windows_) windows->flow_moved(from, to, table_.key(to));
    if (copied_ == 0) return;
    if (in_snapshot(from))
      mark(to);
    else if (in_snapshot(to))
      copy_moved(from, to);
  }

  void use(const StatisticChoice& choice) {
    rows_.reset();
    if (choice.set && choice.set->row_bytes() != 0) {
      table_.settle();  // rows are addressed by slot
      rows_ = std::make_unique<FlowRows>(choice.set, table_.slots());
    }
    generation_ = choice.generation;
    update_extras();
  }

  void change_statistics(StatisticChoice* wanted) noexcept {
    const std::unique_ptr<StatisticChoice> choice(wanted);
    measure_pending();
    try {
      use(*choice);
    } catch (const std::bad_alloc&) {
      rows_.reset();  // no memory for the rows: their columns are absent, the counters go on
      update_extras();
    }
  }

  void update_extras() noexcept { extras_ = rows_ || !windows_.empty() || observe_merges_ || copied_ != 0; }

  auto key_of() const noexcept {
    return [table = &table_](std::uint32_t slot) { return table->key(slot); };
  }

  /// Of the link as others see it and the packets that came here.
  LinkPlace later_of(LinkPlace now) const noexcept {
    return {std::max(now.position, link_.position), std::max(now.latest_ns, link_.latest_ns)};
  }

  bool housekeep_windows(LinkPlace now) noexcept {
    const LinkPlace link = later_of(now);
    bool more = false;
    for (const auto& windows : windows_) {
      if (windows->ends_at(link)) {
        drain();
        windows->advance(link, key_of());
      }
      more |= windows->sweep(kTellRows, key_of());
    }
    return more;
  }

  void begin_snapshot() noexcept {
    measure_pending();  // the rows may go
    table_.settle();    // slots are copied one after the other
    snapshot_.statistics = statistics();
    snapshot_.stride = sizeof(RecordHeader) + (rows_ ? rows_->set()->row_bytes() : 0);
    try {
      map_snapshot(snapshot_.stride);
    } catch (const std::bad_alloc&) {
      rows_.reset();  // no memory for a copy of the rows: their columns are absent, the counters go on
      update_extras();
      snapshot_.statistics = statistics();
      snapshot_.stride = sizeof(RecordHeader);
    }
    snapshot_.counts = {};
    next_snapshot_ = snapshot_.number;
    later_ = {};
    snapshot_state_.store(SnapshotState::copying, std::memory_order_relaxed);
  }

  /// Address space for a copy of every flow. Throws std::bad_alloc.
  void map_snapshot(std::size_t stride) {
    const std::size_t bytes = table_.slots() * stride;
    if (snapshot_.flows.size() < bytes) snapshot_.flows = HugeBuffer<std::byte>(bytes, /*huge_pages=*/false);
    if (Table::kMoves) marks_.resize(table_.slots(), !mark_);
  }

  void copy_slice() noexcept {
    drain();
    copy_until(std::min(copied_ + kCopySlots, table_.slots()));
    if (copied_ == table_.slots()) finish_snapshot();
    update_extras();
  }

  void copy_until(std::uint32_t end) noexcept {
    for (; copied_ < end; ++copied_) {
      if constexpr (Table::kMoves) {
        if (marked(copied_)) continue;  // its flow was copied elsewhere, or came after
        mark(copied_);
      }
      if (table_.occupied(copied_)) copy_flow(copied_);
    }
  }

  void copy_flow(std::uint32_t slot) noexcept {
    const RecordHeader header{.snapshot = snapshot_.number, .generation = generation_, .record = table_.record(slot)};
    std::byte* const to = snapshot_.flows.data() + snapshot_.counts.live_flows * snapshot_.stride;
    std::memcpy(to, &header, sizeof header);
    if (rows_) std::memcpy(to + sizeof header, row(slot).data(), row(slot).size());
    snapshot_.counts.live_packets += header.record.packets;
    ++snapshot_.counts.live_flows;
    snapshot_.counts.add(header.record);
  }

  /// Of a flow that went from a slot still to be copied to one that has been. Its old slot counts as copied, so there
  /// are never more copies than slots.
  void copy_moved(std::uint32_t from, std::uint32_t to) noexcept {
    copy_flow(to);
    mark(from);
  }

  /// Whether what comes to the slot now is later than the running snapshot.
  bool in_snapshot(std::uint32_t slot) const noexcept {
    if constexpr (Table::kMoves)
      return copied_ != 0 && marked(slot);
    else
      return slot < copied_;
  }

  bool marked(std::uint32_t slot) const noexcept { return marks_[slot] == mark_; }
  void mark(std::uint32_t slot) noexcept { marks_[slot] = mark_; }

  void finish_snapshot() noexcept {
    MonitorCounts& counts = snapshot_.counts;
    counts.counted = in_flight_.pushed() - later_.counted;
    counts.buckets = table_.buckets();
    counts.ended_packets = ended_counts_.ended_packets - later_.ended_packets;
    counts.ended_records = ended_counts_.ended_records - later_.ended_records;
    counts.evicted_records = ended_counts_.evicted_records - later_.evicted_records;
    counts.ip_bytes += ended_counts_.ip_bytes - later_.ip_bytes;
    counts.wire_bytes += ended_counts_.wire_bytes - later_.wire_bytes;
    counts.first_ns = std::min(counts.first_ns, ended_counts_.first_ns);
    counts.last_ns = std::max(counts.last_ns, ended_counts_.last_ns);
    copied_ = 0;
    mark_ = !mark_;  // all slots are marked: now none is
    next_snapshot_ = snapshot_.number + 1;
    snapshot_state_.store(SnapshotState::ready, std::memory_order_release);
  }

  MonitorOptions options_;
  Table table_;
  InFlight in_flight_;
  std::array<SlotRef, kGroup> slots_;
  std::span<const PacketFacts> group_;
  std::size_t group_measured_ = 0;  ///< packets of group_ that after_update() has seen
  std::uint64_t latest_ns_ = 0;
  bool extras_ = false;

  std::unique_ptr<FlowRows> rows_;
  std::array<RowUpdate, 2 * kStatBatch> pending_;  ///< a ring
  std::size_t added_ = 0, measured_ = 0;           ///< to it, and of it
  std::uint64_t generation_ = 0;
  std::atomic<StatisticChoice*> wanted_statistics_{nullptr};

  LinkPlace link_;  ///< of the latest packet in pending_
  RecordRing ended_, window_messages_;
  std::vector<std::unique_ptr<WindowRows>> windows_;

  MonitorCounts ended_counts_;  ///< of the ended records alone
  bool sweeps_;

  bool observe_merges_;
  std::unordered_set<FlowKey, KeyHash> merged_;

  std::atomic<SnapshotState> snapshot_state_{SnapshotState::idle};
  Snapshot snapshot_;
  std::uint64_t next_snapshot_ = 1;  ///< that a record ending now belongs to
  std::uint32_t copied_ = 0;         ///< slots below this one are in the running snapshot
  std::vector<bool> marks_;  ///< by slot, where flows move: those in the snapshot, or whose flows were elsewhere
  bool mark_ = true;         ///< what stands there for such a slot, by turns
  MonitorCounts later_;      ///< what came to slots that the running snapshot had copied already
};

}  // namespace parshall
