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

/// A number known for each flow of a window. Tasks compute quantiles of it, and expressions use it by name.
struct FlowField {
  enum class Kind : std::uint8_t { number, count };

  std::string_view name;  ///< name with its unit
  std::string_view help;
  std::optional<double> (*of)(const FlowWindow& flow, const std::byte* measured);  ///< nullopt if it does not exist
  std::shared_ptr<const FlowMeasure> (*measure)() = nullptr;  ///< makes `measured`; null: the counts suffice
  Kind kind = Kind::number;
};

/// A field with the place of its measure.
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

/// Returns all fields, one line each.
std::span<const FlowField> flow_fields() noexcept;

/// Returns the field of that name, or null.
const FlowField* find_field(std::string_view name) noexcept;

}  // namespace parshall
