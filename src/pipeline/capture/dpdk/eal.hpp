// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace parshall::dpdk {

/// Splits at blanks. Single quotes, double quotes and backslashes work as in a shell; nothing is expanded.
Result<std::vector<std::string>> split_words(std::string_view line);

/// Requirements for the first set-up of EAL. Later calls get the EAL that exists.
struct EalNeeds {
  std::uint64_t memory_bytes = 0;
  std::string pci_address;  ///< empty: no PCI device is touched
  std::vector<std::string> extra;
};

/// Describes how the process's only EAL was set up.
struct EalState {
  bool huge_pages = false;
  bool pci = false;
  std::uint64_t memory_bytes = 0;  ///< without huge pages, all memory there will ever be
};

/// Sets EAL up, or returns how it was set up before. Leaves the calling thread's CPU affinity as it found it.
Result<EalState> start_eal(const EalNeeds& needs);

/// Captures, while it lives, what any library writes to standard output and error.
class CaughtOutput {
 public:
  explicit CaughtOutput(bool active);
  ~CaughtOutput();
  CaughtOutput(const CaughtOutput&) = delete;
  CaughtOutput& operator=(const CaughtOutput&) = delete;

  /// Returns the last few lines, for an Error, as ": line; line", or an empty string.
  std::string tail() const;

 private:
  int file_ = -1;
  int saved_[2] = {-1, -1};
};

/// Registers the calling thread with DPDK until it ends, so that it gets a cache for buffer pools.
void register_this_thread() noexcept;

}  // namespace parshall::dpdk
