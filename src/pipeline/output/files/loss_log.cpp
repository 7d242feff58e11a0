// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/files/loss_log.hpp"

#include <algorithm>
#include <utility>

namespace parshall {

void LossLog::follow(std::function<Losses()> read, bool merges, bool partial_late) {
  const std::lock_guard lock(mutex_);
  read_ = std::move(read);
  merges_ = merges;
  partial_late_ = partial_late;
}

void LossLog::stop() {
  const std::lock_guard lock(mutex_);
  if (read_) last_ = std::exchange(read_, nullptr)();
}

void LossLog::note(const Losses& losses, std::uint64_t since_ns, std::uint64_t until_ns) {
  const std::lock_guard lock(mutex_);
  if (!readings_.empty()) {  // kept in order even if the clock went back: a bound that holds earlier also holds later
    Reading& before = readings_.back();
    until_ns = std::max(until_ns, before.until_ns);
    since_ns = std::max(since_ns, before.since_ns);
    if (before.losses == losses) {
      before.until_ns = until_ns;
      return;
    }
  }
  if (readings_.size() == kMost) {
    std::size_t kept = 0;
    for (std::size_t i = 1; i < kMost; i += 2) readings_[kept++] = readings_[i];
    readings_.resize(kept);
  }
  readings_.push_back({losses, since_ns, until_ns});
}

void LossLog::note_damage() {
  const std::lock_guard lock(mutex_);
  damaged_ = true;
}

bool LossLog::is_damaged() const {
  const std::lock_guard lock(mutex_);
  return damaged_;
}

LossLog::Missed LossLog::missed(std::uint64_t first_ns, std::uint64_t last_ns) const {
  const std::lock_guard lock(mutex_);
  const auto after_first = std::ranges::upper_bound(readings_, first_ns, {}, &Reading::since_ns);
  const Losses before = after_first == readings_.begin() ? Losses() : std::prev(after_first)->losses;
  const auto beyond_last = std::ranges::lower_bound(readings_, last_ns, {}, &Reading::until_ns);
  const auto by_now = [this] { return read_ ? read_() : last_; };
  const Losses after = beyond_last != readings_.end() ? beyond_last->losses : by_now();
  // All packets of a record have been processed before it is asked about.
  const std::uint64_t changes = partial_late_ ? by_now().partial_changes : after.partial_changes;
  // A device's counters may be read in any order, so a decrease is not a loss.
  const std::uint64_t packets = after.packets - std::min(before.packets, after.packets);
  const bool whole = !before.partial && before.partial_changes == changes;
  if (before.untold || after.untold) return {.exact = false, .packets_at_most = std::nullopt};
  return {.exact = packets == 0 && whole && !merges_, .packets_at_most = packets};
}

}  // namespace parshall
