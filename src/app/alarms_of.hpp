// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "app/live/opened.hpp"
#include "pipeline/measure/tasks/event.hpp"

namespace parshall::cli {

/// Returns whether the key of an event belongs to a group. Nullopt: the key has not enough parts to tell. Keys of
/// events never tell a VLAN, an interface or a direction.
std::optional<bool> belongs_to(const Event& event, const live::Opened& group);

/// Returns whether it belongs to all of the groups of which its key tells, and to at least one.
bool belongs_to(const Event& event, const std::vector<live::Opened>& groups);

}  // namespace parshall::cli
