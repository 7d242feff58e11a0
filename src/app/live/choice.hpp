// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/output/groups/grouping.hpp"

namespace parshall::live {

enum class Level : std::uint8_t { flow, packet };
enum class Of : std::uint8_t { rate, gap, iat, size };
enum class What : std::uint8_t { last, cumulated, range, mean, moments, percentiles };

/// Chooses the statistics that are computed for every flow while the view runs. Source: FlowMon-DPDK lets its users
/// switch between these, Zhang et al., SIGCOMM Posters and Demos 2018, section 3.3.
struct Choice {
  Level level = Level::flow;
  bool own = false;  ///< true: the columns given at the start, instead of the two below
  Of of = Of::rate;
  What what = What::last;

  friend bool operator==(const Choice&, const Choice&) = default;
};

/// Returns column names for Schema::make(), or nullopt if the two do not go together (moments of a rate). May be empty:
/// the view always shows packets, bytes and the rate over the last interval.
std::optional<std::vector<std::string>> column_names(Of of, What what);

/// Returns the groupings of flows with these columns; `has_local`: it is known which networks are inside.
std::vector<const Grouping*> groupings_of(std::span<const ColumnInfo> columns, bool has_local = false);

/// Returns the headings of the protocol, the source and the destination; null stands for flows. An empty one: groups
/// of this kind have no such column.
std::array<std::string_view, 3> key_headings(const Grouping* by) noexcept;

/// Formats the choice for these rows, such as "flows, iat: percentiles (time between packets)".
std::string describe(const Choice& choice, const Grouping* by);

std::string_view name_of(Of of) noexcept;
std::string_view name_of(What what) noexcept;

}  // namespace parshall::live
