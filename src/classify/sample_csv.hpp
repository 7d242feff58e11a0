// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "classify/samples.hpp"

namespace parshall {

/// Samples of a file, with the fold of each if the file has that column.
struct SampleFile {
  Samples samples;
  std::vector<std::uint32_t> folds;
};

/// Parses CSV of RFC 4180. Its first line is `class,capture,size_1,...,size_N`, optionally with `,fold`. A missing size
/// is an empty cell. `name` is the file's name in errors.
Result<SampleFile> parse_samples(std::istream& csv, const std::string& name);
Result<SampleFile> read_samples(const std::string& path);

/// Returns the text as a cell of such a file, in quotes if needed.
std::string csv_cell(const std::string& text);

/// Writes samples. `folds` has the fold of each flow; if it is empty, there is no such column.
void write_samples(std::ostream& csv, const Samples& samples, std::span<const std::uint32_t> folds = {});

}  // namespace parshall
