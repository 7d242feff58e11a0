// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/flow_class.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace parshall {

FlowClass::FlowClass(std::shared_ptr<const Classifier> classifier, ToldBy told_by)
    : classifier_(std::move(classifier)),
      told_by_(told_by),
      packets_(static_cast<std::uint32_t>(classifier_->packets())),
      begins_with_ports_(classifier_->begins_with_ports()),
      knows_ports_(classifier_->knows_ports()) {
  const auto classes = classifier_->classes();
  Column column{std::string(kName), std::string(kHelp)};
  column.type = kType;
  column.values.assign(classes.begin(), classes.end());
  column.values.emplace_back("unknown");
  columns_.push_back(std::move(column));
  Column basis{std::string(kBasisName), std::string(kBasisHelp)};
  basis.type = kEnum8;
  basis.values.assign(kClassBasisNames.begin(), kClassBasisNames.end());
  columns_.push_back(std::move(basis));
}

void FlowClass::update(const SampleBatch& batch) const noexcept {
  std::array<std::byte*, kStatBatch> complete;
  std::array<std::uint16_t, kStatBatch * kMostFirstPackets> sizes;
  std::size_t flows = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    std::byte* const row = batch.state(i);
    Head head = head_of(row);
    if (head.packets_and_one == 0 || head.packets_and_one > packets_) continue;
    const auto size = static_cast<std::uint16_t>(std::min<std::uint64_t>(batch.samples[i], 0xffff));
    std::memcpy(row + sizeof head + (head.packets_and_one - 1u) * sizeof size, &size, sizeof size);
    ++head.packets_and_one;
    if (is_complete(head)) head.id = kNotClassified;  // no longer that of the port
    std::memcpy(row, &head, sizeof head);
    if (!is_complete(head) || told_by_ == ToldBy::other_threads) continue;
    std::memcpy(&sizes[flows * packets_], row + sizeof head, packets_ * sizeof size);
    complete[flows++] = row;
  }
  if (flows == 0) return;
  std::array<ClassId, kStatBatch> ids;
  classifier_->classify(std::span(sizes).first(flows * packets_), std::span(ids).first(flows));
  for (std::size_t i = 0; i < flows; ++i) std::memcpy(complete[i] + offsetof(Head, id), &ids[i], sizeof ids[i]);
}

void FlowClass::begin(std::byte* row) const noexcept {
  // Without its ports, a flow is like one that existed before.
  const Head none_yet{.packets_and_one = static_cast<std::uint16_t>(begins_with_ports_ ? 0 : 1), .id = kNotClassified};
  std::memcpy(row, &none_yet, sizeof none_yet);
}

void FlowClass::begin_with(std::byte* row, const FlowKey& key, const PortLookup* ports) const noexcept {
  const std::uint16_t lower = std::min(key.src_port(), key.dst_port());
  const PortValues values{lower, static_cast<std::uint16_t>(2 * key.protocol + (key.src_port() == lower ? 1 : 0))};
  const Head head{.packets_and_one = static_cast<std::uint16_t>(begins_with_ports_ ? kPortValues + 1 : 1),
                  .id = ports == nullptr ? kNotClassified : ports->find(key.protocol, lower)};
  std::memcpy(row, &head, sizeof head);
  if (begins_with_ports_) std::memcpy(row + sizeof head, values.data(), sizeof values);
}

ClassId FlowClass::class_of(const std::byte* row) const noexcept {
  const Head head = head_of(row);
  if (!is_complete(head)) return kNotClassified;
  if (is_told(head)) [[likely]]
    return head.id;
  std::array<std::uint16_t, kMostFirstPackets> sizes;
  std::memcpy(sizes.data(), row + sizeof head, packets_ * sizeof sizes[0]);
  ClassId id;
  classifier_->classify(std::span(sizes).first(packets_), {&id, 1});
  return id;
}

ToldClass FlowClass::told(const std::byte* row) const noexcept {
  const Head head = head_of(row);
  if (is_complete(head)) return {class_of(row), ClassBasis::sizes};
  if (head.packets_and_one == 0 || head.id == kNotClassified) return {};
  return {head.id, ClassBasis::port};
}

int FlowClass::send(std::byte* row, std::uint32_t slot, ClassJobs& jobs) const noexcept {
  Head head = head_of(row);
  if (!is_complete(head) || (head.id != kNotClassified && head.id != kRefused)) return 0;
  const bool waited = head.id == kRefused;
  std::array<std::uint16_t, kMostFirstPackets> sizes;
  std::memcpy(sizes.data(), row + sizeof head, packets_ * sizeof sizes[0]);
  const bool sent = jobs.send(slot, std::span(sizes).first(packets_));
  head.id = sent ? kSent : kRefused;
  std::memcpy(row, &head, sizeof head);
  return (sent ? 0 : 1) - (waited ? 1 : 0);
}

bool FlowClass::stop_waiting(std::byte* row) const noexcept {
  Head head = head_of(row);
  if (!is_complete(head) || head.id != kRefused) return false;
  head.id = kNotClassified;
  std::memcpy(row, &head, sizeof head);
  return true;
}

bool FlowClass::take(std::byte* row, const ClassJob& verdict) const noexcept {
  Head head = head_of(row);
  if (!is_complete(head) || head.id != kSent ||
      std::memcmp(row + sizeof head, verdict.sizes.data(), packets_ * sizeof verdict.sizes[0]) != 0)
    return false;
  head.id = verdict.id;
  std::memcpy(row, &head, sizeof head);
  return true;
}

void FlowClass::read(const std::byte* row, std::span<std::optional<double>> out) const noexcept {
  const auto [id, basis] = told(row);
  for (auto& value : out) value.reset();
  if (id == kNotClassified) return;
  out[0] = static_cast<double>(id == kUnknownClass ? columns_[0].values.size() - 1 : id);
  out[1] = static_cast<double>(basis);
}

}  // namespace parshall
