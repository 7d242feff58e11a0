// SPDX-License-Identifier: Apache-2.0
#include "base/heap.hpp"

#include <malloc.h>

namespace parshall {

/// Other C libraries give back by themselves, or have nothing to set.
void have_heap_shrink() noexcept {
#ifdef __GLIBC__
  constexpr int kLargeBytes = 1 << 20, kHeaps = 4;
  ::mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  ::mallopt(M_TRIM_THRESHOLD, kLargeBytes);
  ::mallopt(M_ARENA_MAX, kHeaps);
#endif
}

}  // namespace parshall
