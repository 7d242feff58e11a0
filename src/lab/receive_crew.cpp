// SPDX-License-Identifier: Apache-2.0
#include "lab/receive_crew.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace parshall::lab {
namespace {

/// Whole rounds, which a worker would end anyhow.
std::size_t in_rounds(std::size_t packets, std::size_t arrivals) noexcept {
  return (packets + arrivals - 1) / arrivals * arrivals;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

}  // namespace

ReceiveCrew::ReceiveCrew(const ReceiveShape& shape, std::span<const int> other_cores, std::uint64_t seed)
    : shape_(shape), other_cores_(other_cores), pools_(shape, seed) {
  for (std::size_t core = 0; core < shape.cores; ++core)
    workers_.push_back(std::make_unique<ReceiveWorker>(shape, pools_, core, seed));
}

std::optional<Error> ReceiveCrew::check() {
  if (auto error = check_stock()) return error;
  const std::size_t packets = in_rounds(2 * shape_.buffers, shape_.arrivals);
  std::vector<ReceiveAudit> audits;
  for (std::size_t core = 0; core < workers_.size(); ++core) audits.emplace_back(std::uint64_t{core} << 32);
  on_each_core(workers_.size(), other_cores_,
               [&](std::size_t core) { workers_[core]->run_audited(packets, audits[core]); });
  for (const ReceiveAudit& audit : audits)
    if (auto error = audit.wrong(packets)) return wrong(std::move(error->message));
  if (auto error = check_stock()) return error;
  std::vector<CoRunners::Work> works;
  for (std::size_t core = 1; core < workers_.size(); ++core)
    works.emplace_back([worker = workers_[core].get()] { worker->run(4096); });
  co_runners_ = std::make_unique<CoRunners>(other_cores_, std::move(works));
  return std::nullopt;
}

Variant ReceiveCrew::variant() {
  return {.name = fmt::format("{} queues, {}", shape_.queues, kPoolsNames[static_cast<std::size_t>(shape_.pools)]),
          .run = [this](std::size_t packets) { run(packets); },
          .observe = [this] { observe(); },
          .disturbed = [this] { return alone(); }};
}

/// The other cores start at the first call and go on until observe(): waiting for them is no part of the cost.
void ReceiveCrew::run(std::size_t packets) {
  using Clock = std::chrono::steady_clock;
  if (!running_) co_runners_->start();
  running_ = true;
  const auto start = Clock::now();
  const double before = thread_cpu_ns() + co_runners_->cpu_ns();
  workers_[0]->run(packets);
  const double ran = thread_cpu_ns() + co_runners_->cpu_ns() - before;
  const double passed = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  together_ = std::clamp(ran / passed - static_cast<double>(workers_.size() - 1), 0.0, 1.0);
}

/// Where the cycles go.
void ReceiveCrew::observe() {
  constexpr std::size_t kPackets = std::size_t{1} << 15;
  all_together_.push_back(together_);
  const ReceiveCycles cycles = workers_[0]->run_timed(kPackets);
  polling_cycles_.push_back(cycles.polling);
  pool_cycles_.push_back(cycles.pool);
  co_runners_->stop();
  running_ = false;
}

Result<ReceiveRow> ReceiveCrew::leave(const Cost& cost) {
  co_runners_.reset();
  for (const auto& worker : workers_)
    if (const ReceiveCounts& counts = worker->counts(); counts.received != counts.sent)
      return *wrong(fmt::format("{} of {} packets sent were received", counts.received, counts.sent));
  if (auto error = check_stock()) return *std::move(error);
  const ReceiveCounts& counts = workers_[0]->counts();
  return ReceiveRow{.of = shape_,
                    .cost = cost,
                    .polling_cycles = median(polling_cycles_),
                    .pool_cycles = median(pool_cycles_),
                    .polls = static_cast<double>(counts.polls) / static_cast<double>(counts.received),
                    .empty_polls = static_cast<double>(counts.empty_polls) / static_cast<double>(counts.received),
                    .together = median(all_together_)};
}

std::optional<Error> ReceiveCrew::check_stock() {
  for (const auto& worker : workers_) worker->flush();
  auto error = wrong_stock(pools_.stock());
  return error ? wrong(std::move(error->message)) : std::nullopt;
}

std::optional<Error> ReceiveCrew::wrong(std::string what) const {
  return Error{fmt::format("queues {}, pools {}, cache {}, burst {}, cores {}: {}", shape_.queues,
                           kPoolsNames[static_cast<std::size_t>(shape_.pools)], shape_.cache, shape_.burst,
                           shape_.cores, what)};
}

}  // namespace parshall::lab
