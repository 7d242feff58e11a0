// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.hpp"
#include "engine/flow_stage.hpp"
#include "pipeline/flow/identity.hpp"

namespace parshall {

/// A flow table by the name `--table` knows it by, for one kind of identity.
struct TableEntry {
  std::string_view name;
  bool exact;         ///< compares whole keys; otherwise serves fingerprint and nic-hash
  unsigned tag_bits;  ///< of the hash, kept per flow beside its bucket; 0 where exact
  std::string_view help;
  std::unique_ptr<FlowStage> (*make)(const FlowStageOptions&);
  std::size_t (*memory_bytes)(std::size_t flows);
  std::size_t (*slots)(std::size_t flows);
};

/// Every table that the program knows: one line each.
std::span<const TableEntry> table_registry() noexcept;

/// More of them, from a program that has more: before anything asks.
void add_tables(std::span<const TableEntry> tables);

/// Fails when no table of that name keeps flows by that identity; the message names those that exist.
Result<const TableEntry*> find_table(std::string_view name, Identity identity);

/// Expected pairs of flows that shared a fingerprint while both were in a table of one of `workers`: each flow, when it
/// came, met as many as there are now. 0 for exact identity. The words of a hash without a secret are taken to be even,
/// which not all of them are; null: the default hash.
double expected_merges(const TableEntry& table, Identity identity, const HashFunction* hash, std::size_t workers,
                       const Counters& counts);

}  // namespace parshall
