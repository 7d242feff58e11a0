// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace parshall {

/// How far the search for idle flows is: once through the table in each idle timeout, or the linger timeout of closed
/// flows where that is shorter. What a slice cannot take is left
/// to the next ones, which come without packets too; where packet time goes on faster than they come, no more than one
/// round is.
class IdleSweep {
 public:
  /// 0 ns: no flow ends for want of packets. A slice is of a few microseconds at most; of a source that waits as many
  /// lines as packets, so that a slow link's capture is read as fast as another's.
  IdleSweep(std::uint64_t idle_ns, bool can_wait) noexcept : idle_ns_(idle_ns), most_(can_wait ? 256 : 1024) {}

  /// How many of the table's lines to look through now; 0: not yet enough to be worth it.
  std::uint32_t lines_due(std::uint64_t now_ns, std::size_t table_lines) noexcept;

  /// Returns true where more were due than that slice could take.
  bool is_behind() const noexcept { return is_behind_; }

 private:
  std::uint64_t idle_ns_;
  std::uint32_t most_;
  bool is_behind_ = false;
  std::uint64_t swept_ns_ = 0;  ///< of packet time
};

}  // namespace parshall
