// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace parshall {

/// Returns whether a filter in libpcap's language may need a name lookup (of a host, a network or a port). Returns true
/// also for some less usual expressions. Source: pcap-filter(7).
bool may_have_names(std::string_view expression) noexcept;

/// Returns the word of the language that a mistyped `word` was most likely meant to be; empty where it is one, or none
/// is near.
std::string nearest_filter_word(const std::string& word);

/// Resolves host names and returns the expression with addresses in their place. Returns nullopt if a name is not
/// found, or if it may be the name of something other than a host. The caller has to check that the meaning is the
/// same.
std::optional<std::string> with_addresses(std::string_view expression);

}  // namespace parshall
