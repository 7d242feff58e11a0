// SPDX-License-Identifier: Apache-2.0
#include "lab/contention/counting_crew.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

namespace parshall::lab {

CountingCrew::CountingCrew(const CountingWay& way, std::span<const CoreUse> shares, std::span<const int> other_cores,
                           std::size_t flows, std::uint64_t seed)
    : way_(&way), shares_(shares), other_cores_(other_cores), flows_(flows), seats_(shares.size()) {
  std::vector<std::size_t> flows_of_core;
  for (const CoreUse& share : shares) flows_of_core.push_back(share.flows.size());
  auto candidates = way.make(flows_of_core, flows, seed);
  for (std::size_t core = 0; core < seats_.size(); ++core) seats_[core].candidate = std::move(candidates[core]);
}

std::optional<Error> CountingCrew::fill(std::span<const std::uint64_t> truth) {
  on_each_core(seats_.size(), other_cores_, [&](std::size_t core) {
    Candidate& candidate = *seats_[core].candidate;
    candidate.run(shares_[core].flows);
    candidate.run(shares_[core].packets);
    candidate.drain();
  });
  return check(truth);
}

void CountingCrew::enter(std::size_t number, std::size_t of_all) {
  constexpr std::size_t kPackets = 4096;
  std::vector<CoRunners::Work> works;
  for (std::size_t core = 0; core < seats_.size(); ++core) {
    const CoreUse& share = shares_[core];
    const std::size_t begin = (share.begin + share.packets.size() / of_all * number) % share.packets.size();
    sent_ += share.flows.size() + share.packets.size();
    Player& player =
        seats_[core].player.emplace(share.packets, begin, ContentionSweep::kBatch, *seats_[core].candidate);
    if (core != 0) works.emplace_back([&player] { player.play(kPackets); });
  }
  company_ = std::make_unique<Company>(other_cores_, std::move(works));
}

Variant CountingCrew::variant() {
  return {.name = std::string(way_->name),
          .run = [this](std::size_t packets) { company_->take_part([&] { seats_[0].player->play(packets); }); },
          .observe = [this] { observe(); },
          .disturbed = [this] { return company_->disturbed(); }};
}

/// Records the costs of single batches.
void CountingCrew::observe() {
  constexpr std::size_t kPackets = std::size_t{1} << 16;
  company_->beside(
      [this] { batches_.measure(kPackets, [this](std::size_t most) { return seats_[0].player->play_batch(most); }); });
}

Result<double> CountingCrew::leave() {
  together_ = company_->together();
  company_.reset();
  std::uint64_t sent = sent_;
  for (Seat& seat : seats_) {
    seat.candidate->drain();
    sent += seat.player->played();
  }
  std::vector<std::uint64_t> counts(flows_);
  add_counts(counts);
  const std::uint64_t counted = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (counted > sent || (way_->exact && counted != sent))
    return Error{fmt::format("{} counted {} of {} packets", way_->name, counted, sent)};
  return static_cast<double>(sent - counted) / static_cast<double>(sent);
}

ContentionRow CountingCrew::row(const Cost& cost, double lost_share) {
  return {.way = way_,
          .of = {},
          .cost = cost,
          .merge_ns = std::nullopt,
          .batches = batches_.figures(),
          .lost_share = lost_share,
          .together = together_};
}

void CountingCrew::add_counts(std::span<std::uint64_t> sums) const {
  std::vector<std::uint64_t> counts(sums.size());
  for (const Seat& seat : std::span(seats_).first(way_->shared ? 1 : seats_.size())) {
    seat.candidate->counts(counts);
    std::ranges::transform(counts, sums, sums.begin(), std::plus<>());
  }
}

std::optional<Error> CountingCrew::check(std::span<const std::uint64_t> truth) const {
  std::vector<std::uint64_t> counts(flows_);
  add_counts(counts);
  if (!way_->apart) {
    const auto counted = std::reduce(counts.begin(), counts.end()), sent = std::reduce(truth.begin(), truth.end());
    if (counted == sent) return std::nullopt;
    return Error{fmt::format("{} counted {} of {} packets on {} cores", way_->name, counted, sent, seats_.size())};
  }
  for (std::size_t flow = 0; flow < flows_; ++flow)
    if (counts[flow] > truth[flow] || (way_->exact && counts[flow] != truth[flow]))
      return Error{fmt::format("{} counted {} of {} packets of flow {} on {} cores", way_->name, counts[flow],
                               truth[flow], flow, seats_.size())};
  for (const Seat& seat : seats_) {
    const std::size_t expected =
        way_->shared ? flows_ : shares_[static_cast<std::size_t>(&seat - &seats_[0])].flows.size();
    if (seat.candidate->size() != expected)
      return Error{fmt::format("{} has {} flows of {} on {} cores", way_->name, seat.candidate->size(), expected,
                               seats_.size())};
  }
  return std::nullopt;
}

}  // namespace parshall::lab
