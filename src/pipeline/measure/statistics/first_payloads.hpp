// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "pipeline/decode/decode.hpp"
#include "pipeline/measure/statistic.hpp"

namespace parshall {

/// First bytes of a flow's first packets with payload, by TCP or UDP. It has no columns itself; the schema's columns
/// use it.
///
/// Shape: a live flow has 8 bytes, and beside the rows kPlaceBytes for each payload asked for. A record's row has
/// these. Merge: those of the record that has any.
class FirstPayloads final : public Statistic {
 public:
  /// Numbers of packets at a flow's beginning that are read, and of payloads that can be asked for.
  static constexpr std::uint8_t kPackets = 32, kMost = 8;
  /// A payload's length in one byte, and its first bytes.
  static constexpr std::size_t kPlaceBytes = 1 + kMostText;

  /// Requires at most kMost.
  explicit FirstPayloads(std::size_t payloads) noexcept : payloads_(payloads) {}

  /// Returns whether any more packets of the flow have to be read.
  static bool is_open(const std::byte* state) noexcept { return state_of(state).is_open; }
  /// Reads the next packet of an open flow.
  void read(std::byte* state, std::byte* carries, const RawPacket& packet, IpHeader header) const noexcept;
  /// Returns the bytes of a payload in a record's row, from 0; empty if there is none. Requires that it was asked for.
  static std::string_view payload(const std::byte* row, std::size_t number) noexcept {
    const std::byte* const place = row + number * kPlaceBytes;
    return {reinterpret_cast<const char*>(place) + 1, std::to_integer<std::size_t>(*place)};
  }

  Variable variable() const noexcept override { return Variable::ip_size; }
  bool takes_samples() const noexcept override { return false; }
  std::size_t row_bytes() const noexcept override { return payloads_ * kPlaceBytes; }
  std::size_t state_bytes() const noexcept override { return sizeof(State); }
  std::size_t carry_bytes() const noexcept override { return row_bytes(); }
  bool has_carries(const std::byte* state) const noexcept override { return state_of(state).payloads != 0; }
  void write_row(const std::byte* state, const std::byte* carries, std::byte* row) const noexcept override;
  std::optional<std::uint32_t> first_packets() const noexcept override { return kPackets; }
  void begin(std::byte* row) const noexcept override;
  std::span<const Column> columns() const noexcept override { return {}; }
  void update(const SampleBatch&) const noexcept override {}
  void read(const std::byte*, std::span<std::optional<double>>) const noexcept override {}
  bool mergeable() const noexcept override { return true; }
  void merge(std::byte* into, const std::byte* from) const noexcept override;

 private:
  /// State of a live flow. All zero: no payload is looked for.
  struct State {
    bool is_open = false;
    std::uint8_t packets = 0, payloads = 0;
    std::uint8_t unused[5] = {};
  };
  static_assert(sizeof(State) == 8);

  static State state_of(const std::byte* at) noexcept {
    State state;
    std::memcpy(&state, at, sizeof state);
    return state;
  }

  std::size_t payloads_;
};

}  // namespace parshall
