// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

/// Frames of 60 bytes that were accepted and refused by a port's transmit queue 0.
struct Sent {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
};

/// Sends `count` UDP frames of 500 flows. `patient`: offers a refused frame again (and does not count it), for 5 s.
Sent send_frames(std::uint16_t port_id, std::uint64_t count, bool patient);
