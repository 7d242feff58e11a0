// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "pipeline/output/exporter.hpp"
#include "pipeline/output/output_needs.hpp"

namespace parshall {

/// Opens an exporter that writes records into successive Parquet files of a folder, and finally an account of all.
///
/// Columns: `probe` and `export_sequence`, then the schema's. `export_sequence` numbers the records given to this
/// exporter from 0, so a gap shows a lost file. Times are timestamps, so their names lack "_ns". A file that cannot be
/// written is abandoned with its records, which are counted. Another one is tried after a while.
Result<std::unique_ptr<Exporter>> open_parquet_exporter(const std::string& target);

Result<OutputNeeds> parquet_needs(const std::string& target);

}  // namespace parshall
