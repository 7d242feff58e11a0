// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "pipeline/flow/record.hpp"

namespace parshall {

/// Header of a record on its way from a worker to the report. The flow's statistics row follows it in memory.
struct RecordHeader {
  std::uint64_t snapshot = 0;    ///< first snapshot that may report this record
  std::uint64_t generation = 0;  ///< generation of the statistics that laid out the row
  FlowRecord record;
};
static_assert(std::is_trivially_copyable_v<RecordHeader>);

/// Writes the header of a record that was just made. It copies word by word: a wide load of data that was stored in
/// parts would wait until these stores have reached the cache.
[[gnu::always_inline]] inline void write_header(std::byte* to, std::uint64_t snapshot, std::uint64_t generation,
                                                const FlowRecord& record) noexcept {
  constexpr std::size_t kWords = offsetof(FlowRecord, tcp_flags) / 8;
  static_assert(offsetof(RecordHeader, record) == 16 && offsetof(FlowRecord, tcp_flags) % 8 == 0);
  std::memcpy(to + offsetof(RecordHeader, snapshot), &snapshot, 8);
  std::memcpy(to + offsetof(RecordHeader, generation), &generation, 8);
  std::byte* const copy = to + offsetof(RecordHeader, record);
  const auto* const from = reinterpret_cast<const std::byte*>(&record);
  for (std::size_t i = 0; i < kWords; ++i) {
    std::uint64_t word;
    std::memcpy(&word, from + 8 * i, 8);
    asm volatile("" : "+r"(word));  // NOLINT(hicpp-no-assembler): otherwise the compiler merges the words again
    std::memcpy(copy + 8 * i, &word, 8);
  }
  const std::uint64_t rest = record.tcp_flags | std::uint64_t{record.reverse_tcp_flags} << 16 |
                             std::uint64_t{static_cast<std::uint8_t>(record.end_reason)} << 32 |
                             std::uint64_t{record.knows_initiator} << 40;
  static_assert(offsetof(FlowRecord, reverse_tcp_flags) == offsetof(FlowRecord, tcp_flags) + 2 &&
                offsetof(FlowRecord, end_reason) == offsetof(FlowRecord, tcp_flags) + 4 &&
                offsetof(FlowRecord, knows_initiator) == offsetof(FlowRecord, tcp_flags) + 5 &&
                sizeof(FlowRecord) == 8 * kWords + 8);
  std::memcpy(copy + 8 * kWords, &rest, 8);
}

/// Parts of a record that was copied as bytes.
struct RecordView {
  RecordHeader header;
  std::span<const std::byte> row;

  explicit RecordView(std::span<const std::byte> bytes) noexcept : row(bytes.subspan(sizeof(RecordHeader))) {
    std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof header);
  }
};

}  // namespace parshall
