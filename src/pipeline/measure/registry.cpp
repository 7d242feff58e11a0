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

}  // namespace

Result<StatisticSet> make_statistics(std::span<const std::string> names, const StatisticOptions& options) {
  if (const auto checked = check(options); !checked) return checked.error();
  std::vector<Group> groups;
  std::vector<std::string> wanted;
  bool classifies = false;
  for (const std::string& text : names) {
    if (text == FlowClass::kName || text == FlowClass::kBasisName) {
      if (options.classifier == nullptr)
        return Error{fmt::format("{}: name a model that tells the classes of flows (--model FILE)", text)};
      classifies = true;
      if (std::ranges::find(wanted, text) == wanted.end()) wanted.push_back(text);
      continue;
    }
    const Result<StatisticName> name = parse_statistic_name(text, kFamilies);
    if (!name) return name.error();
    if (std::find(wanted.begin(), wanted.end(), name->column) != wanted.end()) continue;
    wanted.push_back(name->column);
    group_of(groups, *name).whats.push_back(name->what);
  }
  if (classifies && std::ranges::find(wanted, FlowClass::kName) == wanted.end()) wanted.emplace_back(FlowClass::kName);
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
  if (options.labels) statistics.push_back(std::make_unique<FlowLabel>(options.labeller));
  if (options.origins) statistics.push_back(std::make_unique<FlowOrigin>());
  StatisticSet set;
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
    placed_.push_back({statistic.get(), state_bytes_, row_bytes_, carry_bytes_});
    if (const auto* const names = dynamic_cast<const ApplicationNames*>(statistic.get()))
      application_names_ = names, names_ = placed_.back();
    if (const auto* const label = dynamic_cast<const FlowLabel*>(statistic.get()))
      flow_label_ = label, label_ = placed_.back();
    state_bytes_ += statistic->state_bytes();
    row_bytes_ += statistic->row_bytes();
    carry_bytes_ += statistic->carry_bytes();
  }
  if (owned_.empty() || std::ranges::any_of(owned_, [](const auto& one) { return !one->first_packets(); })) return;
  first_packets_ = 0;
  for (const auto& statistic : owned_) first_packets_ = std::max(*first_packets_, *statistic->first_packets());
}

void StatisticSet::order_columns(std::span<const std::string> names) {
  std::vector<Column> in_turn;
  for (const auto& statistic : owned_) std::ranges::copy(statistic->columns(), std::back_inserter(in_turn));
  for (const std::string& name : names) {
    const auto found = std::find_if(in_turn.begin(), in_turn.end(), [&](const Column& c) { return c.name == name; });
    columns_.push_back(*found);
    source_.push_back(static_cast<std::size_t>(found - in_turn.begin()));
  }
}

void StatisticSet::read(const std::byte* row, std::span<std::optional<double>> out) const noexcept {
  std::array<std::optional<double>, kMaxColumns> in_turn;
  std::size_t filled = 0;
  for (const Placed& placed : placed_) {
    const std::size_t columns = placed.statistic->columns().size();
    placed.statistic->read(row + placed.row_offset, std::span(in_turn).subspan(filled, columns));
    filled += columns;
  }
  for (std::size_t i = 0; i < source_.size(); ++i) out[i] = in_turn[source_[i]];
}

bool StatisticSet::needs_side() const noexcept {
  return std::ranges::any_of(placed_, [](const Placed& placed) { return is_of_side(placed.statistic->variable()); });
}

bool StatisticSet::needs_tcp() const noexcept {
  return std::ranges::any_of(placed_, [](const Placed& placed) { return is_of_tcp(placed.statistic->variable()); });
}

bool StatisticSet::mergeable() const noexcept {
  return std::ranges::all_of(placed_, [](const Placed& placed) { return placed.statistic->mergeable(); });
}

void StatisticSet::merge(std::byte* into, const std::byte* from) const noexcept {
  for (const Placed& placed : placed_) placed.statistic->merge(into + placed.row_offset, from + placed.row_offset);
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

std::vector<std::string> all_statistic_names() { return statistic_names(kFamilies); }

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
