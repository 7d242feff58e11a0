// SPDX-License-Identifier: Apache-2.0
#include "traffic/sender.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "traffic/frame.hpp"

namespace parshall {
namespace {

constexpr std::uint64_t kCountingNs = 1'000'000'000;  ///< limit of the time that counts unsent frames one by one

std::uint64_t grace_ns(const SendPlan& plan) noexcept {
  constexpr std::uint64_t kLeastNs = 10'000'000;
  return plan.grace_ns.value_or(std::max(kLeastNs, plan.duration_ns / 100));
}

std::uint64_t read_clock(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

Sender::Sender(std::unique_ptr<PacketSource> source, std::unique_ptr<FrameWriter> writer,
               std::unique_ptr<FrameSink> sink, const SendPlan& plan)
    : source_(std::move(source)),
      writer_(std::move(writer)),
      sink_(std::move(sink)),
      plan_(plan),
      schedule_(plan.rate, plan.ramp, plan.burst),
      end_ns_(plan.duration_ns + (schedule_.paced() ? grace_ns(plan) : 0)),
      shown_(plan.shows_sent && writer_->changes() ? 2 * kBatch * kShownBytes : 0) {}

std::uint64_t Sender::clock_ns() const noexcept {
  return plan_.time == SendTime::real && began_ ? read_clock(CLOCK_MONOTONIC) - steady_zero_ns_ : 0;
}

std::size_t Sender::step(std::size_t most) noexcept {
  sent_count_ = 0;
  if (finished_) return 0;
  const bool has_some = at_ != have_ || fetch();
  if (!began_ && !has_some) {
    if (fetched_ != 0 && is_vain()) finished_ = true;
    return 0;
  }
  if (!began_) begin();
  now_ns_ = clock_ns();
  const bool is_over = last_batch_ && at_ == have_ ? now_ns_ >= plan_.duration_ns : now_ns_ >= end_ns_;
  if (plan_.duration_ns != 0 && is_over) {
    count_unsent();
    finished_ = true;
    return 0;
  }
  if (!has_some) return 0;
  const std::size_t due = std::min(due_frames(), most);
  return due == 0 ? 0 : send(due);
}

/// Sets the time of the first frame, in the first step that has one.
void Sender::begin() noexcept {
  began_ = true;
  steady_zero_ns_ = read_clock(CLOCK_MONOTONIC);
  zero_ns_ = plan_.time == SendTime::real ? read_clock(CLOCK_REALTIME)
             : plan_.first_ns != 0        ? plan_.first_ns
                                          : packets_[0].time_ns;
}

/// Returns whether, after only packets without frames, no frame will come in time.
bool Sender::is_vain() noexcept {
  if (source_->repeats()) return true;
  if (plan_.duration_ns == 0 || plan_.time == SendTime::stamped) return false;
  const std::uint64_t now_ns = read_clock(CLOCK_MONOTONIC);
  if (vain_since_ns_ == 0) vain_since_ns_ = now_ns;
  return now_ns - vain_since_ns_ >= plan_.duration_ns;
}

/// Gets the source's next packets and when they are due. Returns false if there are none, now or ever.
bool Sender::fetch() noexcept {
  const std::uint64_t left = plan_.frames == 0 ? kBatch : std::min<std::uint64_t>(plan_.frames - fetched_, kBatch);
  if (left == 0 || last_batch_) {
    finished_ = left == 0 || plan_.time == SendTime::stamped;  // otherwise another rate may come before the end
    return false;
  }
  const std::size_t polled = source_->poll(std::span(packets_).first(left));
  if (polled == 0) {
    finished_ = source_->exhausted();
    return false;
  }
  fetched_ += polled;
  writer_->lengths(std::span(packets_).first(polled), std::span(frames_).first(polled));
  at_ = 0;
  have_ = good_ = leave_out_bad(polled);
  if (schedule_.paced()) schedule(0);
  return at_ != have_;
}

/// Counts and removes packets that make no frame, or one that is too long.
std::size_t Sender::leave_out_bad(std::size_t count) noexcept {
  const std::uint32_t longest = sink_->longest_frame(), shortest = std::max(sink_->shortest_frame(), 1u);
  std::size_t good = 0;
  while (good < count && frames_[good].bytes >= shortest && frames_[good].bytes <= longest) ++good;
  for (std::size_t i = good; i < count; ++i) {
    if (frames_[i].bytes < shortest) {
      ++counts_.unsendable;
    } else if (frames_[i].bytes > longest) {
      ++counts_.too_long;
    } else {
      packets_[good] = packets_[i];
      frames_[good++].bytes = frames_[i].bytes;
    }
  }
  counts_.taken += count - good;
  return good;
}

/// Schedules packets from that one on, dropping those that are due after the end.
void Sender::schedule(std::size_t from) noexcept {
  for (std::size_t i = from; i < have_; ++i) {
    due_ns_[i] = schedule_.next(packets_[i].time_ns, frames_[i].bytes);
    if (plan_.duration_ns == 0 || due_ns_[i] < plan_.duration_ns) continue;
    have_ = i;
    last_batch_ = true;
  }
}

std::size_t Sender::due_frames() const noexcept {
  if (!schedule_.paced() || plan_.time == SendTime::stamped) return have_ - at_;
  const auto* const due = due_ns_.data();
  return static_cast<std::size_t>(std::upper_bound(due + at_, due + have_, now_ns_) - (due + at_));
}

std::size_t Sender::send(std::size_t count) noexcept {
  const bool waited = schedule_.paced();
  const bool stamped = waited && plan_.time == SendTime::stamped;
  for (std::size_t i = at_; i < at_ + count; ++i) frames_[i].time_ns = zero_ns_ + (stamped ? due_ns_[i] : now_ns_);
  count = sink_->reserve(std::span(frames_).subspan(at_, count));
  const auto packets = std::span<const RawPacket>(packets_).subspan(at_, count);
  const auto frames = std::span<const OutFrame>(frames_).subspan(at_, count);
  if (waited)
    for (std::size_t i = 0; i < count; ++i) due_1970_ns_[i] = zero_ns_ + due_ns_[at_ + i];
  writer_->write(packets, frames, std::span(due_1970_ns_).first(waited ? count : 0));
  if (plan_.shows_sent) show(packets, frames);

  const std::size_t sent = sink_->send(count);
  if (sent < count) writer_->take_back(packets.subspan(sent));
  const std::uint64_t handed_over_ns = clock_ns();
  for (const OutFrame& frame : frames.first(sent)) {
    counts_.bytes += frame.bytes;
    counts_.line_bytes += line_bytes(frame.bytes);
  }
  if (waited && plan_.time == SendTime::real)
    for (std::size_t i = 0; i < sent; ++i) lateness_ns_.add(handed_over_ns - due_ns_[at_ + i]);
  if (sent != 0) last_ns_ = stamped ? due_ns_[at_ + sent - 1] : handed_over_ns;
  counts_.taken += count;
  counts_.sent += sent;
  counts_.refused += count - sent;
  at_ += count;
  if (sent < count && sink_->damage()) finished_ = true;
  return sent_count_ = sent;
}

/// Copies frames to show, because a sink may reuse its memory after sending.
void Sender::show(std::span<const RawPacket> packets, std::span<const OutFrame> frames) noexcept {
  shown_half_ ^= 1;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    sent_[i] = packets[i];
    sent_[i].time_ns = frames[i].time_ns;
    if (shown_.empty()) continue;
    std::uint8_t* const copy = shown_.data() + (shown_half_ * kBatch + i) * kShownBytes;
    const std::uint32_t bytes = std::min<std::uint32_t>(frames[i].bytes, kShownBytes);
    std::memcpy(copy, frames[i].data, bytes);
    sent_[i].data = copy;
    sent_[i].captured_bytes = bytes;
    sent_[i].wire_bytes = frames[i].bytes;
    sent_[i].link_type = LinkType::ethernet;
  }
}

/// Counts unsent packets. If counting one by one takes too long, it uses the rate, as if the source had that many.
void Sender::count_unsent() noexcept {
  if (!schedule_.paced()) return;
  const std::uint64_t until_ns = clock_ns() + kCountingNs;
  std::uint64_t before = 0;
  do {
    counts_.taken += have_ - at_;
    counts_.unsent += have_ - at_;
    at_ = have_;
    before = fetched_;
    fetch();
  } while (fetched_ != before && clock_ns() < until_ns);
  if (fetched_ == before) return;
  const std::uint64_t due = schedule_.left_before(plan_.duration_ns).value_or(0) + have_ - at_;
  const std::uint64_t left = plan_.frames == 0 ? due : std::min(due, plan_.frames - fetched_ + have_ - at_);
  counts_.taken += left;
  counts_.unsent += left;
  at_ = have_;
}

std::uint64_t Sender::idle_ns() const noexcept {
  if (finished_ || !schedule_.paced() || (at_ == have_ && !last_batch_)) return 0;
  const std::uint64_t now_ns = clock_ns(), next_ns = at_ == have_ ? plan_.duration_ns : due_ns_[at_];
  return next_ns > now_ns ? next_ns - now_ns : 0;
}

void Sender::change_source(std::unique_ptr<PacketSource> source) noexcept {
  last_source_ = std::exchange(source_, std::move(source));
  fetched_ -= good_ - at_;
  at_ = have_ = good_ = 0;
  last_batch_ = false;
  schedule_.change(schedule_.rate(), clock_ns());
}

void Sender::change_rate(const SendRate& rate) noexcept {
  schedule_.change(rate, clock_ns());
  have_ = good_;
  last_batch_ = false;
  if (schedule_.paced()) schedule(at_);
}

void rest_until_due(const Sender& sender) noexcept {
  constexpr std::uint64_t kMostNs = 2'000'000, kEarlyNs = 100'000;
  const std::uint64_t idle_ns = sender.idle_ns();
  if (idle_ns <= kEarlyNs) return cpu_pause();
  std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(idle_ns, kMostNs) - kEarlyNs));
}

}  // namespace parshall
