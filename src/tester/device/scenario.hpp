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

/// A device under test that is made for a test out of the kernel or of this program, and goes with it.
class Scenario {
 public:
  virtual ~Scenario() = default;

  /// Kernel interfaces of ours: what goes out by the first comes to the device, what it sends comes in by the second.
  virtual const std::string& send_interface() const noexcept = 0;
  virtual const std::string& receive_interface() const noexcept = 0;

  /// Lets what it does by chance in the trial that begins, the n-th from 0 on, follow from a seed of its own, which is
  /// returned; nothing where it draws nothing. Error: it is none any more.
  virtual Result<std::optional<std::uint64_t>> begin_trial(std::uint64_t) { return std::optional<std::uint64_t>(); }

  /// Why the device is none any more.
  virtual std::optional<Error> problem() const { return std::nullopt; }

  /// Takes the device down, and returns what it says that it did: a JSON object, or nothing.
  virtual Result<std::string> finish() { return std::string(); }
};

/// Asked while a device is being made, whether somebody wants the program to end.
using Stop = std::function<bool()>;

/// A scenario by the name that comes first in its text: "tbf:rate=10mbit,burst=3kb,limit=10kb".
struct ScenarioEntry {
  std::string_view name;
  std::string_view settings;  ///< an example of what may follow the name; empty: nothing may
  std::string_view help;
  Result<std::unique_ptr<Scenario>> (*make)(const std::string& settings, const Stop& stop);
};

/// Every scenario: one line each.
std::span<const ScenarioEntry> scenario_registry() noexcept;

/// The same scenario with this seed, where it takes one and has none.
std::string with_seed(const std::string& text, std::uint64_t seed);

/// Errors: no such name; what the kernel lacks, or refuses.
Result<std::unique_ptr<Scenario>> make_scenario(const std::string& text, const Stop& stop = {});

}  // namespace parshall::tester
