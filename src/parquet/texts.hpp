// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/byte_reader.hpp"

namespace parshall {

/// Reads columns of texts, whole numbers or floating-point numbers from a Parquet file of any writer, as text. A value
/// that is absent is empty, and so are the values of a column that the file lacks and is in `optional`. `visit` gets
/// one row after the other, and returns whether to go on. Returns what is wrong with the file, if anything.
///
/// Memory: a row group at a time.
/// Source: https://parquet.apache.org/docs/file-format
std::string read_parquet_texts(Bytes file, std::span<const std::string_view> needed,
                               std::span<const std::string_view> optional,
                               const std::function<bool(std::span<const std::string>)>& visit);

}  // namespace parshall
