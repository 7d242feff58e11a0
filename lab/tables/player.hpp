// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lab/tables/candidate.hpp"

namespace parshall::lab {

/// Plays packets to a candidate repeatedly, from a position of its own. Otherwise the first candidate to read a part
/// would load it into the shared cache for the others.
class Player {
 public:
  Player(std::span<const std::uint32_t> trace, std::size_t begin, std::size_t batch, Candidate& candidate)
      : trace_(trace), at_(begin), batch_(batch), candidate_(&candidate) {}

  void play(std::size_t packets) {
    for (std::size_t count; packets != 0; packets -= count) count = play_batch(packets);
  }

  /// Plays a batch of at most `most` packets; returns how many.
  std::size_t play_batch(std::size_t most) {
    const std::size_t count = std::min({most, batch_, trace_.size() - at_});
    candidate_->run(trace_.subspan(at_, count));
    at_ = at_ + count == trace_.size() ? 0 : at_ + count;
    played_ += count;
    return count;
  }

  std::uint64_t played() const noexcept { return played_; }

 private:
  std::span<const std::uint32_t> trace_;
  std::size_t at_;
  std::size_t batch_;
  Candidate* candidate_;
  std::uint64_t played_ = 0;
};

}  // namespace parshall::lab
