// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "base/realtime.hpp"
#include "tester/commands/under_test.hpp"
#include "tester/search_report/search_report.hpp"

namespace parshall::cli {

/// Runs trials of frames through a device. Frames that come back count as received, each once.
class DeviceTrials final : public tester::TrialRunner {
 public:
  /// `settle_ns`: time to wait for frames after each trial, and time without any before one.
  DeviceTrials(TestFrames frames, TestEnds& test, std::uint64_t settle_ns)
      : frames_(std::move(frames)), test_(test), settle_ns_(settle_ns) {}

  /// Returns the best of three measurements, in which as many frames as possible are sent through the device for
  /// kCeilingNs. Disturbances by other programs can only reduce a result.
  Result<double> ceiling_pps() override;
  Result<tester::TrialOutcome> measure(const tester::TrialInput& input) override;

 private:
  Result<tester::TrialResult> run(const SendPlan& send);

  TestFrames frames_;
  TestEnds& test_;
  std::uint64_t settle_ns_;
  std::uint64_t busy_until_ns_ = realtime_ns();  ///< arrival of the last frame with a trailer, as far as known
};

/// A device between the ends of a test.
class DeviceUnderTest final : public UnderTest {
 public:
  DeviceUnderTest(TestEnds test, std::uint64_t settle_ns, std::uint64_t learn_ns)
      : test_(std::move(test)), settle_ns_(settle_ns), learn_ns_(learn_ns) {}

  const std::string& description() const override { return test_.description(); }
  std::string received() const override;
  std::vector<tester::Fact> phases() const override;
  std::unique_ptr<tester::TrialRunner> measurer(TestFrames frames) override {
    return std::make_unique<DeviceTrials>(std::move(frames), test_, settle_ns_);
  }
  std::optional<Error> finish() override { return test_.problem(); }

 private:
  TestEnds test_;
  std::uint64_t settle_ns_, learn_ns_;
};

}  // namespace parshall::cli
