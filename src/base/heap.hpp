// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace parshall {

/// Has malloc() give back what is freed, of a program that runs for months: a large block is a mapping of its own,
/// which goes when it is freed, and threads that come and go share a few heaps. As it is, glibc takes blocks of up to
/// 32 MB from a heap once one of them was freed, where small ones that stay keep the holes between them resident; and
/// each of 8 heaps a core grows until it had the most that any thread ever wanted. What the environment sets, as
/// MALLOC_ARENA_MAX or GLIBC_TUNABLES, stays. Before there are threads.
///
/// Cost: a page fault for each 4 KB of a large block, each time.
void have_heap_shrink() noexcept;

/// Returns the memory that this process has at present. 0: /proc does not say.
std::uint64_t resident_bytes();

}  // namespace parshall
