// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace parshall {

/// The fields of a packet that make its flow.
enum class KeyFields : std::uint8_t { five_tuple, src_dst, src, dst };

/// What tells two flows apart.
enum class Identity : std::uint8_t {
  exact,        ///< the whole key is compared
  fingerprint,  ///< a tag and the bucket's bits of a keyed 64-bit hash of the key
  nic_hash,     ///< the 32-bit RSS hash of the device alone, as FloWatcher-DPDK does
};

/// Which header of a tunnelled packet counts.
enum class IpHeader : std::uint8_t { outermost, innermost };

/// How percentiles are kept.
enum class QuantileMethod : std::uint8_t { p2, histogram };

/// Scheduling class of a worker.
enum class Scheduler : std::uint8_t { other, fifo, deadline };

/// Who gives way where time is short: tasks, one by one; or, as MONA has it, flows from state to state.
enum class ControlPolicy : std::uint8_t { tasks, mona };

/// What comes first where there is not time for all: that packets are counted, or that tasks find enough.
enum class Preference : std::uint8_t { packets, tasks };

}  // namespace parshall
