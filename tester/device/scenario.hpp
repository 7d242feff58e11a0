// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace parshall::tester {

/// A device under test that the test creates from the kernel or this program, and removes at its end.
class Scenario {
 public:
  virtual ~Scenario() = default;

  /// Returns the near interfaces: frames sent by the first reach the device; frames it sends arrive at the second.
  virtual const std::string& send_interface() const noexcept = 0;
  virtual const std::string& receive_interface() const noexcept = 0;

  /// Begins the n-th trial, from 0 on. Seeds the device's random decisions in it, and returns the seed, or nullopt if
  /// it makes none. Error: the device no longer works.
  virtual Result<std::optional<std::uint64_t>> begin_trial(std::uint64_t) { return std::optional<std::uint64_t>(); }

  /// Returns why the device no longer works.
  virtual std::optional<Error> problem() const { return std::nullopt; }

  /// Removes the device, and returns its report as a JSON object, or an empty text.
  virtual Result<std::string> finish() { return std::string(); }
};

/// Called while a device is being made; true ends the program.
using Stop = std::function<bool()>;

/// A scenario under the name at the start of its text: "tbf:rate=10mbit,burst=3kb,limit=10kb".
struct ScenarioEntry {
  std::string_view name;
  std::string_view settings;  ///< example of settings after the name; empty: none are allowed
  std::string_view help;
  Result<std::unique_ptr<Scenario>> (*make)(const std::string& settings, const Stop& stop);
};

/// Lists all scenarios.
std::span<const ScenarioEntry> scenario_registry() noexcept;

/// Returns the scenario with this seed, if it takes one and has none.
std::string with_seed(const std::string& text, std::uint64_t seed);

/// Makes a scenario. Error: no such name, or the kernel lacks or refuses something.
Result<std::unique_ptr<Scenario>> make_scenario(const std::string& text, const Stop& stop = {});

}  // namespace parshall::tester
