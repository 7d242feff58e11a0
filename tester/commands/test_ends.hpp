// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cli/program.hpp"
#include "pipeline/capture/dpdk/dpdk_port.hpp"
#include "tester/device/scenario.hpp"
#include "tester/trial.hpp"
#include "traffic/traffic.hpp"

namespace parshall::cli {

/// The device under test, and the interfaces that reach it.
struct EndOptions {
  std::string send_by, receive_by, through, via = "af_packet", eal;
};

void declare(Command command, EndOptions& options);

/// Returns which of these options exclude each other.
std::optional<Error> conflict_of(const EndOptions& options);

/// Traffic that is sent through it.
struct TestTrafficOptions {
  std::string traffic;
};

void declare(Command command, TestTrafficOptions& options);

void declare_seed(Command command, std::optional<std::uint64_t>& seed);

/// Returns the complete traffic description. It includes settings that only tests use, unless the user gave others.
std::string plan_text(const TestTrafficOptions& options);

/// Parses traffic with a trailer. Errors are the user's.
Result<TrafficSpec> plan_traffic(const TestTrafficOptions& options);

/// Derives all seeds of a test from one: those of frames and of a device that uses chance, unless the user gave them.
/// Returns that one: `asked`, or a random one.
std::uint64_t settle_seeds(std::optional<std::uint64_t> asked, EndOptions& ends, TestTrafficOptions& traffic);

/// Frames of a test, which are sent repeatedly.
struct TestFrames {
  std::shared_ptr<const Trace> trace;
  std::uint32_t streams = 0;
};
Result<TestFrames> make_frames(const TrafficSpec& spec);

/// Opens the interfaces, and the device between them if the test creates it.
class TestEnds {
 public:
  static Result<TestEnds> open(const EndOptions& options);

  tester::TrialEnds ends() noexcept { return {*sink_, *source_}; }
  const std::string& description() const noexcept { return description_; }
  std::optional<double> line_bps() const noexcept { return sink_->line_bps(); }
  /// Returns the longest frame that can be sent, including the FCS.
  std::uint32_t longest_frame() const noexcept { return sink_->longest_frame() + kFcsBytes; }

  /// Begins a trial. Returns the seed of the device's random decisions, or nullopt if it makes none.
  Result<std::optional<std::uint64_t>> begin_trial() {
    return scenario_ ? scenario_->begin_trial(trials_++) : Result(std::optional<std::uint64_t>());
  }

  /// Returns the frames that the sending device accepted, and dropped.
  std::uint64_t dropped_in_sending() { return send_port_->dropped_in_sending(); }

  /// Returns why the device no longer works: it ended.
  std::optional<Error> problem() const { return scenario_ ? scenario_->problem() : std::nullopt; }

  /// Returns the report of a device made by the test, as a JSON object, or an empty text.
  Result<std::string> finish() { return scenario_ ? scenario_->finish() : Result<std::string>(std::string()); }

 private:
  TestEnds() = default;

  std::unique_ptr<tester::Scenario> scenario_;          ///< destroyed last
  std::unique_ptr<DpdkPort> send_port_, receive_port_;  ///< the second is null if both are the same
  std::unique_ptr<FrameSink> sink_;
  std::unique_ptr<PacketSource> source_;
  std::string description_;
  std::uint64_t trials_ = 0;  ///< trials begun
};

/// Returns which kinds of frames are too long for the sending device, if any.
std::optional<Error> too_long(std::span<const TestFrames> frames, std::uint32_t longest_frame);

/// Options for the start of a test.
struct TestStart {
  std::string command;         ///< command name for messages
  std::uint64_t learn_ns = 0;  ///< how long to try if the device forwards anything; 0: no check
  bool quiet = false;
};

/// Opens the ends and waits until some frames of each kind come through.
///
/// Error:  the ends cannot be opened, frames are too long to be sent, nothing comes through, or the device ended.
Result<TestEnds> prepare_test(const EndOptions& options, std::span<const TestFrames> frames, const TestStart& start);

}  // namespace parshall::cli
