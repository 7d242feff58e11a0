// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/flow_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

namespace parshall {
namespace {

constexpr std::size_t kLine = 64;
/// Longest rows on 2 MB pages. Few flows would fill longer ones. Committing 2 MB takes long enough to lose packets.
constexpr std::size_t kLargeRow = 512, kLargeRowOfDevice = 256;

struct Layout {
  std::array<bool, kVariables> uses{};
  std::size_t prefix_bytes = 0;
  std::size_t stride = 0, carry_stride = 0;
};

Layout layout_of(const StatisticSet& set) {
  Layout layout;
  for (const auto& placed : set.statistics())
    if (placed.statistic->takes_samples()) layout.uses[static_cast<std::size_t>(placed.statistic->variable())] = true;
  if (layout.uses[static_cast<std::size_t>(Variable::gap)]) layout.prefix_bytes += 8;
  if (layout.uses[static_cast<std::size_t>(Variable::iat)]) layout.prefix_bytes += 8;
  const auto whole_lines = [](std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; };
  const std::size_t bytes = layout.prefix_bytes + set.state_bytes();
  layout.stride = bytes < kLine ? std::bit_ceil(bytes) : whole_lines(bytes);
  layout.carry_stride = whole_lines(set.carry_bytes());
  return layout;
}

std::uint64_t load(const std::byte* at) noexcept {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void store(std::byte* at, std::uint64_t value) noexcept { std::memcpy(at, &value, sizeof value); }

/// Samples of one variable, collected for one call per statistic.
struct Samples {
  std::array<std::byte*, kStatBatch> rows;
  std::array<std::uint64_t, kStatBatch> values;

  std::size_t put(std::size_t at, std::byte* row, std::uint64_t value) noexcept {
    rows[at] = row;
    values[at] = value;
    return at + 1;
  }
};

std::optional<std::uint64_t> side_sample(const SideFacts& side, Variable variable) noexcept {
  const auto unless_none = [](std::uint16_t value) {
    return value == SideFacts::kNone ? std::nullopt : std::optional<std::uint64_t>(value);
  };
  switch (variable) {
    case Variable::ttl:
      return side.ttl;
    case Variable::dscp:
      return side.dscp;
    case Variable::vlan:
      return unless_none(side.vlan);
    case Variable::icmp_type_code:
      return unless_none(side.icmp_type_code);
    case Variable::interface:
      return side.interface == RawPacket::kNoInterface ? std::nullopt : std::optional<std::uint64_t>(side.interface);
    case Variable::gap:
    case Variable::iat:
    case Variable::size:
    case Variable::ip_size:
    case Variable::tcp_flags:
    case Variable::rtt:
    case Variable::tcp:
      break;  // not of SideFacts
  }
  return std::nullopt;
}

}  // namespace

FlowRows::FlowRows(std::shared_ptr<const StatisticSet> set, std::size_t slots, Options options)
    : set_(std::move(set)), jobs_(set_->classifies() ? options.jobs : nullptr) {
  const Layout layout = layout_of(*set_);
  uses_ = layout.uses;
  prefix_bytes_ = layout.prefix_bytes;
  stride_ = layout.stride;
  rows_ = HugeBuffer<std::byte>(slots * stride_, stride_ <= (options.can_wait ? kLargeRow : kLargeRowOfDevice));
  if (layout.carry_stride != 0) {
    carry_memory_ = HugeBuffer<std::byte>(slots * layout.carry_stride, /*huge_pages=*/false);
    carries_ = {rows_.data(), stride_, carry_memory_.data(), layout.carry_stride};
  }
  if (set_->has_own_rows()) record_.resize(set_->direction_row_bytes());
  if (set_->flow_label() != nullptr && options.payloads_behind)
    label_reader_ =
        std::make_unique<LabelReader>(set_->flow_label()->labeller(), *options.payloads_behind, options.can_wait);
  if (set_->payloads() != nullptr) payloads_behind_ = options.payloads_behind;
  learns_ = label_reader_ && set_->classifies() && set_->flow_label()->labeller()->learner() != nullptr;
  if (set_->has_digest() && options.has_packet_names) recent_names_ = std::make_unique<RecentNames>();
  if (set_->names() != nullptr && options.payloads_behind)
    name_reader_ = std::make_unique<NameReader>(NameReader::Options{.wanted = set_->application_names()->wanted(),
                                                                    .header = *options.payloads_behind,
                                                                    .can_wait = options.can_wait,
                                                                    .not_read = options.names_not_read,
                                                                    .addresses = std::move(options.address_names)});
  std::ranges::copy_if(set_->statistics(), std::back_inserter(sampled_),
                       [](const StatisticSet::Placed& placed) { return placed.statistic->takes_samples(); });
  std::ranges::copy_if(
      set_->statistics(), std::back_inserter(of_first_packets_),
      [](const StatisticSet::Placed& placed) { return placed.statistic->first_packets().has_value(); });
  std::ranges::copy_if(set_->statistics(), std::back_inserter(of_side_),
                       [](const StatisticSet::Placed& placed) { return is_of_side(placed.statistic->variable()); });
  std::ranges::copy_if(set_->statistics(), std::back_inserter(of_tcp_),
                       [](const StatisticSet::Placed& placed) { return is_of_tcp(placed.statistic->variable()); });
}

std::size_t FlowRows::memory_bytes(const StatisticSet& set, std::size_t slots, bool can_wait) noexcept {
  const Layout layout = layout_of(set);
  return slots * (layout.stride + layout.carry_stride) + (set.has_digest() ? RecentNames::kBytes : 0) +
         (set.names() != nullptr ? NameReader::memory_bytes(can_wait) : 0) +
         (set.label() != nullptr ? LabelFeed::kMemoryBytes : 0);
}

void FlowRows::populate() noexcept {
  if (stride_ <= kLine) rows_.populate();
  if (recent_names_) recent_names_->populate();
}

void FlowRows::move(std::uint32_t from, std::uint32_t to) noexcept {
  if (name_reader_) name_reader_->flow_moved(names_state(from), from, to);
  std::memcpy(rows_.data() + to * stride_, row(from), stride_);
  for (const auto& placed : set_->statistics())
    if (placed.statistic->has_carries(row(from) + prefix_bytes_ + placed.offset))
      std::memcpy(carries_.of(row(to)) + placed.carry_offset, carries_.of(row(from)) + placed.carry_offset,
                  placed.statistic->carry_bytes());
}

void FlowRows::begin(std::byte* row, const RowUpdate& packet) noexcept {
  if (packet.is_split) return;  // all statistics are of first packets, which continue
  std::memset(row, 0, stride_);
  if (set_->has_origins()) FlowOrigin::begin_at(set_->origin_state(row + prefix_bytes_), packet.time_ns);
  if (packet.is_late) return;
  for (const auto& placed : of_first_packets_) placed.statistic->begin(row + prefix_bytes_ + placed.offset);
  if (key_of_ == nullptr) return;
  if (ports_ == nullptr) ports_ = set_->flow_class()->classifier()->ports();
  set_->flow_class()->begin_with(class_state(packet.slot), (*key_of_)(packet.slot), ports_.get());
}

void FlowRows::update(std::span<const RowUpdate> packets, const TcpFacts* headers, const RawPacket* const* raw,
                      const FlowKeys* key_of) noexcept {
  key_of_ = set_->classifies() && set_->flow_class()->needs_key() ? key_of : nullptr;
  ports_.reset();
  if (set_->first_packets()) {
    update_whole(packets);
    update_side(packets, headers);
  } else {
    for (std::size_t done = 0; done < packets.size();) {
      const auto left = packets.subspan(done);
      const auto split = std::ranges::find_if(left, &RowUpdate::is_split);
      const auto whole = static_cast<std::size_t>(split - left.begin());
      if (whole != 0) update_whole(left.first(whole));
      if (whole == 0) update_split(left.front());
      const std::size_t updated = whole == 0 ? 1 : whole;
      update_side(left.first(updated), headers == nullptr ? nullptr : headers + done);
      done += updated;
    }
  }
  if (jobs_ != nullptr) [[unlikely]]
    send_classes(packets);
  if (name_reader_) [[unlikely]]
    read_names(packets, raw);
  if (label_reader_) [[unlikely]]
    read_for_labels(packets, raw);
  if (payloads_behind_) [[unlikely]]
    keep_payloads(packets, raw);
}

/// Teaches the classifier with a flow, once its label is known by its packets: first with its port, then with its
/// sizes.
void FlowRows::learn(std::uint32_t slot) noexcept {
  const FlowLabel& labels = *set_->flow_label();
  std::byte* const at = rows_.data() + slot * stride_ + prefix_bytes_ + set_->label()->offset;
  FlowLabel::State state = FlowLabel::state_of(at);
  if (!state.is_chosen || state.is_learnt) return;
  std::array<std::uint16_t, kMostFirstPackets> room;
  const auto ports = set_->flow_class()->ports(class_state(slot));
  const auto sizes = set_->flow_class()->first_sizes(class_state(slot), room);
  if (!ports || (sizes.empty() && state.is_port_learnt)) return;
  label_reader_->wait_for(at);
  const ApplicationLabel label = labels.labeller()->find(state.connection, state.began_ns);
  if (label.basis < LabelBasis::cache) return;
  LabelLearner& learner = *labels.labeller()->learner();
  if (!std::exchange(state.is_port_learnt, true)) learner.learn_port(*ports, label.class_number);
  state.is_learnt = !sizes.empty();
  if (state.is_learnt) learner.learn(sizes, class_of(slot), label.class_number);
  std::memcpy(at, &state, sizeof state);
}

void FlowRows::read_for_labels(std::span<const RowUpdate> packets, const RawPacket* const* raw) noexcept {
  for (std::size_t i = 0; i < packets.size(); ++i) {
    std::byte* const state = rows_.data() + packets[i].slot * stride_ + prefix_bytes_ + set_->label()->offset;
    if (!LabelReader::is_open(state) || raw[i] == nullptr) continue;
    label_reader_->read(state, *raw[i]);
    if (learns_) learn(packets[i].slot);
  }
  label_reader_->flush();
}

void FlowRows::keep_payloads(std::span<const RowUpdate> packets, const RawPacket* const* raw) noexcept {
  const StatisticSet::Placed& payloads = *set_->payloads();
  for (std::size_t i = 0; i < packets.size(); ++i) {
    std::byte* const row = rows_.data() + packets[i].slot * stride_;
    std::byte* const state = row + prefix_bytes_ + payloads.offset;
    if (FirstPayloads::is_open(state) && raw[i] != nullptr)
      set_->first_payloads()->read(state, carries_.of(row) + payloads.carry_offset, *raw[i], *payloads_behind_);
  }
}

void FlowRows::read_names(std::span<const RowUpdate> packets, const RawPacket* const* raw) noexcept {
  const StatisticSet::Placed& names = *set_->names();
  for (std::size_t i = 0; i < packets.size(); ++i) {
    std::byte* const row = rows_.data() + packets[i].slot * stride_;
    std::byte* const state = row + prefix_bytes_ + names.offset;
    if (NameReader::is_open(state) && raw[i] != nullptr)
      name_reader_->read(packets[i].slot, state, carries_.of(row) + names.carry_offset, *raw[i],
                         *set_->application_names());
  }
}

std::span<const std::byte> FlowRows::statistics(std::uint32_t slot, std::uint32_t back) const noexcept {
  const auto record = statistics(slot);
  if (const StatisticSet::Placed* const names = set_->names();
      names != nullptr && names->statistic->has_carries(row(back) + prefix_bytes_ + names->offset))
    set_->application_names()->add_other_way(record_.data() + names->row_offset,
                                             carries_.of(row(back)) + names->carry_offset);
  return record;
}

/// Updates a statistic with the packets that have a sample, according to `sample_of(i)`.
template <class SampleOf>
void FlowRows::update_some(const StatisticSet::Placed& placed, std::span<const RowUpdate> packets,
                           SampleOf sample_of) noexcept {
  std::array<std::byte*, kStatBatch> states;
  std::array<std::uint64_t, kStatBatch> values;
  std::size_t count = 0;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const std::optional<std::uint64_t> value = sample_of(i);
    if (!value) continue;
    states[count] = rows_.data() + packets[i].slot * stride_ + prefix_bytes_ + placed.offset;
    values[count++] = *value;
  }
  if (count != 0)
    placed.statistic->update({{states.data(), count}, 0, {values.data(), count}, &carries_, placed.carry_offset});
}

void FlowRows::update_side(std::span<const RowUpdate> packets, const TcpFacts* headers) noexcept {
  if (headers == nullptr) return;
  for (const auto& placed : of_side_)
    update_some(placed, packets, [&, variable = placed.statistic->variable()](std::size_t i) {
      return side_sample(headers[i].side, variable);
    });
}

void FlowRows::update_found(std::span<const RowUpdate> packets, std::span<const PacketFinding> found) noexcept {
  for (const auto& placed : of_tcp_)
    update_some(placed, packets, [&](std::size_t i) -> std::optional<std::uint64_t> {
      const PacketFinding& finding = found[i];
      if (!finding.is_tcp) return std::nullopt;
      if (placed.statistic->variable() == Variable::tcp) return finding.tcp.marks.bits();
      if (finding.tcp.rtt_ns == TcpFinding::kNone || finding.tcp.rtt_ambiguous) return std::nullopt;
      return finding.tcp.rtt_ns;
    });
}

void FlowRows::send_classes(std::span<const RowUpdate> packets) noexcept {
  const FlowClass& flow_class = *set_->flow_class();
  for (const RowUpdate& packet : packets)
    jobs_waiting_ += static_cast<std::size_t>(flow_class.send(class_state(packet.slot), packet.slot, *jobs_));
  jobs_->flush();
}

void FlowRows::take_classes() noexcept {
  if (jobs_ == nullptr) return;
  const FlowClass& flow_class = *set_->flow_class();
  jobs_->take_verdicts([&](const ClassJob& job) { return flow_class.take(class_state(job.slot), job); });
}

void FlowRows::begin_record(std::uint32_t slot) noexcept {
  std::byte* const row = rows_.data() + slot * stride_ + prefix_bytes_;
  for (const auto& placed : set_->statistics())
    if (!placed.statistic->first_packets()) placed.statistic->begin_record(row + placed.offset);
}

/// Takes the first packet of a record that an active timeout began, if some statistics are per record. Those start
/// anew, without a gap or an inter-arrival time for this packet. Statistics of a flow's first packets continue.
void FlowRows::update_split(const RowUpdate& packet) noexcept {
  std::byte* const row = rows_.data() + packet.slot * stride_;
  const auto number = [](Variable variable) { return static_cast<std::size_t>(variable); };
  std::array<std::optional<std::uint64_t>, kVariables> samples;
  if (uses_[number(Variable::gap)]) {
    if (const std::uint64_t after_last = load(row); after_last != 0)
      samples[number(Variable::gap)] = packet.place.position - after_last;
    store(row, packet.place.position + 1);
  }
  if (uses_[number(Variable::iat)]) {
    std::byte* const last = row + last_time_at();
    if (const std::uint64_t after_last_ns = load(last); after_last_ns != 0)
      samples[number(Variable::iat)] = packet.time_ns >= after_last_ns ? packet.time_ns - after_last_ns + 1 : 0;
    store(last, packet.time_ns + 1);
  }
  samples[number(Variable::size)] = packet.wire_bytes();
  samples[number(Variable::ip_size)] = packet.counts.ip_bytes();
  samples[number(Variable::tcp_flags)] = packet.counts.tcp_flags();
  for (const auto& [statistic, offset, row_offset, carry_offset] : set_->statistics()) {
    std::byte* const state = row + prefix_bytes_ + offset;
    if (!statistic->takes_samples()) {
      if (!statistic->first_packets()) statistic->begin_record(state);
      continue;
    }
    const Variable variable = statistic->variable();
    const bool is_of_record = !statistic->first_packets();
    if (is_of_record) statistic->begin_record(state);
    const auto& sample = samples[number(variable)];
    if (!sample || (is_of_record && (variable == Variable::gap || variable == Variable::iat))) continue;
    statistic->update({{&state, 1}, 0, {&*sample, 1}, &carries_, carry_offset});
  }
  if (recent_names_) add_to_digest(row, packet);
}

inline void FlowRows::add_to_digest(std::byte* row, const RowUpdate& packet) noexcept {
  const bool is_repeat = recent_names_->add(packet.slot, packet.packet_name, packet.time_ns);
  Digest::add(set_->digest_state(row + prefix_bytes_), packet.packet_name, packet.time_ns, is_repeat);
}

void FlowRows::update_whole(std::span<const RowUpdate> packets) noexcept {
  const std::size_t last_time_at = this->last_time_at();
  // Local copies, in the order of Variable, which stores to rows cannot alias.
  const bool uses_gap = uses_[0], uses_iat = uses_[1], uses_size = uses_[2], uses_ip_size = uses_[3],
             uses_flags = uses_[4], keeps_digest = recent_names_ != nullptr;
  std::byte* const rows = rows_.data();
  const std::size_t stride = stride_;
  std::array<Samples, kPlainVariables> samples;
  auto& [gaps, times, sizes, ip_sizes, flags] = samples;
  std::size_t gap_count = 0, time_count = 0, size_count = 0, ip_size_count = 0, flag_count = 0;
  for (const RowUpdate& packet : packets) {
    std::byte* const row = rows + packet.slot * stride;
    if (packet.starts_flow) [[unlikely]]
      begin(row, packet);
    if (uses_gap) {
      const std::uint64_t after_last = load(row);
      if (after_last != 0) gap_count = gaps.put(gap_count, row, packet.place.position - after_last);
      store(row, packet.place.position + 1);
    }
    if (uses_iat) {
      const std::uint64_t after_last_ns = load(row + last_time_at);
      if (after_last_ns != 0)
        time_count =
            times.put(time_count, row, packet.time_ns >= after_last_ns ? packet.time_ns - after_last_ns + 1 : 0);
      store(row + last_time_at, packet.time_ns + 1);
    }
    if (uses_size) size_count = sizes.put(size_count, row, packet.wire_bytes());
    if (uses_ip_size) ip_size_count = ip_sizes.put(ip_size_count, row, packet.counts.ip_bytes());
    if (uses_flags) flag_count = flags.put(flag_count, row, packet.counts.tcp_flags());
    if (keeps_digest) add_to_digest(row, packet);
  }
  const std::array<std::size_t, kVariables> counts{gap_count, time_count, size_count, ip_size_count, flag_count};
  for (const auto& [statistic, offset, row_offset, carry_offset] : sampled_) {
    const auto variable = static_cast<std::size_t>(statistic->variable());
    const std::size_t count = counts[variable];
    if (count == 0) continue;
    const Samples& of = samples[variable];
    statistic->update(
        {{of.rows.data(), count}, prefix_bytes_ + offset, {of.values.data(), count}, &carries_, carry_offset});
  }
}

}  // namespace parshall
