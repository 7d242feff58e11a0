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

/// Samples of a file, and the fold of each where it has that column.
struct SampleFile {
  Samples samples;
  std::vector<std::uint32_t> folds;
};

/// CSV of RFC 4180 with a first line `class,capture,size_1,...,size_N` and maybe `,fold`; where there is no size, the
/// cell is empty. `name` is what errors call the file.
Result<SampleFile> parse_samples(std::istream& csv, const std::string& name);
Result<SampleFile> read_samples(const std::string& path);

/// The text as a cell of such a file: in quotes where it needs them.
std::string csv_cell(const std::string& text);

/// folds: of each flow, or none for no such column.
void write_samples(std::ostream& csv, const Samples& samples, std::span<const std::uint32_t> folds = {});

}  // namespace parshall
