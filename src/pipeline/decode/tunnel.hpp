// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/decode/frame.hpp"
#include "pipeline/decode/ip.hpp"
#include "pipeline/decode/layers.hpp"

namespace parshall {

/// Returns the first layer that `datagram` carries as a tunnel; Layer::stop if it is not a tunnel.
///
/// Supports IP in IP, GRE (with ERSPAN, PPTP, WCCP, Aruba's 802.11), EtherIP, MPLS, PIM Register, IPv4 AH before any of
/// these. Over UDP it supports VXLAN (and GPE), Geneve, GRE, GTP-U, Teredo, AYIYA, L2TP, LISP, MPLS, CAPWAP. Packets
/// quoted in ICMP errors are payload. `frame` must end where the datagram does.
Step enter_tunnel(const Frame& frame, const Datagram& datagram) noexcept;

/// Returns the first layer that the payload of a UDP datagram carries.
Step enter_udp_tunnel(const Frame& frame, std::size_t udp_at) noexcept;

}  // namespace parshall
