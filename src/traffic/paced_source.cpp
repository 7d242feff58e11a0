// SPDX-License-Identifier: Apache-2.0
#include "traffic/paced_source.hpp"

#include <time.h>

#include <algorithm>

namespace parshall {

PacedSource::PacedSource(std::shared_ptr<const Trace> trace, Pace pace, std::size_t queue, std::uint64_t first_ns,
                         Clock clock, std::optional<Time> time)
    : trace_(std::move(trace)),
      flood_(trace_),
      trains_(trace_),
      rounds_(trace_),
      pace_(pace),
      first_ns_(first_ns),
      clock_(std::move(clock)),
      time_(std::move(time)),
      queue_(queue) {}

std::size_t PacedSource::poll(std::span<RawPacket> out) noexcept {
  const std::uint64_t now_ns = clock_(), began_at_ns = time_ ? steady_ns() : 0;
  if (!began_ns_) began_ns_ = now_ns;
  const std::uint64_t elapsed_ns = std::max(polled_ns_, ahead_ns_ + (now_ns > *began_ns_ ? now_ns - *began_ns_ : 0));
  arrive(packets_by(elapsed_ns), elapsed_ns);
  polled_ns_ = elapsed_ns;
  const std::size_t count = queue_.take(
      out.size(), [&](const ArrivalQueue::Run& run, std::size_t at) { play(run, out.subspan(at, run.count)); });
  if (time_) {
    if (count == 0) time_->wait(kWaitNs);
    time_->leave_out(std::min(steady_ns() - began_at_ns, count * kMostToPlayNs));
  }
  counts_->add(count, 0);
  return count;
}

void PacedSource::begin_at(std::uint64_t elapsed_ns) noexcept {
  ahead_ns_ = polled_ns_ = elapsed_ns;
  queue_.begin_after(packets_by(elapsed_ns));
}

std::uint64_t PacedSource::packets_by(std::uint64_t elapsed_ns) const noexcept {
  return static_cast<std::uint64_t>(pace_.packets_by(static_cast<double>(elapsed_ns) / 1e9));
}

/// Adds arrivals to the queue, which keeps those that it has room for.
void PacedSource::arrive(std::uint64_t arrived, std::uint64_t elapsed_ns) noexcept {
  if (arrived <= queue_.arrived()) return;
  const std::uint64_t missed = queue_.arrive(arrived, polled_ns_, elapsed_ns);
  counts_->add(0, missed);
  if (!losses_) return;
  losses_->resize(std::max<std::size_t>(losses_->size(), elapsed_ns / stretch_ns_ + 1));
  losses_->back() += missed;
}

/// Plays as many packets as the run has.
void PacedSource::play(ArrivalQueue::Run run, std::span<RawPacket> out) noexcept {
  run.first += first_packet_;
  while (!out.empty()) {
    const std::uint64_t at = run.first % trace_->packets();
    const std::uint64_t count = std::min<std::uint64_t>(out.size(), trace_->packets() - at);
    trace_->put_into(out.first(count), at, [&] {
      const auto now_ns = first_ns_ + static_cast<std::uint64_t>(run.first_ns);
      run.first_ns += run.step_ns;
      return now_ns;
    });
    flood_.put_into(out.first(count), run.first);
    trains_.put_into(out.first(count), run.first);
    rounds_.put_into(out.first(count), run.first);
    run.first += count;
    out = out.subspan(count);
  }
}

std::uint64_t PacedSource::steady_ns() noexcept {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace parshall
