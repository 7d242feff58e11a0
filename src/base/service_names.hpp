// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

namespace parshall {

/// Returns the usual name of a service by its protocol (an IANA number) and port, such as "https"; empty if it has none
/// here. It says what the port is meant for, not what is spoken there.
///
/// Source: IANA, Service Name and Transport Protocol Port Number Registry; a few ports have the name that people know.
std::string_view service_name(std::uint8_t protocol, std::uint16_t port) noexcept;

}  // namespace parshall
