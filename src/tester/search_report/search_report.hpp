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

/// What was found with frames of one size.
struct SizeSearches {
  std::string size;        ///< "64", "imix": as the traffic's setting has it
  double line_bytes = 0;   ///< of the line, that a frame takes on average, with preamble and gap
  double ceiling_pps = 0;  ///< what is sent at most, whatever becomes of it
  double min_load_pps = 0, max_load_pps = 0;
  std::vector<SearchResult> searches;
};

/// A name and what there is to be said.
using Fact = std::pair<std::string, std::string>;

/// Shares of the processors' time.
struct ProcessorShares {
  double busy = 0;    ///< of this guest, whoever had it
  double stolen = 0;  ///< the host gave it to others
};

/// All that a report of searches tells.
struct SearchReport {
  std::string command, device, traffic;
  std::string method, method_summary, version;
  std::string began;       ///< date and time
  std::uint64_t seed = 0;  ///< which all others follow from
  std::vector<SearchGoal> goals;
  std::string received;                       ///< what is under test was, of what is sent to it
  std::vector<Fact> phases;                   ///< of a trial, as RFC 2544, section 23 names them: what was done here
  std::vector<Fact> machine;                  ///< that ran the test
  std::optional<ProcessorShares> processors;  ///< while the searches ran
  std::vector<SizeSearches> sizes;
  bool interrupted = false;
  std::string failure;  ///< what ended the test; empty: nothing did
};

/// A load or a result of which the generator's own ceiling is no further away than a tenth says as much of the
/// generator as of what is under test; so does a relevant upper bound where most of what is lost was not sent.
constexpr double kNearCeiling = 0.9;
bool is_generators_limit(const GoalResult& result, double ceiling_pps) noexcept;

/// How the loads, ratios and times of a report are to be understood: what RFC 9971 wants to be told of any search.
std::vector<Fact> search_terms(const SearchReport& report);

/// "regular", or why it is not; and whether it is the generator's limit.
std::string judgement(const GoalResult& result, double ceiling_pps);

std::string search_text(const SearchReport& report);
std::string search_json(const SearchReport& report);
/// One page that needs nothing else.
std::string search_html(const SearchReport& report);

struct SearchFormat {
  std::string_view name;
  std::string (*write)(const SearchReport& report);
};
std::span<const SearchFormat> search_formats() noexcept;

}  // namespace parshall::tester
