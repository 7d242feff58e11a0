// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace parshall::tester {

enum class Scale : std::uint8_t {
  linear,
  logarithmic,          ///< values above 0
  logarithmic_or_zero,  ///< likewise, and 0 has a place of its own below them
};

/// What an axis is to show.
struct AxisPlan {
  std::string label;  ///< with the unit
  Scale scale = Scale::linear;
  std::vector<std::string> categories;  ///< values are 0, 1, ...: their names
  std::optional<double> also;           ///< a value that is to be seen even where nothing has it, such as 0
  bool whole = false;                   ///< ticks are whole numbers
};

struct Tick {
  double value = 0;
  std::string text;
};

/// An axis of given values: where along it each lies, and its ticks.
///
/// Error: values that are not finite, or that a logarithm does not have, are none. Without any, the axis is from 0
/// to 1.
class Axis {
 public:
  /// `most`: ticks there is room for, at least 2.
  Axis(const AxisPlan& plan, const std::vector<double>& values, std::size_t most);

  /// 0 at its beginning, 1 at its end; nothing where a value has no place.
  std::optional<double> place(double value) const noexcept;
  const std::vector<Tick>& ticks() const noexcept { return ticks_; }
  /// Between the place of 0 and the other values, where 0 has one of its own.
  std::optional<double> gap() const noexcept;

 private:
  void span(const std::vector<double>& values, const AxisPlan& plan);
  std::vector<Tick> linear_ticks(std::size_t most, bool whole) const;
  std::vector<Tick> logarithmic_ticks(std::size_t most) const;
  double of(double value) const noexcept;

  Scale scale_;
  double low_ = 0, high_ = 1;  ///< of values, where it is linear, or of their logarithms
  bool has_zero_ = false;
  std::vector<Tick> ticks_;
};

}  // namespace parshall::tester
