// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace parshall::lab {

/// What stands in a column of one row; std::monostate where there is no such thing.
using Cell = std::variant<std::monostate, std::string, std::uint64_t, double>;

/// A number, or nothing where it is not `there`.
inline Cell cell_if(bool there, Cell cell) { return there ? std::move(cell) : Cell(); }

struct Column {
  std::string_view name;  ///< in csv and json, with its unit
  std::string_view head;  ///< in text; empty: not shown there
  int decimals = 2;       ///< of a double in text; csv and json have them all
  bool common = false;    ///< the same in all rows of a part: in text and json it stands in front of them
};
inline constexpr bool kCommon = true;

/// Rows that are compared with each other, the first being what the others are compared with.
struct Part {
  std::vector<std::vector<Cell>> rows;  ///< a cell for each column
  std::string verdict;                  ///< what the rows allow to say, one line; may be empty
};

/// How figures are written. text and csv have a head that stands once in front; of json each line is a document.
struct FigureFormat {
  std::string_view name;
  std::string (*head)(std::span<const Column> columns);
  std::string (*part)(std::string_view experiment, std::span<const Column> columns, const Part& part);
};

/// Every one there is: one line each.
std::span<const FigureFormat> figure_formats() noexcept;

}  // namespace parshall::lab
