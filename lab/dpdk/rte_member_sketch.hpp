// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

struct rte_member_setsum;

namespace parshall::lab {

/// Size of DPDK's sketch.
struct RteMemberSize {
  std::size_t columns;      ///< columns of each of its five rows
  std::size_t listed;       ///< largest keys kept in its heap
  double sample_share = 1;  ///< share of the rows' updates that are made
};

/// DPDK's rte_member in sketch mode: a Count-Min sketch of five rows of 64-bit counters, and a heap of the largest
/// keys. It samples like NitroSketch: few updates, each with a larger weight, and the median of the rows.
///
/// Error:  the rows' hashes are one CRC with five seeds, so the hashes of one key always differ by the same bits. With
///         a power of two of columns, keys that collide in one row collide in all. So an odd number of columns is used
///         here.
/// Source: DPDK 22.11, lib/member/rte_member_sketch.c; Liu et al., "NitroSketch: robust and general sketch-based
///         monitoring in software switches", SIGCOMM 2019.
class RteMemberSketch {
 public:
  static bool available() noexcept;  ///< false in a build without DPDK

  /// Starts DPDK unless it is running. Throws std::bad_alloc.
  RteMemberSketch(RteMemberSize size, std::size_t key_bytes, std::uint64_t seed);
  ~RteMemberSketch();
  RteMemberSketch(const RteMemberSketch&) = delete;
  RteMemberSketch& operator=(const RteMemberSketch&) = delete;

  /// Adds a packet for each key. DPDK has no call for several keys.
  void add(std::span<const void* const> keys) noexcept;
  std::uint64_t estimate(const void* key) const noexcept;

  static std::size_t memory_bytes(RteMemberSize size, std::size_t key_bytes) noexcept;

 private:
  rte_member_setsum* sketch_ = nullptr;
};

}  // namespace parshall::lab
