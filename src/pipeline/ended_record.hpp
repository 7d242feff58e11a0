// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "pipeline/flow/record.hpp"

namespace parshall {

/// A record on its way from a worker to the report; the flow's statistics row follows it in memory.
struct RecordHeader {
  std::uint64_t snapshot = 0;    ///< the first snapshot that may report this record
  std::uint64_t generation = 0;  ///< of the statistics that laid out the row
  FlowRecord record;
};
static_assert(std::is_trivially_copyable_v<RecordHeader>);

/// The parts of a record that was copied as bytes.
struct RecordView {
  RecordHeader header;
  std::span<const std::byte> row;

  explicit RecordView(std::span<const std::byte> bytes) noexcept : row(bytes.subspan(sizeof(RecordHeader))) {
    std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof header);
  }
};

}  // namespace parshall
