// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

namespace parshall::lab {

/// Keeps the calling thread on a core.
void stay_on(int core) noexcept;

/// Does work(0) on this core and work(i) on the i-th of the others, at the same time; returns when all is done.
void on_each_core(std::size_t cores, std::span<const int> others, const std::function<void(std::size_t core)>& work);

/// Work that other cores do while something is measured on this one.
class CoRunners {
 public:
  using Work = std::function<void()>;  ///< some microseconds of it, called over and over

  /// One work for each of the first cores; they wait until start().
  CoRunners(std::span<const int> cores, std::vector<Work> works);
  ~CoRunners();
  CoRunners(const CoRunners&) = delete;
  CoRunners& operator=(const CoRunners&) = delete;

  void start() noexcept;  ///< returns when all of them work
  void stop() noexcept;   ///< returns when none does

  std::size_t size() const noexcept { return threads_.size(); }
  double cpu_ns() noexcept;  ///< that all of them together were given so far

 private:
  enum class State : int { wait, work, end };
  void wait_for(std::size_t working) const noexcept;

  std::atomic<State> state_{State::wait};
  std::atomic<std::size_t> working_{0};
  std::vector<std::thread> threads_;
};

/// Of the memory of any of them, at most.
inline constexpr std::size_t kNeighbourBytes = std::size_t{512} << 20;

/// A neighbour that fights for what cores share.
struct Neighbour {
  std::string_view name;
  std::string_view help;
  CoRunners::Work (*make)();                        ///< null: there is none
  std::optional<std::size_t> bytes = std::nullopt;  ///< that it goes over, where all machines have the same
};

/// Every one there is: one line each.
std::span<const Neighbour> neighbours() noexcept;

}  // namespace parshall::lab
