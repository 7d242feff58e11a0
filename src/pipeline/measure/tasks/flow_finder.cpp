// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/flow_finder.hpp"

#include <algorithm>

namespace parshall {

FlowFinder::FlowFinder(Events events, bool counts_events, std::vector<BoundField> shown)
    : events_(std::move(events)),
      counts_events_(counts_events),
      shown_(std::move(shown)),
      part_(std::make_shared<const KeyPart>(*KeyPart::parse("5tuple"))) {
  std::erase_if(shown_,
                [](const BoundField& field) { return field.name() == "packets" || field.name() == "wire_bytes"; });
  found_.reserve(kMostKept);
  values_.reserve(kMostKept * shown_.size());
}

std::size_t FlowFinder::memory_bytes() const noexcept {
  return kMostKept * (sizeof(Found) + shown_.size() * sizeof(std::optional<double>));
}

void FlowFinder::flows(std::span<const FlowWindow> flows) {
  for (const FlowWindow& flow : flows) {
    const std::uint64_t events = events_(flow);
    if (events == 0) continue;
    if (found_.size() == kMostKept) {
      ++more_;
      continue;
    }
    found_.push_back({flow.key, flow.first_ns, flow.packets, flow.wire_bytes, events, values_.size(), flow.weight,
                      flow.measured_in_part});
    for (const BoundField& field : shown_) values_.push_back(field.of(flow));
  }
}

void FlowFinder::end(EventWriter& events) {
  std::ranges::sort(found_, [](const Found& a, const Found& b) {
    if (const int order = order_of(a.key, b.key)) return order < 0;
    return a.first_ns < b.first_ns;
  });
  std::vector<EventValue> error;
  if (const std::uint64_t untold = events.window().totals.untold_flows(); untold != 0)
    error = {{"flows_missing", untold}};
  for (const Found& flow : found_) {
    std::vector<EventValue> values;  // first what the task is about
    for (std::size_t i = 0; i < shown_.size(); ++i)
      if (const auto value = values_[flow.at + i]) values.push_back(shown_[i].value(*value));
    values.push_back({"packets", flow.packets});
    values.push_back({"wire_bytes", flow.wire_bytes});
    std::vector<EventValue> own_error = error;
    if (flow.in_part) own_error.push_back({"measured_in_part", std::uint64_t{1}});
    events.write(part_, part_->of(flow.key), {.weight = flow.weight, .in_part = flow.in_part, .events = flow.events},
                 std::move(values), std::move(own_error));
  }
  events.count_dropped(more_);
  found_.clear();
  values_.clear();
  more_ = 0;
}

std::vector<BoundField> bind_fields(TaskContext& context, std::initializer_list<std::string_view> names) {
  std::vector<BoundField> fields;
  for (const std::string_view name : names) fields.push_back(context.field(*find_field(name)));
  return fields;
}

}  // namespace parshall
