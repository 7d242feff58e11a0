// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "lab/candidate.hpp"
#include "lab/tasks.hpp"

namespace parshall::lab {

/// What a structure keeps for a flow, and of how many.
struct Shape {
  std::size_t key_bytes = 16;    ///< one of key_sizes()
  std::size_t value_bytes = 16;  ///< one of value_sizes(); for Task::count alone
  Task task = Task::count;
  std::size_t flows = 0;  ///< of which a structure keeps each, that does so however few entries it is made for

  /// Not every combination is compiled: keys of 8 bytes with every task, of 40 bytes with Task::count; other values
  /// than of 16 bytes with keys of 16 bytes.
  bool supported() const noexcept {
    if (key_bytes == 16) return true;
    return value_bytes == 16 && (key_bytes == 8 || task == Task::count);
  }
};

/// A structure by the name `parshall bench tables` knows it by.
struct TableUnderTest {
  std::string_view name;
  std::string_view help;
  bool any_value;   ///< made for each size of value; otherwise it keeps what it keeps
  bool whole_keys;  ///< counts exactly; otherwise it may merge flows
  std::unique_ptr<Candidate> (*make)(std::size_t entries, const Shape& shape, std::uint64_t seed, TaskTally tally);
  std::size_t (*memory_bytes)(std::size_t entries, const Shape& shape);  ///< the most it ever uses
  bool counts_alone = false;  ///< made for tasks that need no more than counts

  bool does(Task task) const noexcept { return !counts_alone || counts_are_enough(task); }
};

/// Every one there is: one line each.
std::span<const TableUnderTest> tables_under_test() noexcept;

/// Of these the ones that count without keeping every flow.
std::span<const TableUnderTest> sketches_under_test() noexcept;

/// Bytes a map may keep for a flow, smallest first; and bytes that its key may have.
std::span<const std::size_t> value_sizes() noexcept;
std::span<const std::size_t> key_sizes() noexcept;

}  // namespace parshall::lab
