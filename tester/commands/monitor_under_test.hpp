// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "parshall/run.hpp"
#include "pipeline/capture/frame_sink.hpp"
#include "tester/commands/under_test.hpp"

namespace parshall::cli {

/// Configuration of a monitor under test.
struct MonitorPlan {
  std::string words;  ///< options of `parshall watch`
  Plan watch;
};

/// Parses the options. Error: options that are unknown, or have no meaning in a test; the user's.
Result<MonitorPlan> plan_monitor(const std::string& words);

/// Tests `parshall watch` itself, in threads of this process. Frames wait in memory and reach it through a ring, like
/// those of a NIC. A frame that finds the ring full is lost; what the monitor counts is received.
class MonitorUnderTest final : public UnderTest {
 public:
  /// Starts the monitor. `eal`: additional DPDK options. `settle_ns`: time from the last frame of a trial until the
  /// monitor is asked.
  ///
  /// Error:  not enough memory, or the ring cannot be made.
  static Result<std::unique_ptr<MonitorUnderTest>> start(const MonitorPlan& plan, const std::string& eal,
                                                         std::uint64_t settle_ns);
  ~MonitorUnderTest() override;

  const std::string& description() const override { return description_; }
  std::string received() const override;
  std::vector<tester::Fact> phases() const override {
    return trial_phases("none (deviates)", settle_ns_, "until the ring in front of the monitor is empty (deviates)");
  }
  /// Returns the longest frame that the ring takes, including the FCS.
  std::uint32_t longest_frame() const noexcept { return sink_->longest_frame() + kFcsBytes; }
  std::unique_ptr<tester::TrialRunner> measurer(TestFrames frames) override;

  /// Ends the monitor. Error: its account does not balance, or differs from the packets that the ring took.
  std::optional<Error> finish() override;

 private:
  class Trials;
  MonitorUnderTest() = default;

  /// Returns the packets in flow records so far. Error: the monitor ended by itself.
  Result<std::uint64_t> counted();

  /// Waits until the ring is empty. Error: it is not emptied in time.
  std::optional<Error> wait_for_ring() const;

  std::string description_, eal_;
  std::uint64_t settle_ns_ = 0;
  std::unique_ptr<FrameSink> sink_;
  std::uint64_t sent_ = 0;  ///< frames that the ring took
  std::unique_ptr<Run> run_;
};

}  // namespace parshall::cli
