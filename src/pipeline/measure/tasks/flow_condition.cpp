// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/flow_condition.hpp"

#include <algorithm>

namespace parshall {

FlowCondition::FlowCondition(Expression condition)
    : part_(std::make_shared<const KeyPart>(*KeyPart::parse("5tuple"))), condition_(std::move(condition)) {
  found_.reserve(kMostKept);
}

void FlowCondition::flows(std::span<const FlowWindow> flows) {
  for (const FlowWindow& flow : flows) {
    if (!condition_.holds(flow)) continue;
    if (found_.size() == kMostKept)
      ++more_;
    else
      found_.push_back(flow);
  }
}

void FlowCondition::end(EventWriter& events) {
  std::ranges::sort(found_, [](const FlowWindow& a, const FlowWindow& b) {
    if (const int order = order_of(a.key, b.key)) return order < 0;
    return a.first_ns < b.first_ns;
  });
  std::vector<EventValue> error;
  if (const std::uint64_t unlisted = events.window().totals.unlisted_flows; unlisted != 0)
    error = {{"flows_missing", unlisted}};
  for (const FlowWindow& flow : found_) {
    std::vector<EventValue> values{{"packets", flow.packets}, {"wire_bytes", flow.wire_bytes}};
    for (const FlowField* field : condition_.fields())
      if (field->name != "packets" && field->name != "wire_bytes")
        values.push_back({std::string(field->name), *field->of(flow)});
    events.write(part_, part_->of(flow.key), std::move(values), error);
  }
  events.count_dropped(more_);
  found_.clear();
  more_ = 0;
}

}  // namespace parshall
