// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace parshall::cli {

/// Returns what to give in place of an option of tcpdump, tshark or nfdump that `watch` does not have; empty where it
/// is none of theirs.
std::string_view in_place_of(std::string_view option) noexcept;

}  // namespace parshall::cli
