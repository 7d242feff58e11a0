// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/measure/classifier.hpp"

namespace parshall {

/// State of a LabelLearner. Flows are judged by the model that had not seen them.
struct LearningState {
  std::uint64_t learnt = 0;               ///< flows
  std::uint64_t models = 0;               ///< trained so far
  std::uint64_t judged = 0;               ///< flows, of the latest ones, whose class can be compared with their label
  std::uint64_t agreed = 0;               ///< those of them for which the model and the label agree
  std::vector<std::string> indistinct{};  ///< classes of which less than half were recognized
  std::string problem{};                  ///< why the model could not be written; empty: it was
};

/// Learns classes from flows that have labels.
class LabelLearner {
 public:
  virtual ~LabelLearner() = default;

  /// Learns from a flow: its first sizes, as Classifier::classify() takes them, the class that it was told by sizes,
  /// and that of its label. Any thread.
  virtual void learn(std::span<const std::uint16_t> sizes, ClassId told, ClassId label) noexcept = 0;

  /// Learns the label of a flow with these ports, however many packets it will have. Any thread.
  virtual void learn_port(PortValues ports, ClassId label) noexcept = 0;

  virtual LearningState state() const = 0;
};

}  // namespace parshall
