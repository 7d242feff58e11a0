// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "classify/model_file.hpp"
#include "classify/port_classifier.hpp"
#include "pipeline/measure/labels/label_learner.hpp"

namespace parshall {

/// Classifier that learns from labels while it is used. It keeps labelled flows, and trains a model on them when there
/// are half as many more than before, later after every kMostSamples / 2 flows. Until then, classes are unknown. With
/// each model come the usual classes of ports, for flows with too few packets.
///
/// Memory: kMostSamples flows. A new flow takes the place of a random one, so that old ones fade. Counts by class of
///         kMostPorts ports, which are halved after every kMostSamples flows, and when there is no room.
/// Threads: trains in a thread of low priority. For a source that waits, learn() trains itself, so that results depend
///          on the input alone.
class LearningClassifier final : public Classifier, public LabelLearner {
 public:
  static constexpr std::size_t kPackets = kPortValues + 4, kFirstSamples = 200, kMostSamples = 20'000, kJudged = 2'000;
  /// Fewest flows of a class that is learnt.
  static constexpr std::size_t kLeastFlows = 10;

  struct Options {
    std::vector<std::string> classes;  ///< all that labels can name
    std::string path;                  ///< file for the latest model
    std::string command;               ///< recorded in it as its origin
    bool can_wait = true;
  };
  explicit LearningClassifier(Options options);
  ~LearningClassifier() override;

  /// Begins with a model. Error: it is not one that a LearningClassifier made, or knows none of the classes.
  std::optional<Error> begin_with(ModelFile file);

  /// Returns why the file cannot be written.
  std::optional<Error> file_problem() const;

  std::size_t packets() const noexcept override { return kPackets; }
  bool begins_with_ports() const noexcept override { return true; }
  std::span<const std::string> classes() const noexcept override { return options_.classes; }
  std::size_t memory_bytes() const noexcept override;
  void classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept override;

  bool knows_ports() const noexcept override { return true; }
  std::shared_ptr<const PortLookup> ports() const noexcept override;

  void learn(std::span<const std::uint16_t> sizes, ClassId told, ClassId label) noexcept override;
  void learn_port(PortValues ports, ClassId label) noexcept override;
  LearningState state() const override;

 private:
  using Sizes = std::array<std::uint16_t, kPackets>;
  struct Sample {
    Sizes sizes;
    ClassId label;
  };
  struct Judged {
    ClassId label;
    bool agrees;
  };
  /// A model, and the numbers of its classes here, and classes of ports.
  struct Taught {
    std::unique_ptr<Model> model;
    std::vector<ClassId> numbers;
    PortTable ports;
  };
  /// Flows of a port by class; those of others than kClassesOfPort count as unknown.
  using PortCounts = std::map<ClassId, std::uint64_t>;
  static constexpr std::size_t kMostPorts = 16'384, kClassesOfPort = 8;

  void fade_ports();
  void judge(ClassId told, ClassId label);
  void keep(const Sample& sample);
  void train();
  PortClasses port_classes() const;
  void write(const Model& model, const std::vector<std::uint64_t>& flows, const PortClasses& ports);
  void run();
  std::shared_ptr<const Taught> taught() const noexcept;
  void teach(std::shared_ptr<const Taught> taught) noexcept;
  ClassId number_of(const std::string& name, ClassId otherwise) const noexcept;
  std::shared_ptr<const Taught> taught_by(std::unique_ptr<Model> model, const PortClasses& ports) const;

  const Options options_;
  // Not an atomic shared_ptr: libstdc++ 12 reads one after it gave up its lock, if the CPU reorders loads.
  mutable std::mutex taught_mutex_;  ///< for taught_
  std::shared_ptr<const Taught> taught_;

  mutable std::mutex mutex_;  ///< for what follows
  std::vector<Sample> samples_;
  std::map<PortKey, PortCounts> ports_;
  std::deque<Judged> judged_;
  SplitMix64 random_{1};
  std::uint64_t learnt_ = 0, models_ = 0, next_training_ = kFirstSamples, learnt_ports_ = 0;
  std::string problem_;
  bool is_due_ = false, ends_ = false;
  std::condition_variable due_;
  std::thread thread_;  ///< if it trains by itself
};

}  // namespace parshall
