// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace parshall {

/// What is behind "parquet:".
struct ParquetTarget {
  enum class Partition : std::uint8_t { none, day, hour };

  std::string folder;
  std::string probe;                                          ///< who exports, in each record
  std::chrono::milliseconds every = std::chrono::minutes(1);  ///< for how long a file is written at most
  std::int64_t bytes = 128 << 20;                             ///< and how long it gets, but for a row group more
  Partition partition = Partition::hour;
  int level = 1;  ///< of zstd

  /// "FOLDER,OPTION=VALUE". Fails on what is no option, or no value of it.
  static Result<ParquetTarget> parse(const std::string& text);
};

}  // namespace parshall
