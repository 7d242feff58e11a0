// SPDX-License-Identifier: Apache-2.0
#include "classify/labels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <vector>

#include "base/read_ip.hpp"
#include "classify/csv_records.hpp"
#include "classify/samples.hpp"
#include "pipeline/flow/both_ways.hpp"

namespace parshall {
namespace {

enum Column : std::size_t { kClass, kProtocol, kSrcIp, kSrcPort, kDstIp, kDstPort, kCapture, kColumns };
constexpr std::array<std::string_view, kColumns> kNames{"class",  "protocol", "src_ip", "src_port",
                                                        "dst_ip", "dst_port", "capture"};
constexpr std::size_t kMostCells = 256;
constexpr std::size_t kNoColumn = ~std::size_t{0};

template <class T>
std::optional<T> whole_number(std::string_view text) {
  T number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  return wrong == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::optional<std::uint8_t> protocol_of(const std::string& text) {
  if (const auto number = whole_number<std::uint8_t>(text)) return number;
  constexpr std::pair<std::string_view, std::uint8_t> kProtocols[] = {
      {"icmp", 1}, {"tcp", 6}, {"udp", 17}, {"gre", 47}, {"esp", 50}, {"icmpv6", 58}, {"sctp", 132}};
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c; });
  const auto known = std::ranges::find(kProtocols, lower, &std::pair<std::string_view, std::uint8_t>::first);
  return known == std::end(kProtocols) ? std::nullopt : std::optional(known->second);
}

/// Parses an address into `to` (16 bytes). Returns the address family, 4 or 6; 0 if the text is not an address.
std::uint8_t read_address(const std::string& text, std::uint8_t* to) {
  if (read_ip(AF_INET, text, to)) return 4;
  return read_ip(AF_INET6, text, to) ? 6 : 0;
}

std::string map_key(std::string_view capture, const FlowKey& flow) {
  const FlowKey key = both_ways(flow).first;
  std::string text(reinterpret_cast<const char*>(&key), key.significant_bytes());
  return text.append(capture);
}

/// Reads line by line, until one is invalid.
class Reader {
 public:
  explicit Reader(std::span<const std::string> head) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      const auto found = std::ranges::find(head, kNames[column]);
      places_[column] = found == head.end() ? kNoColumn : static_cast<std::size_t>(found - head.begin());
    }
  }

  /// Returns the name of a required column that is missing, if any.
  std::optional<std::string_view> missing() const {
    for (std::size_t column = 0; column < kCapture; ++column)
      if (places_[column] == kNoColumn) return kNames[column];
    return std::nullopt;
  }

  const std::string& cell(std::span<const std::string> cells, Column column) const {
    static const std::string kNothing;
    return places_[column] < cells.size() ? cells[places_[column]] : kNothing;
  }

  Result<FlowKey> flow(std::span<const std::string> cells) const {
    FlowKey key;
    const auto protocol = protocol_of(cell(cells, kProtocol));
    if (!protocol)
      return Error{
          fmt::format("protocol \"{}\" is neither a number from 0 to 255, nor tcp or udp", cell(cells, kProtocol))};
    key.protocol = *protocol;
    std::array<std::array<std::uint8_t, 16>, 2> addresses{};
    const std::uint8_t from = read_address(cell(cells, kSrcIp), addresses[0].data());
    const std::uint8_t to = read_address(cell(cells, kDstIp), addresses[1].data());
    if (from == 0 || from != to)
      return Error{fmt::format("\"{}\" and \"{}\" must be two addresses of the same family", cell(cells, kSrcIp),
                               cell(cells, kDstIp))};
    key.ip_version = from;
    for (std::size_t end = 0; end < 2; ++end)
      std::memcpy(key.address.data() + end * key.address_bytes(), addresses[end].data(), key.address_bytes());
    for (const auto& [column, bytes] :
         {std::pair{kSrcPort, &key.src_port_bytes}, std::pair{kDstPort, &key.dst_port_bytes}}) {
      const auto port = whole_number<std::uint16_t>(cell(cells, column));
      if (!port)
        return Error{fmt::format("{} \"{}\" is not a number from 0 to 65535", kNames[column], cell(cells, column))};
      *bytes = {static_cast<std::uint8_t>(*port >> 8), static_cast<std::uint8_t>(*port)};
    }
    return key;
  }

 private:
  std::array<std::size_t, kColumns> places_;
};

}  // namespace

void Labels::add(std::string_view capture, const FlowKey& flow, std::string_view class_name) {
  const auto [at, is_new] = classes_.try_emplace(map_key(capture, flow), class_name);
  if (is_new || at->second.empty() || at->second == class_name) return;
  at->second.clear();
  ++contradictory_;
}

// Defined here, not inline: gcc 12 takes an inlined destructor for the deletion of memory that was never allocated.
Labels::Labels(Labels&&) noexcept = default;
Labels& Labels::operator=(Labels&&) noexcept = default;
Labels::~Labels() = default;

Result<Labels> Labels::parse(std::istream& csv, const std::string& name) {
  CsvRecords records(csv, kMostCells);
  const auto wrong = [&](const std::string& what) {
    return Error{fmt::format("{}, line {}: {}", name, records.line(), what)};
  };
  if (!records.next()) return wrong(records.problem().empty() ? "the file is empty" : records.problem());
  const Reader reader(records.cells());
  if (const auto missing = reader.missing())
    return wrong(
        fmt::format("the first line must name the columns, and {} is missing: {}", *missing, fmt::join(kNames, ",")));
  Labels labels;
  while (records.next()) {
    const auto flow = reader.flow(records.cells());
    if (!flow) return wrong(flow.error().message);
    const std::string& class_name = reader.cell(records.cells(), kClass);
    if (const auto problem = class_name_problem(class_name)) return wrong(problem->message);
    labels.add(reader.cell(records.cells(), kCapture), *flow, class_name);
  }
  if (!records.problem().empty()) return wrong(records.problem());
  return labels;
}

Result<Labels> Labels::read(const std::string& path) {
  std::ifstream csv(path, std::ios::binary);
  if (!csv) return Error{fmt::format("cannot read labels from {}: {}", path, std::strerror(errno))};
  return parse(csv, path);
}

std::optional<std::string_view> Labels::find(std::string_view capture, const FlowKey& flow) const {
  auto found = classes_.find(map_key(capture, flow));
  if (found == classes_.end()) found = classes_.find(map_key({}, flow));
  if (found == classes_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

}  // namespace parshall
