// SPDX-License-Identifier: Apache-2.0
#pragma once
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <cstdint>

namespace parshall {

#if defined(__x86_64__)

/// Returns the CPU's time counter, which advances at one rate on all cores: the time stamp counter. Costs some 8 ns.
[[gnu::always_inline]] inline std::uint64_t cpu_ticks() noexcept { return __rdtsc(); }

/// Returns the same, read only once all earlier instructions are done. On arm64, loads may still be under way.
[[gnu::always_inline]] inline std::uint64_t cpu_ticks_after() noexcept {
  unsigned core;
  return __rdtscp(&core);
}

/// Lets no instruction after it begin before those before it have been executed, memory reads among them.
[[gnu::always_inline]] inline void finish_instructions() noexcept { _mm_lfence(); }

/// Lets the CPU's other thread work, in a loop that waits for another core.
[[gnu::always_inline]] inline void cpu_pause() noexcept { _mm_pause(); }

#elif defined(__aarch64__)

/// The generic timer, which counts at a fixed rate, mostly between 24 MHz and 1 GHz.
[[gnu::always_inline]] inline std::uint64_t cpu_ticks() noexcept {
  std::uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
}

[[gnu::always_inline]] inline void finish_instructions() noexcept { asm volatile("dsb sy\n\tisb" : : : "memory"); }

[[gnu::always_inline]] inline std::uint64_t cpu_ticks_after() noexcept {
  asm volatile("isb" : : : "memory");
  return cpu_ticks();
}

/// `isb`, not `yield`, which most CPUs ignore.
[[gnu::always_inline]] inline void cpu_pause() noexcept { asm volatile("isb"); }

#endif

}  // namespace parshall
