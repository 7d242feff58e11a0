// SPDX-License-Identifier: Apache-2.0
#include "lab/hashes/report.hpp"

#include <fmt/format.h>

#include "base/figures/row_columns.hpp"

namespace parshall::lab {
namespace {

constexpr auto kHashWhat = std::to_array<ColumnOf<HashRow>>({
    {{"ip_version", "IP version", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.of.ipv6 ? 6u : 4u}; }},
    {{"input", "input", 0, kCommon},
     [](auto& row) -> Cell { return std::string(kHashInputNames[static_cast<std::size_t>(row.of.input)]); }},
    {{"input_bytes", "bytes", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.of.input_bytes()}; }},
    {{"keys", "keys", 0, kCommon}, [](auto& row) -> Cell { return std::uint64_t{row.of.keys}; }},
    {{"buckets", "buckets", 0, kCommon},
     [](auto& row) -> Cell { return std::uint64_t{1} << bucket_bits(row.of.keys); }},
    {{"hash", "hash"}, [](auto& row) -> Cell { return std::string(row.hash->name); }},
    {{"bits", "bits"}, [](auto& row) -> Cell { return std::uint64_t{row.hash->bits}; }},
});
constexpr auto kHashFigures = std::to_array<ColumnOf<HashRow>>({
    {{"ideal_collided_share", "ideal", 6},
     [](auto& row) -> Cell { return ideal_collided_share(row.of.keys, row.hash->bits); }},
    {{"random_collided_share", "collided", 6}, [](auto& row) -> Cell { return row.random.collided_share; }},
    {{"random_low_chi_square", "low chi2"}, [](auto& row) -> Cell { return row.random.low_chi_square; }},
    {{"random_high_chi_square", "high chi2"}, [](auto& row) -> Cell { return row.random.high_chi_square; }},
    {{"random_overflow_share", "overflow", 4}, [](auto& row) -> Cell { return row.random.overflow_share; }},
    {{"consecutive_collided_share", "consecutive: collided", 6},
     [](auto& row) -> Cell { return row.consecutive.collided_share; }},
    {{"consecutive_low_chi_square", "low chi2"}, [](auto& row) -> Cell { return row.consecutive.low_chi_square; }},
    {{"consecutive_high_chi_square", "high chi2"}, [](auto& row) -> Cell { return row.consecutive.high_chi_square; }},
    {{"consecutive_overflow_share", "overflow", 4}, [](auto& row) -> Cell { return row.consecutive.overflow_share; }},
});

/// Lists all columns in order. Below "row": consecutive addresses.
constexpr auto kHashColumns = columns_in_order(kHashWhat, kCostColumns<HashRow>, kHashFigures, kSampleColumns<HashRow>);

std::string verdict(std::span<const HashRow> rows) {
  std::string colliding;
  for (const HashRow& row : rows)
    if (collides_too_often(row.random, row.of.keys, row.hash->bits) ||
        collides_too_often(row.consecutive, row.of.keys, row.hash->bits))
      colliding += fmt::format("{}{}", colliding.empty() ? "" : ", ", row.hash->name);
  return colliding.empty() ? "none collides more often than a random function"
                           : "collide more often than a random function: " + colliding;
}

}  // namespace

std::span<const Column> hash_columns() noexcept {
  static const std::vector<Column> heads = heads_of<HashRow>(kHashColumns);
  return heads;
}

Part hash_part(std::span<const HashRow> rows) { return part_of<HashRow>(kHashColumns, rows, verdict(rows)); }

}  // namespace parshall::lab
