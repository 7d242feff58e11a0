// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace parshall::dpdk {

/// Splits at blanks; 'single' and "double" quotes and backslashes work as in a shell, nothing is expanded.
Result<std::vector<std::string>> split_words(std::string_view line);

/// What the environment must offer when it is set up first; later calls get what there is.
struct EalNeeds {
  std::uint64_t memory_bytes = 0;
  std::string pci_address;  ///< empty: no PCI device is touched
  std::vector<std::string> extra;
};

/// How the one EAL of this process was set up.
struct EalState {
  bool huge_pages = false;
  bool pci = false;
  std::uint64_t memory_bytes = 0;  ///< without huge pages: all there will ever be
};

/// Sets EAL up, or tells how it was. Leaves the calling thread's CPU affinity as it found it.
Result<EalState> start_eal(const EalNeeds& needs);

/// Catches what is written to standard output and error, by whatever library, until it goes.
class CaughtOutput {
 public:
  explicit CaughtOutput(bool active);
  ~CaughtOutput();
  CaughtOutput(const CaughtOutput&) = delete;
  CaughtOutput& operator=(const CaughtOutput&) = delete;

  /// The last few lines, for an Error: ": line; line", or nothing.
  std::string tail() const;

 private:
  int file_ = -1;
  int saved_[2] = {-1, -1};
};

/// Makes the calling thread known to DPDK until it ends, so that its buffer pools work with a per-thread cache.
void register_this_thread() noexcept;

}  // namespace parshall::dpdk
