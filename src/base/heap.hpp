// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace parshall {

/// Makes malloc() return freed memory to the kernel, for programs that run for months. Call it before there are
/// threads. Each large block becomes a mapping of its own, which disappears when it is freed. Threads share a few
/// heaps. By default, glibc serves blocks of up to 32 MB from a heap once one of them was freed. Small long-lived
/// blocks then keep the holes resident. It also keeps up to 8 heaps per core, each of which grows to the most any
/// thread ever wanted. Settings in the environment, such as MALLOC_ARENA_MAX or GLIBC_TUNABLES, take precedence.
///
/// Cost: a page fault for each 4 KB of a large block, at every allocation.
void have_heap_shrink() noexcept;

/// Returns the resident memory of this process in bytes, or 0 if /proc does not give it.
std::uint64_t resident_bytes();

}  // namespace parshall
