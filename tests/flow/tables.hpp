// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include "lab/maps/map_table.hpp"
#include "lab/maps/registry.hpp"
#include "pipeline/flow/bucketed_table.hpp"

namespace parshall::testing {

/// Those that have lines, and grow.
using BucketedTables = ::testing::Types<ExactTable, FingerprintTable>;

template <class... Map>
using TablesOver = ::testing::Types<ExactTable, FingerprintTable, MapTable<Map>...>;

/// Every table there is: each has to pass the conformance suites.
using Tables = Maps::Types<TablesOver, HashedKey<FlowKey>, FlowValue, KeptHash>;

}  // namespace parshall::testing
