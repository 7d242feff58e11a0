// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "app/live/state.hpp"
#include "parshall/plan.hpp"
#include "pipeline/output/records/column.hpp"

namespace parshall::cli {

/// Returns whether a run's flows can be added up by host, service, ...
bool can_group(const FlowPlan& flows) noexcept;

/// Returns what rows of the live view may be, for flows with these columns.
live::RowChoice rows_of(const Plan& plan, const Schema& schema);

/// Returns whether the live view begins with flows, since the user named columns of them.
bool begins_with_flows(const Plan& plan) noexcept;

}  // namespace parshall::cli
