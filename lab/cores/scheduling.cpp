// SPDX-License-Identifier: Apache-2.0
#include "lab/cores/scheduling.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/figures/batch_costs.hpp"

namespace parshall::lab {
namespace {

constexpr SchedulingPolicy kPolicies[] = {
    {"other", "the kernel's default: cores are shared fairly", SCHED_OTHER, 0},
    {"fifo", "real time: a thread runs until it waits", SCHED_FIFO, 1},
    {"rr", "real time: threads run in turn, each for a time slice", SCHED_RR, 1},
    {"deadline", "real time: a thread has 0.4 ms of every one, on average", SCHED_DEADLINE, 0, 400'000, 1'000'000},
};

/// The kernel's structure, which glibc does not define.
struct Attributes {
  std::uint32_t size = sizeof(Attributes), policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0, deadline_ns = 0, period_ns = 0;
};

/// Guaranteed time of threads that ended is returned within a period.
constexpr int kTries = 20;
constexpr std::chrono::milliseconds kBetweenTries{1};

/// Sets the policy of a thread; 0 is the calling thread. A thread that has ended is no error.
std::optional<Error> use_policy(const SchedulingPolicy& policy, pid_t thread) {
  const Attributes wanted{.policy = policy.policy,
                          .nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(thread)),
                          .priority = policy.priority,
                          .runtime_ns = policy.runtime_ns,
                          .deadline_ns = policy.period_ns,
                          .period_ns = policy.period_ns};
  for (int i = 0; i < kTries; ++i) {
    if (::syscall(SYS_sched_setattr, thread, &wanted, 0) == 0 || errno == ESRCH) return std::nullopt;
    if (errno != EBUSY) break;
    std::this_thread::sleep_for(kBetweenTries);
  }
  if (errno == EBUSY)
    return Error{
        fmt::format("cannot schedule as {}: all threads together need more time than is available; try fewer workers",
                    policy.name)};
  return Error{
      fmt::format("cannot schedule as {}: {}; run as root (or with CAP_SYS_NICE)", policy.name, std::strerror(errno))};
}

std::optional<Error> pin_to(unsigned core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (::sched_setaffinity(0, sizeof set, &set) == 0) return std::nullopt;
  return Error{fmt::format("cannot pin a thread to core {}: {}", core, std::strerror(errno))};
}

/// Lets threads start together, at a time known to all.
class StartingLine {
 public:
  explicit StartingLine(int threads) noexcept : missing_(threads) {}

  /// Returns the time when the last thread arrived. Yields, since that thread may need this core.
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

std::optional<Error> use_policy(const SchedulingPolicy& policy) { return use_policy(policy, 0); }

std::vector<pid_t> threads_of_process() {
  std::vector<pid_t> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    threads.push_back(static_cast<pid_t>(std::stol(entry.path().filename())));
  return threads;
}

std::optional<Error> use_policy_but_for(const SchedulingPolicy& policy, std::span<const pid_t> others) {
  for (const pid_t thread : threads_of_process()) {
    if (std::ranges::find(others, thread) != others.end()) continue;
    if (auto error = use_policy(policy, thread)) return error;
  }
  return std::nullopt;
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

Result<PollGaps> measure_gaps(const SchedulingPolicy& policy, unsigned core, std::size_t threads,
                              std::chrono::milliseconds how_long) {
  struct Probe {
    GapCounter gaps;
    std::optional<Error> error;
  };
  std::vector<Probe> probes(threads);
  StartingLine start(static_cast<int>(probes.size()));
  const auto cycles =
      static_cast<std::uint64_t>(cycles_per_ns() * static_cast<double>(std::chrono::nanoseconds(how_long).count()));
  const auto poll = [&](Probe& probe) {
    if (!policy.shares()) probe.error = pin_to(core);
    if (!probe.error) probe.error = use_policy(policy);
    std::uint64_t last = start.wait();
    const std::uint64_t end = last + cycles;
    while (last < end && !probe.error) {
      const std::uint64_t now = cycles_now();
      probe.gaps.add(now - last);
      last = now;
    }
  };
  std::vector<std::thread> running;
  running.reserve(threads);
  for (Probe& probe : probes) running.emplace_back([&] { poll(probe); });
  for (std::thread& thread : running) thread.join();
  for (const Probe& probe : probes)
    if (probe.error) return *probe.error;
  for (const Probe& probe : std::span(probes).subspan(1)) probes[0].gaps.add(probe.gaps);
  return probes[0].gaps.figures(cycles_per_ns());
}

}  // namespace parshall::lab
