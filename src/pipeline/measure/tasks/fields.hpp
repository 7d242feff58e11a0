// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "pipeline/measure/tasks/event.hpp"
#include "pipeline/measure/windows/flow_measure.hpp"
#include "pipeline/measure/windows/window.hpp"

namespace parshall {

/// A number that is known of each flow of a window: tasks take quantiles of it, and expressions name it.
struct FlowField {
  enum class Kind : std::uint8_t { number, count };

  std::string_view name;  ///< with its unit
  std::string_view help;
  std::optional<double> (*of)(const FlowWindow& flow, const std::byte* measured);  ///< nothing where it does not exist
  std::shared_ptr<const FlowMeasure> (*measure)() = nullptr;  ///< what makes `measured`; null: the counts are enough
  Kind kind = Kind::number;
};

/// A field whose measure is kept.
class BoundField {
 public:
  BoundField(const FlowField& field, std::size_t offset) : field_(&field), offset_(offset) {}

  std::string_view name() const noexcept { return field_->name; }
  std::optional<double> of(const FlowWindow& flow) const { return field_->of(flow, flow.measured + offset_); }

  EventValue value(double number) const {
    if (field_->kind == FlowField::Kind::count) return {std::string(name()), static_cast<std::uint64_t>(number)};
    return {std::string(name()), number};
  }

 private:
  const FlowField* field_;
  std::size_t offset_;
};

/// Every one there is: one line each.
std::span<const FlowField> flow_fields() noexcept;

/// Null where there is none of that name.
const FlowField* find_field(std::string_view name) noexcept;

}  // namespace parshall
