// SPDX-License-Identifier: Apache-2.0
#include "tester/flow_book.hpp"

#include <algorithm>
#include <bit>

#include "base/prefetch.hpp"

namespace parshall::tester {
namespace {

constexpr unsigned kFrames = FrameBlock::kFrames;
/// Limit of a window, so that the lower 32 bits of a sequence determine its block.
constexpr std::uint64_t kMostFrames = std::uint64_t{1} << 31;

std::size_t blocks_of(const TestPlan& plan, const BookOptions& options) noexcept {
  constexpr std::uint64_t kFor1Gb = (std::uint64_t{1} << 30) / sizeof(FrameBlock) * kFrames;
  const std::uint64_t usual = std::clamp<std::uint64_t>(kFor1Gb / std::max(plan.streams, 1u), 1024, 65'536);
  const std::uint64_t window =
      std::min(options.window_frames ? *options.window_frames : std::bit_floor(usual), kMostFrames);
  return std::bit_ceil((std::clamp<std::uint64_t>(plan.frames, 1, std::max<std::uint64_t>(window, 1)) + kFrames - 1) /
                       kFrames);
}

std::size_t jumps_of(const TestPlan& plan, const BookOptions& options) noexcept {
  constexpr std::size_t kFor16Mb = (std::size_t{1} << 24) / sizeof(Jump);
  const std::size_t usual = std::clamp<std::size_t>(kFor16Mb / std::max(plan.streams, 1u), 8, 1024);
  return options.jumps ? std::bit_ceil(std::max<std::size_t>(*options.jumps, 1)) : std::bit_floor(usual);
}

/// Returns the number with these lower 32 bits that is nearest to `next`.
std::int64_t in_full(std::uint32_t low, std::uint64_t next) noexcept {
  const auto ahead = static_cast<std::int32_t>(low - static_cast<std::uint32_t>(next));
  return static_cast<std::int64_t>(next) + ahead;
}

/// Updates the last sequences with those that came in order since `latest` was noted.
void catch_up(FlowTail& tail, const FlowHead& head) noexcept {
  for (std::uint64_t since = std::min<std::uint64_t>(head.arrivals - tail.noted_at, 3); since > 0; --since)
    tail.latest = {head.next - since, tail.latest[0], tail.latest[1]};
}

void note(FlowTail& tail, const FlowHead& head, std::uint64_t sequence) noexcept {
  tail.latest = {sequence, tail.latest[0], tail.latest[1]};
  tail.noted_at = head.arrivals + 1;
}

/// Returns the losses of a flow. If frames that were not sent moved the window past all sent ones, only the number is
/// known.
Losses lost_of(const LossTally& tally, std::uint64_t window_at, std::uint64_t sent, std::uint64_t received) noexcept {
  if (window_at <= sent) return tally.finish(sent);
  const std::uint64_t lost = sent - received;
  return {.frames = lost, .periods = lost > 0 ? 1u : 0u, .longest_frames = lost};
}

}  // namespace

FlowBook::FlowBook(const TestPlan& plan, const BookOptions& options)
    : plan_(plan),
      flow_blocks_(blocks_of(plan, options)),
      flow_jumps_(jumps_of(plan, options)),
      blocks_(plan.streams * flow_blocks_),
      jumps_(plan.streams * flow_jumps_),
      heads_(plan.streams),
      tails_(plan.streams) {
  if (options.flow_latency_error) flow_latency_.assign(plan.streams, ValueHistogram(*options.flow_latency_error));
}

void FlowBook::add(std::span<const Arrival> arrivals) noexcept {
  constexpr std::size_t kAhead = 16;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (i + kAhead < arrivals.size()) {
      const Arrival& ahead = arrivals[i + kAhead];
      prefetch_line(&heads_[ahead.stream]);
      prefetch_line(&block(ahead.stream, ahead.sequence / kFrames));
    }
    add(arrivals[i]);
  }
}

inline void FlowBook::add(const Arrival& arrival) noexcept {
  FlowHead& head = heads_[arrival.stream];
  const bool is_next = arrival.sequence == static_cast<std::uint32_t>(head.next) && head.next < plan_.frames;
  if (!is_next || arrival.sequence % kFrames == 0) [[unlikely]]
    return add_out_of_turn(head, arrival);
  FrameBlock& here = block(arrival.stream, head.next / kFrames);
  here.received |= FrameBlock::bit(head.next);
  here.passed_none |= FrameBlock::bit(head.next);
  here.last_ns = arrival.sent_ns;
  ++head.next;
  add_times(head, arrival);
}

[[gnu::always_inline]] inline void FlowBook::add_times(FlowHead& head, const Arrival& arrival) noexcept {
  const auto transit_ns = static_cast<std::int64_t>(arrival.received_ns - arrival.sent_ns);
  const std::int64_t before_ns = head.arrivals == 0 ? transit_ns : head.transit_ns;
  const auto difference_ns = static_cast<double>(std::abs(transit_ns - before_ns));
  head.jitter_ns += (difference_ns - head.jitter_ns) / 16;
  head.transit_ns = transit_ns;
  ++head.arrivals;
  head.wire_bytes += arrival.wire_bytes;
  if (transit_ns < 0) [[unlikely]] {
    ++tails_[arrival.stream].negative_latencies;
    return;
  }
  const auto latency_ns = static_cast<std::uint64_t>(transit_ns);
  head.latency_sum_ns += latency_ns;
  if (head.latency_sum_ns < latency_ns) [[unlikely]]
    ++tails_[arrival.stream].latency_carries;
  head.latency_least_ns = std::min(head.latency_least_ns, latency_ns);
  head.latency_largest_ns = std::max(head.latency_largest_ns, latency_ns);
  latency_.add(latency_ns);
  if (!flow_latency_.empty()) flow_latency_[arrival.stream].add(latency_ns);
}

[[gnu::noinline]] void FlowBook::add_out_of_turn(FlowHead& head, const Arrival& arrival) noexcept {
  FlowTail& tail = tails_[arrival.stream];
  const std::int64_t full = in_full(arrival.sequence, head.next);
  const auto sequence = static_cast<std::uint64_t>(full);
  if (full < 0 || sequence >= plan_.frames) {
    ++tail.contradictory;
  } else if (sequence >= head.next) {
    add_ahead(head, tail, arrival, sequence);
  } else if (sequence / kFrames < tail.first_block) {
    ++tail.too_late;
  } else if (block(arrival.stream, sequence / kFrames).has(sequence)) {
    ++tail.duplicates;
  } else {
    add_late(head, tail, arrival, sequence);
  }
}

void FlowBook::add_ahead(FlowHead& head, FlowTail& tail, const Arrival& arrival, std::uint64_t sequence) noexcept {
  if (sequence > head.next) tail.jumps.add(jumps(arrival.stream), {sequence, head.arrivals});
  open_blocks(tail, arrival.stream, sequence / kFrames);
  block(arrival.stream, sequence / kFrames).take(sequence, arrival.sent_ns);
  catch_up(tail, head);
  note(tail, head, sequence);
  head.next = sequence + 1;
  add_times(head, arrival);
}

void FlowBook::add_late(FlowHead& head, FlowTail& tail, const Arrival& arrival, std::uint64_t sequence) noexcept {
  catch_up(tail, head);
  const Extent extent = tail.jumps.extent(jumps(arrival.stream), sequence, head.arrivals);
  ++tail.reordered;
  tail.extent_sum += extent.frames;
  tail.extent_largest = std::max(tail.extent_largest, extent.frames);
  tail.extents_at_least += extent.says == Extent::Says::at_least ? 1 : 0;
  const bool behind_3 = std::ranges::all_of(tail.latest, [&](auto it) { return it > sequence; });
  tail.reordered_by_3 += behind_3 ? 1 : 0;
  tail.overtaking += overtakers(tail, arrival.stream, sequence);
  block(arrival.stream, sequence / kFrames).take(sequence, arrival.sent_ns);
  note(tail, head, sequence);
  add_times(head, arrival);
}

/// Returns how many frames have overtaken this one but none before.
///
/// Among arrived frames that have overtaken none, sequences grow with arrival, since a smaller one would have made
/// overtakers of all larger ones. So the last one is the largest.
std::uint64_t FlowBook::overtakers(FlowTail& tail, std::uint32_t stream, std::uint64_t sequence) noexcept {
  std::uint64_t count = 0;
  for (std::uint64_t number = tail.latest[0] / kFrames; number >= sequence / kFrames; --number) {
    FrameBlock& here = block(stream, number);
    const std::uint64_t above = number == sequence / kFrames ? FrameBlock::bits_above(sequence) : ~std::uint64_t{0};
    count += static_cast<std::uint64_t>(std::popcount(here.passed_none & above));
    here.passed_none &= ~above;
    if (number == 0) break;
  }
  return count;
}

/// Opens blocks up to `last`, and closes those that must make room.
void FlowBook::open_blocks(FlowTail& tail, std::uint32_t stream, std::uint64_t last) noexcept {
  if (last < tail.blocks) return;
  const std::uint64_t first = last < flow_blocks_ ? 0 : last + 1 - flow_blocks_;
  for (; tail.first_block < std::min(first, tail.blocks); ++tail.first_block)
    tail.losses.add(block(stream, tail.first_block));
  if (tail.first_block < first) {  // never opened: none of their frames came
    tail.losses.add_lost((first - tail.first_block) * kFrames);
    tail.first_block = first;
  }
  for (std::uint64_t number = std::max(tail.blocks, first); number <= last; ++number) block(stream, number) = {};
  tail.blocks = last + 1;
}

/// Returns how many frames of this sequence or a higher one are in the window.
std::uint64_t FlowBook::received_from(std::uint32_t stream, std::uint64_t sequence) const noexcept {
  const FlowTail& tail = tails_[stream];
  std::uint64_t count = 0;
  for (std::uint64_t number = std::max(tail.first_block, sequence / kFrames); number < tail.blocks; ++number) {
    const std::uint64_t bits = number == sequence / kFrames ? ~(FrameBlock::bit(sequence) - 1) : ~std::uint64_t{0};
    count += static_cast<std::uint64_t>(std::popcount(block(stream, number).received & bits));
  }
  return count;
}

FlowResult FlowBook::flow(std::uint32_t stream, std::uint64_t sent) const noexcept {
  const FlowHead& head = heads_[stream];
  const FlowTail& tail = tails_[stream];
  LossTally losses = tail.losses;
  for (std::uint64_t number = tail.first_block; number < tail.blocks && number * kFrames < sent; ++number)
    losses.add(block(stream, number), static_cast<unsigned>(std::min<std::uint64_t>(kFrames, sent - number * kFrames)));
  losses.add_lost(sent - std::min(sent, tail.blocks * kFrames));
  // Frames beyond the window are known only by number: there were more than were sent.
  const std::uint64_t received = std::min(head.arrivals - received_from(stream, sent), sent);

  FlowResult result{.sent = sent,
                    .received = received,
                    .duplicates = tail.duplicates,
                    .contradictory = tail.contradictory + head.arrivals - received,
                    .corrupted = tail.corrupted,
                    .too_late = tail.too_late,
                    .losses = lost_of(losses, tail.first_block * kFrames, sent, received),
                    .reordered = tail.reordered,
                    .reordered_by_3 = tail.reordered_by_3,
                    .extent_sum = tail.extent_sum,
                    .extent_largest = tail.extent_largest,
                    .extents_at_least = tail.extents_at_least,
                    .overtaking = tail.overtaking,
                    .wire_bytes = head.wire_bytes,
                    .latencies = head.arrivals - tail.negative_latencies,
                    .negative_latencies = tail.negative_latencies};
  if (result.latencies > 0) {
    result.latency_least_ns = head.latency_least_ns;
    result.latency_largest_ns = head.latency_largest_ns;
    result.latency_mean_ns =
        (static_cast<double>(tail.latency_carries) * 0x1p64 + static_cast<double>(head.latency_sum_ns)) /
        static_cast<double>(result.latencies);
  }
  if (head.arrivals > 1) result.jitter_ns = head.jitter_ns;
  return result;
}

void FlowBook::each_loss(std::uint32_t stream, std::uint64_t sent, const std::function<void(LossRun)>& tell) const {
  const FlowTail& tail = tails_[stream];
  std::uint64_t first = tail.first_block * kFrames;
  for (std::uint64_t sequence = first; sequence < tail.blocks * kFrames && sequence < sent; ++sequence) {
    if (!block(stream, sequence / kFrames).has(sequence)) continue;
    if (sequence > first) tell({first, sequence - first});
    first = sequence + 1;
  }
  if (first < sent) tell({first, sent - first});
}

std::uint64_t FlowBook::contradictory() const noexcept {
  std::uint64_t count = 0;
  for (const FlowTail& tail : tails_) count += tail.contradictory;
  return count;
}

std::size_t FlowBook::bytes() const noexcept {
  const std::size_t histograms = flow_latency_.empty() ? 0 : flow_latency_.size() * flow_latency_[0].bytes();
  return blocks_.bytes() + jumps_.bytes() + heads_.size() * (sizeof(FlowHead) + sizeof(FlowTail)) + latency_.bytes() +
         histograms;
}

}  // namespace parshall::tester
