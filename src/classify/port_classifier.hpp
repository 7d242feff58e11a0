// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "classify/model.hpp"
#include "classify/port_classes.hpp"

namespace parshall {

/// Classes by ports, as numbers, for look-ups.
class PortTable final : public PortLookup {
 public:
  PortTable() = default;
  /// Takes those whose share is at least `least_share`. `number_of(name)` returns a class's number; kNotClassified
  /// leaves the port out.
  template <class NumberOf>
  PortTable(const PortClasses& classes, double least_share, NumberOf number_of) {
    for (const PortClass& each : classes.ports)
      if (each.share >= std::max(least_share, PortClasses::kLeastShare))
        if (const ClassId id = number_of(each.class_name); id != kNotClassified) ports_.emplace_back(each.key, id);
  }

  std::size_t memory_bytes() const noexcept { return ports_.capacity() * sizeof(ports_[0]); }
  ClassId find(std::uint8_t protocol, std::uint16_t lower_port) const noexcept override {
    const PortKey key{protocol, lower_port};
    const auto at = std::ranges::lower_bound(ports_, key, {}, &std::pair<PortKey, ClassId>::first);
    return at != ports_.end() && at->first == key ? at->second : kNotClassified;
  }

 private:
  std::vector<std::pair<PortKey, ClassId>> ports_;  // in the order of their keys
};

/// Classifies flows by a model, and those with too few packets for it by their ports.
class PortClassifier final : public Classifier {
 public:
  /// Ports whose class is less probable than the model's reject() have none.
  PortClassifier(std::unique_ptr<Model> model, const PortClasses& ports)
      : model_(std::move(model)), classes_(model_->classes().begin(), model_->classes().end()) {
    for (const PortClass& each : ports.ports)
      if (std::ranges::find(classes_, each.class_name) == classes_.end()) classes_.push_back(each.class_name);
    table_ = PortTable(ports, model_->reject(), [&](const std::string& name) {
      return static_cast<ClassId>(std::ranges::find(classes_, name) - classes_.begin());
    });
  }

  std::size_t packets() const noexcept override { return model_->packets(); }
  bool begins_with_ports() const noexcept override { return model_->begins_with_ports(); }
  std::span<const std::string> classes() const noexcept override { return classes_; }
  std::size_t memory_bytes() const noexcept override { return model_->memory_bytes() + table_.memory_bytes(); }
  void classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept override {
    model_->classify(sizes, ids);
  }
  std::size_t classes_by_sizes() const noexcept override { return model_->classes().size(); }
  bool knows_ports() const noexcept override { return true; }
  std::shared_ptr<const PortLookup> ports() const noexcept override { return {std::shared_ptr<void>(), &table_}; }

 private:
  std::unique_ptr<Model> model_;
  std::vector<std::string> classes_;  ///< the model's, then those that only ports have
  PortTable table_;
};

}  // namespace parshall
