// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sched.h>

#include "base/prefetch.hpp"
#include "engine/batch_flows.hpp"
#include "engine/flood_guard.hpp"
#include "engine/measurement.hpp"
#include "engine/monitor.hpp"
#include "pipeline/flow/key_hash.hpp"

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
        sample_(options.control ? std::make_unique<FlowSample>(options.seed) : nullptr),
        measurement_(options, table_.slots(), sample_.get()),
        idle_ns_(options.timeouts.idle_ns),
        observe_merges_(options.observe_merges) {
    if (options.flood_filter_bytes != 0) make_guard();
    if (options.classified_batch != 0) batch_flows_ = std::make_unique<BatchFlows>(options.classified_batch);
    if (measurement_.any()) table_.settle();  // rows are addressed by slot
    if (const auto& set = options.statistics.set; set && set->classifies()) make_class_counts(*set);
    use(options.statistics);
    if (options.populate) measurement_.populate_statistics();
    if (options.snapshots) map_snapshot(sizeof(RecordHeader) + row_bytes());
    snapshot_.states = state_packets();
  }

  void run(FrontEnd& front, std::span<const RawPacket> packets) noexcept override {
    run_telling(front, packets, FrontEnd::kUntold);
  }

  void run_classified(FrontEnd& front, std::span<const RawPacket> packets,
                      std::span<ClassId> classes) noexcept override {
    if (!batch_flows_ || !measurement_.classifies()) return Monitor::run_classified(front, packets, classes);
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
      if (sheds_ && !sample_->takes(packets[i].key)) [[unlikely]] {
        ShedRun run;
        shed(packets[i], places[i], run);
        count_shed(run);
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
    publish_now_and_then();
    return more;
  }

  const ControlCounts* control() const noexcept override { return measurement_.control(); }
  bool control_window_ends(LinkPlace now) const noexcept override { return measurement_.control_window_ends(now); }
  void end_control_window(LinkPlace now, const WorkerLoad& load) noexcept override {
    drain();
    WorkerLoad all = load;
    if (guard_) all.kept_out = guard_->filter().kept().packets;
    all.shed = shed_.packets;
    shed_one_in(measurement_.end_control_window(now, all), now.position);
  }

  void finish(LinkPlace now) noexcept override {
    measurement_.finish(now, key_of());
    publish(counts_but_live());
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
      if (table_.occupied(slot)) visitor(table_.record(slot), measurement_.row(slot));
  }

  MonitorCounts counts() const noexcept override {
    MonitorCounts counts = ended_counts_;
    counts.set(Counter::arrived, counted());
    counts.set(Counter::table_lines, table_.buckets());
    for (std::uint32_t slot = 0; slot < table_.slots(); ++slot) {
      if (!table_.occupied(slot)) continue;
      const FlowRecord record = table_.record(slot);
      counts.add_live(record);
      add_to_class(counts, record, slot);
    }
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
  RecordRing& ended() noexcept override { return ended_; }
  RecordRing& window_messages() noexcept override { return measurement_.messages(); }
  std::uint64_t observed_merges() const noexcept override { return merged_.size(); }

  ~FlowMonitor() override { delete wanted_statistics_.load(); }

 private:
  enum class SnapshotState : std::uint8_t { idle, wanted, copying, ready };
  static constexpr std::size_t kAhead = 4 * kGroup;  ///< packet headers are asked for this early
  /// A few microseconds at most; of a source that waits as many as packets, so that a slow link's capture is read as
  /// fast as another's.
  std::uint32_t most_sweep_lines() const noexcept { return options_.can_wait ? 256 : 1024; }
  static constexpr std::uint32_t kLeastSweepLines = 64;
  static constexpr std::uint32_t kCopySlots = 256;  ///< likewise

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
    if (sheds_) [[unlikely]]
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
      ShedRun run;
      const std::size_t fresh = front.accept_some(
          packets.subspan(at, std::min(kGroup, packets.size() - at)), in_flight_,
          [sample = sample_.get()](const PacketFacts& facts) { return sample->takes(facts.key); },
          [&](const PacketFacts& facts, LinkPlace place) { shed(facts, place, run); }, tell);
      count_shed(run);
      in_flight_.visit_newest(fresh, [lines = table_.prefetcher()](const PacketFacts& facts) { lines(facts.hash); });
      if (in_flight_.size() >= InFlight::kDistance + kGroup) retire(InFlight::kDistance);
    }
  }

  /// Packets between which no window ends.
  struct ShedRun {
    KeptOut packets;
    LinkPlace last;
  };

  [[gnu::always_inline]] void shed(const PacketFacts& facts, LinkPlace place, ShedRun& run) noexcept {
    if (measurement_.ends_shed_run(place)) [[unlikely]] {
      count_shed(run);
      drain();
    }
    run.packets.add(facts);
    run.last = place;
    if (facts.time_ns != place.latest_ns || measurement_.has_bins()) [[unlikely]]
      count_shed(run);
  }

  [[gnu::noinline]] void count_shed(ShedRun& run) noexcept {
    if (run.packets.packets == 0) return;
    shed_.add(run.packets);
    latest_ns_ = run.packets.last_ns;
    if (measurement_.has_windows()) measurement_.add_shed(run.packets, run.last, key_of());
    run.packets = {};
  }

  /// After drain(); the link is behind so many packets.
  void shed_one_in(std::uint32_t connections, std::uint64_t position) noexcept {
    if (connections == sample_->one_in()) return;
    if (connections < sample_->one_in()) measurement_.sample_grew(*sample_, most_one_in_);
    most_one_in_ = connections == 1 ? 1 : std::max(most_one_in_, connections);
    sample_->set_one_in(connections);
    measurement_.sample_changed();
    sheds_ = connections != 1;
    if (!sheds_) in_flight_.close_gaps(position);
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
    latest_ns_ = counted_ns_ = group.back().time_ns;
    in_flight_.pop(group.size());
  }

  bool housekeep_slice(LinkPlace now) noexcept {
    if (guard_ && guard_->due(latest_ns_)) end_guard_window();
    measurement_.take_classes();
    const bool more_windows = measurement_.has_windows() && measurement_.housekeep(now, key_of(), [this] { drain(); });
    // Not under a running snapshot: it was laid out for the rows there are.
    if (snapshot_state_.load(std::memory_order_relaxed) != SnapshotState::copying)
      if (StatisticChoice* const wanted = wanted_statistics_.exchange(nullptr, std::memory_order_acquire))
        change_statistics(wanted);
    // While nothing comes, on a link time goes on.
    if (idle_ns_ != 0) sweep(options_.can_wait ? counted_ns_ : std::max(counted_ns_, now.latest_ns));
    if (snapshot_state_.load(std::memory_order_acquire) == SnapshotState::wanted) begin_snapshot();
    if (snapshot_state_.load(std::memory_order_relaxed) != SnapshotState::copying) return more_windows;
    copy_slice();
    return copied_ != 0 || more_windows;
  }

  /// Everything that not every run wants: rows, the border of a running snapshot, merges.
  [[gnu::noinline]] void after_update(std::size_t count) noexcept {
    if (observe_merges_ || copied_ != 0)
      for (std::size_t i = group_measured_; i < count; ++i) {
        if (slots_[i].is_kept_out()) continue;
        const std::uint32_t slot = slots_[i].slot();
        if (in_snapshot(slot)) later_.add(Counter::arrived, 1);
        if (observe_merges_ && !(table_.key(slot) == group_[i].key)) merged_.insert(group_[i].key);
      }
    if (follows_batch_) follow_batch(count);
    if (const bool only_first = only_first_ && !measurement_.class_jobs_wait(); measurement_.any())
      for (std::size_t i = group_measured_; i < count; ++i)
        if (!only_first || slots_[i].may_be_first())
          measurement_.add(slots_[i], group_[i], in_flight_.place(i), in_flight_.tcp(i), key_of());
    group_measured_ = count;
  }

  /// Once through the table in each idle timeout. What a slice cannot take is left to the next ones, which come without
  /// packets too; where packet time goes on faster than they come, no more than one round is.
  void sweep(std::uint64_t now_ns) noexcept {
    if (now_ns < swept_ns_) swept_ns_ = now_ns;  // or one packet from the future would end all sweeping
    const double line_ns = static_cast<double>(idle_ns_) / static_cast<double>(table_.buckets());
    const double due = static_cast<double>(now_ns - swept_ns_) / line_ns;
    if (due < std::min<double>(kLeastSweepLines, static_cast<double>(table_.buckets()))) return;
    const auto lines = static_cast<std::uint32_t>(std::min<double>(most_sweep_lines(), due));
    table_.sweep(now_ns, lines);
    swept_ns_ += static_cast<std::uint64_t>(lines * line_ns);
    swept_ns_ = std::max(swept_ns_, now_ns - std::min(now_ns, idle_ns_));
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
    const FloodLoad load{latest_ns_, in_flight_.pushed() - in_flight_.size(), table_.begun()};
    const bool on = guard_->end_window(load, measurement_.packet_ns().value_or(FloodGuard::kPacketNs));
    filter_ = on ? &guard_->filter() : nullptr;
    table_.filter_by(filter_);
  }

  void make_class_counts(const StatisticSet& set) {
    constexpr std::size_t kUnknownAndTooShort = 2;
    const auto classes = std::ranges::find(set.columns(), FlowClass::kName, &Column::name)->values.size() - 1;
    ended_counts_.classes.resize(classes + kUnknownAndTooShort);
    later_.classes.resize(classes + kUnknownAndTooShort);
    snapshot_.counts.classes.resize(classes + kUnknownAndTooShort);
  }

  void add_to_class(MonitorCounts& counts, const FlowRecord& record, std::uint32_t slot) const noexcept {
    if (counts.classes.empty()) [[likely]]
      return;
    counts.add_to_class(measurement_.class_of(slot).value_or(kNotClassified), record);
  }

  std::uint64_t counted() const noexcept { return in_flight_.pushed() + shed_.packets; }

  void add_flowless(MonitorCounts& counts) const noexcept {
    counts.add_shed(shed_);
    if (!guard_) return;
    counts.add_kept_out(guard_->filter().kept());
    counts.add(Counter::flood_filter_ns, guard_->time_ns());
    counts.add(Counter::flood_filter_on_ns, guard_->on_time_ns());
  }

  /// Where no packet came, and once in so many: it takes as long as some packets do.
  void publish_now_and_then() noexcept {
    constexpr std::uint64_t kPublishEvery = 4096;  // packets
    const std::uint64_t arrived = counted();
    if (arrived == std::exchange(arrived_, arrived) || arrived - published_at_ >= kPublishEvery) {
      publish(counts_but_live());
      published_at_ = arrived;
    }
  }

  /// All that takes no walk over the table.
  MonitorCounts counts_but_live() const noexcept {
    MonitorCounts counts(static_cast<const Counters&>(ended_counts_));  // no classes: they would be allocated
    counts.set(Counter::arrived, counted());
    add_flowless(counts);
    using enum Counter;
    counts.set(live_flow_packets,
               counts[arrived] - counts[ended_record_packets] - counts[kept_out_packets] - counts[shed_packets]);
    return counts;
  }

  std::size_t row_bytes() const noexcept {
    return measurement_.rows() != nullptr ? measurement_.rows()->set()->row_bytes() : 0;
  }

  /// The record's row must hold all of its packets, those of the current group too.
  void flow_ended(const FlowRecord& record, std::uint32_t slot, std::size_t counted) noexcept override {
    if (extras_) {
      after_update(counted);
      measurement_.flush(key_of());
    }
    measurement_.flow_ended(slot, record.key);
    const bool later = in_snapshot(slot);
    for (MonitorCounts* counts : {&ended_counts_, later ? &later_ : nullptr}) {
      if (counts == nullptr) continue;
      counts->add_ended(record);
      add_to_class(*counts, record, slot);
    }
    const std::span<const std::byte> row = measurement_.row(slot);
    std::byte* to;
    while ((to = ended_.reserve(sizeof(RecordHeader) + row.size())) == nullptr)
      ::sched_yield();  // waiting loses nothing: a device counts what it misses
    write_header(to, next_snapshot_ + (later ? 1 : 0), generation_, record);
    if (!row.empty()) std::memcpy(to + sizeof(RecordHeader), row.data(), row.size());
    ended_.publish();
  }

  void flow_ends_soon(std::uint32_t slot) noexcept override { measurement_.prefetch(slot); }

  /// The row goes with the flow, and so does whether the running snapshot has it.
  void flow_moved(std::uint32_t from, std::uint32_t to, std::size_t counted) noexcept override {
    if (!extras_) return;
    after_update(counted);
    measurement_.flush(key_of());
    measurement_.flow_moved(from, to, table_.key(to));
    if (follows_batch_) batch_flows_->note_moved(from, to, table_.key(to));
    if (copied_ == 0) return;
    if (in_snapshot(from))
      mark(to);
    else if (in_snapshot(to))
      copy_moved(from, to);
  }

  void use(const StatisticChoice& choice) {
    if (choice.set && choice.set->row_bytes() != 0) table_.settle();  // rows are addressed by slot
    measurement_.use(choice.set);
    table_.first_packets(measurement_.first_packets());
    only_first_ = measurement_.first_packets() != 0;
    generation_ = choice.generation;
    update_extras();
  }

  void change_statistics(StatisticChoice* wanted) noexcept {
    const std::unique_ptr<StatisticChoice> choice(wanted);
    measurement_.flush(key_of());
    try {
      use(*choice);
    } catch (const std::bad_alloc&) {
      update_extras();  // no memory for the rows: their columns are absent, the counters go on
    }
  }

  void update_extras() noexcept { extras_ = measurement_.any() || observe_merges_ || copied_ != 0; }

  auto key_of() const noexcept {
    return [table = &table_](std::uint32_t slot) { return table->key(slot); };
  }

  void begin_snapshot() noexcept {
    measurement_.flush(key_of());  // the rows may go
    table_.settle();               // slots are copied one after the other
    snapshot_.statistics = statistics();
    snapshot_.stride = sizeof(RecordHeader) + row_bytes();
    try {
      map_snapshot(snapshot_.stride);
    } catch (const std::bad_alloc&) {
      measurement_.drop_statistics();  // no memory for a copy of the rows: their columns are absent, the counters go on
      update_extras();
      snapshot_.statistics = statistics();
      snapshot_.stride = sizeof(RecordHeader);
    }
    forget(snapshot_.counts);
    next_snapshot_ = snapshot_.number;
    forget(later_);
    snapshot_state_.store(SnapshotState::copying, std::memory_order_relaxed);
  }

  /// Without giving up the room for classes, which there might be no memory for again.
  static void forget(MonitorCounts& counts) noexcept {
    auto classes = std::move(counts.classes);
    std::ranges::fill(classes, ClassCounts());
    counts = {};
    counts.classes = std::move(classes);
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
    std::byte* const to = snapshot_.flows.data() + snapshot_.counts[Counter::live_flows] * snapshot_.stride;
    std::memcpy(to, &header, sizeof header);
    const std::span<const std::byte> row = measurement_.row(slot);
    if (!row.empty()) std::memcpy(to + sizeof header, row.data(), row.size());
    snapshot_.counts.add_live(header.record);
    add_to_class(snapshot_.counts, header.record, slot);
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
    counts += ended_counts_;
    counts.set(Counter::arrived, counted());
    counts -= later_;
    counts.set(Counter::table_lines, table_.buckets());
    add_flowless(counts);  // up to now: they come to no slot that may have been copied
    counts.complete_bytes();
    copied_ = 0;
    mark_ = !mark_;  // all slots are marked: now none is
    measurement_.fill(snapshot_.states);
    next_snapshot_ = snapshot_.number + 1;
    snapshot_state_.store(SnapshotState::ready, std::memory_order_release);
  }

  MonitorOptions options_;
  Table table_;
  InFlight in_flight_;
  FloodFilter* filter_ = nullptr;  ///< while it is on
  std::array<SlotRef, kGroup> slots_;
  std::span<const PacketFacts> group_;
  std::size_t group_measured_ = 0;                ///< packets of group_ that after_update() has seen
  std::uint64_t arrived_ = 0, published_at_ = 0;  ///< packets, at the last housekeep() and the last publish()
  std::uint64_t latest_ns_ = 0;
  std::uint64_t counted_ns_ = 0;  ///< of the last packet that came to a flow
  bool extras_ = false;
  bool only_first_ = false;        ///< later packets of a flow than its first ones have nothing to measure
  bool sheds_ = false;             ///< whether sample_ leaves any flow out
  std::uint32_t most_one_in_ = 1;  ///< sample_'s, since it last took all
  KeptOut shed_;

  std::unique_ptr<BatchFlows> batch_flows_;  ///< null: nobody asks for the classes of packets
  bool follows_batch_ = false;               ///< during run_classified()

  std::unique_ptr<FloodGuard> guard_;  ///< null: every flow comes into the table
  RecordRing ended_;
  std::unique_ptr<FlowSample> sample_;  ///< null: packets of all flows are looked at, whatever comes
  Measurement measurement_;
  std::uint64_t generation_ = 0;
  std::atomic<StatisticChoice*> wanted_statistics_{nullptr};

  MonitorCounts ended_counts_;  ///< of the ended records alone
  std::uint64_t idle_ns_;       ///< 0: no flow ends for want of packets
  std::uint64_t swept_ns_ = 0;  ///< of packet time

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
