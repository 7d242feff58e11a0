// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/named.hpp"

namespace parshall {

/// Names the fields of a packet that make up its flow's key.
enum class KeyFields : std::uint8_t { five_tuple, src_dst, src, dst };
inline constexpr Named<KeyFields> kKeyNames[] = {{"5tuple", KeyFields::five_tuple},
                                                 {"src-dst", KeyFields::src_dst},
                                                 {"src", KeyFields::src},
                                                 {"dst", KeyFields::dst}};

/// Says by what two flows are distinguished.
enum class Identity : std::uint8_t {
  exact,        ///< the whole key is compared
  fingerprint,  ///< a tag and the bucket's bits of a keyed 64-bit hash of the key
  nic_hash,     ///< only the device's 32-bit RSS hash is compared, as in FloWatcher-DPDK
};

/// Says which IP header of a tunnelled packet counts.
enum class IpHeader : std::uint8_t { outermost, innermost };

/// Says how percentiles are estimated.
enum class QuantileMethod : std::uint8_t { p2, histogram };

/// Linux scheduling class of a worker.
enum class Scheduler : std::uint8_t { other, fifo, deadline };

}  // namespace parshall
