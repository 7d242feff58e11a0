// SPDX-License-Identifier: Apache-2.0
#include "lab/hash_report.hpp"

#include <fmt/format.h>

namespace parshall::lab {
namespace {

constexpr bool kCommon = true;
using Row = const HashRow&;

struct HashColumn {
  Column column;
  Cell (*of)(Row row);
};

/// Every one there is, in this order. Below "row": addresses in a row.
constexpr HashColumn kColumns[] = {
    {{"ip_version", "IP version", 0, kCommon}, [](Row row) -> Cell { return std::uint64_t{row.of.ipv6 ? 6u : 4u}; }},
    {{"input", "input", 0, kCommon},
     [](Row row) -> Cell { return std::string(kHashInputNames[static_cast<std::size_t>(row.of.input)]); }},
    {{"input_bytes", "bytes", 0, kCommon}, [](Row row) -> Cell { return std::uint64_t{row.of.input_bytes()}; }},
    {{"keys", "keys", 0, kCommon}, [](Row row) -> Cell { return std::uint64_t{row.of.keys}; }},
    {{"buckets", "buckets", 0, kCommon}, [](Row row) -> Cell { return std::uint64_t{1} << bucket_bits(row.of.keys); }},
    {{"hash", "hash"}, [](Row row) -> Cell { return std::string(row.hash->name); }},
    {{"bits", "bits"}, [](Row row) -> Cell { return std::uint64_t{row.hash->bits}; }},
    {{"ns", "ns"}, [](Row row) -> Cell { return row.cost.median_ns; }},
    {{"low_ns", "low"}, [](Row row) -> Cell { return row.cost.low_ns; }},
    {{"high_ns", "high"}, [](Row row) -> Cell { return row.cost.high_ns; }},
    {{"ratio", "ratio"}, [](Row row) -> Cell { return row.cost.ratio; }},
    {{"low_ratio", "low"}, [](Row row) -> Cell { return row.cost.ratio_low; }},
    {{"high_ratio", "high"}, [](Row row) -> Cell { return row.cost.ratio_high; }},
    {{"ideal_collided_share", "ideal", 6},
     [](Row row) -> Cell { return ideal_collided_share(row.of.keys, row.hash->bits); }},
    {{"random_collided_share", "collided", 6}, [](Row row) -> Cell { return row.random.collided_share; }},
    {{"random_low_chi_square", "low chi2"}, [](Row row) -> Cell { return row.random.low_chi_square; }},
    {{"random_high_chi_square", "high chi2"}, [](Row row) -> Cell { return row.random.high_chi_square; }},
    {{"consecutive_collided_share", "row: collided", 6},
     [](Row row) -> Cell { return row.consecutive.collided_share; }},
    {{"consecutive_low_chi_square", "low chi2"}, [](Row row) -> Cell { return row.consecutive.low_chi_square; }},
    {{"consecutive_high_chi_square", "high chi2"}, [](Row row) -> Cell { return row.consecutive.high_chi_square; }},
    {{"kept", ""}, [](Row row) -> Cell { return std::uint64_t{row.cost.kept}; }},
    {{"samples", ""}, [](Row row) -> Cell { return std::uint64_t{row.cost.samples}; }},
    {{"kept_of_samples", "samples"},
     [](Row row) -> Cell { return fmt::format("{}/{}", row.cost.kept, row.cost.samples); }},
};

std::string verdict(std::span<const HashRow> rows) {
  std::string colliding;
  for (const HashRow& row : rows)
    if (collides_too_often(row.random, row.of.keys, row.hash->bits) ||
        collides_too_often(row.consecutive, row.of.keys, row.hash->bits))
      colliding += fmt::format("{}{}", colliding.empty() ? "" : ", ", row.hash->name);
  return colliding.empty() ? "none collides more often than chance would have it"
                           : "collide more often than chance would have it: " + colliding;
}

}  // namespace

std::span<const Column> hash_columns() noexcept {
  static const std::vector<Column> columns = [] {
    std::vector<Column> made;
    for (const HashColumn& column : kColumns) made.push_back(column.column);
    return made;
  }();
  return columns;
}

Part hash_part(std::span<const HashRow> rows) {
  Part part{.rows = {}, .verdict = verdict(rows)};
  for (const HashRow& row : rows) {
    auto& cells = part.rows.emplace_back();
    for (const HashColumn& column : kColumns) cells.push_back(column.of(row));
  }
  return part;
}

}  // namespace parshall::lab
