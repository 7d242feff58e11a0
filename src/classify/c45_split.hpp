// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "classify/model.hpp"

namespace parshall::c45 {

/// Tolerance for equal sums of weights, which are added in any order.
inline constexpr double kAlike = 1e-6;

/// A flow of the training set, or a fraction of it: if a size was missing, the flow went both ways.
struct Case {
  std::uint32_t flow;
  double weight;
};

/// Weights of flows by class.
struct Weights {
  std::vector<double> by_class;
  double total = 0;

  explicit Weights(std::size_t classes) : by_class(classes) {}
  Weights(const Samples& samples, std::span<const Case> cases);

  void add(std::size_t id, double weight) { by_class[id] += weight, total += weight; }
  double heaviest() const noexcept;
};

/// Split of a set by the size of a packet: sizes up to `up_to`, and those above.
struct Split {
  std::size_t packet = 0;
  std::uint16_t up_to = 0;
};

struct Parts {
  std::vector<Case> up_to, above;
};

/// Divides the cases. One with a missing size goes to both parts, in proportion to their weights without such cases.
Parts divide(const Samples& samples, std::span<const Case> cases, const Split& split);

/// Finds the size that divides a set best.
///
/// Cost:   n log n for each packet, and classes for each distinct size.
/// Source: Quinlan, C4.5: Programs for Machine Learning, 1993, section 2.2 to 2.4 (gain ratio, missing sizes) and
///         "Improved use of continuous attributes in C4.5", JAIR 4, 1996, section 2 (the cost of many sizes). Where
///         these leave details open, as in trees.J48 of Weka 3.8.
class Splitter {
 public:
  /// `samples`, whose sizes are at most longest, must outlive it.
  Splitter(const Samples& samples, std::uint32_t least_flows);

  /// Returns the best split, or nullopt if none has a gain.
  std::optional<Split> best(std::span<const Case> cases) const;

 private:
  struct Candidate {
    std::size_t packet;
    std::uint16_t up_to, next;
    double gain, ratio;
  };
  struct Sized {
    std::uint16_t size;
    ClassId id;
    double weight;
  };

  std::optional<Candidate> best_of_packet(std::span<const Case> cases, std::size_t packet, double all) const;
  double least_weight(double known) const noexcept;
  std::uint16_t seen_up_to(std::size_t packet, std::size_t middle) const;

  const Samples& samples_;
  double least_flows_;
  std::vector<std::vector<std::uint16_t>> seen_;  // distinct sizes of each packet, ascending
};

}  // namespace parshall::c45
