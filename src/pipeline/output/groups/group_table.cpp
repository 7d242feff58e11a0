// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/groups/group_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "base/random.hpp"
#include "pipeline/flow/both_ways.hpp"

namespace parshall {
namespace {

constexpr std::uint64_t kFirstGroups = 4096, kGrowth = 4, kFirstPairs = 16384;

/// Group in the order of keys. Few have equal heads, so that sorting seldom needs the keys.
struct Row {
  std::uint64_t head;
  const Group* group;

  friend bool operator<(const Row& a, const Row& b) noexcept {
    return a.head != b.head ? a.head < b.head : order_of(a.group->record.key, b.group->record.key) < 0;
  }
};

/// Returns the version and the first bits of the addresses; orders like order_of() where they differ.
std::uint64_t head_of(const FlowKey& key) noexcept {
  std::uint64_t first;
  std::memcpy(&first, key.address.data(), sizeof first);
  return std::uint64_t{key.ip_version == 6} << 63 | __builtin_bswap64(first) >> 1;
}

void add_share(Group& group, bool sends, const GroupShare& share) noexcept {
  FlowRecord& sum = group.record;
  (sends ? sum.packets : sum.reverse_packets) += share.packets;
  (sends ? sum.wire_bytes : sum.reverse_wire_bytes) += share.wire_bytes;
  const bool is_new = group.flows == 0;
  sum.first_ns = is_new ? share.first_ns : std::min(sum.first_ns, share.first_ns);
  sum.last_ns = std::max(sum.last_ns, share.last_ns);
  group.rates.pps += share.rates.pps;
  (sends ? group.rates.out_bps : group.rates.in_bps) += share.rates.out_bps;
  group.flows += share.flows;
}

}  // namespace

GroupTable::GroupTable(const GroupSchema& schema, std::uint64_t most, std::uint64_t seed)
    : schema_(schema),
      most_(std::max<std::uint64_t>(1, most)),
      // Flows come in the order of their hashes. Under the same seed, they would all have homes at the beginning of a
      // table that grows, and searches would take as long as the table.
      seed_(SplitMix64::mix(~seed)) {
  if (!schema_.is_of_texts()) return;
  try {
    connections_ = std::make_unique<ConnectionTexts>(
        most_, seed_,
        [this](std::string_view text, bool sends, const GroupShare& share) { return add_to_text(text, sends, share); });
  } catch (const std::bad_alloc&) {  // each direction is by itself then
  }
}

std::uint64_t GroupTable::memory_bytes(std::uint64_t most, bool of_texts) noexcept {
  const std::uint64_t texts =
      of_texts ? ConnectionTexts::memory_bytes(most) + most * (kMostText + sizeof(std::string)) : 0;
  // While a table grows, the smaller one is still there. At most half of the places for pairs are taken.
  const std::uint64_t pairs =
      std::bit_ceil(2 * (std::max(kFewestPairs, kPairsPerGroup * most) + 1)) * sizeof(std::uint64_t);
  return 2 * Table::memory_bytes(most) + pairs + pairs / 2 + (most + 1) * sizeof(Row) + texts;
}

Group& GroupTable::group_of(const FlowKey& key) noexcept {
  if (!groups_ && !grow()) return others_;
  const std::uint64_t hash = groups_->hash(key);
  if (Group* const found = groups_->find_or_add(hash, key)) return *found;
  return grow() ? groups_->add(hash, key) : others_;
}

/// Returns the group of a text. Different texts with one key, which takes an attack, are added up in the row of others.
Group& GroupTable::group_of(const FlowKey& key, std::string_view text) {
  Group& group = group_of(key);
  if (text.empty() || &group == &others_) return group;
  if (group.flows == 0) group.text = texts_.emplace_back(text);
  return group.text == text ? group : others_;
}

/// Makes room for more groups; returns false if there may be no more.
bool GroupTable::grow() noexcept try {
  if (is_full_ || (groups_ && groups_->size() >= most_)) return false;
  is_full_ = true;  // also if this fails: to try again for each flow would take seconds
  auto larger = std::make_unique<Table>(std::min(most_, groups_ ? kGrowth * groups_->capacity() : kFirstGroups), seed_);
  if (groups_)
    for (const Table::Entry& entry : groups_->entries()) larger->add(larger->hash(entry.key), entry.key) = entry.value;
  groups_ = std::move(larger);
  is_full_ = false;
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

bool GroupTable::grow_pairs() noexcept try {
  if (pair_count_ > most_pairs()) return false;
  std::vector<std::uint64_t> larger(std::max<std::size_t>(kFirstPairs, 2 * pairs_.size()));
  for (const std::uint64_t hash : pairs_) {
    if (hash == 0) continue;
    std::size_t at = hash & (larger.size() - 1);
    while (larger[at] != 0) at = (at + 1) & (larger.size() - 1);
    larger[at] = hash;
  }
  pairs_ = std::move(larger);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void GroupTable::count_peer(const FlowKey& pair, Group& group) noexcept {
  if (!knows_peers_ || !groups_) return;
  if (2 * pair_count_ >= pairs_.size() && !grow_pairs()) {
    knows_peers_ = false;
    pairs_ = {};
    return;
  }
  const std::uint64_t hash = std::max<std::uint64_t>(1, groups_->hash(pair));
  std::size_t at = hash & (pairs_.size() - 1);
  for (; pairs_[at] != 0; at = (at + 1) & (pairs_.size() - 1))
    if (pairs_[at] == hash) return;
  pairs_[at] = hash;
  ++pair_count_;
  ++group.peers;
}

void GroupTable::add(const ReportFlow& flow) {
  const FlowRecord& record = flow.record;
  const std::uint64_t packets = record.packets - std::min(flow.before.packets, record.packets);
  if (packets == 0) return;
  const std::uint64_t wire_bytes = record.wire_bytes - std::min(flow.before.wire_bytes, record.wire_bytes);
  interval_s_ = flow.before.interval_s;
  const GroupShare share{.packets = packets,
                         .wire_bytes = wire_bytes,
                         .flows = 1,
                         .first_ns = record.first_ns,
                         .last_ns = record.last_ns,
                         .rates = {.pps = flow.rates.pps, .in_bps = 0, .out_bps = flow.rates.out_bps}};
  std::array<GroupOfFlow, 2> found;
  const std::size_t count = schema_.find(record.key, flow.values, found);
  if (connections_) return connections_->add(record.key, schema_.text_of(flow.values), found[0].sends, share);
  bool was_in_others = false;
  for (std::size_t i = 0; i < count; ++i) {
    Group& group = group_of(found[i].group, schema_.text_of(flow.values));
    const bool is_in_others = &group == &others_;
    const bool is_twice = i == 1 && (found[0].group == found[1].group || (is_in_others && was_in_others));
    was_in_others = is_in_others;
    add_share(group, found[i].sends, share);
    group.flows -= is_twice;
    if (found[i].pair.present()) count_peer(found[i].pair, group);
  }
}

/// Returns the text as the group keeps it; empty if the group has no room.
std::string_view GroupTable::add_to_text(std::string_view text, bool sends, const GroupShare& share) {
  Group& group = group_of(group_of_value(text.empty() ? Value() : Value::of_text(text)), text);
  add_share(group, sends, share);
  return group.text;
}

void GroupTable::visit(const std::function<void(const ReportFlow&)>& visit, Order order) {
  if (connections_) connections_->give_up();
  std::vector<Row> rows;
  std::uint64_t first_ns = ~std::uint64_t{0}, last_ns = 0;
  const auto add = [&](const Group& group) {
    rows.push_back({head_of(group.record.key), &group});
    first_ns = std::min(first_ns, group.record.first_ns);
    last_ns = std::max(last_ns, group.record.last_ns);
  };
  if (groups_) {
    rows.reserve(groups_->size() + 1);
    for (Table::Entry& entry : groups_->entries()) {
      entry.value.record.key = entry.key;
      add(entry.value);
    }
  }
  if (order == Order::by_key && schema_.is_of_texts())
    std::ranges::sort(rows, {}, [](const Row& row) { return row.group->text; });
  else if (order == Order::by_key)
    std::sort(rows.begin(), rows.end());
  if (others_.flows != 0) add(others_);
  std::optional<double> seconds;
  if (interval_s_ > 0)
    seconds = interval_s_;
  else if (last_ns > first_ns)
    seconds = static_cast<double>(last_ns - first_ns) * 1e-9;
  std::vector<Value> values(schema_.columns().size());
  std::string room;
  for (const Row& row : rows) {
    Group group = *row.group;
    if (!schema_.is_of_texts()) group.text = schema_.name_of(group.record.key, room);
    schema_.read(group, seconds, knows_peers_, values);
    visit({.record = group.record, .values = values, .rates = group.rates, .text = group.text});
  }
}

void GroupTable::clear() noexcept {
  if (groups_) groups_->clear();
  std::ranges::fill(pairs_, 0);
  texts_.clear();
  if (connections_) connections_->clear();
  others_ = {};
  pair_count_ = 0;
  knows_peers_ = true;
  is_full_ = false;
  interval_s_ = 0;
}

Report grouped(Report report, const GroupSchema& schema, GroupTable& table) {
  Report groups = report_of(report.summary, schema, table);
  groups.events = report.events;
  groups.events_left_out = report.events_left_out;
  groups.flows = [&table, flows = std::move(report.flows)](const std::function<void(const ReportFlow&)>& visit) {
    table.clear();
    flows([&](const ReportFlow& flow) { table.add(flow); });
    table.visit(visit);
  };
  return groups;
}

Report report_of(const ReportSummary& summary, const GroupSchema& schema, GroupTable& table) {
  return {.summary = summary,
          .columns = schema.columns(),
          .rows = schema.grouping().names,
          .key_names = schema.key_names(),
          .flows = [&table](const std::function<void(const ReportFlow&)>& visit) { table.visit(visit); }};
}

}  // namespace parshall
