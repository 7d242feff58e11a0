// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "app/live/arrangement.hpp"
#include "app/live/row_groups.hpp"
#include "app/live/state.hpp"
#include "base/result.hpp"

namespace parshall::web {

/// Name of flows among the kinds of rows.
inline constexpr std::string_view kFlows = "flow";

/// Reads the query of a request, which selects rows: "by=host&sort=packets&filter=port+53".
///
/// Its parts are by, within (the names of opened rows, separated by commas), filter, sort (a column), order (falling or
/// rising), window (one of live::kWindowsS) and idle (1: also rows without a packet in that time). Error: what is
/// wrong. A wrong filter is no error here; the view tells it.
Result<live::Arrangement> parse_rows_query(std::string_view query, const live::RowChoice& choice,
                                           const live::Rows& flows, const live::RowGroups& groups);

/// Returns the name of a group in "within".
std::string name_of(const Grouping& by, const FlowKey& key);

}  // namespace parshall::web
