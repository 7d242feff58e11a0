// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include "any_table.hpp"

namespace parshall::testing {

/// Those that have lines, and grow.
using BucketedTables = ::testing::Types<ExactTable, FingerprintTable>;

}  // namespace parshall::testing
