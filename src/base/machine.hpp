// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parshall {

/// What a measurement depends on beside the program: (name, value) pairs, in the order to print them. What this
/// machine does not tell is not there.
std::vector<std::pair<std::string, std::string>> describe_machine();

/// What the processors did since start-up, all together, in ticks of the kernel's clock; all 0 where it is not told.
struct ProcessorTime {
  double all = 0, idle = 0;
  double stolen = 0;  ///< the host gave it to other guests
};
ProcessorTime processor_time();

/// What measured times depend on: where any of it is another, they have to be taken anew.
struct MachineIdentity {
  std::string cpu;
  std::uint64_t cores = 0;
  std::uint64_t l3_bytes = 0;  ///< 0: not known
  std::uint64_t page_bytes = 0;
  std::string huge_pages;  ///< the kernel's mode of transparent ones
  std::string program;     ///< version
  std::string x86_level;   ///< that the program was built for
  std::string table;       ///< that flows were found in

  friend bool operator==(const MachineIdentity&, const MachineIdentity&) = default;
};

/// Of this machine. `program`: version; `table`: the flow table's name.
MachineIdentity identify_machine(std::string_view program, std::string_view table);

/// L3 that core 0 shares with its neighbours; 0 where it is not told. A processor of several has as much for each, and
/// the C library adds them up.
std::size_t last_level_cache_bytes();

/// Memory that is free, or that the page cache would give up.
std::size_t available_bytes();

}  // namespace parshall
