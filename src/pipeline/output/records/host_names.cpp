// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/host_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/escaped.hpp"
#include "base/parse.hpp"
#include "base/read_ip.hpp"
#include "base/value_type.hpp"

namespace parshall {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr unsigned kMappedBits = 96, kAllBits = 128;

/// Takes the next word from the front of a line; empty at its end.
std::string take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return std::string(word);
}

/// Returns the address. `front_bits` becomes the number of bits in front of an IPv4 address.
std::optional<MappedAddress> read_address(const std::string& text, unsigned& front_bits) {
  std::array<std::uint8_t, 4> ipv4;
  MappedAddress ipv6;
  front_bits = 0;
  if (read_ip(AF_INET6, text, ipv6.data())) return ipv6;
  if (!read_ip(AF_INET, text, ipv4.data())) return std::nullopt;
  front_bits = kMappedBits;
  return mapped(ipv4);
}

bool is_in(const MappedAddress& address, const MappedAddress& network, unsigned bits) noexcept {
  const std::size_t whole = bits / 8;
  if (!std::equal(address.begin(), address.begin() + static_cast<std::ptrdiff_t>(whole), network.begin())) return false;
  return bits % 8 == 0 || ((address[whole] ^ network[whole]) >> (8 - bits % 8)) == 0;
}

bool is_printable(std::string_view name) noexcept {
  return name.size() <= kMostText && std::ranges::all_of(name, [](char each) { return each > ' ' && each < 0x7f; });
}

}  // namespace

Result<HostNames> HostNames::parse(std::string_view text, std::string_view file) {
  HostNames names;
  names.has_list_ = true;
  std::size_t number = 0;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    line = line.substr(0, line.find('#'));
    const std::string place = take_word(line), name = take_word(line);
    if (place.empty()) continue;
    const auto wrong = [&](std::string_view what) {
      return Error{fmt::format("--hosts {}, line {}: {}", escaped(file), number, what)};
    };
    if (name.empty()) return wrong(fmt::format("{} has no name behind it", escaped(place)));
    if (!is_printable(name))
      return wrong(fmt::format("{} is no name: give at most {} printable characters", escaped(name), kMostText));
    const std::size_t slash = std::min(place.find('/'), place.size());
    unsigned front_bits = 0;
    const auto address = read_address(place.substr(0, slash), front_bits);
    const auto bits = slash == place.size() ? std::optional<std::uint64_t>(kAllBits - front_bits)
                                            : parse_count(place.substr(slash + 1));
    if (!address || !bits || *bits > kAllBits - front_bits)
      return wrong(fmt::format("{} is no address or network, such as 192.0.2.1 or 10.0.0.0/8", escaped(place)));
    const auto all_bits = static_cast<unsigned>(*bits) + front_bits;
    if (all_bits == kAllBits)
      names.names_.try_emplace(*address, name);
    else
      names.networks_.push_back({*address, all_bits, name});
  }
  std::ranges::stable_sort(names.networks_, std::greater(), &Network::bits);
  return names;
}

std::string_view HostNames::find(std::span<const std::uint8_t> address, std::string& room) const noexcept {
  const std::string_view listed = find_listed(address);
  return listed.empty() && seen_ ? seen_->find(mapped(address), room) : listed;
}

std::string_view HostNames::find_listed(std::span<const std::uint8_t> address) const noexcept {
  const MappedAddress all = mapped(address);
  if (const auto found = names_.find(all); found != names_.end()) return found->second;
  const auto network =
      std::ranges::find_if(networks_, [&](const Network& each) { return is_in(all, each.address, each.bits); });
  return network == networks_.end() ? std::string_view() : network->name;
}

}  // namespace parshall
