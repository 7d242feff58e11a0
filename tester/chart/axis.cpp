// SPDX-License-Identifier: Apache-2.0
#include "tester/chart/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <span>

#include "tester/chart/number_text.hpp"

namespace parshall::tester {
namespace {

constexpr double kZeroPlace = 0.04, kZeroGap = 0.08, kAboveZero = 0.12;

/// Returns a step of 1, 2 or 5 times a power of ten that fits into the span at most that often.
double step_of(double span, std::size_t most) {
  const double least = span / static_cast<double>(most), power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double times : {1.0, 2.0, 5.0})
    if (times * power >= least * (1 - 1e-9)) return times * power;
  return 10 * power;
}

/// Formats a value with as many digits as distinguish it from the next tick.
std::string tick_text(double value, double step) {
  if (value == 0) return "0";
  const int digits = static_cast<int>(std::floor(std::log10(std::fabs(value))) - std::floor(std::log10(step))) + 1;
  return number_text(value, "", std::clamp(digits, 1, 12));
}

}  // namespace

double Axis::of(double value) const noexcept { return scale_ == Scale::linear ? value : std::log10(value); }

Axis::Axis(const AxisPlan& plan, const std::vector<double>& values, std::size_t most) : scale_(plan.scale) {
  most = std::max<std::size_t>(most, 2);
  if (!plan.categories.empty()) {
    scale_ = Scale::linear;
    low_ = -0.5;
    high_ = static_cast<double>(plan.categories.size()) - 0.5;
    for (std::size_t i = 0; i < plan.categories.size(); ++i)
      ticks_.push_back({static_cast<double>(i), plan.categories[i]});
    return;
  }
  span(values, plan);
  ticks_ = scale_ == Scale::linear ? linear_ticks(most, plan.whole) : logarithmic_ticks(most);
  if (has_zero_) ticks_.insert(ticks_.begin(), Tick{0, "0"});
}

/// Determines the limits, with some room at both ends.
void Axis::span(const std::vector<double>& values, const AxisPlan& plan) {
  std::vector<double> all;
  const auto take = [&](double value) {
    if (!std::isfinite(value)) return;
    if (scale_ == Scale::linear || value > 0) all.push_back(of(value));
    has_zero_ |= scale_ == Scale::logarithmic_or_zero && value <= 0;
  };
  std::ranges::for_each(values, take);
  if (plan.also) take(*plan.also);
  if (all.empty()) {  // there is no logarithm to show
    scale_ = Scale::linear;
    has_zero_ = false;
    return;
  }
  const auto [least, greatest] = std::ranges::minmax(all);
  const double width = greatest - least;
  // A single value is centred.
  const double room = width > 1e-12 * std::max(1.0, std::fabs(greatest)) ? 0.05 * width
                      : scale_ != Scale::linear || greatest == 0         ? 0.2
                                                                         : 0.1 * std::fabs(greatest);
  // The requested value begins the axis if it is the least.
  const bool from_also = plan.also && scale_ == Scale::linear && least == *plan.also;
  low_ = from_also ? least : least - room;
  high_ = greatest + room;
}

std::vector<Tick> Axis::linear_ticks(std::size_t most, bool whole) const {
  const double step = std::max(step_of(high_ - low_, most), whole ? 1.0 : 0.0);
  std::vector<Tick> ticks;
  for (double i = std::ceil(low_ / step - 1e-9); i * step <= high_ + 1e-9 * step && ticks.size() <= 2 * most; ++i)
    ticks.push_back({i * step, tick_text(i * step, step)});
  return ticks;
}

/// Returns powers of ten if their number is suitable; else with numbers between; else ticks as on a linear axis.
std::vector<Tick> Axis::logarithmic_ticks(std::size_t most) const {
  static constexpr std::array<double, 1> kDecades{1};
  static constexpr std::array<double, 3> kFew{1, 2, 5};
  static constexpr std::array<double, 9> kAll{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto within = [&](std::span<const double> digits, int apart) {
    std::vector<Tick> ticks;
    for (int power = static_cast<int>(std::floor(low_)); power <= static_cast<int>(std::ceil(high_)); ++power) {
      if (power % apart != 0) continue;
      for (const double digit : digits)
        if (const double value = digit * std::pow(10.0, power); std::log10(value) >= low_ && std::log10(value) <= high_)
          ticks.push_back({value, number_text(value, "", 1)});
    }
    return ticks;
  };
  std::vector<Tick> ticks = within(kDecades, 1);
  for (int apart = 2; ticks.size() > most; ++apart) ticks = within(kDecades, apart);
  if (ticks.size() >= 3) return ticks;
  for (const std::span<const double> digits : {std::span<const double>(kFew), std::span<const double>(kAll)})
    if (auto finer = within(digits, 1); finer.size() >= 3 && finer.size() <= most) return finer;
  const double least = std::pow(10.0, low_), greatest = std::pow(10.0, high_), step = step_of(greatest - least, most);
  ticks.clear();
  for (double i = std::ceil(least / step); i * step <= greatest && ticks.size() <= 2 * most; ++i)
    ticks.push_back({i * step, tick_text(i * step, step)});
  return ticks;
}

std::optional<double> Axis::place(double value) const noexcept {
  if (!std::isfinite(value)) return std::nullopt;
  if (scale_ != Scale::linear && value <= 0) return has_zero_ ? std::optional(kZeroPlace) : std::nullopt;
  const double along = (of(value) - low_) / (high_ - low_);
  return has_zero_ ? kAboveZero + (1 - kAboveZero) * along : along;
}

std::optional<double> Axis::gap() const noexcept { return has_zero_ ? std::optional(kZeroGap) : std::nullopt; }

}  // namespace parshall::tester
