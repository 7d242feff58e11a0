// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace parshall::lab {

/// Value of one column in one row; std::monostate where there is none.
using Cell = std::variant<std::monostate, std::string, std::uint64_t, double>;

/// Returns `cell` if it is `there`, else an empty cell.
inline Cell cell_if(bool there, Cell cell) { return there ? std::move(cell) : Cell(); }

struct Column {
  std::string_view name;  ///< name in csv and json, with the unit
  std::string_view head;  ///< heading in text; if empty, the column is not shown there
  int decimals = 2;       ///< decimals of a double in text; csv and json have all of them
  bool common = false;    ///< the same value in all rows of a part; text and json print it once in front
};
inline constexpr bool kCommon = true;

/// Rows that are compared with each other; the first is the reference.
struct Part {
  std::vector<std::vector<Cell>> rows;  ///< one cell for each column
  std::string verdict;                  ///< conclusion from the rows, one line; may be empty
};

/// Format in which figures are written. text and csv have a heading once at the start; in json each line is a document.
struct FigureFormat {
  std::string_view name;
  std::string (*head)(std::span<const Column> columns);
  std::string (*part)(std::string_view experiment, std::span<const Column> columns, const Part& part);
};

/// Returns all formats, one line each.
std::span<const FigureFormat> figure_formats() noexcept;

}  // namespace parshall::lab
