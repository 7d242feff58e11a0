// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "classify/csv_records.hpp"
#include "classify/labels.hpp"
#include "targets.hpp"

namespace parshall::fuzz {
namespace {

using Record = std::vector<std::string>;
constexpr std::size_t kMostCells = 256;  // of labels

std::vector<Record> records_of(const std::string& csv, std::string& problem) {
  std::istringstream stream(csv);
  CsvRecords reader(stream, kMostCells);
  std::vector<Record> records;
  while (reader.next()) records.emplace_back(reader.cells().begin(), reader.cells().end());
  problem = reader.problem();
  return records;
}

/// Every cell in quotes.
std::string written(const Record& record) {
  std::string line;
  for (const std::string& cell : record) {
    line += line.empty() ? "\"" : ",\"";
    for (const char c : cell) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return line + "\r\n";
}

Result<Labels> labels_of(const std::string& csv, BadLines bad_lines = BadLines::refuse) {
  std::istringstream stream(csv);
  return Labels::parse(stream, "fuzz.csv", bad_lines);
}

/// Returns whether the first bytes may be those of a list that is not plain CSV.
bool is_of_another_format(const std::string& list) {
  return !list.empty() && std::string_view("#{\x1f(BP\xfd").find(list[0]) != std::string_view::npos;
}

}  // namespace

/// Input: labels of flows in any format.
void fuzz_labels(Bytes input) {
  const std::string csv(text_of(input));
  if (is_of_another_format(csv)) {
    const auto labels = labels_of(csv), skipping = labels_of(csv, BadLines::skip);
    for (const auto* const either : {&labels, &skipping})
      if (!*either) require(either->error().message.starts_with("fuzz.csv"));
    require(!labels || (skipping && skipping->size() == labels->size()));
    return;
  }
  std::string problem;
  const std::vector<Record> records = records_of(csv, problem);
  const auto labels = labels_of(csv);
  if (!labels) require(labels.error().message.starts_with("fuzz.csv, line "));
  require(!labels || problem.empty());
  const auto skipping = labels_of(csv, BadLines::skip);
  if (labels) require(skipping && skipping->size() == labels->size() && skipping->bad_lines() == 0);
  if (!labels && skipping)
    require(skipping->bad_lines() != 0 &&
            skipping->bad_lines() <= 1 + static_cast<std::size_t>(std::ranges::count(csv, '\n')));
  if (!problem.empty() || records.empty()) return;

  // Cells survive being written in quotes; labels say the same in any order, and by each line of both directions.
  std::string rewritten, reversed = written(records.front());
  for (const Record& record : records) rewritten += written(record);
  for (std::size_t i = records.size(); i-- > 1;) reversed += written(records[i]);
  require(records_of(rewritten, problem) == records && problem.empty());
  const auto again = labels_of(rewritten), backwards = labels_of(reversed);
  require(again.has_value() == labels.has_value() && backwards.has_value() == labels.has_value());
  if (!labels) return;
  require(labels->size() <= records.size() - 1 && labels->contradictory() <= labels->size());
  for (const auto* const other : {&again, &backwards})
    require((*other)->size() == labels->size() && (*other)->contradictory() == labels->contradictory());
}

}  // namespace parshall::fuzz
