// SPDX-License-Identifier: Apache-2.0
#include "control/profile.hpp"
#include "targets.hpp"

namespace parshall::fuzz {

/// Input: a profile's TOML.
void fuzz_profile(Bytes input) {
  const auto profile = Profile::parse(std::string(text_of(input)), "fuzz.toml");
  if (!profile) return require(profile.error().message.starts_with("fuzz.toml, line "));
  for (const auto* const costs : {&profile->states, &profile->work})
    for (const Profile::Cost& cost : *costs)
      require(cost.low_ns >= 0 && cost.low_ns <= cost.cost_ns && cost.cost_ns <= cost.high_ns &&
              cost.high_ns <= Profile::kMostNs);
  require(profile->time.input_ns > 0 && profile->time.cached_ns > 0 && profile->cached.samples >= 1);

  // Written, it says the same, to the last digit.
  const std::string text = profile->to_toml();
  const auto again = Profile::parse(text, "again.toml");
  require(again.has_value());
  require(again->to_toml() == text);
  require(again->states == profile->states && again->work == profile->work);
  require(!again->difference_from(profile->machine));
}

}  // namespace parshall::fuzz
