// SPDX-License-Identifier: Apache-2.0
#include "lab/receive/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>

#include "base/machine.hpp"
#include "lab/receive/crew.hpp"

namespace parshall::lab {
namespace {

/// Short enough that other programs rarely interrupt it.
constexpr std::size_t kReceiveSample = std::size_t{1} << 16;

std::optional<Error> out_of_range(const char* option, std::span<const std::size_t> values, std::size_t least,
                                  std::size_t most, const char* what) {
  for (const std::size_t value : values)
    if (value < least || value > most)
      return Error{fmt::format("{} {}: from {} to {}{}", option, value, least, most, what)};
  return std::nullopt;
}

/// Returns an error unless every pool always has a buffer when one is needed.
std::optional<Error> too_few_buffers(const ReceiveShape& shape) {
  if (shape.buffers_of_pool() >= shape.buffers_out()) return std::nullopt;
  return Error{
      fmt::format("--buffers {}, --queues {}, --pools {}: {} buffers a pool, and at least {} are needed, --arrivals {} "
                  "and 1.5 times --cache {}",
                  shape.buffers, shape.queues, kPoolsNames[static_cast<std::size_t>(shape.pools)],
                  shape.buffers_of_pool(), shape.buffers_out(), shape.arrivals, shape.cache)};
}

/// Returns the rows of each comparison.
std::vector<std::vector<ReceiveShape>> comparisons(const ReceiveSweep& sweep) {
  std::vector<std::vector<ReceiveShape>> all;
  for (const std::size_t cores : sweep.cores)
    for (const std::size_t burst : sweep.burst)
      for (const std::size_t cache : sweep.cache)
        for (const std::size_t arrivals : sweep.arrivals) {
          auto& shapes = all.emplace_back();
          for (const std::size_t queues : sweep.queues)
            for (const Pools pools : sweep.pools)
              shapes.push_back({queues, pools, cache, burst, cores, arrivals, sweep.buffers});
        }
  return all;
}

std::optional<Error> enough_memory(std::span<const ReceiveShape> shapes) {
  std::size_t needed = 0;
  for (const ReceiveShape& shape : shapes) needed += BufferPools::memory_bytes(shape);
  const std::size_t available = available_bytes();
  if (needed <= available) return std::nullopt;
  return Error{fmt::format("the buffers need {} MB, but {} MB are available: give fewer with --buffers", needed >> 20,
                           available >> 20)};
}

/// Measures a comparison; returns no rows if `stop` returned true.
Result<std::vector<ReceiveRow>> measure(const ReceiveSweep& sweep, std::span<const ReceiveShape> shapes,
                                        const std::function<bool()>& stop) {
  if (auto error = enough_memory(shapes)) return *std::move(error);
  const OnOneCore pinned;
  const std::size_t cores = shapes[0].cores, arrivals = shapes[0].arrivals;
  std::vector<std::unique_ptr<ReceiveCrew>> crews;
  std::vector<Variant> variants;
  for (const ReceiveShape& shape : shapes) {
    if (stop()) return std::vector<ReceiveRow>();
    auto& crew =
        *crews.emplace_back(std::make_unique<ReceiveCrew>(shape, pinned.others().first(cores - 1), sweep.seed));
    if (auto error = crew.check()) return *std::move(error);
    variants.push_back(crew.variant());
  }
  const std::size_t sample = std::max<std::size_t>(1, kReceiveSample / arrivals) * arrivals;
  const std::size_t warm_up = std::min(4 * kReceiveSample, std::max(kReceiveSample, 2 * sweep.buffers));
  const std::vector<Cost> costs = Harness(sample, sweep.rounds, warm_up).measure(variants, stop);
  std::vector<ReceiveRow> rows;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    auto row = crews[i]->leave(costs[i]);
    if (!row) return row.error();
    rows.push_back(*row);
  }
  return rows;
}

}  // namespace

std::optional<Error> wrong_receiving(const ReceiveSweep& sweep) {
  using Shape = ReceiveShape;
  if (auto error = out_of_range("--queues", sweep.queues, 1, Shape::kMaxQueues, " a core")) return error;
  if (auto error = out_of_range("--cache", sweep.cache, 0, Shape::kMaxCache, ", DPDK's limit")) return error;
  if (auto error = out_of_range("--burst", sweep.burst, 1, Shape::kMaxBurst, " packets")) return error;
  if (auto error = out_of_range("--arrivals", sweep.arrivals, 1, Shape::kMaxArrivals, " packets")) return error;
  if (auto error = out_of_range("--buffers", {&sweep.buffers, 1}, 1, Shape::kMaxBuffers, " a core")) return error;
  if (auto error = out_of_range("--cores", sweep.cores, 1, OnOneCore().others().size() + 1,
                                ", the cores that this process may use"))
    return error;
  for (const auto& shapes : comparisons(sweep)) {
    std::size_t queues = 0;
    for (const ReceiveShape& shape : shapes) {
      if (auto error = too_few_buffers(shape)) return error;
      queues += shape.cores * shape.queues;
    }
    if (queues > Shape::kMaxQueuesInAll)
      return Error{fmt::format("--queues: {} in all rows and on all cores, but at most {} are possible: name fewer",
                               queues, Shape::kMaxQueuesInAll)};
  }
  return std::nullopt;
}

std::size_t combinations(const ReceiveSweep& sweep) noexcept {
  return sweep.cores.size() * sweep.burst.size() * sweep.cache.size() * sweep.arrivals.size();
}

Result<std::size_t> measure_receiving(const ReceiveSweep& sweep,
                                      const std::function<void(std::span<const ReceiveRow>)>& done,
                                      const std::function<bool()>& stop) {
  if (!BufferPools::available())
    return Error{
        "built without DPDK, which provides the queues and pools; install libdpdk-dev and configure with "
        "-Ddpdk=enabled"};
  if (auto error = wrong_receiving(sweep)) return *std::move(error);
  std::size_t measured = 0;
  try {
    for (const auto& shapes : comparisons(sweep)) {
      if (stop()) return measured;
      const auto rows = measure(sweep, shapes, stop);
      if (!rows) return rows.error();
      if (rows->empty()) return measured;
      done(*rows);
      ++measured;
    }
  } catch (const std::bad_alloc&) {
    return Error{
        "DPDK did not start, or cannot make so many pools and queues: name fewer, or give fewer with --buffers"};
  }
  return measured;
}

}  // namespace parshall::lab
