// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace parshall {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;  ///< then neither resident memory nor time is the program's own
#else
inline constexpr bool kSanitized = false;
#endif

/// Of this process, now.
inline std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace parshall
