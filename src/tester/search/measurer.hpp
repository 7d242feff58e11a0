// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/result.hpp"
#include "tester/search/trial_outcome.hpp"

namespace parshall::tester {

/// Runs trials of one kind of frames on what is under test. Source: RFC 9971, section 4.9.1.
class Measurer {
 public:
  virtual ~Measurer() = default;

  /// How many frames a second it can send, whatever becomes of them: what is found near that is its own limit.
  virtual Result<double> ceiling_pps() = 0;

  /// Runs a trial. It may end early where somebody wants the program to stop, and is then worth nothing.
  ///
  /// Error: what is under test, or the way to it, works no more.
  virtual Result<TrialOutcome> measure(const TrialInput& input) = 0;
};

}  // namespace parshall::tester
