// SPDX-License-Identifier: Apache-2.0
#include "lab/receive/crew.hpp"

#include <fmt/format.h>

namespace parshall::lab {
namespace {

/// Rounds up to whole rounds, which a worker would complete anyway.
std::size_t in_rounds(std::size_t packets, std::size_t arrivals) noexcept {
  return (packets + arrivals - 1) / arrivals * arrivals;
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
  company_ = std::make_unique<Company>(other_cores_, std::move(works));
  return std::nullopt;
}

Variant ReceiveCrew::variant() {
  return {.name = fmt::format("{} queues, {}", shape_.queues, kPoolsNames[static_cast<std::size_t>(shape_.pools)]),
          .run = [this](std::size_t packets) { company_->take_part([&] { workers_[0]->run(packets); }); },
          .observe = [this] { observe(); },
          .disturbed = [this] { return company_->disturbed(); }};
}

/// Records where the cycles are spent.
void ReceiveCrew::observe() {
  constexpr std::size_t kPackets = std::size_t{1} << 15;
  ReceiveCycles cycles;
  company_->beside([&] { cycles = workers_[0]->run_timed(kPackets); });
  polling_cycles_.push_back(cycles.polling);
  pool_cycles_.push_back(cycles.pool);
}

Result<ReceiveRow> ReceiveCrew::leave(const Cost& cost) {
  const double together = company_->together();
  company_.reset();
  for (const auto& worker : workers_)
    if (const ReceiveCounts& counts = worker->counts(); counts.received != counts.sent)
      return *wrong(fmt::format("{} of {} packets sent were received", counts.received, counts.sent));
  if (auto error = check_stock()) return *std::move(error);
  const ReceiveCounts& counts = workers_[0]->counts();
  return ReceiveRow{.of = shape_,
                    .cost = cost,
                    .polling_cycles = estimate(polling_cycles_).median,
                    .pool_cycles = estimate(pool_cycles_).median,
                    .polls = static_cast<double>(counts.polls) / static_cast<double>(counts.received),
                    .empty_polls = static_cast<double>(counts.empty_polls) / static_cast<double>(counts.received),
                    .together = together};
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
