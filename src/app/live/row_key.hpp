// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "app/live/opened.hpp"
#include "app/live/rows.hpp"

namespace parshall::live {

/// Formats the part of a row's key that is in one of these columns, such as "10.0.0.1:80" or "192.0.2.0/24".
std::string key_text(const Row& row, std::size_t column, const View& view);

/// Formats a row's whole key, such as "TCP 443".
std::string group_text(const Row& row, const View& view);

/// Names a row of groups, such as "host 10.0.0.1". Nullopt: no group, but a flow, or what found no room in the table.
std::optional<Opened> opened(const Row& row, const View& view);

}  // namespace parshall::live
