// SPDX-License-Identifier: Apache-2.0
#include "app/live_rows.hpp"

namespace parshall::cli {

bool can_group(const FlowPlan& flows) noexcept {
  return flows.key == KeyFields::five_tuple && !flows.biflow && !flows.packets_only;
}

live::RowChoice rows_of(const Plan& plan, const Schema& schema) {
  live::RowChoice rows;
  rows.hosts = schema.hosts();
  rows.all = can_group(plan.flows) ? live::groupings_of(schema.columns(), !plan.rows.local.empty())
                                   : std::vector<const Grouping*>();
  if (const Grouping* const by = find_grouping(plan.rows.by)) {
    rows.first = by;
    rows.has_flows = by->of_column.empty();
  }
  return rows;
}

bool begins_with_flows(const Plan& plan) noexcept {
  return plan.rows.by.empty() && (!plan.statistics.columns.empty() || !plan.flows.model.empty());
}

}  // namespace parshall::cli
