// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/top_flows.hpp"

#include <algorithm>

#include "pipeline/output/records/kept_texts.hpp"

namespace parshall {

void TopFlows::offer(const ReportFlow& flow) {
  const Value key = order_.key_of(flow);
  if (kept_.size() == top_) {
    if (!FlowOrder::comes_first(key, flow.record, kept_.front().key, kept_.front().record)) return;
    std::ranges::pop_heap(kept_, falls);
    kept_.pop_back();
  }
  const auto asked = flow.values.subspan(order_.of_record());
  Kept& kept = kept_.emplace_back(Kept{key, flow.record, {asked.begin(), asked.end()}});
  std::size_t bytes = 0;
  for (const Value& value : asked)
    if (value.present() && value.type() == ValueType::text) bytes += value.as_text().size();
  if (bytes != 0) {
    kept.texts.resize(bytes);
    keep_texts(kept.asked, kept.texts.data());
    kept.key = order_.key_of(kept.record, kept.asked);
  }
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
