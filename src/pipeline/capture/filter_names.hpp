// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace parshall {

/// Whether a filter in libpcap's language may have a name that somebody has to be asked for: of a host, a network, a
/// port. True also of expressions that are less usual. Source: pcap-filter(7).
bool may_have_names(std::string_view expression) noexcept;

/// The expression with the addresses of hosts in place of their names, which are asked for. Nothing: a name that is not
/// found, or stands where names of others may be, too. Whether it means the same is for who compiles it to see.
std::optional<std::string> with_addresses(std::string_view expression);

}  // namespace parshall
