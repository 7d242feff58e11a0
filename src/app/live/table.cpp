// SPDX-License-Identifier: Apache-2.0
#include "app/live/table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/random.hpp"
#include "pipeline/flow/both_ways.hpp"
#include "pipeline/measure/tasks/key_table.hpp"
#include "pipeline/output/put_value.hpp"

namespace parshall::live {
namespace {

constexpr float kAbsent = std::numeric_limits<float>::quiet_NaN();

std::uint64_t hash_of(const FlowKey& key) noexcept {
  std::uint64_t hash = 0;
  for (std::size_t at = 0; at < key.significant_bytes(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, reinterpret_cast<const char*>(&key) + at, sizeof word);
    hash = SplitMix64::mix(hash ^ word);
  }
  return hash;
}

}  // namespace

void Table::load(const Report& report, const std::function<void()>& between) {
  next_.summary = report.summary;
  const auto asked = report.asked();
  next_.columns.assign(asked.begin(), asked.end());
  next_.entries.clear();
  next_.values.clear();
  next_.texts.assign(next_.columns.size(), {});
  text_places_.assign(next_.columns.size(), {});
  next_.entries.reserve(report.summary.total[Counter::live_flows]);
  next_.values.reserve(report.summary.total[Counter::live_flows] * next_.stride());
  index_.clear();
  expected_ = 0;

  const ReportSummary &before = now_.summary, &after = next_.summary;
  const bool again = before.number != 0;
  const double interval_s = again ? static_cast<double>(after.last_ns() - before.last_ns()) * 1e-9 : 0;
  const double passed_s = interval_s > 0 ? interval_s : std::max(0.0, after.elapsed_s - before.elapsed_s);
  next_.now_s = interval_s > 0 || !again ? static_cast<double>(after.last_ns()) * 1e-9 : now_.now_s + passed_s;
  next_.known_s = again ? now_.known_s + passed_s : 0;
  Passed passed{.interval_s = interval_s, .weights = {}};
  for (std::size_t i = 0; i < kWindowsS.size(); ++i)  // all intervals together weigh 1
    passed.weights[i] =
        next_.known_s > 0 ? std::expm1(-passed_s / kWindowsS[i]) / std::expm1(-next_.known_s / kWindowsS[i]) : 1;
  const auto rate = [&](std::uint64_t was, std::uint64_t is) -> std::optional<double> {
    if (is == was && again) return 0;  // packet time did not advance
    return interval_s > 0 ? std::optional(static_cast<double>(is - was) / interval_s) : std::nullopt;
  };
  next_.pps = rate(before.total.counted(), after.total.counted());
  next_.bps = rate(8 * before.total[Counter::wire_bytes], 8 * after.total[Counter::wire_bytes]);

  next_.mean_bps = now_.mean_bps;
  for (std::size_t i = 0; i < kWindowsS.size(); ++i)
    next_.mean_bps[i] += passed.weights[i] * (next_.bps.value_or(now_.mean_bps[i]) - now_.mean_bps[i]);

  next_.lately = again && !after.final ? std::optional(interval_between(before, after)) : std::nullopt;

  if (!report.flows) return;
  report.flows([&](const ReportFlow& flow) {
    if (const EndReason reason = flow.record.end_reason; reason != EndReason::none && reason != EndReason::forced_end)
      return;
    take_in(flow, passed);
    if (next_.entries.size() % Rows::kSlice == 0) between();
  });
  share_texts();
  order_texts();
}

/// Gives a flow without a text that of its opposite direction, so that both are found by it.
void Table::share_texts() {
  for (std::size_t column = 0; column < next_.texts.size(); ++column) {
    if (next_.texts[column].empty()) continue;
    const auto value_of = [&](std::size_t entry) -> float& {
      return next_.values[entry * next_.stride() + next_.rates() + column];
    };
    std::size_t count = 0;
    for (std::size_t i = 0; i < next_.entries.size(); ++i) count += !std::isnan(value_of(i));
    KeyTable<float> known(count, seed_);
    for (std::size_t i = 0; i < next_.entries.size(); ++i) {
      if (std::isnan(value_of(i))) continue;
      const FlowKey key = opposite(next_.entries[i].key);
      if (float* const value = known.find_or_add(known.hash(key), key)) *value = value_of(i);
    }
    for (std::size_t i = 0; i < next_.entries.size(); ++i) {
      const FlowKey& key = next_.entries[i].key;
      if (!std::isnan(value_of(i))) continue;
      if (const float* const value = known.find(known.hash(key), key)) value_of(i) = *value;
    }
  }
}

/// Returns a text's place among those of its column so far; absent if there are too many.
float Table::place_of(std::size_t column, std::string_view text) {
  if (next_.texts[column].size() == Rows::kMostTexts) return kAbsent;
  const auto [at, is_new] = text_places_[column].try_emplace(std::string(text), next_.texts[column].size());
  if (is_new) next_.texts[column].push_back(at->first);
  return static_cast<float>(at->second);
}

/// Puts the texts of each column in order, so that rows can be sorted by their places.
void Table::order_texts() {
  for (std::size_t column = 0; column < next_.texts.size(); ++column) {
    std::vector<std::string>& texts = next_.texts[column];
    if (texts.empty()) continue;
    std::ranges::sort(texts);
    std::vector<float> moved(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) moved[text_places_[column][texts[i]]] = static_cast<float>(i);
    for (std::size_t entry = 0; entry < next_.entries.size(); ++entry) {
      float& value = next_.values[entry * next_.stride() + next_.rates() + column];
      if (!std::isnan(value)) value = moved[static_cast<std::size_t>(value)];
    }
  }
  text_places_.clear();
}

void Table::take_in(const ReportFlow& flow, const Passed& passed) {
  const FlowRecord& record = flow.record;
  next_.entries.push_back({.key = record.key,
                           .packets = record.packets,
                           .wire_bytes = record.wire_bytes,
                           .first_ns = record.first_ns,
                           .last_ns = record.last_ns});
  add_rates(record, passed);
  const auto asked = flow.values.last(next_.columns.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const bool is_text = asked[i].present() && asked[i].type() == ValueType::text;
    const auto number = asked[i].number();
    next_.values.push_back(is_text  ? place_of(i, shown_text(next_.columns[i], asked[i].as_text()))
                           : number ? static_cast<float>(*number)
                                    : kAbsent);
  }
}

/// Adds a flow's mean rates, from those at the previous report and the difference since then.
void Table::add_rates(const FlowRecord& record, const Passed& passed) {
  const bool has_before = now_.summary.number != 0;
  const Rows::Entry* known = has_before ? entry_before(record.key) : nullptr;
  const auto at = known != nullptr ? static_cast<std::size_t>(known - now_.entries.data()) : 0;
  const bool had_rates = known != nullptr;
  // A record that started again since then has nothing to subtract.
  if (known != nullptr &&
      (record.first_ns > known->first_ns || record.packets < known->packets || record.wire_bytes < known->wire_bytes))
    known = nullptr;
  const std::array<std::uint64_t, 2> came{record.packets - (known != nullptr ? known->packets : 0),
                                          8 * (record.wire_bytes - (known != nullptr ? known->wire_bytes : 0))};
  for (std::size_t window = 0; window < kWindowsS.size(); ++window)
    for (std::size_t i = 0; i < came.size(); ++i) {
      const float before = had_rates ? now_.rates_of(at, window)[i] : 0;
      float rate = kAbsent;
      if (has_before && came[i] == 0)
        rate = 0;
      else if (has_before && passed.interval_s > 0)
        rate = static_cast<float>(static_cast<double>(came[i]) / passed.interval_s);
      const auto weight = static_cast<float>(passed.weights[window]);
      if (had_rates && std::isnan(rate)) rate = before;  // packet time stood still: nothing new is known
      next_.values.push_back(std::isnan(before) ? rate : before + weight * (rate - before));
    }
}

/// Finds the flow in the previous report. Reports come in nearly the same order each time, so only new flows need a
/// search.
const Rows::Entry* Table::entry_before(const FlowKey& key) {
  if (expected_ < now_.entries.size() && now_.entries[expected_].key == key) return &now_.entries[expected_++];
  if (now_.entries.empty()) return nullptr;
  if (index_.empty()) index_entries();
  const std::size_t mask = index_.size() - 1;
  for (std::size_t at = hash_of(key) & mask; index_[at] != 0; at = (at + 1) & mask) {
    const std::size_t found = index_[at] - 1;
    if (!(now_.entries[found].key == key)) continue;
    expected_ = found + 1;
    return &now_.entries[found];
  }
  return nullptr;
}

void Table::index_entries() {
  index_.assign(std::bit_ceil(2 * now_.entries.size()), 0);
  const std::size_t mask = index_.size() - 1;
  for (std::size_t i = 0; i < now_.entries.size(); ++i) {
    std::size_t at = hash_of(now_.entries[i].key) & mask;
    while (index_[at] != 0) at = (at + 1) & mask;
    index_[at] = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace parshall::live
