// SPDX-License-Identifier: Apache-2.0
#pragma once
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

  /// Why the device is none any more.
  virtual std::optional<Error> problem() const { return std::nullopt; }

  /// Takes the device down, and returns what it says that it did: a JSON object, or nothing.
  virtual Result<std::string> finish() { return std::string(); }
};

/// Asked while a device is being made, whether somebody wants the program to end.
using Stop = std::function<bool()>;

/// A scenario by the name that comes first in its text: "tbf:rate=100mbit,burst=32kb,limit=100kb".
struct ScenarioEntry {
  std::string_view name;
  std::string_view settings;  ///< an example of what may follow the name; empty: nothing may
  std::string_view help;
  Result<std::unique_ptr<Scenario>> (*make)(const std::string& settings, const Stop& stop);
};

/// Every scenario: one line each.
std::span<const ScenarioEntry> scenario_registry() noexcept;

/// Errors: no such name; what the kernel lacks, or refuses.
Result<std::unique_ptr<Scenario>> make_scenario(const std::string& text, const Stop& stop = {});

}  // namespace parshall::tester
