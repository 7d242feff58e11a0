// SPDX-License-Identifier: Apache-2.0
#include "lab/cores/co_runners.hpp"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/clock.hpp"
#include "base/huge_buffer.hpp"
#include "base/machine.hpp"
#include "base/random.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kLineBytes = 64;

/// Counts at random lines of this many bytes.
CoRunners::Work count_at_random(std::size_t size) {
  auto memory = std::make_shared<HugeBuffer<std::uint64_t>>(size / sizeof(std::uint64_t));
  memory->populate();
  return [memory, random = SplitMix64(1), lines = size / kLineBytes]() mutable {
    constexpr std::size_t kWords = kLineBytes / sizeof(std::uint64_t);
    for (int i = 0; i < 4096; ++i) ++(*memory)[random.below(lines) * kWords];
  };
}

CoRunners::Work fight_for_cache() {
  constexpr std::size_t kLeast = std::size_t{8} << 20, kMost = std::size_t{256} << 20;
  return count_at_random(std::clamp(last_level_cache_bytes(), kLeast, kMost));
}

/// Makes a neighbour that counts. Source: the application of Alipourfard et al., SOSR 2018, figure 9a.
template <std::size_t Megabytes>
constexpr Neighbour counting_neighbour(std::string_view name) {
  constexpr std::size_t kBytes = Megabytes * 1'000'000;
  static_assert(kBytes <= kNeighbourBytes);
  return {name, "another core counts in random lines of memory of this size", [] { return count_at_random(kBytes); },
          kBytes};
}

/// Copies memory that exceeds all caches.
CoRunners::Work fight_for_bandwidth() {
  constexpr std::size_t kHalf = std::size_t{256} << 20, kStep = std::size_t{256} << 10;
  static_assert(2 * kHalf == kNeighbourBytes);
  auto memory = std::make_shared<HugeBuffer<std::uint8_t>>(2 * kHalf);
  memory->populate();  // otherwise it would read the shared page of zeros
  return [memory, at = std::size_t{0}]() mutable {
    std::memcpy(memory->data() + kHalf + at, memory->data() + at, kStep);
    at = (at + kStep) % kHalf;
  };
}

constexpr Neighbour kNeighbours[] = {
    {"none", "no neighbour", nullptr, 0},
    {"cache", "another core writes to random lines of as much memory as the last-level cache holds", fight_for_cache},
    {"memory", "another core copies memory that exceeds all caches", fight_for_bandwidth},
    counting_neighbour<1>("count-1MB"),
    counting_neighbour<4>("count-4MB"),
    counting_neighbour<16>("count-16MB"),
    counting_neighbour<64>("count-64MB"),
    counting_neighbour<256>("count-256MB"),
};

}  // namespace

void stay_on(int core) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

void on_each_core(std::size_t cores, std::span<const int> others, const std::function<void(std::size_t core)>& work) {
  std::vector<std::jthread> threads;
  for (std::size_t core = 1; core < cores; ++core)
    threads.emplace_back([&work, core, on = others[core - 1]] {
      stay_on(on);
      work(core);
    });
  work(0);
}

CoRunners::CoRunners(std::span<const int> cores, std::vector<Work> works) {
  for (std::size_t i = 0; i < works.size(); ++i)
    threads_.emplace_back([this, core = cores[i], work = std::move(works[i])] {
      stay_on(core);
      for (;;) {
        state_.wait(State::wait);
        if (state_.load() == State::end) return;
        ++working_;
        while (state_.load(std::memory_order_relaxed) == State::work) work();
        --working_;
      }
    });
}

CoRunners::~CoRunners() {
  state_ = State::end;
  state_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CoRunners::start() noexcept {
  state_ = State::work;
  state_.notify_all();
  wait_for(threads_.size());
}

void CoRunners::stop() noexcept {
  state_ = State::wait;
  wait_for(0);
}

double CoRunners::cpu_ns() noexcept {
  double sum = 0;
  for (std::thread& thread : threads_) {
    clockid_t clock;
    timespec spent;
    if (::pthread_getcpuclockid(thread.native_handle(), &clock) != 0) continue;
    ::clock_gettime(clock, &spent);
    sum += static_cast<double>(spent.tv_sec) * 1e9 + static_cast<double>(spent.tv_nsec);
  }
  return sum;
}

void CoRunners::wait_for(std::size_t working) const noexcept {
  while (working_.load() != working) cpu_pause();
}

std::span<const Neighbour> neighbours() noexcept { return kNeighbours; }

}  // namespace parshall::lab
