// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>

#include "compare/report/columns.hpp"
#include "pipeline/output/output.hpp"

namespace parshall {

/// Writes the report for people, with the first `top` of the flows; 0: all.
void write_compared_text(const Compared& compared, std::span<const ComparedFlow* const> flows, std::size_t top,
                         Output& output);

}  // namespace parshall
