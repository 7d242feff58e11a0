// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "pipeline/measure/classifier.hpp"

namespace parshall {

inline constexpr std::size_t kMostClasses = 1024;  ///< most classes of a model

/// Flows of known application: the sizes of their first packets, the class, and the capture they are from.
///
/// Shape: `sizes` has `packets` columns for each flow, one flow after the other. `classes` and `captures` have one
///        number each, the index of the name.
struct Samples {
  static constexpr std::uint16_t kMissing = 0;  ///< in place of a size: the flow ended before

  std::size_t packets = 4;
  std::vector<std::uint16_t> sizes;
  std::vector<ClassId> classes;
  std::vector<std::uint32_t> captures;
  std::vector<std::string> class_names, capture_names;

  std::size_t size() const noexcept { return classes.size(); }
  std::span<const std::uint16_t> sizes_of(std::size_t flow) const noexcept {
    return std::span(sizes).subspan(flow * packets, packets);
  }
  std::vector<std::uint64_t> flows_by_class() const;

  /// Adds a flow. New names get the next number.
  void add(std::span<const std::uint16_t> first_sizes, std::string_view class_name, std::string_view capture_name);

  /// Reduces larger sizes to `longest`.
  void cap(std::uint16_t longest) noexcept;

  /// Returns the flows with chosen[flow], keeping the numbers of all classes and captures.
  Samples where(const std::vector<bool>& chosen) const;
};

/// Returns a name's number, trying `last` first: flows of one class and capture come together. Adds new names.
std::size_t number_of(std::vector<std::string>& names, std::string_view name, std::size_t last);

inline constexpr std::size_t kMostClassNameBytes = 64;

/// Returns why a class cannot have this name, which must work in reports of every format; nullopt if it can.
std::optional<Error> class_name_problem(std::string_view name);

}  // namespace parshall
