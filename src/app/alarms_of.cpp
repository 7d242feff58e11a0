// SPDX-License-Identifier: Apache-2.0
#include "app/alarms_of.hpp"

#include <algorithm>

namespace parshall::cli {
namespace {

/// Returns whether an end of the key is in this network, the whole address if `bits` are all.
std::optional<bool> has_address(const Event& event, const FlowKey& network, unsigned bits) {
  const KeyPart& part = *event.part;
  const FlowKey& key = event.key;
  if (key.ip_version != network.ip_version) return part.src() || part.dst() ? std::optional(false) : std::nullopt;
  if (part.bits(key.ip_version) < bits) return std::nullopt;
  const auto is_in = [&](std::span<const std::uint8_t> address) {
    const auto wanted = network.src_address();
    return std::equal(address.begin(), address.begin() + bits / 8, wanted.begin());
  };
  if (!part.src() && !part.dst()) return std::nullopt;
  return (part.src() && is_in(key.src_address())) || (part.dst() && is_in(key.dst_address()));
}

std::optional<bool> has_service(const Event& event, const FlowKey& service) {
  const KeyPart& part = *event.part;
  if (!part.src_port() && !part.dst_port()) return std::nullopt;
  return event.key.protocol == service.protocol && ((part.src_port() && event.key.src_port() == service.src_port()) ||
                                                    (part.dst_port() && event.key.dst_port() == service.src_port()));
}

}  // namespace

std::optional<bool> belongs_to(const Event& event, const live::Opened& group) {
  const std::string_view by = group.by->names.one;
  const KeyPart& part = *event.part;
  if (group.by->has_places()) return has_address(event, group.key, group.by->place_bits[group.key.ip_version == 6]);
  if (by == "service") return has_service(event, group.key);
  if (by == "protocol" && part.protocol())
    return value_of_group(group.key, ValueType::unsigned_integer).as_unsigned() == event.key.protocol;
  if (by == "conversation" && part.src() && part.dst() && part.src_port() && part.dst_port()) {
    std::array<GroupOfFlow, 2> found;
    group.by->find(event.key, {}, found);
    return found[0].group == group.key;
  }
  return std::nullopt;
}

bool belongs_to(const Event& event, const std::vector<live::Opened>& groups) {
  if (event.part == nullptr) return false;
  bool belongs = false;
  for (const live::Opened& group : groups) {
    const auto one = belongs_to(event, group);
    if (one == false) return false;
    belongs |= one.has_value();
  }
  return belongs;
}

}  // namespace parshall::cli
