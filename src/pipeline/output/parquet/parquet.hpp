// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "pipeline/output/exporter.hpp"
#include "pipeline/output/output_needs.hpp"

namespace parshall {

/// Writes records into Parquet files of a folder, one after the other, and in the end an account of all.
///
/// Columns: `probe`, `export_sequence` (from 0, one for each record that this exporter got, so that a gap is what was
/// lost with a file), then the schema's; times without "_ns", since they are timestamps. A file that cannot be written
/// is given up with its records, which are counted, and another one is tried after a while.
Result<std::unique_ptr<Exporter>> open_parquet_exporter(const std::string& target);

Result<OutputNeeds> parquet_needs(const std::string& target);

}  // namespace parshall
