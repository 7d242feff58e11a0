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

/// A flow table under its name for `--table`, for one type of identity.
struct TableEntry {
  std::string_view name;
  bool exact;         ///< compares whole keys; otherwise serves fingerprint and nic-hash
  unsigned tag_bits;  ///< bits of the hash kept per flow beside its bucket; 0 if exact
  std::string_view help;
  std::unique_ptr<FlowStage> (*make)(const FlowStageOptions&);
  std::size_t (*memory_bytes)(std::size_t flows);
  std::size_t (*slots)(std::size_t flows);
};

/// Lists all tables that the program knows.
std::span<const TableEntry> table_registry() noexcept;

/// Adds tables of another program; call it before any other function.
void add_tables(std::span<const TableEntry> tables);

/// Finds a table by name and identity. Error: there is none; the message names those that exist.
Result<const TableEntry*> find_table(std::string_view name, Identity identity);

/// Returns the expected number of flow pairs that shared a fingerprint while both were in a table of one of `workers`.
/// Assumes that each flow, on arrival, met as many flows as there are now. Returns 0 for exact identity. Hashes without
/// a secret are assumed to be uniform, which not all are; null: the default hash.
double expected_merges(const TableEntry& table, Identity identity, const HashFunction* hash, std::size_t workers,
                       const Counters& counts);

}  // namespace parshall
