// SPDX-License-Identifier: Apache-2.0
#include "tester/loss_tally.hpp"

#include <algorithm>

namespace parshall::tester {
namespace {

/// Returns `parts` of `whole` parts of a time span; 0 if the clock went back.
std::uint64_t part_of(std::uint64_t from_ns, std::uint64_t to_ns, std::uint64_t parts, std::uint64_t whole) noexcept {
  if (to_ns <= from_ns) return 0;
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(to_ns - from_ns) * parts / whole);
}

}  // namespace

void LossTally::add_mixed(const FrameBlock& block, unsigned frames) noexcept {
  for (unsigned place = 0; place < frames;) {
    const std::uint64_t rest = block.received >> place;
    const unsigned lost = std::min(frames - place, static_cast<unsigned>(std::countr_zero(rest)));
    run_ += lost;
    place += lost;
    if (place == frames) return;
    const auto came = static_cast<unsigned>(std::countr_one(block.received >> place));
    end_run(block.sent_ns(place));
    place += came;
    before_ns_ = block.sent_ns(place - 1);
  }
}

/// Ends a run of losses at a received frame.
void LossTally::end_run(std::uint64_t after_ns) noexcept {
  if (!any_came_) {
    any_came_ = true;
    first_ns_ = after_ns;
    lost_at_begin_ = run_;
  } else if (run_ > 0) {
    longest_ns_ = std::max(longest_ns_, part_of(before_ns_, after_ns, run_, run_ + 1));
  }
  if (run_ == 0) return;
  lost_ += run_;
  ++periods_;
  longest_frames_ = std::max(longest_frames_, run_);
  run_ = 0;
}

Losses LossTally::finish(std::uint64_t sent) const noexcept {
  Losses losses{.frames = lost_ + run_,
                .periods = periods_ + (run_ > 0 ? 1 : 0),
                .longest_frames = std::max(longest_frames_, run_)};
  const std::uint64_t at_an_end = std::max(lost_at_begin_, run_);
  std::uint64_t longest_ns = longest_ns_;
  const std::uint64_t spacings = any_came_ ? sent - lost_at_begin_ - run_ - 1 : 0;
  if (spacings > 0) longest_ns = std::max(longest_ns, part_of(first_ns_, before_ns_, at_an_end, spacings));
  const bool is_known = spacings > 0 || at_an_end == 0;
  if (losses.frames > 0 && is_known) losses.longest_ns = longest_ns;
  return losses;
}

}  // namespace parshall::tester
