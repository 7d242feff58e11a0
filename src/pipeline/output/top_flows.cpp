// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/top_flows.hpp"

#include <algorithm>

namespace parshall {

void TopFlows::offer(const ReportFlow& flow) {
  const Value& key = flow.values[column_];
  if (kept_.size() == top_) {
    if (key <= kept_.front().key) return;
    std::ranges::pop_heap(kept_, falls);
    kept_.pop_back();
  }
  const auto asked = flow.asked();
  kept_.push_back({key, flow.record, {asked.begin(), asked.end()}});
  std::ranges::push_heap(kept_, falls);
}

void TopFlows::visit(const std::function<void(const ReportFlow&)>& visit) {
  std::ranges::stable_sort(kept_, falls);  // which a heap of falling order is
  std::vector<Value> values;
  for (const Kept& flow : kept_) {
    values.resize(kBaseColumns);
    read_base_columns(flow.record, std::span(values).first<kBaseColumns>());
    values.insert(values.end(), flow.asked.begin(), flow.asked.end());
    visit({flow.record, values});
  }
}

}  // namespace parshall
