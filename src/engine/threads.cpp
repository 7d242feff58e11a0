// SPDX-License-Identifier: Apache-2.0
#include "engine/threads.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace parshall {

void Idle::yield() noexcept {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kLong{100};
  const auto began = Clock::now();
  ::sched_yield();
  if (Clock::now() - began <= kLong) {
    naps_next_ -= naps_next_ > kFewNaps ? 1 : 0;
    return;
  }
  naps_for_yields_ = naps_next_;
  naps_next_ = std::min(2 * naps_next_, kManyNaps);
}

std::optional<Error> set_scheduler(std::thread& thread, Scheduler scheduler) {
  if (scheduler == Scheduler::other) return std::nullopt;
  pid_t number = 0;  // thread ID in the kernel, for sched_setattr()
  clockid_t clock;
  if (::pthread_getcpuclockid(thread.native_handle(), &clock) == 0) number = static_cast<pid_t>(~(clock >> 3));
  struct {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  } attributes{};
  attributes.size = sizeof attributes;
  if (scheduler == Scheduler::fifo) {
    attributes.policy = SCHED_FIFO;
    attributes.priority = 1;
  } else {
    attributes.policy = 6;  // 9 of every 10 ms
    attributes.runtime = 9'000'000;
    attributes.deadline = attributes.period = 10'000'000;
  }
  if (::syscall(SYS_sched_setattr, number, &attributes, 0) == 0) return std::nullopt;
  return Error{
      fmt::format("cannot schedule a worker as {}: {}; run as root (or with CAP_SYS_NICE), without --cores for "
                  "deadline, or leave out --scheduler",
                  scheduler == Scheduler::fifo ? "fifo" : "deadline", std::strerror(errno))};
}

std::optional<Error> pin(std::thread& thread, unsigned core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (::pthread_setaffinity_np(thread.native_handle(), sizeof set, &set) == 0) return std::nullopt;
  return Error{fmt::format("cannot pin a worker to core {}: this machine offers cores 0 to {}", core,
                           std::thread::hardware_concurrency() - 1)};
}

std::uint64_t cpu_ns(std::thread& thread) noexcept {
  clockid_t clock;
  timespec taken;
  if (::pthread_getcpuclockid(thread.native_handle(), &clock) != 0 || ::clock_gettime(clock, &taken) != 0) return 0;
  return static_cast<std::uint64_t>(taken.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(taken.tv_nsec);
}

}  // namespace parshall
