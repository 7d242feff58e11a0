// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/worker.hpp"
#include "pipeline/output/loss_log.hpp"

namespace parshall {

/// Tells a loss log what a run's devices and workers lose, and between which packet times.
///
/// A reading of the counters is before all packets that came to a lane which has since had nothing more to poll: it has
/// polled all that came before, and gave it its time. So where lanes never catch up, no later loss is told apart from
/// those before.
class LossWatch {
 public:
  /// `device`: totals, of any thread; empty where there is none. `pipeline`: packets are worked on in another turn than
  /// they come.
  LossWatch(const Workers& workers, std::function<Counters()> device, bool merges, bool pipeline);
  ~LossWatch();
  LossWatch(const LossWatch&) = delete;
  LossWatch& operator=(const LossWatch&) = delete;

  /// Before the first packet.
  void begin(const std::shared_ptr<LossLog>& log);
  /// Another log from now on, which knows no moment but the beginning; null: none.
  void follow(std::shared_ptr<LossLog> log);

  /// Now and then, by one thread.
  void look();

 private:
  static constexpr std::uint64_t kMarginNs = 2'000'000;  ///< that sources' clocks may be behind their packets

  struct Reading {
    Losses losses;
    std::uint64_t until_ns;            ///< the clocks of all lanes were there before
    std::vector<std::uint64_t> polls;  ///< of each lane, then
  };

  Losses read() const;
  Reading take_reading() const;
  std::optional<std::uint64_t> known_since(const Reading& reading) const;

  const Workers& workers_;
  std::function<Counters()> device_;
  bool merges_, pipeline_, may_lose_ = false;
  std::mutex mutex_;
  std::shared_ptr<LossLog> log_;
  std::optional<Reading> waiting_;  ///< until the lanes have caught up
};

}  // namespace parshall
