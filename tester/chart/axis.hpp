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
  logarithmic_or_zero,  ///< also has a place for 0 below them
};

/// Description of an axis.
struct AxisPlan {
  std::string label;  ///< includes the unit
  Scale scale = Scale::linear;
  std::vector<std::string> categories;  ///< names for the values 0, 1, ...
  std::optional<double> also;           ///< a value that must be visible even if no data has it, such as 0
  bool whole = false;                   ///< true: ticks are whole numbers
};

struct Tick {
  double value = 0;
  std::string text;
};

/// An axis for given values: the position of each value, and the ticks.
///
/// Error:  values that are not finite, or that a logarithm does not have, are ignored. Without any value, the axis runs
///         from 0 to 1.
class Axis {
 public:
  /// `most`: number of ticks that there is room for, at least 2.
  Axis(const AxisPlan& plan, const std::vector<double>& values, std::size_t most);

  /// Returns the position from 0 at the beginning to 1 at the end, or nullopt if the value has none.
  std::optional<double> place(double value) const noexcept;
  const std::vector<Tick>& ticks() const noexcept { return ticks_; }
  /// Returns the position between 0 and the other values, if 0 has a place of its own.
  std::optional<double> gap() const noexcept;

 private:
  void span(const std::vector<double>& values, const AxisPlan& plan);
  std::vector<Tick> linear_ticks(std::size_t most, bool whole) const;
  std::vector<Tick> logarithmic_ticks(std::size_t most) const;
  double of(double value) const noexcept;

  Scale scale_;
  double low_ = 0, high_ = 1;  ///< limits of the values or, on a logarithmic axis, of their logarithms
  bool has_zero_ = false;
  std::vector<Tick> ticks_;
};

}  // namespace parshall::tester
