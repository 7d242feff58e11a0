// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cli/program.hpp"
#include "generate/traffic.hpp"
#include "pipeline/capture/dpdk/dpdk_port.hpp"
#include "tester/device/scenario.hpp"
#include "tester/trial.hpp"

namespace parshall::cli {

/// What is under test, and how it is reached.
struct EndOptions {
  std::string send_by, receive_by, through, via = "af_packet", eal;
};

void declare(Command command, EndOptions& options);

/// What in them does not go together.
std::optional<Error> conflict_of(const EndOptions& options);

/// What is sent through it.
struct TestTrafficOptions {
  std::string traffic;
};

void declare(Command command, TestTrafficOptions& options);

void declare_seed(Command command, std::optional<std::uint64_t>& seed);

/// The traffic in full: with what a test's has that other built-in traffic has not, unless the user says otherwise.
std::string plan_text(const TestTrafficOptions& options);

/// With a trailer. Errors are the user's.
Result<TrafficSpec> plan_traffic(const TestTrafficOptions& options);

/// Settles what is random in a test: gives frames, and a device that draws, seeds that follow from one, unless the user
/// named theirs. Returns that one: `asked`, or one that is drawn.
std::uint64_t settle_seeds(std::optional<std::uint64_t> asked, EndOptions& ends, TestTrafficOptions& traffic);

/// Frames of a test, which are sent again and again.
struct TestFrames {
  std::shared_ptr<const Trace> trace;
  std::uint32_t streams = 0;
};
Result<TestFrames> make_frames(const TrafficSpec& spec);

/// The interfaces, opened, and the device between them where we made it.
class TestEnds {
 public:
  static Result<TestEnds> open(const EndOptions& options);

  tester::TrialEnds ends() noexcept { return {*sink_, *source_}; }
  const std::string& description() const noexcept { return description_; }
  std::optional<double> line_bps() const noexcept { return sink_->line_bps(); }
  /// That can be sent, with the FCS.
  std::uint32_t longest_frame() const noexcept { return sink_->longest_frame() + kFcsBytes; }

  /// Before each trial: the seed of what the device does in it by chance; nothing where it draws nothing.
  Result<std::optional<std::uint64_t>> begin_trial() {
    return scenario_ ? scenario_->begin_trial(trials_++) : Result(std::optional<std::uint64_t>());
  }

  /// Frames that the sending device took, and dropped.
  std::uint64_t dropped_in_sending() { return send_port_->dropped_in_sending(); }

  /// Why the device is none: it ended.
  std::optional<Error> problem() const { return scenario_ ? scenario_->problem() : std::nullopt; }

  /// What a device of ours says that it did: a JSON object, or nothing.
  Result<std::string> finish() { return scenario_ ? scenario_->finish() : Result<std::string>(std::string()); }

 private:
  TestEnds() = default;

  std::unique_ptr<tester::Scenario> scenario_;          ///< goes last
  std::unique_ptr<DpdkPort> send_port_, receive_port_;  ///< the second is null where both are one
  std::unique_ptr<FrameSink> sink_;
  std::unique_ptr<PacketSource> source_;
  std::string description_;
  std::uint64_t trials_ = 0;  ///< that began
};

/// Frames of which kind are longer than what is sent by takes, if any.
std::optional<Error> too_long(std::span<const TestFrames> frames, std::uint32_t longest_frame);

/// How a test begins.
struct TestStart {
  std::string command;         ///< whose messages these are
  std::uint64_t learn_ns = 0;  ///< for which it is tried whether the device passes anything on; 0: it is not
  bool quiet = false;
};

/// Opens the ends and waits until some of each kind of frames come through.
///
/// Error: the ends cannot be opened; frames are too long to be sent; nothing comes through; the device ended.
Result<TestEnds> prepare_test(const EndOptions& options, std::span<const TestFrames> frames, const TestStart& start);

}  // namespace parshall::cli
