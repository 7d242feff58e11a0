// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "tester/search/search_result.hpp"

namespace parshall::cli {

/// What searches found, for a report.
struct SearchSummary {
  std::string command, device, traffic, method;
  double generator_pps = 0;  ///< what the generator sends through the device at most
  double settle_s = 0;
  std::vector<tester::SearchResult> searches;
  bool interrupted = false;
};

std::string search_text(const SearchSummary& summary);
std::string search_json(const SearchSummary& summary);

}  // namespace parshall::cli
