// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "app/live/table.hpp"

namespace parshall::live {

/// Formats the part of a row's key that is in one of these columns, such as "10.0.0.1:80" or "192.0.2.0/24".
std::string key_text(const FlowKey& key, std::size_t column, const View& view);

}  // namespace parshall::live
