// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "lab/table_experiment.hpp"

namespace parshall::lab {

/// How rows are written. text and csv have a head that stands once in front; of json each line is a document.
struct TableFormat {
  std::string_view name;
  std::string (*head)();
  std::string (*rows)(std::span<const TableRow> rows);
};
std::span<const TableFormat> table_formats() noexcept;

/// One line on what a combination's figures allow to say of the tables that counted every flow exactly: which is
/// cheapest, or that none is, since its interval overlaps another's or has too few samples.
std::string verdict(std::span<const TableRow> rows);

}  // namespace parshall::lab
