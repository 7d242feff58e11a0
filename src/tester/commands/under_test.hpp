// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tester/commands/test_ends.hpp"
#include "tester/search/measurer.hpp"
#include "tester/search_report/search_report.hpp"

namespace parshall::cli {

/// What searches are made on: a device, or a monitor.
class UnderTest {
 public:
  virtual ~UnderTest() = default;

  virtual const std::string& description() const = 0;

  /// Which of the frames count as received.
  virtual std::string received() const = 0;
  /// What happens in a trial, in the words of RFC 2544, section 23.
  virtual std::vector<tester::Fact> phases() const = 0;

  /// Trials with these frames on it.
  virtual std::unique_ptr<tester::Measurer> measurer(TestFrames frames) = 0;

  /// After the last trial: whether it did what it should. Error: it did not.
  virtual std::optional<Error> finish() = 0;
};

/// How the generator's ceiling is measured: with all that a rate costs, but that frames wait.
constexpr SendRate kUnreachable{SendRate::Unit::packets, 1e12};
constexpr std::uint64_t kCeilingNs = 200'000'000;

/// How a trial is sent.
SendPlan trial_plan(const tester::TrialInput& input) noexcept;

/// RFC 9971 wants whatever deviates from those phases to be told. `learning`: how its learning frames are sent; `rest`:
/// what happens before the next trial.
std::vector<tester::Fact> trial_phases(const std::string& learning, std::uint64_t settle_ns, const std::string& rest);

}  // namespace parshall::cli
