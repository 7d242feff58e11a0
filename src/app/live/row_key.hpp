// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "app/live/table.hpp"

namespace parshall::live {

/// Returns the headings of kProtocol, kSource and kDestination. An empty one: groups of this kind have no such column.
std::array<std::string_view, 3> key_headings(const View& view);

/// Formats the part of a row's key that is in one of these columns, such as "10.0.0.1:80" or "192.0.2.0/24".
std::string key_text(const FlowKey& key, std::size_t column, const View& view);

}  // namespace parshall::live
