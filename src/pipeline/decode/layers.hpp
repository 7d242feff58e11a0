// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "pipeline/capture/packet.hpp"
#include "pipeline/decode/facts.hpp"
#include "pipeline/decode/frame.hpp"

namespace parshall {

/// Kind of header that begins at a position of a frame.
enum class Layer : std::uint8_t {
  ethernet,
  ether_type,    ///< given by Step::ether_type
  llc,           ///< IEEE 802.2
  ppp,           ///< the optional FF 03, the protocol field
  mpls,          ///< a label stack
  nsh,           ///< RFC 8300
  wlan,          ///< IEEE 802.11
  wlan_swapped,  ///< IEEE 802.11 with the bytes of its control fields exchanged, as in CAPWAP
  ip,            ///< version given by its version nibble
  ipv4,
  ipv6,
  stop,  ///< Step::verdict says why there is no IP header
};

/// Current position of a walk through the headers.
struct Step {
  Layer layer = Layer::stop;
  std::size_t at = 0;
  std::uint16_t ether_type = 0;
  Verdict verdict = Verdict::not_ip;
  bool is_aggregate = false;  ///< for LLC: the first of several packets in one frame of IEEE 802.11
  bool is_signed = false;     ///< for an IP header: it is behind IEEE 802.1AE, which detects changes

  static Step to(Layer layer, std::size_t at) noexcept { return {.layer = layer, .at = at}; }
  static Step to_ether_type(std::uint16_t type, std::size_t at) noexcept {
    return {.layer = Layer::ether_type, .at = at, .ether_type = type};
  }
  static Step stop(Verdict verdict) noexcept { return {.verdict = verdict}; }
  static Step cut() noexcept { return stop(Verdict::cut_link_header); }
  static Step not_ip() noexcept { return stop(Verdict::not_ip); }

  bool at_ip() const noexcept { return layer == Layer::ip || layer == Layer::ipv4 || layer == Layer::ipv6; }
};

/// Returns the first layer of a frame of this link type, whose header begins at `at`.
Step enter_link(const Frame& frame, LinkType link_type, std::size_t at) noexcept;

/// Returns whether the decoder can find IP in packets of this link type.
inline bool is_decoded(LinkType link_type) noexcept {
  return enter_link(Frame(nullptr, 0, 0), link_type, 0).verdict != Verdict::unknown_link_type;
}

enum class WlanControl : std::uint8_t { standard, swapped };

/// Returns the layer behind the IEEE 802.11 header at `at`. Encrypted, null and non-data frames carry no readable IP.
Step pass_wlan(const Frame& frame, std::size_t at, WlanControl control) noexcept;

/// Returns the position of the IEEE 802.11 header behind the radio information that a capturing station put before it.
Step enter_wlan(const Frame& frame, LinkType link_type, std::size_t at) noexcept;

/// Walks to an IP header, or to a reason to stop.
Step walk_to_ip(const Frame& frame, Step step) noexcept;

}  // namespace parshall
