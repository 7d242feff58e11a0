// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

struct rte_member_setsum;

namespace parshall::lab {

/// How large DPDK's sketch is.
struct RteMemberSize {
  std::size_t columns;      ///< of each of its five rows
  std::size_t listed;       ///< largest keys that its heap keeps
  double sample_share = 1;  ///< of the rows' updates that are made
};

/// DPDK's rte_member in its sketch mode: a Count-Min sketch of five rows of 64-bit counters, and a heap of the largest
/// keys. It samples as NitroSketch does: few updates, each worth more, and the median of the rows.
///
/// Error: the rows' hashes are one CRC with five seeds, so that the hashes of one key always differ by the same bits:
///        in rows of a power of two, keys that meet in one meet in all. The columns are made odd here.
/// Source: DPDK 22.11, lib/member/rte_member_sketch.c; Liu et al., "NitroSketch: robust and general sketch-based
///         monitoring in software switches", SIGCOMM 2019.
class RteMemberSketch {
 public:
  static bool available() noexcept;  ///< false in a build without DPDK

  /// Starts DPDK where nobody has. Throws std::bad_alloc.
  RteMemberSketch(RteMemberSize size, std::size_t key_bytes, std::uint64_t seed);
  ~RteMemberSketch();
  RteMemberSketch(const RteMemberSketch&) = delete;
  RteMemberSketch& operator=(const RteMemberSketch&) = delete;

  /// A packet for each key. DPDK has no call for several.
  void add(std::span<const void* const> keys) noexcept;
  std::uint64_t estimate(const void* key) const noexcept;

  static std::size_t memory_bytes(RteMemberSize size, std::size_t key_bytes) noexcept;

 private:
  rte_member_setsum* sketch_ = nullptr;
};

}  // namespace parshall::lab
