// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/worker.hpp"
#include "pipeline/output/files/loss_log.hpp"

namespace parshall {

/// Records in a loss log what a run's devices and workers lose, and between which packet times.
///
/// A counter reading can be dated only by lanes that catch up: a lane that finds nothing more to poll has polled
/// everything that came before, and knows its time. If lanes never catch up, later losses cannot be told from earlier
/// ones.
class LossWatch {
 public:
  /// `device`: its totals, from any thread; empty if there is none. `pipeline`: packets may be handled in another order
  /// than they come.
  LossWatch(const Workers& workers, std::function<Counters()> device, bool merges, bool pipeline);
  ~LossWatch();
  LossWatch(const LossWatch&) = delete;
  LossWatch& operator=(const LossWatch&) = delete;

  /// Starts the log; call it before the first packet.
  void begin(const std::shared_ptr<LossLog>& log);
  /// Continues with another log, which knows only the beginning; null: none.
  void follow(std::shared_ptr<LossLog> log);

  /// Takes readings; call it regularly from one thread.
  void look();

 private:
  static constexpr std::uint64_t kMarginNs = 2'000'000;  ///< how far sources' clocks may be behind their packets

  struct Reading {
    Losses losses;
    std::uint64_t until_ns;            ///< all lanes' clocks were earlier than this
    std::vector<std::uint64_t> polls;  ///< polls of each lane at that moment
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
