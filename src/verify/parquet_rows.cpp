// SPDX-License-Identifier: Apache-2.0
#include "verify/parquet_rows.hpp"

#include <algorithm>
#include <optional>

#include "parquet/layout.hpp"
#include "parquet/values.hpp"

namespace parshall {
namespace {

/// A column of one row group.
struct GroupColumn {
  std::vector<std::uint64_t> words;  ///< of present values: numbers, or indices of texts
  std::vector<std::string> texts;
  std::vector<std::uint64_t> levels;  ///< 1: present; empty: all are
  bool is_there = false, has_texts = false;
  std::size_t next = 0;

  bool take_page(const ParquetPage& page, Bytes raw, const ParquetFooter::Column& column) {
    ByteReader reader(raw);
    const auto count = static_cast<std::uint64_t>(page.values);
    if (page.kind == ParquetPage::kDictionary) {
      if (is_there) return false;  // it stands in front of the data
      auto read = read_texts(reader, count);
      if (!read) return false;
      texts = *std::move(read);
      return true;
    }
    if (page.kind != ParquetPage::kData || is_there) return false;
    is_there = true;
    std::uint64_t present = count;
    if (column.may_be_absent) {
      const Bytes packed = reader.take(read_little(reader));
      auto read = reader.ok() ? read_hybrid(ByteReader(packed), 1, count) : std::nullopt;
      if (!read) return false;
      levels = *std::move(read);
      present = static_cast<std::uint64_t>(std::ranges::count(levels, 1u));
    }
    has_texts = page.encoding == ParquetPage::kDictionaryIndices;
    std::optional<std::vector<std::uint64_t>> read;
    if (has_texts) {
      const unsigned bits = reader.byte();
      read = read_hybrid(reader, bits, present);
    } else if (page.encoding == ParquetPage::kDelta) {
      read = read_deltas(reader, present);
    }
    if (!read || read->size() != present) return false;
    words = *std::move(read);
    constexpr std::int64_t kInt32 = 1;
    if (!has_texts && column.type == kInt32)
      for (std::uint64_t& word : words) word &= 0xFFFF'FFFF;
    return !has_texts || std::ranges::all_of(words, [&](std::uint64_t place) { return place < texts.size(); });
  }

  /// Takes the value of the next row.
  void take(std::size_t row_number, std::size_t column, ParquetRow& row) {
    row.present[column] = is_there && (levels.empty() || levels[row_number] == 1);
    row.numbers[column] = 0;
    row.texts[column] = {};
    if (!row.present[column]) return;
    const std::uint64_t word = words[next++];
    if (has_texts)
      row.texts[column] = texts[word];
    else
      row.numbers[column] = word;
  }
};

std::string read_group(Bytes file, const ParquetFooter& footer, const ParquetGroup& group,
                       std::span<const std::string_view> columns, const std::function<bool(const ParquetRow&)>& visit) {
  std::vector<GroupColumn> values(columns.size());
  for (const ParquetPlace& place : group.places) {
    const auto wanted = std::ranges::find(columns, place.column);
    const auto column = footer.columns.find(place.column);
    if (wanted == columns.end() || column == footer.columns.end()) continue;
    GroupColumn& its = values[static_cast<std::size_t>(wanted - columns.begin())];
    std::string problem = visit_pages(file, place, [&](const ParquetPage& page, Bytes raw) {
      return page.values <= group.rows && its.take_page(page, raw, column->second) &&
             (page.kind != ParquetPage::kData || page.values == group.rows);
    });
    if (!problem.empty()) return problem;
  }
  ParquetRow row;
  row.numbers.resize(columns.size());
  row.texts.resize(columns.size());
  row.present.resize(columns.size());
  for (std::int64_t number = 0; number < group.rows; ++number) {
    for (std::size_t column = 0; column < columns.size(); ++column)
      values[column].take(static_cast<std::size_t>(number), column, row);
    if (!visit(row)) return {};
  }
  return {};
}

}  // namespace

std::string read_parquet_rows(Bytes file, std::span<const std::string_view> columns,
                              std::map<std::string, std::string>& metadata,
                              const std::function<bool(const ParquetRow&)>& visit) {
  ParquetFooter footer;
  if (std::string problem = footer.read(file); !problem.empty()) return problem;
  metadata = footer.metadata;
  constexpr std::int64_t kMostRows = 1 << 20;  // of a group; far more than ours have
  for (const ParquetGroup& group : footer.groups) {
    if (group.rows < 0 || group.rows > kMostRows || group.places.size() != footer.columns.size() - 1)
      return "its footer is broken";
    if (std::string problem = read_group(file, footer, group, columns, visit); !problem.empty()) return problem;
  }
  return {};
}

}  // namespace parshall
