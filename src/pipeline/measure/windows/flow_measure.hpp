// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pipeline/measure/finding.hpp"
#include "pipeline/measure/windows/row_pool.hpp"

namespace parshall {

/// Packets that change a measure: it is not told of others. A packet without TCP has none of the last three.
enum class MeasuredPackets : std::uint8_t {
  all,
  with_round_trip,  ///< a round-trip time, ambiguous or not
  with_mark,
  with_handshake,  ///< ends a handshake
};

/// Packets in order of arrival, each with the part of its flow's row that belongs to a measure.
class MeasureBatch {
 public:
  /// Makes a batch of those of `packets`, and of the rows of their flows, that are at `chosen`. `offset` is that of the
  /// measure's part behind a row.
  MeasureBatch(const PacketFinding* packets, WindowRow* const* rows, std::span<const std::uint8_t> chosen,
               std::size_t offset) noexcept
      : packets_(packets), rows_(rows), chosen_(chosen), offset_(offset) {}

  std::size_t size() const noexcept { return chosen_.size(); }
  const PacketFinding& packet(std::size_t i) const noexcept { return packets_[chosen_[i]]; }
  template <class T>
  T& part(std::size_t i) const noexcept {
    return *reinterpret_cast<T*>(rows_[chosen_[i]]->measured() + offset_);
  }

 private:
  const PacketFinding* packets_;
  WindowRow* const* rows_;
  std::span<const std::uint8_t> chosen_;
  std::size_t offset_;
};

/// Numbers of a flow and window that tasks need beyond its counts. They are in the flow's row of that window. Called
/// once per batch, never per packet.
class FlowMeasure {
 public:
  virtual ~FlowMeasure() = default;

  virtual std::string name() const = 0;  ///< name with its parameters; measures of the same name are identical
  virtual std::size_t row_bytes() const noexcept = 0;  ///< a multiple of 8; all zero when the window begins
  virtual FindingNeeds needs() const noexcept = 0;
  virtual MeasuredPackets packets() const noexcept { return MeasuredPackets::all; }

  /// Returns whether few packets touch its part, which is then placed behind those that every packet touches.
  virtual bool is_rare() const noexcept { return false; }

  virtual void update(const MeasureBatch& batch) const noexcept = 0;
};

/// Reads a measure of type T from a flow's row.
template <class T>
T measured_as(const std::byte* measured) noexcept {
  T value;
  std::memcpy(&value, measured, sizeof value);
  return value;
}

/// Measures of a window's rows, each at its offset. Those that every packet touches are in the first cache line, as
/// long as they fit; the others follow.
class MeasureSet {
 public:
  struct Placed {
    std::shared_ptr<const FlowMeasure> measure;
    std::size_t offset;
    MeasuredPackets packets;
  };

  /// Returns the measure's offset; the same measure is added only once.
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
