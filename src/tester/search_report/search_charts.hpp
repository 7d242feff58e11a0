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

/// The loads of a search's trials in their order, which of them met one of its goals, and how its bounds closed in.
Chart trials_chart(const SearchResult& search, std::size_t goal, double ceiling_pps);

/// What trials lost, over their loads.
Chart loss_chart(const SearchResult& search, std::size_t goal, double ceiling_pps);

/// The same of what is near the bounds at the end, where that is less than a tenth of the whole.
std::optional<Chart> last_trials_chart(const SearchResult& search, std::size_t goal);
std::optional<Chart> last_loss_chart(const SearchResult& search, std::size_t goal);

/// What each of several searches found for a goal, and how it scatters.
Chart repeats_chart(const SizeSearches& size, std::size_t goal);

/// The results of all goals over frame sizes, beside what is sent at most: in frames, or in bits of the line.
enum class SizeUnit : std::uint8_t { frames, line_bits };
Chart sizes_chart(const SearchReport& report, SizeUnit unit);

}  // namespace parshall::tester
