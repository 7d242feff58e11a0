// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "parshall/run.hpp"
#include "pipeline/capture/frame_sink.hpp"
#include "tester/commands/under_test.hpp"

namespace parshall::cli {

/// What a monitor under test is to do.
struct MonitorPlan {
  std::string words;  ///< options of `parshall watch`
  Plan watch;
  Wiring wiring;
};

/// Error: the user's: unknown options, or such as mean nothing here.
Result<MonitorPlan> plan_monitor(const std::string& words);

/// `parshall watch` itself as what is under test, in threads of this process: frames wait in memory, and go to it by
/// way of a ring, as those of a NIC do. What finds the ring full is lost; what it counts was received.
class MonitorUnderTest final : public UnderTest {
 public:
  /// `eal`: more of DPDK's options. `settle_ns`: from the last frame of a trial until the monitor is asked.
  ///
  /// Error: there is no memory; the ring cannot be made.
  static Result<std::unique_ptr<MonitorUnderTest>> start(const MonitorPlan& plan, const std::string& eal,
                                                         std::uint64_t settle_ns);
  ~MonitorUnderTest() override;

  const std::string& description() const override { return description_; }
  std::string received() const override;
  std::vector<tester::Fact> phases() const override {
    return trial_phases("none (deviates)", settle_ns_, "until the ring before it is empty (deviates)");
  }
  /// That the ring takes, with the FCS.
  std::uint32_t longest_frame() const noexcept { return sink_->longest_frame() + kFcsBytes; }
  std::unique_ptr<tester::Measurer> measurer(TestFrames frames) override;

  /// Ends it. Error: its books do not balance, or it saw other packets than those that the ring took.
  std::optional<Error> finish() override;

 private:
  class Trials;
  MonitorUnderTest() = default;

  /// Packets in flow records by now. Error: it ended by itself.
  Result<std::uint64_t> counted();

  /// Until the ring is empty. Error: it is not emptied.
  std::optional<Error> wait_for_ring() const;

  std::string description_, eal_;
  std::uint64_t settle_ns_ = 0;
  std::unique_ptr<FrameSink> sink_;
  std::uint64_t sent_ = 0;  ///< that the ring took
  std::unique_ptr<Run> run_;
};

}  // namespace parshall::cli
