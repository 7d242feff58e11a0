// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace parshall::tester {

/// One setting of a scenario: NAME=VALUE.
struct Setting {
  std::string name, value;
};

/// Parses "rate=10mbit,flows=20". Error: an item is not NAME=VALUE, or its name is unknown or repeated.
Result<std::vector<Setting>> parse_settings(std::string_view scenario, std::string_view text,
                                            std::span<const std::string_view> names);

}  // namespace parshall::tester
