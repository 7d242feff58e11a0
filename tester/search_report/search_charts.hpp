// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tester/chart/chart.hpp"
#include "tester/search_report/search_report.hpp"

namespace parshall::tester {

/// Draws the loads of a search's trials in order, which of them met the goal, and how its bounds converged.
Chart trials_chart(const SearchResult& search, std::size_t goal, double ceiling_pps);

/// Draws the losses of trials over their loads.
Chart loss_chart(const SearchResult& search, std::size_t goal, double ceiling_pps);

/// Draw the same charts for loads near the final bounds, if that is less than a tenth of the range.
std::optional<Chart> last_trials_chart(const SearchResult& search, std::size_t goal);
std::optional<Chart> last_loss_chart(const SearchResult& search, std::size_t goal);

/// Draws the results of several searches for a goal, and their spread.
Chart repeats_chart(const SizeSearches& size, std::size_t goal);

/// Draws the results of all goals over frame sizes, with the generator's ceiling: in frames, or in bits on the line.
enum class SizeUnit : std::uint8_t { frames, line_bits };
Chart sizes_chart(const SearchReport& report, SizeUnit unit);

}  // namespace parshall::tester
