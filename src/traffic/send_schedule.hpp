// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace parshall {

/// Rate at which frames are sent.
struct SendRate {
  enum class Unit : std::uint8_t {
    as_taken,    ///< as fast as the sink takes them
    packets,     ///< per second
    line_bits,   ///< per second, including what the line needs around a frame (line_bytes())
    line_share,  ///< fraction of the line rate
    captured,    ///< by the packets' own time stamps; a multiple of that speed
  };
  Unit unit = Unit::as_taken;
  double value = 0;

  bool operator==(const SendRate&) const = default;

  /// Parses "asap", "14.88Mpps", "500Mbps", "40%" or "2x".
  static Result<SendRate> parse(const std::string& text);
  std::string text() const;

  /// Converts a fraction of a line into bits per second.
  SendRate on_line(double line_bps) const noexcept;
};

/// Ramp: the rate changes evenly over a time, starting from another rate of the same unit.
struct SendRamp {
  double from = 0;            ///< in the unit of SendRate::value
  std::uint64_t time_ns = 0;  ///< 0: no ramp
};

/// Computes when each frame is due, in ns since the first.
///
/// Error: below 1 ns in the first 2^53 units; frames of a burst are due with its first.
class SendSchedule {
 public:
  /// `rate` has any unit but line_share. `burst` frames go at once, with pauses that keep the rate.
  explicit SendSchedule(const SendRate& rate, const SendRamp& ramp = {}, std::uint32_t burst = 1) noexcept;

  /// Returns when the next frame is due, never before the previous one. `time_ns` is its own time stamp.
  std::uint64_t next(std::uint64_t time_ns, std::uint32_t frame_bytes) noexcept;

  /// Changes the rate from `now_ns` (since the first frame) on. Frames due before and not sent yet are due now.
  void change(const SendRate& rate, std::uint64_t now_ns) noexcept;

  /// Returns how many more frames are due before a time, if there are enough; nullopt if that depends on the frames.
  std::optional<std::uint64_t> left_before(std::uint64_t time_ns) const noexcept;

  const SendRate& rate() const noexcept { return rate_; }

  /// Returns whether frames wait for a time.
  bool paced() const noexcept { return rate_.unit != SendRate::Unit::as_taken; }

 private:
  std::uint64_t due_ns(std::uint64_t time_ns) noexcept;
  double seconds_of(double units) const noexcept;
  double units_by(double seconds) const noexcept;

  SendRate rate_;
  SendRamp ramp_;
  std::uint32_t burst_, left_of_burst_ = 0;
  bool began_ = false;
  std::uint64_t base_ns_ = 0;   ///< time from which the present rate holds
  std::uint64_t first_ns_ = 0;  ///< time stamp of the first frame since then
  double units_ = 0;            ///< packets or bits since then
  std::uint64_t due_ns_ = 0;    ///< due time of the last frame
};

}  // namespace parshall
