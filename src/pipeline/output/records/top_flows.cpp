// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/top_flows.hpp"

#include <algorithm>

namespace parshall {

void TopFlows::offer(const ReportFlow& flow) {
  const Value key = order_.key_of(flow);
  if (kept_.size() == top_) {
    if (!FlowOrder::comes_first(key, flow.record, kept_.front().key, kept_.front().record)) return;
    std::ranges::pop_heap(kept_, falls);
    kept_.pop_back();
  }
  const auto asked = flow.values.subspan(order_.of_record());
  kept_.push_back({key, flow.record, {asked.begin(), asked.end()}});
  std::ranges::push_heap(kept_, falls);
}

void TopFlows::visit(const std::function<void(const ReportFlow&)>& visit) {
  std::ranges::stable_sort(kept_, falls);  // a heap in falling order
  std::vector<Value> values;
  for (const Kept& flow : kept_) {
    values.resize(order_.of_record());
    order_.read_record(flow.record, values);
    values.insert(values.end(), flow.asked.begin(), flow.asked.end());
    visit({flow.record, values});
  }
}

}  // namespace parshall
