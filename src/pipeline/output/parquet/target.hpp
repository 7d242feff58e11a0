// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace parshall {

/// Target of an export: the text behind "parquet:".
struct ParquetTarget {
  enum class Partition : std::uint8_t { none, day, hour };

  std::string folder;
  std::string probe;                                          ///< name of the exporter, in each record
  std::chrono::milliseconds every = std::chrono::minutes(1);  ///< longest time that a file is written to
  std::int64_t bytes = 128 << 20;                             ///< size limit of a file, exceeded by at most a row group
  Partition partition = Partition::hour;
  int level = 1;  ///< compression level of zstd

  /// Parses "FOLDER,OPTION=VALUE". Fails on an unknown option or an invalid value.
  static Result<ParquetTarget> parse(const std::string& text);
};

}  // namespace parshall
