// SPDX-License-Identifier: Apache-2.0
#include "base/figures/cpu_counters.hpp"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include "base/figures/harness.hpp"
#include "base/huge_buffer.hpp"
#include "base/machine.hpp"

namespace parshall::lab {
namespace {

/// Spins for `ns` of CPU time.
void spin(double ns) {
  for (const double start = thread_cpu_ns(); thread_cpu_ns() - start < ns;) continue;
}

TEST(PerfGroup, CountsItsEventsTogether) {
  constexpr PerfEvent kEvents[] = {{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
                                   {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}};
  const PerfGroup group(kEvents);
  // Many containers forbid it; what is reported then, nothing, is the next test's, which never skips.
  if (!group.available()) GTEST_SKIP() << "this process may not count events (perf_event_paranoid)";
  const auto before = group.read();
  constexpr std::size_t kPage = 4096, kPages = 100;
  HugeBuffer<std::uint8_t> untouched(kPages * kPage, /*huge_pages=*/false);
  for (std::size_t page = 0; page < kPages; ++page) untouched[page * kPage] = 1;
  spin(5e6);
  const auto after = group.read();
  ASSERT_TRUE(before && after);
  ASSERT_EQ(after->size(), 2u);
  EXPECT_GE((*after)[0] - (*before)[0], 4e6) << "ns";
  EXPECT_GE((*after)[1] - (*before)[1], kPages);
}

TEST(PerfGroup, CountsNothingWhereOneEventIsRefused) {
  constexpr PerfEvent kEvents[] = {{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK}, {PERF_TYPE_SOFTWARE, ~0ull}};
  const PerfGroup group(kEvents);
  EXPECT_FALSE(group.available());
  EXPECT_FALSE(group.read());
}

TEST(CpuCounters, AreSaneOrAbsent) {
  CpuCounters counters;
  EXPECT_FALSE(counters.stop()) << "before it was started";
  counters.start();
  spin(5e6);
  const auto counts = counters.stop();
  if (!counters.available()) {
    EXPECT_FALSE(counts);
    return;
  }
  ASSERT_TRUE(counts);
  EXPECT_GT(counts->instructions_per_cycle, 0.01);
  EXPECT_LT(counts->instructions_per_cycle, 16);
  EXPECT_GE(counts->cache_miss_share, 0);
}

TEST(ProcessorTime, GoesOnAndIsNotAllIdleWhileSomebodyComputes) {
  const ProcessorTime before = processor_time();
  spin(2e8);
  const ProcessorTime after = processor_time();
  const double all = after.all - before.all, idle = after.idle - before.idle, stolen = after.stolen - before.stolen;
  EXPECT_GT(all, 0);
  EXPECT_GE(idle, 0);
  EXPECT_GE(stolen, 0);
  EXPECT_LT(idle + stolen, all);
}

}  // namespace
}  // namespace parshall::lab
