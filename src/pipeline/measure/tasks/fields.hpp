// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "pipeline/measure/windows/window.hpp"

namespace parshall {

/// A number that is known of each flow of a window: tasks take quantiles of it, and expressions name it.
struct FlowField {
  std::string_view name;  ///< with its unit
  std::string_view help;
  std::optional<double> (*of)(const FlowWindow& flow);  ///< nothing where it does not exist
};

/// Every one there is: one line each.
std::span<const FlowField> flow_fields() noexcept;

/// Null where there is none of that name.
const FlowField* find_field(std::string_view name) noexcept;

}  // namespace parshall
