// SPDX-License-Identifier: Apache-2.0
#include "app/alarms_of.hpp"

#include <algorithm>

#include "pipeline/flow/both_ways.hpp"

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

std::optional<bool> has_service(const Event& event, const live::Opened& service) {
  const KeyPart& part = *event.part;
  const FlowKey &key = event.key, &wanted = service.key;
  if (!part.src_port() && !part.dst_port()) return std::nullopt;
  if (part.src_port() && part.dst_port()) {
    std::array<GroupOfFlow, 2> found;
    service.by->find(key, {}, found);
    return found[0].group == wanted;
  }
  if (part.protocol() && key.protocol != wanted.protocol) return false;
  const std::uint16_t port = part.src_port() ? key.src_port() : key.dst_port();
  return port == wanted.src_port() ? std::optional(true) : std::nullopt;  // the other port may be the service's
}

/// Returns whether no part of the key contradicts a conversation, whose client is the key's source, or its destination.
bool fits(const Event& event, const FlowKey& conversation, bool is_back) {
  const KeyPart& part = *event.part;
  const FlowKey& key = event.key;
  const FlowKey wanted = is_back ? opposite(conversation) : conversation;
  const std::size_t bytes = part.bits(key.ip_version) / 8;
  const auto same = [&](std::span<const std::uint8_t> one, std::span<const std::uint8_t> other) {
    return std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(bytes), other.begin());
  };
  return (!part.src() || same(key.src_address(), wanted.src_address())) &&
         (!part.dst() || same(key.dst_address(), wanted.dst_address())) &&
         (!part.src_port() || key.src_port() == wanted.src_port()) &&
         (!part.dst_port() || key.dst_port() == wanted.dst_port()) &&
         (!part.protocol() || key.protocol == wanted.protocol);
}

std::optional<bool> has_conversation(const Event& event, const FlowKey& conversation) {
  const KeyPart& part = *event.part;
  const bool has_addresses = part.src() || part.dst();
  if (has_addresses && event.key.ip_version != conversation.ip_version) return false;
  if (!fits(event, conversation, false) && !fits(event, conversation, true)) return false;
  const bool has_both =
      part.src() && part.dst() && part.bits(conversation.ip_version) == 8 * conversation.address_bytes();
  return has_both ? std::optional(true) : std::nullopt;
}

}  // namespace

std::optional<bool> belongs_to(const Event& event, const live::Opened& group) {
  const std::string_view by = group.by->names.one;
  const KeyPart& part = *event.part;
  if (group.by->has_places()) return has_address(event, group.key, group.by->place_bits[group.key.ip_version == 6]);
  if (by == "service") return has_service(event, group);
  if (by == "protocol" && part.protocol())
    return value_of_group(group.key, ValueType::unsigned_integer).as_unsigned() == event.key.protocol;
  if (by == "conversation") return has_conversation(event, group.key);
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
