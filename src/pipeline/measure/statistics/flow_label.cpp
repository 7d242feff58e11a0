// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/flow_label.hpp"

namespace parshall {
namespace {

static_assert(sizeof(ApplicationLabel) == 8);

ApplicationLabel label_in(const std::byte* row) noexcept {
  ApplicationLabel label;
  std::memcpy(&label, row, sizeof label);
  return label;
}

void put_label(std::byte* row, const ApplicationLabel& label) noexcept {
  std::memset(row, 0, sizeof label);  // also its padding, so that rows are the same for the same flow
  std::memcpy(row + offsetof(ApplicationLabel, application), &label.application, sizeof label.application);
  std::memcpy(row + offsetof(ApplicationLabel, class_number), &label.class_number, sizeof label.class_number);
  std::memcpy(row + offsetof(ApplicationLabel, basis), &label.basis, sizeof label.basis);
}

}  // namespace

void FlowLabel::begin(std::byte* row) const noexcept {
  const State state{.is_open = true};
  std::memcpy(row, &state, sizeof state);
}

void FlowLabel::write_row(const std::byte* at, const std::byte*, std::byte* row) const noexcept {
  const State state = state_of(at);
  put_label(row, state.is_chosen ? labeller_->find(state.connection, state.began_ns) : ApplicationLabel());
}

LabelOfFlow FlowLabel::read_label(const std::byte* row) const noexcept {
  const ApplicationLabel label = label_in(row);
  return {labeller_->name(label.application), label.basis};
}

void FlowLabel::merge(std::byte* into, const std::byte* from) const noexcept {
  if (label_in(into).basis < label_in(from).basis) put_label(into, label_in(from));
}

}  // namespace parshall
