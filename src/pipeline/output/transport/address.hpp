// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "pipeline/output/output_needs.hpp"
#include "pipeline/output/transport/message_sink.hpp"

namespace parshall {

/// Parses HOST, HOST:PORT or [IPv6]:PORT into `transport`.
std::optional<Error> take_address(const std::string& text, std::string_view usual_port, Transport& transport);

/// Splits "udp://", "tcp://" or "tls://" off `place` and sets the kind. Returns false if another scheme, or none, is
/// there.
bool take_scheme(std::string_view& place, Transport& transport);

/// Returns what connections by `transport` need of the system.
OutputNeeds needs_of(const Transport& transport);

/// Sets a text of a Target's transport, for TargetOption.
template <class Target, std::string Transport::*kText>
bool take_transport_text(const std::string& value, Target& target) {
  target.transport.*kText = value;
  return !value.empty();
}

}  // namespace parshall
