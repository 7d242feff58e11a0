// SPDX-License-Identifier: Apache-2.0
#include "lab/receive/audit.hpp"

#include <fmt/format.h>

namespace parshall::lab {

std::optional<Error> ReceiveAudit::wrong(std::size_t sent) const {
  const auto lost = std::ranges::count(seen_, 0), twice = std::ranges::count(seen_, 2);
  if (seen_.size() == sent && lost == 0 && twice == 0 && invented_ == 0) return std::nullopt;
  return Error{fmt::format(
      "of {} packets sent {} got a buffer; of these {} were lost and {} came twice; {} came that were never sent", sent,
      seen_.size(), lost, twice, invented_)};
}

std::optional<Error> wrong_stock(std::span<const PoolStock> pools) {
  for (const PoolStock& pool : pools)
    if (pool.back != pool.made || pool.own != pool.made)
      return Error{fmt::format(
          "pool {} of {} was made with {} buffers; {} were returned; {} of these belong to it and were returned once",
          &pool - pools.data() + 1, pools.size(), pool.made, pool.back, pool.own)};
  return std::nullopt;
}

}  // namespace parshall::lab
