// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/flow_class.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace parshall {

FlowClass::FlowClass(std::shared_ptr<const Classifier> classifier)
    : classifier_(std::move(classifier)), packets_(static_cast<std::uint32_t>(classifier_->packets())) {
  const auto classes = classifier_->classes();
  Column column{std::string(kName), "application, by the sizes of the flow's first packets (--model)"};
  column.values.assign(classes.begin(), classes.end());
  column.values.emplace_back("unknown");
  columns_.push_back(std::move(column));
}

void FlowClass::update(const SampleBatch& batch) const noexcept {
  std::array<std::byte*, kStatBatch> complete;
  std::array<std::uint16_t, kStatBatch * kMostFirstPackets> sizes;
  std::size_t flows = 0;
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    std::byte* const row = batch.rows[i];
    Head head;
    std::memcpy(&head, row, sizeof head);
    if (head.packets_and_one == 0 || head.packets_and_one > packets_) continue;
    const auto size = static_cast<std::uint16_t>(std::min<std::uint64_t>(batch.samples[i], 0xffff));
    std::memcpy(row + sizeof head + (head.packets_and_one - 1u) * sizeof size, &size, sizeof size);
    ++head.packets_and_one;
    std::memcpy(row, &head, sizeof head);
    if (head.packets_and_one <= packets_) continue;
    std::memcpy(&sizes[flows * packets_], row + sizeof head, packets_ * sizeof size);
    complete[flows++] = row;
  }
  if (flows == 0) return;
  std::array<ClassId, kStatBatch> ids;
  classifier_->classify(std::span(sizes).first(flows * packets_), std::span(ids).first(flows));
  for (std::size_t i = 0; i < flows; ++i) std::memcpy(complete[i] + offsetof(Head, id), &ids[i], sizeof ids[i]);
}

void FlowClass::begin(std::byte* row) const noexcept {
  const Head none_yet{.packets_and_one = 1, .id = kNotClassified};
  std::memcpy(row, &none_yet, sizeof none_yet);
}

ClassId FlowClass::class_of(const std::byte* row) const noexcept {
  Head head;
  std::memcpy(&head, row, sizeof head);
  return head.packets_and_one > packets_ ? head.id : kNotClassified;
}

void FlowClass::read(const std::byte* row, std::span<std::optional<double>> out) const noexcept {
  const ClassId id = class_of(row);
  out[0].reset();
  if (id == kNotClassified) return;
  out[0] = static_cast<double>(id == kUnknownClass ? columns_[0].values.size() - 1 : id);
}

}  // namespace parshall
