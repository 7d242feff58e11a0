// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "../search/devices.hpp"
#include "tester/search_report/search_report.hpp"

namespace parshall::tester {

/// A search of a device, up to 1 Mpps.
inline SearchResult search_of(const Device& device, std::uint64_t seed, std::optional<std::size_t> trials = {}) {
  SearchPlan plan{.min_load_pps = 1000, .max_load_pps = 1e6, .goals = {*preset_goal("ndr"), *preset_goal("pdr")}};
  plan.budget.trials = trials;
  const auto search = *search_methods().front().make(plan);
  SearchResult result = run(*search, device, seed);
  result.took_s = 2 * result.trial_s;
  return result;
}

/// Two sizes, three searches each; the first size's are of a device that is noisy, the second's are ended early.
inline SearchReport sample_report() {
  SearchReport report{.command = "parshall test search --some",
                      .device = "a device",
                      .traffic = "flows=10",
                      .method = "mlr",
                      .method_summary = "the summary",
                      .version = "1.2.3",
                      .began = "2026-01-02 03:04:05 UTC",
                      .goals = {*preset_goal("ndr"), *preset_goal("pdr")},
                      .phases = {{"d) wait for frames, 2 s", "1 s (deviates)"}},
                      .machine = {{"cpu", "some CPU"}, {"kernel", "6.1"}},
                      .processors = ProcessorUse{.busy = 0.5, .stolen = 0.0123}};
  for (const char* name : {"64", "imix"}) {
    SizeSearches size{.size = name, .line_bytes = 84, .ceiling_pps = 2e6, .min_load_pps = 1000, .max_load_pps = 1e6};
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
      size.searches.push_back(report.sizes.empty() ? search_of(noisy_knee(5e5, 0.1, 0.01), seed)
                                                   : search_of(hard_knee(3e5), seed, 4));
    report.sizes.push_back(std::move(size));
  }
  return report;
}

}  // namespace parshall::tester
