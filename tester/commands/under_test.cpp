// SPDX-License-Identifier: Apache-2.0
#include "tester/commands/under_test.hpp"

#include <fmt/format.h>

#include "tester/chart/number_text.hpp"

namespace parshall::cli {

SendPlan trial_plan(const tester::TrialInput& input) noexcept {
  return {.rate = {SendRate::Unit::packets, input.load_pps},
          .ramp = {},
          .duration_ns = static_cast<std::uint64_t>(input.duration_s * 1e9),
          .grace_ns = tester::grace_ns(input)};
}

std::vector<tester::Fact> trial_phases(const std::string& learning, std::uint64_t settle_ns, const std::string& rest) {
  constexpr double kWaitS = 2;
  const double settle_s = static_cast<double>(settle_ns) / 1e9;
  return {
      {"a) routing update, 2 s", "none: the device under test has its routes before the search (deviates)"},
      {"b) learning frames, 2 s", learning},
      {"c) trial", "frames at the load, for the duration"},
      {"d) wait for frames, 2 s",
       fmt::format("{}{}", tester::seconds_text(settle_s), settle_s < kWaitS ? " (deviates)" : "")},
      {"e) restabilize, 5 s", rest},
  };
}

}  // namespace parshall::cli
