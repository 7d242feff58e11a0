// SPDX-License-Identifier: Apache-2.0
#include "app/live/row_key.hpp"

#include <fmt/format.h>

#include "app/live/choice.hpp"
#include "pipeline/output/format.hpp"

namespace parshall::live {
namespace {

std::string endpoint(std::span<const std::uint8_t> address, std::uint16_t port) {
  const std::string text = address_text(address);
  if (port == 0) return text;
  return address.size() == 16 ? fmt::format("[{}]:{}", text, port) : fmt::format("{}:{}", text, port);
}

}  // namespace

std::string key_text(const Row& row, std::size_t column, const View& view) {
  const FlowKey& key = row.key;
  const Grouping* const by = view.by;
  const bool has_ends = by == nullptr || by->names.one == "conversation";
  if (!key.present()) return column == kSource ? "(others)" : "";
  if (key_headings(by)[column].empty()) return "";
  if (column == kProtocol) return protocol_text(key.protocol);
  if (column == kDestination) return endpoint(key.dst_address(), key.dst_port());
  if (has_ends) return endpoint(key.src_address(), key.src_port());
  std::string text;
  for (const GroupKeyColumn& part : by->columns) {
    if (part.name == "protocol" && by->columns.size() > 1) continue;  // has its own column
    if (part.type == kText) return row.text.empty() ? "(none)" : row.text;
    const Value value = part.read != nullptr ? part.read(key) : value_of_group(key, part.type.value);
    if (!value.present()) return "(none)";
    if (!text.empty()) text += '/';
    if (part.type == kAddress && by->is_of_hosts() && !row.text.empty())
      text += fmt::format("{} ({})", row.text, address_text(value.as_address()));
    else if (part.type == kAddress)
      text += address_text(value.as_address());
    else if (by->is_of_services() && !row.text.empty())
      text += fmt::format("{} ({})", row.text, value.as_unsigned());
    else if (part.name == "protocol")
      text += protocol_text(static_cast<std::uint8_t>(value.as_unsigned()));
    else if (value.type() == ValueType::enumeration && value.as_unsigned() < view.key_names.size())
      text += view.key_names[value.as_unsigned()];
    else
      text += fmt::to_string(value.as_unsigned());
  }
  return text;
}

std::string group_text(const Row& row, const View& view) {
  std::string all;
  for (const std::size_t column : {kProtocol, kSource, kDestination})
    if (const std::string text = key_text(row, column, view); !text.empty()) all += (all.empty() ? "" : " ") + text;
  return all;
}

std::optional<Opened> opened(const Row& row, const View& view) {
  if (view.by == nullptr || !row.key.present()) return std::nullopt;
  return Opened{.by = view.by, .key = row.key, .text = fmt::format("{} {}", view.by->names.one, group_text(row, view))};
}

}  // namespace parshall::live
