// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "cli/test_ends.hpp"
#include "tester/search/measurer.hpp"

namespace parshall::cli {

/// What searches are made on: a device, or a monitor.
class UnderTest {
 public:
  virtual ~UnderTest() = default;

  virtual const std::string& description() const = 0;

  /// Trials with these frames on it.
  virtual std::unique_ptr<tester::Measurer> measurer(TestFrames frames) = 0;

  /// After the last trial: whether it did what it should. Error: it did not.
  virtual std::optional<Error> finish() = 0;
};

}  // namespace parshall::cli
