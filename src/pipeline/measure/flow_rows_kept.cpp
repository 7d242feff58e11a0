// SPDX-License-Identifier: Apache-2.0
// What rows take over from those that they replace, when other columns are wanted.
#include <algorithm>
#include <cstring>
#include <utility>

#include "pipeline/measure/flow_rows.hpp"

namespace parshall {

void FlowRows::keep_classes(const FlowRows& before, std::size_t slots) noexcept {
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const auto from = before.set_->class_state(before.row(static_cast<std::uint32_t>(slot)) + before.prefix_bytes_);
    if (std::ranges::all_of(from, [](std::byte byte) { return byte == std::byte{0}; })) continue;  // avoid touching
    std::ranges::copy(from, class_state(static_cast<std::uint32_t>(slot)));
  }
}

void FlowRows::keep_origins(const FlowRows& before, std::size_t slots) noexcept {
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    const std::byte* const from = before.set_->origin_state(before.row(slot) + before.prefix_bytes_);
    if (FlowOrigin::state_of(from).is_known()) std::memcpy(origin_state(slot), from, sizeof(FlowOrigin::State));
  }
}

void FlowRows::keep_names(FlowRows& before, std::size_t slots) noexcept {
  const StatisticSet::Placed *const now = set_->names(), *const then = before.set_->names();
  if (now == nullptr || then == nullptr || !name_reader_ || !before.name_reader_) return;
  if (!(set_->application_names()->wanted() == before.set_->application_names()->wanted())) return;
  name_reader_ = std::move(before.name_reader_);
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    const std::byte* const from = before.row(slot);
    const std::byte* const state = from + before.prefix_bytes_ + then->offset;
    if (std::all_of(state, state + now->statistic->state_bytes(), [](std::byte each) { return each == std::byte{0}; }))
      continue;  // avoid touching
    std::memcpy(names_state(slot), state, now->statistic->state_bytes());
    if (then->statistic->has_carries(state))
      std::memcpy(carries_.of(row(slot)) + now->carry_offset, before.carries_.of(from) + then->carry_offset,
                  now->statistic->carry_bytes());
  }
}

void FlowRows::keep_labels(FlowRows& before, std::size_t slots) noexcept {
  if (!label_reader_ || !before.label_reader_) return;
  label_reader_ = std::move(before.label_reader_);
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    const std::byte* const from = before.row(slot) + before.prefix_bytes_ + before.set_->label()->offset;
    if (const auto state = FlowLabel::state_of(from); state.is_chosen || state.is_open)
      std::memcpy(rows_.data() + slot * stride_ + prefix_bytes_ + set_->label()->offset, &state, sizeof state);
  }
}

}  // namespace parshall
