// SPDX-License-Identifier: Apache-2.0
#include "lab/profile/lookups.hpp"

#include <algorithm>
#include <cmath>

#include "base/clock.hpp"
#include "base/figures/batch_costs.hpp"
#include "base/simd.hpp"
#include "pipeline/flow/in_flight.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kSerial = 256;     ///< packets made before a clock starts; few enough for the L1 cache
constexpr std::size_t kStopEvery = 256;  ///< batches between two calls of `stop`

/// Reads the time stamp counter; everything before has finished, and nothing after has begun.
[[gnu::always_inline]] inline std::uint64_t fenced_ticks() noexcept {
  finish_instructions();
  const std::uint64_t now = cpu_ticks();
  finish_instructions();
  return now;
}

double quantile(const std::vector<double>& sorted, double of) noexcept {
  return sorted[static_cast<std::size_t>(of * static_cast<double>(sorted.size() - 1))];
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : quantile(values, 0.5);
}

std::vector<double> as_numbers(const std::vector<std::uint64_t>& ticks) { return {ticks.begin(), ticks.end()}; }

}  // namespace

Times without_interrupts(std::vector<double> ns) {
  constexpr double kRanges = 20, kLeastRange = 0.25;
  if (ns.empty()) return {};
  std::vector<double> sorted = ns;
  std::ranges::sort(sorted);
  const double middle = quantile(sorted, 0.5);
  const double range = std::max(quantile(sorted, 0.75) - quantile(sorted, 0.25), kLeastRange * middle);
  const std::size_t dropped = std::erase_if(ns, [&](double time) { return time > middle + kRanges * range; });
  return {std::move(ns), dropped};
}

LookupProbe::LookupProbe(std::size_t flows, std::uint64_t seed)
    : table_(flows, {}, ended_, {.populate = true}),
      hasher_{KeyedHash(seed)},
      random_(seed),
      asked_(kBatchedLookups),
      slots_(kBatchedLookups) {}

std::size_t LookupProbe::memory_bytes(std::size_t flows) noexcept {
  // Per slot: the first-seen time and a mark. Per line: the count of flows elsewhere. IPv4 flows touch nothing else.
  constexpr std::size_t kBeside = ExactLine::kSlots * (sizeof(std::uint64_t) + 1) + sizeof(std::uint16_t);
  return lines(flows) * (sizeof(ExactLine) + kBeside);
}

std::size_t LookupProbe::touched_bytes(std::size_t flows) noexcept {
  const auto all = static_cast<double>(lines(flows));
  const double homes = all * -std::expm1(-static_cast<double>(flows) / all);
  return static_cast<std::size_t>(homes) * sizeof(ExactLine);
}

void LookupProbe::ask(std::size_t at, std::uint32_t flow) noexcept {
  PacketFacts& facts = asked_[at];
  const LabKey<16> key = key_of<16>(flow);
  write_flow_key(key, facts.key);
  facts.hash = hasher_(key);
  facts.time_ns = ++time_ns_;
  facts.counts = CountWord::packet(46, 60, 0);
}

void LookupProbe::choose(std::size_t count, Of of) noexcept {
  asked_.resize(count);
  slots_.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    ask(i, static_cast<std::uint32_t>(of == Of::fresh ? flows_++ : random_.below(flows_)));
}

void LookupProbe::check(Of of) noexcept {
  for (const SlotRef slot : slots_) wrong_ += slot.is_new() != (of == Of::fresh);
}

void LookupProbe::place(Entries entries) const noexcept {
  if (entries == Entries::as_they_are) return;
  for (const PacketFacts& facts : asked_) {
    const auto home = reinterpret_cast<std::uintptr_t>(table_.prefetcher().home(facts.hash));
    for (const std::uintptr_t line : {home, home ^ sizeof(ExactLine)})
      simd::flush_line(reinterpret_cast<const void*>(line));
  }
  simd::finish_flushes();
}

void LookupProbe::update_batch() noexcept {
  const auto lines = table_.prefetcher();
  const std::span<const PacketFacts> all(asked_);
  for (std::size_t i = 0; i < std::min(InFlight::kDistance, all.size()); ++i) lines(all[i].hash);
  for (std::size_t at = 0; at < all.size(); at += kGroup) {
    const auto group = all.subspan(at, std::min(kGroup, all.size() - at));
    table_.update(group, std::span(slots_).subspan(at, group.size()), [&](std::size_t i) {
      const std::size_t later = at + i + InFlight::kDistance;
      if (later < all.size()) lines(all[later].hash);
    });
  }
}

bool LookupProbe::fill(std::size_t flows, const std::function<bool()>& stop) {
  for (std::size_t batch = 0; flows_ < flows; ++batch) {
    if (batch % kStopEvery == 0 && stop()) return false;
    choose(std::min(kBatchedLookups, flows - flows_), Of::fresh);
    update_batch();
    check(Of::fresh);
  }
  return true;
}

void LookupProbe::warm() {
  for (std::size_t first = 0; first < flows_; first += kBatchedLookups) {
    const std::size_t count = std::min(kBatchedLookups, flows_ - first);
    asked_.resize(count);
    slots_.resize(count);
    for (std::size_t i = 0; i < count; ++i) ask(i, static_cast<std::uint32_t>(first + i));
    update_batch();
    check(Of::known);
  }
}

void LookupProbe::time_each(Of of, Entries entries, std::size_t count, Ticks& ticks) {
  for (std::size_t done = 0; done < count; done += asked_.size()) {
    choose(std::min(kSerial, count - done), of);
    place(entries);
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      const std::uint64_t start = fenced_ticks();
      table_.update(std::span(&asked_[i], 1), std::span(&slots_[i], 1));
      ticks.push_back(fenced_ticks() - start);
      const std::uint64_t nothing = fenced_ticks();
      around_nothing_.push_back(fenced_ticks() - nothing);
    }
    check(of);
  }
}

void LookupProbe::time_batches(Of of, std::size_t batches, Ticks& ticks) {
  for (std::size_t batch = 0; batch < batches; ++batch) {
    choose(kBatchedLookups, of);
    const std::uint64_t start = fenced_ticks();
    update_batch();
    ticks.push_back(fenced_ticks() - start);
    check(of);
  }
}

Times LookupProbe::one_at_a_time(const Ticks& ticks) const {
  const double stamps = median(as_numbers(around_nothing_));
  std::vector<double> ns = as_numbers(ticks);
  for (double& time : ns) time = std::max(1.0, time - stamps) / cycles_per_ns();
  return without_interrupts(std::move(ns));
}

Times LookupProbe::per_lookup(const Ticks& ticks) {
  std::vector<double> ns = as_numbers(ticks);
  for (double& time : ns) time /= cycles_per_ns() * static_cast<double>(kBatchedLookups);
  return without_interrupts(std::move(ns));
}

}  // namespace parshall::lab
