// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/counters.hpp"

namespace parshall {

/// Account of what became of every packet:
///
/// - offered = nic_missed + nic_error + no_mbuf + ring_full + filtered + later_msdus + not_ip + malformed + counted
/// - counted = packets in live flows + in ended records + kept out by the flood filter
struct Accounting : Counters {
  Accounting() = default;
  explicit Accounting(const Counters& counters) noexcept : Counters(counters) {}

  std::uint64_t counted() const noexcept { return (*this)[Counter::counted]; }
  std::uint64_t not_ip() const noexcept { return (*this)[Counter::not_ip]; }
  std::uint64_t malformed() const noexcept { return sum_of(*this, CounterPart::malformed); }
  /// Returns the sum of all fates of polled packets.
  std::uint64_t outcomes() const noexcept { return sum_of(*this, CounterPart::outcome) + malformed(); }
  std::uint64_t device_lost() const noexcept { return sum_of(*this, CounterPart::device_lost); }
  std::uint64_t lost() const noexcept { return device_lost() + (*this)[Counter::ring_full]; }
  std::uint64_t offered() const noexcept { return device_lost() + (*this)[Counter::polled]; }

  bool balanced() const noexcept {
    return (*this)[Counter::polled] == outcomes() && counted() == (*this)[Counter::arrived] &&
           counted() == sum_of(*this, CounterPart::share);
  }
};

}  // namespace parshall
