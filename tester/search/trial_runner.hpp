// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/result.hpp"
#include "tester/search/trial_outcome.hpp"

namespace parshall::tester {

/// Runs trials with one kind of frames. Source: RFC 9971, section 4.9.1.
class TrialRunner {
 public:
  virtual ~TrialRunner() = default;

  /// Returns the most frames per second that it can send, whatever happens to them. Results near that are its own
  /// limit.
  virtual Result<double> ceiling_pps() = 0;

  /// Runs a trial. If the user ends the program, it may end early and is then not valid.
  ///
  /// Error:  the device, or the path to it, no longer works.
  virtual Result<TrialOutcome> measure(const TrialInput& input) = 0;
};

}  // namespace parshall::tester
