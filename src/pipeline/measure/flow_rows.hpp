// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/flow/flow_keys.hpp"
#include "pipeline/flow/in_flight.hpp"
#include "pipeline/flow/record.hpp"
#include "pipeline/measure/finding.hpp"
#include "pipeline/measure/labels/label_reader.hpp"
#include "pipeline/measure/name_reader.hpp"
#include "pipeline/measure/registry.hpp"
#include "pipeline/measure/statistics/recent_names.hpp"

namespace parshall {

/// One packet, as statistics see it.
struct RowUpdate {
  std::uint32_t slot;
  bool starts_flow;
  bool is_split = false;  ///< starts_flow, but only a new record of a continuing flow
  bool is_late = false;   ///< starts_flow, but earlier packets of the flow may be missing
  CountWord counts;
  std::uint64_t time_ns;
  LinkPlace place;
  std::uint64_t packet_name = 0;  ///< see PacketNames; only for a set with a digest

  std::uint32_t wire_bytes() const noexcept {
    return static_cast<std::uint32_t>(counts.ip_bytes() + counts.extra_bytes());
  }
};

/// State of the chosen statistics for every flow: one row per slot, laid out once.
///
/// Shape: row = [last position + 1, when gaps are asked][last time + 1, when inter-arrival times are
///        asked][statistics], where 0 means "no packet yet". Rows are padded to a power of two bytes or to whole cache
///        lines. Carries have an array of their own. Memory of unused slots is never touched.
///
/// A record that an active timeout began starts with empty statistics, except for those of a flow's first packets. A
/// late packet (its time is before the previous packet's) has an inter-arrival time of 0.
class FlowRows {
 public:
  struct Options {
    ClassJobs* jobs = nullptr;                     ///< set if other threads classify flows
    bool can_wait = true;                          ///< packets wait while a page is committed
    bool has_packet_names = false;                 ///< else there are no digests
    std::optional<IpHeader> payloads_behind = {};  ///< packets come with their bytes; else no names, labels or payloads
    std::atomic<std::uint64_t>* names_not_read = nullptr;  ///< see NameReader
    std::shared_ptr<AddressNames> address_names = {};      ///< see NameReader
  };
  FlowRows(std::shared_ptr<const StatisticSet> set, std::size_t slots) : FlowRows(std::move(set), slots, Options{}) {}
  FlowRows(std::shared_ptr<const StatisticSet> set, std::size_t slots, Options options);

  const std::shared_ptr<const StatisticSet>& set() const noexcept { return set_; }
  static std::size_t memory_bytes(const StatisticSet& set, std::size_t slots, bool can_wait = true) noexcept;

  /// Commits the memory if a row is at most a cache line. Longer rows are left to the flows that fill them.
  void populate() noexcept;

  void prefetch(std::uint32_t slot) const noexcept { prefetch_line(row(slot)); }
  /// Prefetches what a digest needs beside the row.
  void prefetch_name(std::uint32_t slot, std::uint64_t name) const noexcept {
    if (recent_names_) recent_names_->prefetch(slot, name);
  }

  /// Copies each flow's class, or the data for it, from rows that these replace. Both use the same classifier.
  void keep_classes(const FlowRows& before, std::size_t slots) noexcept;

  /// Copies each flow's origin likewise.
  void keep_origins(const FlowRows& before, std::size_t slots) noexcept;

  /// Takes over each flow's names, and what is incomplete, if both have the same columns of names.
  void keep_names(FlowRows& before, std::size_t slots) noexcept;

  /// Takes over what each flow sent for its label.
  void keep_labels(FlowRows& before, std::size_t slots) noexcept;

  /// Notes that the flow continues in another record.
  void flow_goes_on(std::uint32_t slot, const FlowRecord& ended) noexcept {
    if (set_->has_origins()) FlowOrigin::go_on(origin_state(slot), ended);
  }

  /// Restarts the statistics of a record.
  void begin_record(std::uint32_t slot) noexcept;

  /// Adds at most kStatBatch packets, in arrival order. `headers` has TcpFacts for each packet, with SideFacts if they
  /// were read; null if they were not. `raw` has the packets themselves if flows have names, and
  /// null for one that is gone. `key_of` is needed by classes by ports.
  void update(std::span<const RowUpdate> packets, const TcpFacts* headers = nullptr,
              const RawPacket* const* raw = nullptr, const FlowKeys* key_of = nullptr) noexcept;

  /// Adds the findings on the same packets, after update().
  void update_found(std::span<const RowUpdate> packets, std::span<const PacketFinding> found) noexcept;

  /// Returns whether flows wait to be classified because rings were full. Any later packet of such a flow tries again.
  bool class_jobs_wait() const noexcept { return jobs_waiting_ != 0; }
  /// Takes the classes that other threads have computed.
  void take_classes() noexcept;
  /// Notes that the flow's record ended. The flow may continue in another one.
  void flow_ended(std::uint32_t slot, bool goes_on = false) noexcept {
    // When a flow of a capture ends depends on the table, so its packets alone say when it is learnt.
    if (learns_ && !goes_on && !label_reader_->can_wait()) [[unlikely]]
      learn(slot);
    if (jobs_waiting_ != 0 && set_->flow_class()->stop_waiting(class_state(slot))) --jobs_waiting_;
    if (name_reader_ && !goes_on) name_reader_->flow_ended(slot, names_state(slot));
  }

  /// Moves the flow's row to another slot.
  void move(std::uint32_t from, std::uint32_t to) noexcept;

  /// Returns what the record's row has of this direction, until the next call.
  std::span<const std::byte> statistics(std::uint32_t slot) const noexcept {
    const std::byte* const state = row(slot) + prefix_bytes_;
    if (record_.empty()) return {state, set_->direction_row_bytes()};
    if (label_reader_) label_reader_->wait_for(state + set_->label()->offset);
    set_->write_row(state, carries_.of(row(slot)), record_.data());
    return record_;
  }
  /// Does the same for a biflow, the other direction of which has another row. Its names add to those of this one.
  std::span<const std::byte> statistics(std::uint32_t slot, std::uint32_t back) const noexcept;

  /// Requires that the flows have classes.
  ClassId class_of(std::uint32_t slot) const noexcept { return set_->class_of(row(slot) + prefix_bytes_); }
  ToldClass told_class(std::uint32_t slot) const noexcept { return set_->told_class(row(slot) + prefix_bytes_); }

 private:
  void begin(std::byte* row, const RowUpdate& packet) noexcept;
  void update_whole(std::span<const RowUpdate> packets) noexcept;
  void update_split(const RowUpdate& packet) noexcept;
  void update_side(std::span<const RowUpdate> packets, const TcpFacts* headers) noexcept;
  void add_to_digest(std::byte* row, const RowUpdate& packet) noexcept;
  template <class SampleOf>
  void update_some(const StatisticSet::Placed& placed, std::span<const RowUpdate> packets, SampleOf sample_of) noexcept;
  void send_classes(std::span<const RowUpdate> packets) noexcept;
  void read_names(std::span<const RowUpdate> packets, const RawPacket* const* raw) noexcept;
  void keep_payloads(std::span<const RowUpdate> packets, const RawPacket* const* raw) noexcept;
  void learn(std::uint32_t slot) noexcept;
  void read_for_labels(std::span<const RowUpdate> packets, const RawPacket* const* raw) noexcept;
  std::byte* class_state(std::uint32_t slot) noexcept {
    return set_->class_state(rows_.data() + slot * stride_ + prefix_bytes_).data();
  }
  std::byte* origin_state(std::uint32_t slot) noexcept {
    return set_->origin_state(rows_.data() + slot * stride_ + prefix_bytes_);
  }
  std::byte* names_state(std::uint32_t slot) noexcept {
    return rows_.data() + slot * stride_ + prefix_bytes_ + set_->names()->offset;
  }
  const std::byte* row(std::uint32_t slot) const noexcept { return rows_.data() + slot * stride_; }
  std::size_t last_time_at() const noexcept { return uses_[static_cast<std::size_t>(Variable::gap)] ? 8 : 0; }

  std::shared_ptr<const StatisticSet> set_;
  std::array<bool, kVariables> uses_{};
  std::size_t prefix_bytes_ = 0;
  std::size_t stride_ = 0;
  HugeBuffer<std::byte> rows_, carry_memory_;
  CarryRows carries_;
  mutable std::vector<std::byte> record_;  ///< of statistics(); empty if the state is the row
  std::vector<StatisticSet::Placed> sampled_, of_first_packets_, of_side_, of_tcp_;
  std::unique_ptr<RecentNames> recent_names_;  ///< null without a digest
  std::unique_ptr<NameReader> name_reader_;    ///< null if flows have no names
  std::unique_ptr<LabelReader> label_reader_;  ///< null if flows get no labels
  std::optional<IpHeader> payloads_behind_;    ///< set if payloads are kept
  const FlowKeys* key_of_ = nullptr;           ///< during an update, if the flows' ports are needed
  std::shared_ptr<const PortLookup> ports_;    ///< during an update in which a flow began
  bool learns_ = false;                        ///< flows with labels teach the classifier
  ClassJobs* jobs_;
  std::size_t jobs_waiting_ = 0;  ///< flows for which the rings were full
};

}  // namespace parshall
