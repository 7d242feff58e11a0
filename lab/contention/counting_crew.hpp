// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "base/figures/batch_costs.hpp"
#include "lab/contention/contention.hpp"
#include "lab/cores/company.hpp"
#include "lab/tables/player.hpp"

namespace parshall::lab {

/// Cores that count in one way, with all results during the rounds. The first core is measured while the others do the
/// same.
class CountingCrew {
 public:
  CountingCrew(const CountingWay& way, std::span<const CoreUse> shares, std::span<const int> other_cores,
               std::size_t flows, std::uint64_t seed);

  /// Gives each core every flow that it sees once, then its packets, on all cores at once. Returns what is wrong with
  /// the sums. `truth` is by flow.
  std::optional<Error> fill(std::span<const std::uint64_t> truth);

  /// Plays packets to the cores from now on, each from a position of its own.
  void enter(std::size_t number, std::size_t of_all);
  Variant variant();

  /// Ends the rounds; returns the share of all packets that was not counted. Error: this way should lose none, but did.
  Result<double> leave();

  /// Returns the row, without what it has in common with other rows.
  ContentionRow row(const Cost& cost, double lost_share);

 private:
  /// State of one core, on cache lines of its own.
  struct alignas(64) Seat {
    std::unique_ptr<Candidate> candidate;
    std::optional<Player> player;
  };

  void observe();
  void add_counts(std::span<std::uint64_t> sums) const;
  std::optional<Error> check(std::span<const std::uint64_t> truth) const;

  const CountingWay* way_;
  std::span<const CoreUse> shares_;
  std::span<const int> other_cores_;
  std::size_t flows_;
  std::vector<Seat> seats_;
  std::uint64_t sent_ = 0;
  std::unique_ptr<Company> company_;  // ends before what it runs
  double together_ = 1;
  BatchRounds batches_{ContentionSweep::kBatch, OfferedLoad()};
};

}  // namespace parshall::lab
