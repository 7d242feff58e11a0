// SPDX-License-Identifier: Apache-2.0
#include "generate/paced_source.hpp"

#include <time.h>

#include <algorithm>

namespace parshall {

PacedSource::PacedSource(std::shared_ptr<const Trace> trace, Pace pace, std::size_t queue, std::uint64_t first_ns,
                         Clock clock, Wait wait)
    : trace_(std::move(trace)),
      flood_(trace_),
      trains_(trace_),
      pace_(pace),
      queue_(queue),
      first_ns_(first_ns),
      clock_(std::move(clock)),
      wait_(std::move(wait)),
      runs_(queue) {}

std::size_t PacedSource::poll(std::span<RawPacket> out) noexcept {
  const std::uint64_t now_ns = clock_();
  if (!began_ns_) began_ns_ = now_ns;
  const std::uint64_t elapsed_ns = std::max(polled_ns_, ahead_ns_ + (now_ns > *began_ns_ ? now_ns - *began_ns_ : 0));
  arrive(packets_by(elapsed_ns), elapsed_ns);
  polled_ns_ = elapsed_ns;
  const std::size_t count = take(out);
  waiting_ -= count;
  if (count == 0 && wait_) wait_(kWaitNs);
  counts_->add(count, 0);
  return count;
}

void PacedSource::begin_at(std::uint64_t elapsed_ns) noexcept {
  ahead_ns_ = polled_ns_ = elapsed_ns;
  arrived_ = packets_by(elapsed_ns);
}

std::uint64_t PacedSource::packets_by(std::uint64_t elapsed_ns) const noexcept {
  return static_cast<std::uint64_t>(pace_.packets_by(static_cast<double>(elapsed_ns) / 1e9));
}

/// The queue keeps those that came while it had room.
void PacedSource::arrive(std::uint64_t arrived, std::uint64_t elapsed_ns) noexcept {
  if (arrived <= arrived_) return;
  const std::uint64_t fresh = arrived - arrived_, kept = std::min(fresh, queue_ - waiting_);
  const double step_ns = static_cast<double>(elapsed_ns - polled_ns_) / static_cast<double>(fresh);
  if (kept != 0)
    runs_[(first_run_ + runs_waiting_++) % runs_.size()] = {arrived_, kept, static_cast<double>(polled_ns_) + step_ns,
                                                            step_ns};
  waiting_ += kept;
  counts_->add(0, fresh - kept);
  if (losses_) {
    losses_->resize(std::max<std::size_t>(losses_->size(), elapsed_ns / stretch_ns_ + 1));
    losses_->back() += fresh - kept;
  }
  arrived_ = arrived;
}

std::size_t PacedSource::take(std::span<RawPacket> out) noexcept {
  std::size_t taken = 0;
  while (taken < out.size() && runs_waiting_ != 0) {
    Run& run = runs_[first_run_];
    const std::uint64_t at = run.first % trace_->packets();
    const std::uint64_t count = std::min({out.size() - taken, run.count, trace_->packets() - at});
    const std::uint8_t* data = trace_->frame(at);
    for (std::uint64_t i = 0; i < count; ++i, data += trace_->stride(), run.first_ns += run.step_ns)
      out[taken + i] = {.data = data,
                        .time_ns = first_ns_ + static_cast<std::uint64_t>(run.first_ns),
                        .captured_bytes = trace_->captured_bytes(),
                        .wire_bytes = trace_->captured_bytes()};
    flood_.put_into(out.subspan(taken, count), run.first);
    trains_.put_into(out.subspan(taken, count), run.first);
    taken += count;
    run.first += count;
    run.count -= count;
    if (run.count != 0) continue;
    first_run_ = (first_run_ + 1) % runs_.size();
    --runs_waiting_;
  }
  return taken;
}

std::uint64_t PacedSource::steady_ns() noexcept {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace parshall
