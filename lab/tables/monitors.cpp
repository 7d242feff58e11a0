// SPDX-License-Identifier: Apache-2.0
#include "lab/tables/table_entry.hpp"
#include "pipeline/flow/bucketed_table.hpp"

namespace parshall::lab {
namespace {

constexpr TableUnderTest kMonitors[] = {
    table_entry<ExactTable>("bucketed", "the monitor's table: two whole keys and their counters in each cache line",
                            true),
    table_entry<FingerprintTable>(
        "bucketed-fingerprint", "the monitor's table: three 32-bit tags and their counters in each cache line", false),
};

}  // namespace

std::span<const TableUnderTest> monitors_under_test() noexcept { return kMonitors; }

}  // namespace parshall::lab
