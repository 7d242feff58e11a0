// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tester/commands/test_ends.hpp"
#include "tester/search/trial_runner.hpp"
#include "tester/search_report/search_report.hpp"

namespace parshall::cli {

/// Object of a search: a device or a monitor.
class UnderTest {
 public:
  virtual ~UnderTest() = default;

  virtual const std::string& description() const = 0;

  /// Returns which frames count as received.
  virtual std::string received() const = 0;
  /// Returns the phases of a trial, in the terms of RFC 2544, section 23.
  virtual std::vector<tester::Fact> phases() const = 0;

  /// Returns a measurer for trials with these frames.
  virtual std::unique_ptr<tester::TrialRunner> measurer(TestFrames frames) = 0;

  /// Ends the test after the last trial. Error: the device or monitor did not work correctly.
  virtual std::optional<Error> finish() = 0;
};

/// Rate for measuring the generator's ceiling: pacing is active, but no frame waits.
constexpr SendRate kUnreachable{SendRate::Unit::packets, 1e12};
constexpr std::uint64_t kCeilingNs = 200'000'000;

/// Returns how a trial is sent.
SendPlan trial_plan(const tester::TrialInput& input) noexcept;

/// Returns the phases of a trial, since RFC 9971 requires deviations to be reported. `learning`: how learning frames
/// are sent; `rest`: what happens before the next trial.
std::vector<tester::Fact> trial_phases(const std::string& learning, std::uint64_t settle_ns, const std::string& rest);

}  // namespace parshall::cli
