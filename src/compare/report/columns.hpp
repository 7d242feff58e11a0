// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "compare/comparison.hpp"
#include "compare/over_time.hpp"
#include "pipeline/output/records/column.hpp"

namespace parshall {

/// A flow, or a sum over flows, to read the columns of a comparison from.
struct ComparedRow {
  const Passed& passed;
  const ComparedFlow* flow = nullptr;                    ///< null for a sum
  std::uint64_t sender_missed = 0, receiver_missed = 0;  ///< packets that the taps did not see
  bool knows_order = true;
};

struct CompareColumn {
  ColumnInfo info;
  Value (*read)(const ComparedRow& row);
};

/// Returns the columns that say which flow it is.
std::span<const CompareColumn> flow_columns();

/// Returns the columns that say what happened to packets.
std::span<const CompareColumn> passed_columns();

/// A comparison with its taps, to be reported.
struct Compared {
  const Tap& up;
  const Tap& down;
  const Comparison& found;
  const OverTime* over_time = nullptr;  ///< null: it is not known by intervals

  ComparedRow row(const Passed& passed, Way way) const noexcept {
    const Tap &sender = way == Way::there ? up : down, &receiver = way == Way::there ? down : up;
    return {passed, nullptr, sender.missed, receiver.missed, found.knows_order()};
  }
  ComparedRow row(const ComparedFlow& flow) const noexcept {
    ComparedRow of_flow = row(flow.passed, flow.way);
    of_flow.flow = &flow;
    return of_flow;
  }
};

}  // namespace parshall
