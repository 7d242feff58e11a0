// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/interface_set.hpp"

#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>

#include "pipeline/capture/packet_ring.hpp"

namespace parshall {
namespace {

constexpr std::size_t kMost = 254;  ///< numbers that a packet can carry, without kOther

std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= names.size();) {
    const std::size_t comma = std::min(names.find(',', at), names.size());
    parts.push_back(names.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

std::vector<KernelInterface> all_interfaces() {
  std::vector<KernelInterface> all = KernelInterface::all();
  if (all.size() > kMost) all.resize(kMost);
  return all;
}

bool exists(const std::string& name) { return name.size() < IFNAMSIZ && ::if_nametoindex(name.c_str()) != 0; }

}  // namespace

Result<InterfaceSet> InterfaceSet::find(const std::string& names) {
  InterfaceSet set;
  if (names == kAny && !exists(names)) {
    if (auto error = capture_problem(names)) return *std::move(error);
    set.is_any_ = true;
    set.interfaces_ = all_interfaces();
    return set;
  }
  const std::vector<std::string> parts = exists(names) ? std::vector{names} : split(names);
  if (parts.size() > kMost)
    return Error{fmt::format("cannot open {} interfaces: name {} at most, or any", parts.size(), kMost)};
  for (const std::string& name : parts) {
    auto interface = KernelInterface::find(name);
    if (!interface) return interface.error();
    if (set.number_of(interface->index) != set.interfaces_.size())
      return Error{fmt::format("cannot open {}: {} is named twice", names, name)};
    set.interfaces_.push_back(*std::move(interface));
  }
  return set;
}

std::vector<int> InterfaceSet::several() const {
  std::vector<int> indices;
  if (!is_one() && !is_any_)
    for (const KernelInterface& interface : interfaces_) indices.push_back(interface.index);
  return indices;
}

std::vector<std::string> InterfaceSet::names() const {
  std::vector<std::string> names;
  for (const KernelInterface& interface : interfaces_) names.push_back(interface.name);
  if (is_any_) names.emplace_back(kOther);
  return names;
}

std::uint8_t InterfaceSet::number_of(int index) const noexcept {
  const auto found = std::ranges::find(interfaces_, index, &KernelInterface::index);
  return static_cast<std::uint8_t>(found - interfaces_.begin());
}

std::vector<std::string> InterfaceSet::names_of(const std::string& names) {
  InterfaceSet set;
  if (names != kAny || exists(names)) return exists(names) ? std::vector{names} : split(names);
  set.is_any_ = true;
  set.interfaces_ = all_interfaces();
  return set.names();
}

std::optional<std::uint32_t> InterfaceSet::longest_frame(std::uint8_t number) const noexcept {
  if (number >= interfaces_.size() || interfaces_[number].mtu == 0) return std::nullopt;
  return interfaces_[number].mtu + PacketRing::kLinkOverhead;
}

/// Sets a filter, because PACKET_IGNORE_OUTGOING does not affect sockets in a fanout group. Source: packet(7).
bool InterfaceSet::let_in(int socket) const {
  constexpr auto ancillary = [](int which) { return static_cast<std::uint32_t>(SKF_AD_OFF + which); };
  constexpr sock_filter kDrop{BPF_RET | BPF_K, 0, 0, 0}, kTake{BPF_RET | BPF_K, 0, 0, ~std::uint32_t{0}};
  constexpr int kNone = 0;
  if (is_one() && interfaces_.front().hardware != ARPHRD_LOOPBACK)
    return ::setsockopt(socket, SOL_SOCKET, SO_DETACH_FILTER, &kNone, sizeof kNone) == 0;
  std::vector<sock_filter> program;
  if (!is_any_) {
    program.push_back({BPF_LD | BPF_W | BPF_ABS, 0, 0, ancillary(SKF_AD_IFINDEX)});
    for (std::size_t i = interfaces_.size(); i-- > 0;)
      program.push_back({BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint8_t>(i + 1), 0,
                         static_cast<std::uint32_t>(interfaces_[i].index)});
    program.push_back(kDrop);
  }
  const sock_filter rest[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, ancillary(SKF_AD_HATYPE)},
                              {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, ARPHRD_LOOPBACK},
                              {BPF_LD | BPF_W | BPF_ABS, 0, 0, ancillary(SKF_AD_PKTTYPE)},
                              {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, PACKET_OUTGOING},
                              kDrop,
                              kTake};
  program.insert(program.end(), std::begin(rest), std::end(rest));
  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
  return ::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0;
}

std::optional<LinkType> link_type_of(std::uint16_t hardware) noexcept {
  switch (hardware) {
    case ARPHRD_ETHER:
    case ARPHRD_LOOPBACK:
      return LinkType::ethernet;
    case ARPHRD_IEEE80211:
      return LinkType::ieee802_11;
    case ARPHRD_IEEE80211_PRISM:
      return LinkType::ieee802_11_prism;
    case ARPHRD_IEEE80211_RADIOTAP:
      return LinkType::ieee802_11_radiotap;
    default:
      return std::nullopt;
  }
}

}  // namespace parshall
