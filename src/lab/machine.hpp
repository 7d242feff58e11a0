// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/profile.hpp"

namespace parshall::lab {

/// What a measurement depends on beside the program: (name, value) pairs, in the order to print them. What this
/// machine does not tell is not there.
std::vector<std::pair<std::string, std::string>> describe_machine();

/// What the processors did since start-up, all together, in ticks of the kernel's clock; all 0 where it is not told.
struct ProcessorTime {
  double all = 0, idle = 0;
  double stolen = 0;  ///< the host gave it to other guests
};
ProcessorTime processor_time();

/// What this machine's profile depends on. `program`: version; `table`: the flow table's name.
MachineIdentity identify_machine(std::string_view program, std::string_view table);

/// Memory that is free, or that the page cache would give up.
std::size_t available_bytes();

}  // namespace parshall::lab
