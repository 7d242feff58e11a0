// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parshall {

/// Describes the machine that a measurement ran on as (name, value) pairs, in the order to print them. Properties that
/// the machine does not report are left out.
std::vector<std::pair<std::string, std::string>> describe_machine();

/// Total time of all processors since boot, in kernel clock ticks; all 0 where it is not available.
struct ProcessorTime {
  double all = 0, idle = 0;
  double stolen = 0;  ///< time that the host gave to other guests
};
ProcessorTime processor_time();

/// Properties that measured times depend on. If any of them changes, the times must be measured again.
struct MachineIdentity {
  std::string cpu;
  std::uint64_t cores = 0;
  std::uint64_t l3_bytes = 0;  ///< 0: not known
  std::uint64_t page_bytes = 0;
  std::string huge_pages;  ///< the kernel's mode of transparent huge pages
  std::string program;     ///< its version
  std::string x86_level;   ///< instruction set level that the program was built for
  std::string table;       ///< flow table of the measurement

  friend bool operator==(const MachineIdentity&, const MachineIdentity&) = default;
};

/// Identifies this machine. `program` is a version; `table` is the flow table's name.
MachineIdentity identify_machine(std::string_view program, std::string_view table);

/// Returns the L3 cache in bytes that core 0 shares with its neighbours; 0 if unknown. On a processor with several L3
/// caches this is one of them, whereas the C library reports their sum.
std::size_t last_level_cache_bytes();

/// Returns the memory in bytes that is free or that the page cache would release.
std::size_t available_bytes();

}  // namespace parshall
