// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace parshall {

/// How fast frames go out.
struct SendRate {
  enum class Unit : std::uint8_t {
    as_taken,    ///< as fast as they are taken
    packets,     ///< per second
    line_bits,   ///< per second, with what the line needs around a frame (line_bytes())
    line_share,  ///< of what the line takes
    captured,    ///< by their own time stamps; a multiple of that speed
  };
  Unit unit = Unit::as_taken;
  double value = 0;

  bool operator==(const SendRate&) const = default;

  /// "asap", "14.88Mpps", "500Mbps", "40%", "2x".
  static Result<SendRate> parse(const std::string& text);
  std::string text() const;

  /// In bits of a line of that speed, where it is a share of one.
  SendRate on_line(double line_bps) const noexcept;
};

/// A rate that is reached little by little: from one of the same unit, evenly over a time.
struct SendRamp {
  double from = 0;            ///< as SendRate::value
  std::uint64_t time_ns = 0;  ///< 0: there is no ramp
};

/// When each frame is due, in ns since the first.
///
/// Error: below 1 ns in the first 2^53 units; frames of a burst are due with its first.
class SendSchedule {
 public:
  /// `rate` is of any unit but line_share. `burst`: so many frames at once, with pauses that keep the rate.
  explicit SendSchedule(const SendRate& rate, const SendRamp& ramp = {}, std::uint32_t burst = 1) noexcept;

  /// Of the next frame. Never before that of the one before it. `time_ns`: its own stamp.
  std::uint64_t next(std::uint64_t time_ns, std::uint32_t frame_bytes) noexcept;

  /// From `now_ns` since the first frame on: what was due until then and is not sent yet is due now.
  void change(const SendRate& rate, std::uint64_t now_ns) noexcept;

  /// How many more frames are due before a time, if there are as many: nothing where that depends on the frames.
  std::optional<std::uint64_t> left_before(std::uint64_t time_ns) const noexcept;

  const SendRate& rate() const noexcept { return rate_; }

  /// Whether frames wait for a time.
  bool paced() const noexcept { return rate_.unit != SendRate::Unit::as_taken; }

 private:
  std::uint64_t due_ns(std::uint64_t time_ns) noexcept;
  double seconds_of(double units) const noexcept;
  double units_by(double seconds) const noexcept;

  SendRate rate_;
  SendRamp ramp_;
  std::uint32_t burst_, left_of_burst_ = 0;
  bool began_ = false;
  std::uint64_t base_ns_ = 0;   ///< from where on the rate is as it is
  std::uint64_t first_ns_ = 0;  ///< own time stamp of the first frame since then
  double units_ = 0;            ///< since then: packets or bits
  std::uint64_t due_ns_ = 0;    ///< of the last frame
};

}  // namespace parshall
