// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace parshall {

/// Asks for the cache line of `at`, which need not be valid memory.
///
/// In assembly, since gcc takes a function that only calls __builtin_prefetch() for one without effect, and drops it.
[[gnu::always_inline]] inline void prefetch_line(const void* at) noexcept {
  asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(at)));
}

}  // namespace parshall
