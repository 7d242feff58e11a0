// SPDX-License-Identifier: Apache-2.0
#include "base/figures/cpu_counters.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace parshall::lab {
namespace {

constexpr PerfEvent kCpuEvents[] = {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
                                    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
                                    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
                                    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}};

/// Opens a counter. Returns its file descriptor, or a negative number.
int open_event(const PerfEvent& event, int group) noexcept {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = event.type;
  wanted.config = event.config;
  wanted.exclude_kernel = 1;
  wanted.disabled = group < 0;  // the group starts when all its events are open
  wanted.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(::syscall(SYS_perf_event_open, &wanted, 0, -1, group, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

PerfGroup::PerfGroup(std::span<const PerfEvent> events) {
  for (const PerfEvent& event : events) {
    const int file = open_event(event, files_.empty() ? -1 : files_.front());
    if (file < 0) {
      for (const int opened : files_) ::close(opened);
      files_.clear();
      return;
    }
    files_.push_back(file);
  }
  if (available()) ::ioctl(files_.front(), PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

PerfGroup::~PerfGroup() {
  for (const int file : files_) ::close(file);
}

std::optional<std::vector<double>> PerfGroup::read() const {
  if (!available()) return std::nullopt;
  constexpr std::size_t kHead = 3;  // events, time enabled, time running
  std::vector<std::uint64_t> words(kHead + files_.size());
  const std::size_t bytes = words.size() * sizeof(std::uint64_t);
  if (::read(files_.front(), words.data(), bytes) != static_cast<ssize_t>(bytes) || words[2] == 0) return std::nullopt;
  std::vector<double> counts;
  for (const std::uint64_t count : std::span(words).subspan(kHead))
    counts.push_back(static_cast<double>(count) * static_cast<double>(words[1]) / static_cast<double>(words[2]));
  return counts;
}

CpuCounters::CpuCounters() : group_(kCpuEvents) {}

std::optional<CpuCounts> CpuCounters::stop() {
  const auto end = group_.read();
  if (!end || !start_) return std::nullopt;
  const auto passed = [&](std::size_t event) { return (*end)[event] - (*start_)[event]; };
  if (!(passed(0) > 0 && passed(2) > 0)) return std::nullopt;
  return CpuCounts{passed(1) / passed(0), passed(3) / passed(2)};
}

}  // namespace parshall::lab
