// SPDX-License-Identifier: Apache-2.0
#include "lab/scheduling.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "lab/batch_costs.hpp"

namespace parshall::lab {
namespace {

constexpr SchedulingPolicy kPolicies[] = {
    {"other", "the kernel's default: cores are shared fairly", SCHED_OTHER, 0},
    {"fifo", "real time: a thread runs until it waits", SCHED_FIFO, 1},
    {"rr", "real time: threads take turns, a time slice each", SCHED_RR, 1},
};

std::optional<Error> pin_to(unsigned core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (::sched_setaffinity(0, sizeof set, &set) == 0) return std::nullopt;
  return Error{fmt::format("cannot pin a thread to core {}: {}", core, std::strerror(errno))};
}

/// Lets threads go on together, from a time that all know.
class StartingLine {
 public:
  explicit StartingLine(int threads) noexcept : missing_(threads) {}

  /// The time when the last one came. Yields, since it may have to have the core.
  std::uint64_t wait() noexcept {
    if (--missing_ == 0) began_ = cycles_now();
    while (began_ == 0) ::sched_yield();
    return began_;
  }

 private:
  std::atomic<int> missing_;
  std::atomic<std::uint64_t> began_{0};
};

}  // namespace

std::span<const SchedulingPolicy> scheduling_policies() noexcept { return kPolicies; }

std::optional<Error> use_policy(const SchedulingPolicy& policy) {
  sched_param parameters{};
  parameters.sched_priority = policy.priority;
  if (::sched_setscheduler(0, policy.policy, &parameters) == 0) return std::nullopt;
  return Error{
      fmt::format("cannot schedule as {}: {}; run as root (or with CAP_SYS_NICE)", policy.name, std::strerror(errno))};
}

std::optional<Error> refused(const SchedulingPolicy& policy) {
  std::optional<Error> error;
  std::thread([&] { error = use_policy(policy); }).join();
  return error;
}

std::vector<unsigned> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  std::vector<unsigned> cores;
  for (unsigned core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

Result<PollGaps> measure_gaps(const SchedulingPolicy& policy, unsigned core, std::chrono::milliseconds how_long) {
  struct Probe {
    GapCounter gaps;
    std::optional<Error> error;
  };
  std::array<Probe, 2> probes;
  StartingLine start(static_cast<int>(probes.size()));
  const auto cycles =
      static_cast<std::uint64_t>(cycles_per_ns() * static_cast<double>(std::chrono::nanoseconds(how_long).count()));
  const auto poll = [&](Probe& probe) {
    probe.error = pin_to(core);
    if (!probe.error) probe.error = use_policy(policy);
    std::uint64_t last = start.wait();
    const std::uint64_t end = last + cycles;
    while (last < end && !probe.error) {
      const std::uint64_t now = cycles_now();
      probe.gaps.add(now - last);
      last = now;
    }
  };
  std::thread other([&] { poll(probes[1]); }), one([&] { poll(probes[0]); });
  one.join();
  other.join();
  for (const Probe& probe : probes)
    if (probe.error) return *probe.error;
  probes[0].gaps.add(probes[1].gaps);
  return probes[0].gaps.figures(cycles_per_ns());
}

}  // namespace parshall::lab
