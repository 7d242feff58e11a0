// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <istream>
#include <span>

#include "classify/csv_records.hpp"
#include "classify/label_columns.hpp"
#include "classify/label_flow.hpp"
#include "classify/label_formats.hpp"
#include "classify/label_reading.hpp"

namespace parshall {
namespace {

constexpr std::size_t kMostCells = 256;
constexpr std::size_t kNoColumn = ~std::size_t{0};

/// Finds the columns of a record.
class Columns {
 public:
  explicit Columns(std::span<const std::string> head) {
    for (std::size_t column = 0; column < kLabelColumnCount; ++column) {
      const auto found = std::ranges::find(head, kLabelColumns[column]);
      places_[column] = found == head.end() ? kNoColumn : static_cast<std::size_t>(found - head.begin());
    }
  }

  /// Returns the name of a required column that is missing, or nothing.
  std::string_view missing() const {
    for (std::size_t column = 0; column < kCaptureColumn; ++column)
      if (places_[column] == kNoColumn) return kLabelColumns[column];
    return {};
  }

  const std::string& cell(std::span<const std::string> cells, LabelColumn column) const {
    static const std::string kNothing;
    return places_[column] < cells.size() ? cells[places_[column]] : kNothing;
  }

 private:
  std::array<std::size_t, kLabelColumnCount> places_;
};

}  // namespace

Result<Labels> read_csv_labels(std::istream& csv, LabelReading& reading) {
  CsvRecords records(csv, kMostCells);
  if (!records.next())
    return reading.wrong(records.line(), records.problem().empty() ? "the file is empty" : records.problem());
  const Columns columns(records.cells());
  if (const auto missing = columns.missing(); !missing.empty())
    return reading.wrong(records.line(), fmt::format("the first line must name the columns, and {} is missing: {}",
                                                     missing, fmt::join(kLabelColumns, ",")));
  while (!reading.ended()) {
    if (records.next()) {
      const auto cell = [&](LabelColumn column) -> const std::string& { return columns.cell(records.cells(), column); };
      reading.add(records.line(),
                  flow_of({cell(kProtocolColumn), cell(kSrcIpColumn), cell(kSrcPortColumn), cell(kDstIpColumn),
                           cell(kDstPortColumn)}),
                  cell(kClassColumn), cell(kCaptureColumn));
      continue;
    }
    const std::string problem = records.problem();
    if (problem.empty()) break;
    if (!records.resume()) return reading.wrong(records.line(), problem);
    reading.refuse(records.line(), problem, records.lines());
  }
  return reading.finish("");
}

}  // namespace parshall
