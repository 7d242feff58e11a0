// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "lab/tables/candidate.hpp"
#include "lab/tables/tasks.hpp"

namespace parshall::lab {

/// Values that a structure keeps for each flow, and the number of flows.
struct Shape {
  std::size_t key_bytes = 16;    ///< one of key_sizes()
  std::size_t value_bytes = 16;  ///< one of value_sizes(); for Task::count only
  Task task = Task::count;
  std::size_t flows = 0;  ///< number of flows that are kept, for structures that keep all however few entries they are
                          ///< made for

  /// Returns true if the combination is compiled. Keys of 8 bytes go with every task, keys of 40 bytes with Task::count
  /// only. Values of other sizes than 16 bytes go with keys of 16 bytes.
  bool supported() const noexcept {
    if (key_bytes == 16) return true;
    return value_bytes == 16 && (key_bytes == 8 || task == Task::count);
  }
};

/// A structure under its name for `parshall bench tables`.
struct TableUnderTest {
  std::string_view name;
  std::string_view help;
  bool any_value;   ///< made for each size of value; otherwise the size is fixed
  bool whole_keys;  ///< counts exactly; otherwise it may merge flows
  std::unique_ptr<Candidate> (*make)(std::size_t entries, const Shape& shape, std::uint64_t seed, TaskTally tally);
  std::size_t (*memory_bytes)(std::size_t entries, const Shape& shape);  ///< upper bound
  bool counts_alone = false;  ///< only for tasks that need no more than counts

  bool does(Task task) const noexcept { return !counts_alone || counts_are_enough(task); }
};

/// Lists all structures.
std::span<const TableUnderTest> tables_under_test() noexcept;

/// Lists those that count without keeping every flow.
std::span<const TableUnderTest> sketches_under_test() noexcept;

/// Lists the bytes a map may keep for a flow, smallest first; key_sizes() lists the sizes of its key.
std::span<const std::size_t> value_sizes() noexcept;
std::span<const std::size_t> key_sizes() noexcept;

}  // namespace parshall::lab
