// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace parshall {

/// Paces the search for idle flows: once through the table per idle timeout, or per linger timeout of closed flows if
/// that is shorter. What one slice cannot handle is left to the next ones, which come without packets too. If packet
/// time advances faster than the slices, at most one round is due.
class IdleSweep {
 public:
  /// 0 ns: flows never end for lack of packets. A slice takes a few microseconds at most. For a source that waits, it
  /// visits at most as many lines as a batch has packets, so that a slow link's capture is read as fast as another's.
  IdleSweep(std::uint64_t idle_ns, bool can_wait) noexcept : idle_ns_(idle_ns), most_(can_wait ? 256 : 1024) {}

  /// Returns how many table lines to visit now; 0 if too few are due.
  std::uint32_t lines_due(std::uint64_t now_ns, std::size_t table_lines) noexcept;

  /// Returns true if more lines were due than that slice could visit.
  bool is_behind() const noexcept { return is_behind_; }

 private:
  std::uint64_t idle_ns_;
  std::uint32_t most_;
  bool is_behind_ = false;
  std::uint64_t swept_ns_ = 0;  ///< in packet time
};

}  // namespace parshall
