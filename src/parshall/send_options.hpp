// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "parshall/number_range.hpp"

namespace parshall {

/// Holds the options of `parshall send` as typed.
struct SendOptions {
  std::string interface, file, capture, traffic;
  bool nowhere = false;
  bool kept = false;  ///< keep frames in memory, for programs; sends without waiting, as to a file
  std::string via = "af_packet", eal;

  std::string rate, ramp, line_rate;
  std::uint32_t burst = 1;
  std::string count = "0", duration = "0", wait = "10s";

  std::uint64_t loops = 1;
  bool fresh_flows = false, fix_checksums = false;
  std::uint32_t cap = 0, pad = 0;
  std::string source_mac, destination_mac;

  bool per_flow = false, prompt = false, quiet = false;
  std::string format = "text", output = "-";
  std::int64_t top = -1;
  std::int64_t core = -1;
  std::vector<std::string> words;  ///< words of the whole command

  static constexpr NumberRange<std::uint32_t> kBurst{1, 1u << 20}, kFrameBytes{64, 65535};
};

}  // namespace parshall
