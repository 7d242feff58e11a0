// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tester/search/search_goal.hpp"
#include "tester/search/search_result.hpp"

namespace parshall::tester {

/// Results with frames of one size.
struct SizeSearches {
  std::string size;        ///< "64", "imix": as in the traffic's setting
  double line_bytes = 0;   ///< mean bytes of a frame on the line, including preamble and gap
  double ceiling_pps = 0;  ///< most frames per second that can be sent, whatever happens to them
  double min_load_pps = 0, max_load_pps = 0;
  std::vector<SearchResult> searches;
};

/// A name and a text about it.
using Fact = std::pair<std::string, std::string>;

/// Shares of the processors' time.
struct ProcessorUse {
  double busy = 0;    ///< used by any program of this guest
  double stolen = 0;  ///< given to other guests by the host
};

/// Content of a report about searches.
struct SearchReport {
  std::string command, device, traffic;
  std::string method, method_summary, version;
  std::string began;       ///< date and time
  std::uint64_t seed = 0;  ///< all other seeds are derived from it
  std::vector<SearchGoal> goals;
  std::string received;                    ///< frames that count as received
  std::vector<Fact> phases;                ///< phases of a trial, named as in RFC 2544, section 23
  std::vector<Fact> machine;               ///< machine that ran the test
  std::optional<ProcessorUse> processors;  ///< during the searches
  std::vector<SizeSearches> sizes;
  bool interrupted = false;
  std::string failure;  ///< error that ended the test; empty: none
};

/// A load or result within a tenth of the generator's ceiling depends on the generator as much as on the device. The
/// same holds for a relevant upper bound where most of the loss was never sent.
constexpr double kNearCeiling = 0.9;
bool is_generators_limit(const GoalResult& result, double ceiling_pps) noexcept;

/// Explains the loads, ratios and times of a report, as RFC 9971 requires.
std::vector<Fact> search_terms(const SearchReport& report);

/// Returns "regular", or why it is not, and whether it is the generator's limit.
std::string judgement(const GoalResult& result, double ceiling_pps);

std::string search_text(const SearchReport& report);
std::string search_json(const SearchReport& report);
/// Formats a self-contained page.
std::string search_html(const SearchReport& report);

struct SearchFormat {
  std::string_view name;
  std::string (*write)(const SearchReport& report);
};
std::span<const SearchFormat> search_formats() noexcept;

}  // namespace parshall::tester
