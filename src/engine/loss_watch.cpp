// SPDX-License-Identifier: Apache-2.0
#include "engine/loss_watch.hpp"

#include <algorithm>
#include <utility>

namespace parshall {

LossWatch::LossWatch(const Workers& workers, std::function<Counters()> device, bool merges, bool pipeline)
    : workers_(workers), device_(std::move(device)), merges_(merges), pipeline_(pipeline) {
  for (const auto& lane : workers_.lanes()) may_lose_ |= !lane->source().lossless();
}

LossWatch::~LossWatch() { follow(nullptr); }

void LossWatch::begin(const std::shared_ptr<LossLog>& log) {
  for (const auto& lane : workers_.lanes()) lane->tell_caught_up();
  follow(log);
}

void LossWatch::follow(std::shared_ptr<LossLog> log) {
  const std::lock_guard lock(mutex_);
  if (log_) log_->stop();
  log_ = std::move(log);
  waiting_.reset();
  if (log_) log_->follow([this] { return read(); }, merges_, /*partial_late=*/pipeline_);
}

/// Reads the losses, those of lanes first: a device's later losses do no harm.
Losses LossWatch::read() const {
  Losses losses;
  Counters device;
  for (const auto& lane : workers_.lanes()) {
    losses.packets += lane->ring_full();
    if (!device_) device += lane->counters();
  }
  if (device_) device = device_();
  losses.packets += sum_of(device, CounterPart::device_lost);
  losses.untold = may_lose_ && !device.known(Counter::nic_missed);
  for (const auto& stage : workers_.stages()) {
    const std::uint64_t changes = stage->partial_changes();
    losses.partial_changes += changes;
    losses.partial |= changes % 2 == 1;
  }
  return losses;
}

void LossWatch::look() {
  const std::lock_guard lock(mutex_);
  if (!log_) return;
  if (waiting_) {
    const auto since_ns = known_since(*waiting_);
    if (!since_ns) return;
    log_->note(waiting_->losses, *since_ns, waiting_->until_ns);
  }
  waiting_ = take_reading();
}

LossWatch::Reading LossWatch::take_reading() const {
  Reading reading{.losses = {}, .until_ns = ~std::uint64_t{0}, .polls = {}};
  for (const auto& lane : workers_.lanes()) {
    const Lane::CaughtUp caught_up = lane->caught_up();
    reading.polls.push_back(caught_up.polls);
    reading.until_ns = std::min(reading.until_ns, caught_up.now_ns);
  }
  reading.losses = read();
  return reading;
}

/// Returns since when the reading is complete. Of polls that caught up, the last but one may have begun before the
/// reading; the next one has not.
std::optional<std::uint64_t> LossWatch::known_since(const Reading& reading) const {
  constexpr std::uint64_t kPolls = 2;
  std::uint64_t since_ns = 0;
  for (std::size_t i = 0; i < reading.polls.size(); ++i) {
    const Lane::CaughtUp now = workers_.lanes()[i]->caught_up();
    if (now.now_ns == 0 || now.polls < reading.polls[i] + kPolls) return std::nullopt;
    since_ns = std::max(since_ns, now.now_ns + kMarginNs);
  }
  return since_ns;
}

}  // namespace parshall
