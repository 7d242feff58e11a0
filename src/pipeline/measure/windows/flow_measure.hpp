// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pipeline/measure/finding.hpp"

namespace parshall {

/// Numbers of a flow and window that tasks want beyond its counts: kept in the flow's row of that window.
/// Called once per batch, never per packet.
class FlowMeasure {
 public:
  virtual ~FlowMeasure() = default;

  virtual std::string name() const = 0;                ///< with its parameters: measures of one name are the same
  virtual std::size_t row_bytes() const noexcept = 0;  ///< a multiple of 8; all zero when the window begins
  virtual FindingNeeds needs() const noexcept = 0;

  /// Packets in order of arrival; rows[i] is the measure's own part of the row of packet i's flow.
  virtual void update(std::span<std::byte* const> rows, std::span<const PacketFinding* const> packets) const noexcept = 0;
};

/// What a measure of type T made of a flow, from where it stands.
template <class T>
T measured_as(const std::byte* measured) noexcept {
  T value;
  std::memcpy(&value, measured, sizeof value);
  return value;
}

/// The measures of one window's rows, each at its offset.
class MeasureSet {
 public:
  struct Placed {
    std::shared_ptr<const FlowMeasure> measure;
    std::size_t offset;
  };

  /// Where the measure stands: its own place, or that of the same one added before.
  std::size_t add(std::shared_ptr<const FlowMeasure> measure);

  std::span<const Placed> measures() const noexcept { return measures_; }
  std::size_t bytes() const noexcept { return bytes_; }
  FindingNeeds needs() const noexcept;

 private:
  std::vector<Placed> measures_;
  std::size_t bytes_ = 0;
};

}  // namespace parshall
