// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parshall::live {

enum class Level : std::uint8_t { flow, packet };
enum class Of : std::uint8_t { rate, gap, iat, size };
enum class What : std::uint8_t { last, cumulated, range, mean, moments, percentiles };

/// What is computed for every flow while the view runs.
/// Source: what users of FlowMon-DPDK switch between, Zhang et al., SIGCOMM Posters and Demos 2018, section 3.3.
struct Choice {
  Level level = Level::flow;
  bool own = false;  ///< the columns the user asked for at the start, instead of the two below
  Of of = Of::rate;
  What what = What::last;

  friend bool operator==(const Choice&, const Choice&) = default;
};

/// Column names for Schema::make(); nothing where the two do not go together (moments of a rate).
/// May be empty: the view always shows packets, bytes and the rate over the last interval.
std::optional<std::vector<std::string>> column_names(Of of, What what);

/// "flows, iat: percentiles (time between packets)".
std::string describe(const Choice& choice);

std::string_view name_of(Of of) noexcept;
std::string_view name_of(What what) noexcept;

}  // namespace parshall::live
