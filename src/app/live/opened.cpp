// SPDX-License-Identifier: Apache-2.0
#include "app/live/opened.hpp"

#include <algorithm>
#include <cmath>

namespace parshall::live {

std::string within_text(const std::vector<Opened>& within) {
  std::string text;
  for (const Opened& each : within) text += (text.empty() ? "" : " > ") + each.text;
  return text;
}

Within::Within(const std::vector<Opened>& opened, const Networks& local, std::span<const ColumnInfo> columns,
               std::span<const std::vector<std::string>> texts)
    : opened_(opened), local_(local), texts_(texts) {
  for (const Opened& each : opened) {
    const auto column = std::ranges::find(columns, each.by->of_column, &ColumnInfo::name);
    columns_.push_back(static_cast<std::size_t>(column - columns.begin()));
  }
}

bool Within::contains(const FlowKey& flow, std::span<const float> values) const noexcept {
  for (std::size_t i = 0; i < opened_.size(); ++i) {
    const Opened& group = opened_[i];
    std::array<GroupOfFlow, 2> found;
    std::size_t count = 0;
    if (group.by->find != nullptr) {
      count = group.by->find(flow, local_, found);
    } else if (columns_[i] < values.size()) {
      const float value = values[columns_[i]];
      const auto number = static_cast<std::uint64_t>(std::isnan(value) ? 0 : value);
      const bool is_text = group.by->columns.front().type == kText;
      found[0].group = group_of_value(std::isnan(value) ? Value()
                                      : is_text         ? Value::of_text(texts_[columns_[i]][number])
                                                        : Value::of_unsigned(number));
      count = 1;
    }
    if (std::ranges::find(found.begin(), found.begin() + count, group.key, &GroupOfFlow::group) ==
        found.begin() + count)
      return false;
  }
  return true;
}

}  // namespace parshall::live
