// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "pipeline/capture/packet.hpp"
#include "pipeline/decode/facts.hpp"
#include "pipeline/decode/frame.hpp"

namespace parshall {

/// What begins at a position of a frame.
enum class Layer : std::uint8_t {
  ethernet,
  ether_type,    ///< whatever Step::ether_type says
  llc,           ///< IEEE 802.2
  ppp,           ///< the optional FF 03, the protocol field
  mpls,          ///< a label stack
  nsh,           ///< RFC 8300
  wlan,          ///< IEEE 802.11
  wlan_swapped,  ///< the same with the bytes of its control fields exchanged, as in CAPWAP
  ip,            ///< its version nibble decides
  ipv4,
  ipv6,
  stop,  ///< Step::verdict says why there is no IP header
};

/// Where a walk through the headers has come to.
struct Step {
  Layer layer = Layer::stop;
  std::size_t at = 0;
  std::uint16_t ether_type = 0;
  Verdict verdict = Verdict::not_ip;
  bool is_aggregate = false;  ///< of LLC: that of the first of several packets in one frame of IEEE 802.11
  bool is_signed = false;     ///< of an IP header that a walk came to: it is behind IEEE 802.1AE, which detects changes

  static Step to(Layer layer, std::size_t at) noexcept { return {.layer = layer, .at = at}; }
  static Step to_ether_type(std::uint16_t type, std::size_t at) noexcept {
    return {.layer = Layer::ether_type, .at = at, .ether_type = type};
  }
  static Step stop(Verdict verdict) noexcept { return {.verdict = verdict}; }
  static Step cut() noexcept { return stop(Verdict::cut_link_header); }
  static Step not_ip() noexcept { return stop(Verdict::not_ip); }

  bool at_ip() const noexcept { return layer == Layer::ip || layer == Layer::ipv4 || layer == Layer::ipv6; }
};

/// The first layer of a frame of this link type, whose header begins at `at`.
Step enter_link(const Frame& frame, LinkType link_type, std::size_t at) noexcept;

/// Whether packets of this link type can carry IP that is found.
inline bool is_decoded(LinkType link_type) noexcept {
  return enter_link(Frame(nullptr, 0, 0), link_type, 0).verdict != Verdict::unknown_link_type;
}

enum class WlanControl : std::uint8_t { standard, swapped };

/// The layer behind the IEEE 802.11 header at `at`. Encrypted, null and non-data frames carry no IP that we see.
Step pass_wlan(const Frame& frame, std::size_t at, WlanControl control) noexcept;

/// The position of the IEEE 802.11 header behind the radio information a capturing station put before it.
Step enter_wlan(const Frame& frame, LinkType link_type, std::size_t at) noexcept;

/// Walks until an IP header or a reason to stop.
Step walk_to_ip(const Frame& frame, Step step) noexcept;

}  // namespace parshall
