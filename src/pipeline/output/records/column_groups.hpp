// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "pipeline/output/records/schema.hpp"

namespace parshall {

/// Returns the columns that a short name stands for, or the name. If `list` is of additional columns, those that every
/// record begins with are omitted.
std::vector<std::string> expand(const std::string& name, ColumnList list);

/// Returns the names that stand for several columns.
std::vector<std::string> short_names();

}  // namespace parshall
