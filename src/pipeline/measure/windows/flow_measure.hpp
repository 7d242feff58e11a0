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

/// Packets in order of arrival, each with where the row of its flow keeps what a measure makes of it.
class MeasureBatch {
 public:
  /// `offset`: of the measure's part within that of all measures, to which rows[i] points.
  MeasureBatch(std::span<std::byte* const> rows, std::size_t offset, const PacketFinding* const* packets) noexcept
      : rows_(rows), offset_(offset), packets_(packets) {}

  std::size_t size() const noexcept { return rows_.size(); }
  const PacketFinding& packet(std::size_t i) const noexcept { return *packets_[i]; }
  template <class T>
  T& part(std::size_t i) const noexcept {
    return *reinterpret_cast<T*>(rows_[i] + offset_);
  }

 private:
  std::span<std::byte* const> rows_;
  std::size_t offset_;
  const PacketFinding* const* packets_;
};

/// Numbers of a flow and window that tasks want beyond its counts: kept in the flow's row of that window.
/// Called once per batch, never per packet.
class FlowMeasure {
 public:
  virtual ~FlowMeasure() = default;

  virtual std::string name() const = 0;                ///< with its parameters: measures of one name are the same
  virtual std::size_t row_bytes() const noexcept = 0;  ///< a multiple of 8; all zero when the window begins
  virtual FindingNeeds needs() const noexcept = 0;

  /// Whether few packets touch its part: it then stands behind those that every packet touches.
  virtual bool is_rare() const noexcept { return false; }

  virtual void update(const MeasureBatch& batch) const noexcept = 0;
};

/// What a measure of type T made of a flow, from where it stands.
template <class T>
T measured_as(const std::byte* measured) noexcept {
  T value;
  std::memcpy(&value, measured, sizeof value);
  return value;
}

/// The measures of one window's rows, each at its offset: those that every packet touches in the first cache line,
/// while they fit, the others behind.
class MeasureSet {
 public:
  struct Placed {
    std::shared_ptr<const FlowMeasure> measure;
    std::size_t offset;
  };

  /// Where the measure stands: its own place, or that of the same one added before.
  std::size_t add(std::shared_ptr<const FlowMeasure> measure);

  std::span<const Placed> measures() const noexcept { return measures_; }
  std::size_t bytes() const noexcept { return behind_ == 0 ? first_line_ : kLine + behind_; }
  FindingNeeds needs() const noexcept;

 private:
  static constexpr std::size_t kLine = 64;

  std::vector<Placed> measures_;
  std::size_t first_line_ = 0, behind_ = 0;  ///< bytes in use
};

}  // namespace parshall
