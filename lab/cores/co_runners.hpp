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

/// Pins the calling thread to a core.
void stay_on(int core) noexcept;

/// Runs work(0) on this core and work(i) on the i-th of the others at the same time; returns when all have finished.
void on_each_core(std::size_t cores, std::span<const int> others, const std::function<void(std::size_t core)>& work);

/// Work that other cores do while something is measured on this one.
class CoRunners {
 public:
  using Work = std::function<void()>;  ///< takes some microseconds; called repeatedly

  /// Assigns one work to each of the first cores; they wait until start().
  CoRunners(std::span<const int> cores, std::vector<Work> works);
  ~CoRunners();
  CoRunners(const CoRunners&) = delete;
  CoRunners& operator=(const CoRunners&) = delete;

  void start() noexcept;  ///< returns when all of them are working
  void stop() noexcept;   ///< returns when none is working

  std::size_t size() const noexcept { return threads_.size(); }
  double cpu_ns() noexcept;  ///< total CPU time of all of them so far

 private:
  enum class State : int { wait, work, end };
  void wait_for(std::size_t working) const noexcept;

  std::atomic<State> state_{State::wait};
  std::atomic<std::size_t> working_{0};
  std::vector<std::thread> threads_;
};

/// Largest memory of any neighbour.
inline constexpr std::size_t kNeighbourBytes = std::size_t{512} << 20;

/// A neighbour that competes for resources shared by cores.
struct Neighbour {
  std::string_view name;
  std::string_view help;
  CoRunners::Work (*make)();                        ///< null: none
  std::optional<std::size_t> bytes = std::nullopt;  ///< memory it walks over, if that is the same on all machines
};

/// Lists all neighbours.
std::span<const Neighbour> neighbours() noexcept;

}  // namespace parshall::lab
