// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

#include "pipeline/measure/family.hpp"
#include "pipeline/measure/names.hpp"
#include "pipeline/measure/statistics/first_samples.hpp"
#include "pipeline/measure/statistics/flag_counts.hpp"
#include "pipeline/measure/statistics/moments.hpp"
#include "pipeline/measure/statistics/quantiles.hpp"
#include "pipeline/measure/statistics/tcp_totals.hpp"

namespace parshall {
namespace {

/// Registry of statistics. To add one, write its file, a line here, and its test.
constexpr std::array kFamilies{
    &kMomentsFamily, &kQuantileFamily, &kFirstSamplesFamily, &kFlagCountsFamily, &kInterfaceFamily, &kTcpTotalsFamily,
};

/// Columns requested for one variable from one family.
struct Group {
  Variable variable;
  const StatisticFamily* family;
  std::vector<std::string> whats;
};

Group& group_of(std::vector<Group>& groups, const StatisticName& name) {
  const auto same = [&](const Group& group) { return group.variable == name.variable && group.family == name.family; };
  const auto found = std::find_if(groups.begin(), groups.end(), same);
  return found != groups.end() ? *found : groups.emplace_back(Group{name.variable, name.family, {}});
}

Result<bool> check(const StatisticOptions& options) {
  if (options.relative_error >= kMinRelativeError && options.relative_error < kMaxRelativeError) return true;
  return Error{
      fmt::format("statistics: a relative error of {} for percentiles is not possible; choose one from {} up "
                  "to, not including, {}",
                  options.relative_error, kMinRelativeError, kMaxRelativeError)};
}

/// Returns a direction's column by that of its row.
Column column_of(Direction direction, Column column) {
  if (direction == Direction::forward) return column;
  column.name.insert(0, prefix_of(direction));
  column.help += direction == Direction::reverse ? ", reverse direction" : ", both directions together";
  return column;
}

}  // namespace

Error needs_biflows(std::string_view name) { return Error{fmt::format("{} is of biflows: give --biflow", name)}; }

Result<StatisticSet> make_statistics(std::span<const std::string> names, const StatisticOptions& options) {
  if (const auto checked = check(options); !checked) return checked.error();
  std::vector<Group> groups;
  std::vector<StatisticSet::Asked> wanted;
  std::vector<std::string> of_both;
  bool classifies = false;
  for (const std::string& text : names) {
    if (text == FlowClass::kName || text == FlowClass::kBasisName) {
      if (options.classifier == nullptr)
        return Error{fmt::format("{}: name a model that tells the classes of flows (--model FILE)", text)};
      classifies = true;
      if (StatisticSet::Asked asked{Direction::forward, text}; std::ranges::find(wanted, asked) == wanted.end())
        wanted.push_back(std::move(asked));
      continue;
    }
    const Result<StatisticName> name = parse_statistic_name(text, kFamilies);
    if (!name) return name.error();
    if (name->direction != Direction::forward && !options.biflows) return needs_biflows(text);
    StatisticSet::Asked asked{name->direction, name->column};
    if (std::ranges::find(wanted, asked) != wanted.end()) continue;
    wanted.push_back(std::move(asked));
    if (name->direction == Direction::both) {
      of_both.push_back(name->column);
      continue;
    }
    std::vector<std::string>& whats = group_of(groups, *name).whats;  // which both directions share
    if (std::ranges::find(whats, name->what) == whats.end()) whats.push_back(name->what);
  }
  if (const StatisticSet::Asked by_class{Direction::forward, std::string(FlowClass::kName)};
      classifies && std::ranges::find(wanted, by_class) == wanted.end())
    wanted.push_back(by_class);
  if (wanted.size() > StatisticSet::kMaxColumns) {
    return Error{fmt::format("statistics: {} columns asked for, at most {} are possible; ask for fewer", wanted.size(),
                             StatisticSet::kMaxColumns)};
  }

  std::vector<std::unique_ptr<Statistic>> statistics;
  for (const Group& group : groups)
    std::ranges::move(group.family->make(group.variable, group.whats, options), std::back_inserter(statistics));
  if (classifies) statistics.push_back(std::make_unique<FlowClass>(options.classifier, options.classes_told_by));
  if (options.digest) statistics.push_back(std::make_unique<Digest>());
  if (!options.names.empty()) statistics.push_back(std::make_unique<ApplicationNames>(options.names));
  if (options.payloads != 0) statistics.push_back(std::make_unique<FirstPayloads>(options.payloads));
  if (options.labels) statistics.push_back(std::make_unique<FlowLabel>(options.labeller));
  if (options.origins) statistics.push_back(std::make_unique<FlowOrigin>());
  StatisticSet set;
  if (!of_both.empty()) {
    auto both = make_statistics(
        of_both,
        {.quantiles = options.quantiles, .relative_error = options.relative_error, .interfaces = options.interfaces});
    if (!both) return both.error();
    set.both_ = std::make_shared<const StatisticSet>(*std::move(both));
  }
  set.has_reverse_ = options.reverse_payloads;
  set.place(std::move(statistics));
  set.order_columns(wanted);
  return set;
}

void StatisticSet::place(std::vector<std::unique_ptr<Statistic>> statistics) {
  // The states that fit into the first cache line come first, the largest of them in front; the others follow, those
  // with rows of their own last.
  constexpr std::size_t kRestOfLine = 56;
  const auto in_front = [](const auto& a, const auto& b) {
    const std::size_t x = a->state_bytes(), y = b->state_bytes();
    if (a->has_own_row() != b->has_own_row()) return !a->has_own_row();
    if ((x <= kRestOfLine) != (y <= kRestOfLine)) return x <= kRestOfLine;
    return x <= kRestOfLine ? x > y : x < y;
  };
  std::stable_sort(statistics.begin(), statistics.end(), in_front);
  owned_ = std::move(statistics);
  for (const auto& statistic : owned_) {
    if (const auto* const flow_class = dynamic_cast<const FlowClass*>(statistic.get()))
      flow_class_ = flow_class, flow_class_at_ = state_bytes_;
    if (dynamic_cast<const FlowOrigin*>(statistic.get()) != nullptr) has_origins_ = true, origin_at_ = state_bytes_;
    if (dynamic_cast<const Digest*>(statistic.get()) != nullptr) has_digest_ = true, digest_at_ = state_bytes_;
    placed_.push_back({statistic.get(), state_bytes_, direction_row_bytes_, carry_bytes_});
    if (const auto* const names = dynamic_cast<const ApplicationNames*>(statistic.get()))
      application_names_ = names, names_ = placed_.back();
    if (const auto* const payloads = dynamic_cast<const FirstPayloads*>(statistic.get()))
      first_payloads_ = payloads, payloads_ = placed_.back();
    if (const auto* const label = dynamic_cast<const FlowLabel*>(statistic.get()))
      flow_label_ = label, label_ = placed_.back();
    state_bytes_ += statistic->state_bytes();
    direction_row_bytes_ += statistic->row_bytes();
    carry_bytes_ += statistic->carry_bytes();
  }
  if (owned_.empty() || std::ranges::any_of(owned_, [](const auto& one) { return !one->first_packets(); })) return;
  first_packets_ = 0;
  for (const auto& statistic : owned_) first_packets_ = std::max(*first_packets_, *statistic->first_packets());
}

void StatisticSet::order_columns(std::span<const Asked> asked) {
  std::vector<Column> in_turn;
  for (const auto& statistic : owned_) std::ranges::copy(statistic->columns(), std::back_inserter(in_turn));
  for (const auto& [direction, name] : asked) {
    const std::span<const Column> values = direction == Direction::both ? both_->columns() : in_turn;
    const auto found = std::ranges::find(values, name, &Column::name);
    targets_[static_cast<std::size_t>(direction)].push_back(
        {static_cast<std::size_t>(found - values.begin()), columns_.size()});
    columns_.push_back(column_of(direction, *found));
    has_reverse_ |= direction == Direction::reverse;
  }
}

void StatisticSet::read_direction(const std::byte* row, std::span<std::optional<double>> out) const noexcept {
  std::size_t filled = 0;
  for (const Placed& placed : placed_) {
    const std::size_t columns = placed.statistic->columns().size();
    placed.statistic->read(row + placed.row_offset, out.subspan(filled, columns));
    filled += columns;
  }
}

void StatisticSet::read(const std::byte* row, std::span<std::optional<double>> out) const noexcept {
  std::array<std::optional<double>, kMaxColumns> values;
  const auto give = [&](Direction direction) {
    for (const auto& [value, column] : targets_[static_cast<std::size_t>(direction)]) out[column] = values[value];
  };
  read_direction(row, values);
  give(Direction::forward);
  if (!has_other_directions()) return;
  if (has_reverse_) read_direction(row + direction_row_bytes_, values);
  give(Direction::reverse);
  if (both_) both_->read(row + both_at(), values);
  give(Direction::both);
}

bool StatisticSet::needs_side() const noexcept {
  if (both_ && both_->needs_side()) return true;
  return std::ranges::any_of(placed_, [](const Placed& placed) { return is_of_side(placed.statistic->variable()); });
}

bool StatisticSet::needs_tcp() const noexcept {
  if (both_ && both_->needs_tcp()) return true;
  return std::ranges::any_of(placed_, [](const Placed& placed) { return is_of_tcp(placed.statistic->variable()); });
}

bool StatisticSet::mergeable() const noexcept {
  if (both_ && !both_->mergeable()) return false;
  return std::ranges::all_of(placed_, [](const Placed& placed) { return placed.statistic->mergeable(); });
}

void StatisticSet::merge(std::byte* into, const std::byte* from) const noexcept {
  const auto merge_direction = [&](std::size_t at) {
    for (const Placed& placed : placed_)
      placed.statistic->merge(into + at + placed.row_offset, from + at + placed.row_offset);
  };
  merge_direction(0);
  if (has_reverse_) merge_direction(direction_row_bytes_);
  if (both_) both_->merge(into + both_at(), from + both_at());
}

void StatisticSet::write_row(const std::byte* state, const std::byte* carries, std::byte* row) const noexcept {
  for (const Placed& placed : placed_)
    if (!placed.statistic->has_own_row())
      std::memcpy(row + placed.row_offset, state + placed.offset, placed.statistic->row_bytes());
    else
      placed.statistic->write_row(state + placed.offset, carries + placed.carry_offset, row + placed.row_offset);
}

bool is_statistic(std::string_view name) {
  return name == FlowClass::kName || name == FlowClass::kBasisName || parse_statistic_name(name, kFamilies).has_value();
}

std::vector<std::string> all_statistic_names() {
  const std::vector<std::string> plain = statistic_names(kFamilies);
  std::vector<std::string> names;
  for (const Direction direction : {Direction::forward, Direction::reverse, Direction::both})
    for (const std::string& name : plain) names.push_back(fmt::format("{}{}", prefix_of(direction), name));
  return names;
}

std::vector<StatisticListing> list_statistics(const StatisticOptions& options) {
  std::vector<StatisticListing> lines;
  for (std::size_t v = 0; v < kVariables; ++v) {
    const VariableInfo& info = kVariableInfo[v];
    for (const StatisticFamily* family : kFamilies) {
      if (!family->is_of(static_cast<Variable>(v))) continue;
      for (const StatisticKind& measure : family->measures) {
        const std::array whats{std::string(measure.example)};
        const auto variable = static_cast<Variable>(v);
        const auto statistic = std::move(family->make(variable, whats, options).front());
        const Column column = make_column(variable, measure.pattern, measure);
        const bool is_whole_name = column.name == info.name;
        lines.push_back({is_whole_name ? column.name : fmt::format("{}_{}", info.name, measure.pattern), column.unit,
                         column.name, column.type, column.help, statistic->state_bytes(), statistic->mergeable()});
      }
    }
  }
  return lines;
}

}  // namespace parshall
