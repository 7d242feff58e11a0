// SPDX-License-Identifier: Apache-2.0
#include "base/heap.hpp"

#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

namespace parshall {
namespace {

#ifdef __GLIBC__
struct Setting {
  int parameter, value;
  const char *variable, *tunable;
};

constexpr int kLargeBytes = 1 << 20, kHeaps = 4;
constexpr Setting kSettings[] = {
    {M_MMAP_THRESHOLD, kLargeBytes, "MALLOC_MMAP_THRESHOLD_", "glibc.malloc.mmap_threshold="},
    {M_TRIM_THRESHOLD, kLargeBytes, "MALLOC_TRIM_THRESHOLD_", "glibc.malloc.trim_threshold="},
    {M_ARENA_MAX, kHeaps, "MALLOC_ARENA_MAX", "glibc.malloc.arena_max="},
};

bool is_set(const Setting& setting) noexcept {
  const char* const tunables = std::getenv("GLIBC_TUNABLES");
  return std::getenv(setting.variable) != nullptr ||
         (tunables != nullptr && std::strstr(tunables, setting.tunable) != nullptr);
}
#endif

}  // namespace

/// Does nothing with other C libraries, which return memory by themselves or have no such settings.
void have_heap_shrink() noexcept {
#ifdef __GLIBC__
  for (const Setting& setting : kSettings)
    if (!is_set(setting)) ::mallopt(setting.parameter, setting.value);
#endif
}

std::uint64_t resident_bytes() {
  std::uint64_t mapped = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> mapped >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace parshall
