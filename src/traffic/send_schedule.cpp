// SPDX-License-Identifier: Apache-2.0
#include "traffic/send_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "traffic/frame.hpp"

namespace parshall {
namespace {

struct RateUnit {
  std::string_view suffix;
  SendRate::Unit unit;
  double factor;
};

constexpr std::array kUnits{
    RateUnit{"pps", SendRate::Unit::packets, 1},      RateUnit{"kpps", SendRate::Unit::packets, 1e3},
    RateUnit{"Mpps", SendRate::Unit::packets, 1e6},   RateUnit{"bps", SendRate::Unit::line_bits, 1},
    RateUnit{"kbps", SendRate::Unit::line_bits, 1e3}, RateUnit{"Mbps", SendRate::Unit::line_bits, 1e6},
    RateUnit{"Gbps", SendRate::Unit::line_bits, 1e9}, RateUnit{"%", SendRate::Unit::line_share, 0.01},
    RateUnit{"x", SendRate::Unit::captured, 1},
};
/// Rounds a number that is not negative. std::llround() would be a function call per frame.
std::uint64_t nearest(double value) noexcept {
  constexpr double kMost = 0x1p62;
  return static_cast<std::uint64_t>(std::min(value + 0.5, kMost));
}

constexpr double kLeast = 1e-3, kMost = 1e13;  ///< beyond, a frame takes years, or 2^63 ns are too few

}  // namespace

Result<SendRate> SendRate::parse(const std::string& text) {
  if (text == "asap") return SendRate{};
  double number = 0;
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view suffix(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  const auto* const unit = std::ranges::find(kUnits, suffix, &RateUnit::suffix);
  if (problem != std::errc() || unit == kUnits.end() || !(number * unit->factor >= kLeast) ||
      !(number * unit->factor <= kMost))
    return Error{
        fmt::format("\"{}\" is not a rate: give asap, or a number of pps, kpps, Mpps, bps, kbps, Mbps, Gbps (bits on "
                    "the line, with preamble, FCS and gap), % of the line rate, or x (times a capture's own speed)",
                    text)};
  return SendRate{unit->unit, number * unit->factor};
}

std::string SendRate::text() const {
  switch (unit) {
    case Unit::as_taken:
      return "asap";
    case Unit::packets:
      return fmt::format("{}pps", value);
    case Unit::line_bits:
      return fmt::format("{}bps", value);
    case Unit::line_share:
      return fmt::format("{:.15g}%", value * 100);
    case Unit::captured:
      return fmt::format("{}x", value);
  }
  return {};
}

SendRate SendRate::on_line(double line_bps) const noexcept {
  return unit == Unit::line_share ? SendRate{Unit::line_bits, value * line_bps} : *this;
}

SendSchedule::SendSchedule(const SendRate& rate, const SendRamp& ramp, std::uint32_t burst) noexcept
    : rate_(rate), ramp_(ramp), burst_(std::max(burst, 1u)) {}

std::uint64_t SendSchedule::next(std::uint64_t time_ns, std::uint32_t frame_bytes) noexcept {
  if (!began_) {
    began_ = true;
    first_ns_ = time_ns;
  }
  if (left_of_burst_ == 0) {
    due_ns_ = std::max(due_ns_, due_ns(time_ns));
    left_of_burst_ = burst_;
  }
  --left_of_burst_;
  units_ += rate_.unit == SendRate::Unit::line_bits ? static_cast<double>(8 * line_bytes(frame_bytes)) : 1;
  return due_ns_;
}

std::uint64_t SendSchedule::due_ns(std::uint64_t time_ns) noexcept {
  switch (rate_.unit) {
    case SendRate::Unit::as_taken:
    case SendRate::Unit::line_share:
      return base_ns_;
    case SendRate::Unit::captured:
      return base_ns_ + (time_ns <= first_ns_ ? 0 : nearest(static_cast<double>(time_ns - first_ns_) / rate_.value));
    case SendRate::Unit::packets:
    case SendRate::Unit::line_bits:
      return base_ns_ + nearest(seconds_of(units_) * 1e9);
  }
  return base_ns_;
}

/// Returns when `units` units have gone. During the ramp, from * t + (to - from) / (2 T) * t^2 = units.
double SendSchedule::seconds_of(double units) const noexcept {
  if (units == 0) return 0;
  const double ramp_s = static_cast<double>(ramp_.time_ns) * 1e-9;
  const double of_ramp = (ramp_.from + rate_.value) / 2 * ramp_s;
  if (units >= of_ramp) return ramp_s + (units - of_ramp) / rate_.value;
  const double slope = (rate_.value - ramp_.from) / ramp_s;
  // This form also holds for a slope of 0, and avoids subtracting nearly equal numbers.
  return 2 * units / (ramp_.from + std::sqrt(ramp_.from * ramp_.from + 2 * slope * units));
}

/// Inverts seconds_of().
double SendSchedule::units_by(double seconds) const noexcept {
  const double ramp_s = static_cast<double>(ramp_.time_ns) * 1e-9;
  if (seconds >= ramp_s) return (ramp_.from + rate_.value) / 2 * ramp_s + (seconds - ramp_s) * rate_.value;
  return ramp_.from * seconds + (rate_.value - ramp_.from) / (2 * ramp_s) * seconds * seconds;
}

/// Returns the frames left; those of a burst are due with its first.
std::optional<std::uint64_t> SendSchedule::left_before(std::uint64_t time_ns) const noexcept {
  if (rate_.unit != SendRate::Unit::packets) return std::nullopt;
  if (time_ns <= base_ns_) return 0;
  const double bursts = std::ceil(units_by((static_cast<double>(time_ns - base_ns_) - 0.5) * 1e-9) / burst_);
  return nearest(std::max(0.0, bursts * burst_ - units_));
}

void SendSchedule::change(const SendRate& rate, std::uint64_t now_ns) noexcept {
  rate_ = rate;
  ramp_ = {};
  base_ns_ = due_ns_ = now_ns;
  units_ = 0;
  began_ = false;
  left_of_burst_ = 0;
}

}  // namespace parshall
