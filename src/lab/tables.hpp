// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "lab/candidate.hpp"

namespace parshall::lab {

/// A structure by the name `parshall bench tables` knows it by.
struct TableUnderTest {
  std::string_view name;
  std::string_view help;
  bool any_value;   ///< made for each size of value; otherwise it keeps what it keeps
  bool whole_keys;  ///< counts exactly; otherwise it may merge flows
  std::unique_ptr<Candidate> (*make)(std::size_t entries, std::size_t value_bytes, std::uint64_t seed);
  std::size_t (*memory_bytes)(std::size_t entries, std::size_t value_bytes);  ///< the most it ever uses
};

/// Every one there is: one line each.
std::span<const TableUnderTest> tables_under_test() noexcept;

/// Bytes a map may keep for a flow, smallest first.
std::span<const std::size_t> value_sizes() noexcept;

}  // namespace parshall::lab
