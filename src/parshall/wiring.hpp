// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/session.hpp"
#include "parshall/held.hpp"
#include "parshall/plan.hpp"
#include "pipeline/output/exporter.hpp"
#include "pipeline/output/groups/group_schema.hpp"

namespace parshall {

/// Needs of the program that runs a plan, beside the plan itself.
struct RunNeeds {
  bool snapshots = true;         ///< reports before the end will be requested
  bool keeps_ended = true;       ///< reports have the records of ended flows
  bool counts_bytes = false;     ///< counters() has bytes at any time
  bool commits_first = false;    ///< commit memory before the first packet
  bool recall = false;           ///< the recall of every window, if there is any to report
  std::uint64_t every_ns = 0;    ///< interval of reports, for which a capture pauses by packet time; 0: none
  std::uint64_t packets_ns = 0;  ///< packet time to stop after, for a source that the caller opens; 0: no limit
  std::optional<std::uint64_t> spool_bytes = std::nullopt;  ///< limit for records until a report takes them
};

/// All parts of a session, except its input, made from a plan. It is final: nothing is set after wire().
struct Wiring {
  SessionOptions session;
  Schema schema;                      ///< of flow records
  std::optional<GroupSchema> groups;  ///< of the rows that stand in place of flow records
  StatisticOptions statistics;
  TaskSets tasks;
  std::optional<ObservationPoint> point;  ///< where packets are captured; unset: on no link
  std::uint64_t wall_duration_ns = 0;     ///< 0: no limit
  std::vector<std::string> notes;         ///< remarks for the user that are no errors

  /// Returns the columns of reports and outputs.
  std::span<const ColumnInfo> columns() const noexcept { return groups ? groups->columns() : schema.columns(); }
};

/// Checks a plan; all checks happen here. Errors are the user's, and call settings by their command-line names.
Result<Wiring> wire(const Plan& plan, const RunNeeds& needs = {}, const Held& held = {});

}  // namespace parshall
