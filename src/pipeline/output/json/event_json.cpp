// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/json/event_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pipeline/output/format.hpp"

namespace parshall {
namespace {

using nlohmann::ordered_json;

/// Returns the address, with its prefix length if it was shortened.
std::string prefix_text(const Event& event, std::span<const std::uint8_t> address) {
  const std::uint8_t bits = event.part->bits(event.key.ip_version);
  const std::string text = address_text(address);
  return bits == 8 * address.size() ? text : fmt::format("{}/{}", text, bits);
}

ordered_json key_json(const Event& event) {
  if (event.part == nullptr) return nullptr;
  const KeyPart& part = *event.part;
  ordered_json key = ordered_json::object();
  if (part.src()) key["src_ip"] = prefix_text(event, event.key.src_address());
  if (part.src_port()) key["src_port"] = event.key.src_port();
  if (part.dst()) key["dst_ip"] = prefix_text(event, event.key.dst_address());
  if (part.dst_port()) key["dst_port"] = event.key.dst_port();
  if (part.protocol()) key["protocol"] = event.key.protocol;
  return key;
}

ordered_json values_json(const std::vector<EventValue>& values) {
  ordered_json json = ordered_json::object();
  for (const EventValue& value : values) std::visit([&](auto number) { json[value.name] = number; }, value.value);
  return json;
}

ordered_json window_json(const EventWindow& window) {
  const bool by_time = window.length.unit == WindowLength::Unit::ns;
  return {{by_time ? "begin_ns" : "begin_packet", window.length.begin_of(window.number)},
          {by_time ? "end_ns" : "end_packet", window.length.end_of(window.number)},
          {"packets", window.totals.packets},
          {"partial", window.totals.partial}};
}

std::string end_text(const Event& event, bool address, bool port, std::span<const std::uint8_t> bytes,
                     std::uint16_t number) {
  std::string text = address ? prefix_text(event, bytes) : "";
  if (port) text += fmt::format(":{}", number);
  return text;
}

}  // namespace

std::string event_json(const Event& event) {
  ordered_json json{{"type", name_of(event.kind)},
                    {"time_ns", event.window.totals.last_ns},
                    {"window", window_json(event.window)},
                    {"task", event.task},
                    {"key", key_json(event)},
                    {"values", values_json(event.values)},
                    {"exact", event.error.empty()}};
  if (!event.error.empty()) json["error"] = values_json(event.error);
  return json.dump();
}

std::string event_key_text(const Event& event) {
  if (event.part == nullptr) return "";
  const KeyPart& part = *event.part;
  const FlowKey& key = event.key;
  const std::string src = end_text(event, part.src(), part.src_port(), key.src_address(), key.src_port());
  const std::string dst = end_text(event, part.dst(), part.dst_port(), key.dst_address(), key.dst_port());
  std::string text = src;
  if (!dst.empty()) text += (text.empty() ? "-> " : " -> ") + dst;
  if (part.protocol()) text += (text.empty() ? "" : " ") + protocol_text(key.protocol);
  return text;
}

}  // namespace parshall
