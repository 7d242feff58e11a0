// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/random.hpp"

namespace parshall::lab {

/// Task of a structure under test.
/// Source: Alipourfard et al., "A comparison of performance and accuracy of measurement algorithms in software", SOSR
///         2018, section 4.
enum class Task : std::uint8_t { count, heavy_hitter, superspreader, change };
inline constexpr std::string_view kTaskNames[] = {"count", "heavy-hitter", "superspreader", "change"};

/// Results of a task over all flows.
struct TaskTally {
  std::uint64_t threshold = ~std::uint64_t{0};  ///< packets that make a heavy hitter
  std::uint64_t alarms = 0;
};

/// Value kept for a flow, all zero before its first packet. `packet()` adds a packet. `element()` is the part of the
/// `sequence`-th packet that the task uses, known before the flow is looked up.
template <class V>
concept TaskValue = std::is_trivially_copyable_v<V> &&
    requires(V value, const V& view, std::uint32_t flow, std::uint64_t number, TaskTally& tally) {
  { V::element(flow, number) }
  noexcept->std::same_as<std::uint64_t>;
  { value.packet(number, tally) }
  noexcept->std::same_as<void>;
  { view.reported() }
  noexcept->std::same_as<bool>;
  { view.packets } -> std::convertible_to<std::uint64_t>;
};

/// A packet count, padded to `Bytes`.
template <std::size_t Bytes>
struct CountValue {
  std::uint64_t packets = 0;
  std::array<std::byte, Bytes - 8> rest{};

  static std::uint64_t element(std::uint32_t, std::uint64_t) noexcept { return 0; }
  void packet(std::uint64_t, TaskTally&) noexcept { ++packets; }
  bool reported() const noexcept { return false; }
};
template <>
struct CountValue<8> {
  std::uint64_t packets = 0;

  static std::uint64_t element(std::uint32_t, std::uint64_t) noexcept { return 0; }
  void packet(std::uint64_t, TaskTally&) noexcept { ++packets; }
  bool reported() const noexcept { return false; }
};
template <>
struct CountValue<4> {
  std::uint32_t packets = 0;

  static std::uint64_t element(std::uint32_t, std::uint64_t) noexcept { return 0; }
  void packet(std::uint64_t, TaskTally&) noexcept { ++packets; }
  bool reported() const noexcept { return false; }
};

/// Raises an alarm when the flow reaches the number of packets of a heavy hitter.
struct HeavyHitterValue : CountValue<8> {
  void packet(std::uint64_t, TaskTally& tally) noexcept { tally.alarms += ++packets == tally.threshold; }
};

/// Returns true if a structure that keeps only counts can do the task; kCountsAreEnough is the same for a value.
constexpr bool counts_are_enough(Task task) noexcept { return task == Task::count || task == Task::heavy_hitter; }
template <TaskValue V>
inline constexpr bool kCountsAreEnough = false;
template <std::size_t Bytes>
inline constexpr bool kCountsAreEnough<CountValue<Bytes>> = true;
template <>
inline constexpr bool kCountsAreEnough<HeavyHitterValue> = true;

/// Value type for structures that keep counts elsewhere: determines if the task inspects counts as they grow.
template <TaskValue V>
using CountingValue = std::conditional_t<std::same_as<V, HeavyHitterValue>, HeavyHitterValue, CountValue<16>>;

/// Counts distinct destinations of a source with a Bloom filter.
///
/// Shape:  1024 bits, three hashes.
/// Error:  a destination is mistaken for a known one if its three bits are set: 3 % at 128 destinations.
/// Source: Alipourfard et al., "A comparison of performance and accuracy of measurement algorithms in software", SOSR
///         2018, section 4.1.
struct SuperspreaderValue {
  std::array<std::uint64_t, 16> filter{};
  std::uint32_t packets = 0, destinations = 0;

  static constexpr std::uint32_t kThreshold = 128;

  /// Returns the packet's destination: a source has 1, 2, 4, ... or 512 of them, at random.
  static std::uint64_t element(std::uint32_t flow, std::uint64_t sequence) noexcept {
    const std::uint64_t fan_out = std::uint64_t{1} << SplitMix64::mix(flow) % 10;
    return SplitMix64::mix(sequence) & (fan_out - 1);
  }
  void packet(std::uint64_t destination, TaskTally& tally) noexcept {
    ++packets;
    std::uint64_t bits = SplitMix64::mix(destination + 1), fresh = 0;
    for (int i = 0; i < 3; ++i, bits >>= 10) {
      std::uint64_t& word = filter[bits >> 6 & 15];
      const std::uint64_t bit = std::uint64_t{1} << (bits & 63);
      fresh |= bit & ~word;
      word |= bit;
    }
    if (fresh != 0) tally.alarms += ++destinations == kThreshold + 1;
  }
  bool reported() const noexcept { return destinations > kThreshold; }
};

/// Detects flows whose bytes in a window are far from the forecast by earlier windows.
///
/// Source: exponentially weighted moving averages of the bytes and of their deviation, like the TCP round-trip
///         estimator (RFC 6298, section 2); a change is four deviations and kLeast bytes away.
struct ChangeValue {
  std::uint64_t packets = 0;
  std::uint32_t window = 0, in_window = 0, windows = 0, changes = 0;
  float mean = 0, deviation = 0;

  static constexpr std::uint64_t kWindowPackets = 1 << 16;  ///< packets of all flows together
  static constexpr float kLeast = 1500;

  /// Returns the packet's window, and its length: 64 bytes, except that each flow has 1500 in one window of 32.
  static std::uint64_t element(std::uint32_t flow, std::uint64_t sequence) noexcept {
    const std::uint64_t now = sequence / kWindowPackets;
    return now << kLengthBits | ((SplitMix64::mix(flow) + now) % 32 == 0 ? 1500 : 64);
  }
  void packet(std::uint64_t element, TaskTally& tally) noexcept {
    const auto now = static_cast<std::uint32_t>(element >> kLengthBits);
    ++packets;
    if (now != window) tally.alarms += end_window(now);
    in_window += static_cast<std::uint32_t>(element & ((1u << kLengthBits) - 1));
  }
  bool reported() const noexcept { return changes != 0; }

 private:
  static constexpr unsigned kLengthBits = 11;

  bool end_window(std::uint32_t now) noexcept {
    const auto bytes = static_cast<float>(in_window);
    const float error = std::abs(bytes - mean);
    const bool changed = windows > 2 && error > 4 * deviation + kLeast;
    mean = windows == 0 ? bytes : mean + (bytes - mean) / 8;
    deviation = windows == 0 ? bytes / 2 : deviation + (error - deviation) / 4;
    in_window = 0;
    window = now;
    ++windows;
    changes += changed;
    return changed;
  }
};

/// Returns which of `flows` flows the task should report after these packets, as 1 or 0, exactly. Returns nothing for
/// tasks that only need counts.
std::vector<std::uint8_t> true_reports(Task task, std::span<const std::uint32_t> trace, std::size_t flows);

}  // namespace parshall::lab
