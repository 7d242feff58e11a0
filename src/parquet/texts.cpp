// SPDX-License-Identifier: Apache-2.0
#include "parquet/texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "parquet/layout.hpp"
#include "parquet/values.hpp"

namespace parshall {
namespace {

enum PhysicalType : std::int64_t { kInt32 = 1, kInt64 = 2, kFloat = 4, kDouble = 5, kText = 6 };

bool is_known(std::int64_t type) noexcept {
  return type == kInt32 || type == kInt64 || type == kFloat || type == kDouble || type == kText;
}

/// Reads `count` plain numbers of `bytes` bytes each, the lowest first.
std::optional<std::vector<std::uint64_t>> read_plain_numbers(ByteReader& reader, std::size_t bytes,
                                                             std::uint64_t count) {
  if (count > reader.left() / bytes) return std::nullopt;
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t number = 0;
    unsigned shift = 0;
    for (const std::uint8_t byte : reader.take(bytes)) {
      number |= std::uint64_t{byte} << shift;
      shift += 8;
    }
    numbers.push_back(number);
  }
  return numbers;
}

/// Values of a column in one row group.
class TextColumn {
 public:
  TextColumn(std::int64_t type, bool may_be_absent) : type_(type), may_be_absent_(may_be_absent) {}

  /// Adds a page's values. Returns whether it could.
  bool take_page(const ParquetPage& page, Bytes raw) {
    ByteReader reader(raw);
    const auto count = static_cast<std::uint64_t>(page.values);
    if (page.kind == ParquetPage::kDictionary) {
      auto entries = read_plain(reader, count);
      if (!dictionary_.empty() || !entries) return false;  // it stands in front of the data
      dictionary_ = *std::move(entries);
      return true;
    }
    if (page.kind != ParquetPage::kData && page.kind != ParquetPage::kDataV2) return true;  // for example an index
    const auto levels = read_levels(page, reader, count);
    if (!levels) return false;
    const std::uint64_t present = may_be_absent_ ? static_cast<std::uint64_t>(std::ranges::count(*levels, 1u)) : count;
    const auto values = read_values(page, reader, present);
    if (!values || values->size() != present) return false;
    std::size_t next = 0;
    for (std::uint64_t row = 0; row < count; ++row) {
      const bool is_present = !may_be_absent_ || (*levels)[row] == 1;
      words_.push_back(is_present ? (*values)[next++] : 0);
      present_.push_back(is_present);
    }
    return true;
  }

  std::size_t rows() const noexcept { return words_.size(); }
  bool has_unknown_encoding() const noexcept { return has_unknown_encoding_; }

  void write(std::size_t row, std::string& text) const {
    text.clear();
    if (row >= rows() || !present_[row]) return;
    const std::uint64_t word = words_[row];
    switch (type_) {
      case kText:
        text = texts_[word];
        return;
      case kInt32:
        text = std::to_string(static_cast<std::int32_t>(word));
        return;
      case kInt64:
        text = std::to_string(static_cast<std::int64_t>(word));
        return;
      case kFloat:
        text = fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(word)));
        return;
      default:
        text = fmt::format("{}", std::bit_cast<double>(word));
    }
  }

 private:
  using Words = std::optional<std::vector<std::uint64_t>>;

  /// Reads which values are present: 1 for each that is. Empty if all are.
  Words read_levels(const ParquetPage& page, ByteReader& reader, std::uint64_t count) const {
    if (page.repetition_bytes != 0) return std::nullopt;
    const bool is_v2 = page.kind == ParquetPage::kDataV2;
    if (!may_be_absent_) return is_v2 && page.level_bytes != 0 ? std::nullopt : Words(std::in_place);
    const Bytes packed = reader.take(is_v2 ? static_cast<std::size_t>(page.level_bytes) : read_little(reader));
    return reader.ok() ? read_hybrid(ByteReader(packed), 1, count) : std::nullopt;
  }

  /// Reads values: numbers, or places in texts_.
  Words read_values(const ParquetPage& page, ByteReader& reader, std::uint64_t count) {
    switch (page.encoding) {
      case ParquetPage::kPlain:
        return read_plain(reader, count);
      case ParquetPage::kDelta:
        return type_ == kInt32 || type_ == kInt64 ? read_deltas(reader, count) : std::nullopt;
      case ParquetPage::kOldDictionary:
      case ParquetPage::kDictionaryIndices:
        break;
      default:
        has_unknown_encoding_ = true;
        return std::nullopt;
    }
    if (count == 0) return Words(std::in_place);
    const unsigned bits = reader.byte();
    Words places = read_hybrid(reader, bits, count);
    if (!places) return std::nullopt;
    for (std::uint64_t& place : *places) {
      if (place >= dictionary_.size()) return std::nullopt;
      place = dictionary_[place];
    }
    return places;
  }

  Words read_plain(ByteReader& reader, std::uint64_t count) {
    if (type_ != kText) return read_plain_numbers(reader, type_ == kInt32 || type_ == kFloat ? 4 : 8, count);
    auto texts = read_texts(reader, count);
    if (!texts) return std::nullopt;
    Words places(std::in_place);
    for (std::string& text : *texts) {
      places->push_back(texts_.size());
      texts_.push_back(std::move(text));
    }
    return places;
  }

  std::int64_t type_;
  bool may_be_absent_, has_unknown_encoding_ = false;
  std::vector<std::uint64_t> dictionary_, words_;
  std::vector<std::string> texts_;
  std::vector<bool> present_;
};

/// Reads row groups with the chosen columns.
class GroupReader {
 public:
  GroupReader(Bytes file, const ParquetFooter& footer, std::vector<std::string_view> columns)
      : file_(file), footer_(footer), columns_(std::move(columns)), row_(columns_.size()) {}

  std::string read(const ParquetGroup& group, const std::function<bool(std::span<const std::string>)>& visit) {
    std::vector<TextColumn> values;
    for (const std::string_view name : columns_) {
      const auto place = std::ranges::find_if(
          group.places, [&](const ParquetPlace& one) { return one.column == name && !one.is_nested; });
      if (place == group.places.end()) {  // an optional one that the file lacks
        values.emplace_back(kText, true);
        continue;
      }
      const auto column = footer_.columns.find(place->column);
      if (!is_known(place->type) || column == footer_.columns.end() || column->second.is_list)
        return fmt::format("column {}: it has values other than texts and numbers", name);
      TextColumn& its = values.emplace_back(place->type, column->second.may_be_absent);
      packed_bytes_ += static_cast<std::size_t>(std::max<std::int64_t>(place->packed_bytes, 0));
      if (packed_bytes_ > file_.size()) return "its columns overlap";
      std::string problem = visit_pages(file_, *place, [&](const ParquetPage& page, Bytes raw) {
        return page.values <= group.rows && its.rows() <= static_cast<std::size_t>(group.rows - page.values) &&
               its.take_page(page, raw);
      });
      if (its.has_unknown_encoding())
        return fmt::format("column {}: it has an encoding that is not read: write it plain, or with a dictionary",
                           name);
      if (!problem.empty()) return problem;
      if (its.rows() != static_cast<std::size_t>(group.rows)) return fmt::format("column {}: it lacks rows", name);
    }
    for (std::size_t row = 0; row < static_cast<std::size_t>(group.rows); ++row) {
      for (std::size_t column = 0; column < values.size(); ++column) values[column].write(row, row_[column]);
      if (!visit(row_)) break;
    }
    return {};
  }

 private:
  Bytes file_;
  const ParquetFooter& footer_;
  std::vector<std::string_view> columns_;
  std::vector<std::string> row_;
  std::size_t packed_bytes_ = 0;
};

}  // namespace

std::string read_parquet_texts(Bytes file, std::span<const std::string_view> needed,
                               std::span<const std::string_view> optional,
                               const std::function<bool(std::span<const std::string>)>& visit) {
  ParquetFooter footer;
  if (std::string problem = footer.read(file); !problem.empty()) return problem;
  for (const std::string_view name : needed)
    if (!footer.columns.contains(std::string(name)))
      return fmt::format("the column {} is missing; needed are {}", name, fmt::join(needed, ","));
  std::vector<std::string_view> columns(needed.begin(), needed.end());
  columns.insert(columns.end(), optional.begin(), optional.end());
  GroupReader reader(file, footer, std::move(columns));
  constexpr std::int64_t kMostRows = 1 << 20;     // of a group
  constexpr std::uint64_t kMostRowsPerByte = 64;  // flows differ, so a row takes some bits at least
  std::uint64_t rows = 0;
  bool goes_on = true;
  for (const ParquetGroup& group : footer.groups) {
    if (group.rows < 0 || group.rows > kMostRows) return "a row group has more than 1048576 rows";
    rows += static_cast<std::uint64_t>(group.rows);
    if (rows / kMostRowsPerByte > file.size()) return "it states more rows than it can have";
    const auto go_on = [&](std::span<const std::string> row) { return goes_on = visit(row); };
    if (std::string problem = reader.read(group, go_on); !problem.empty()) return problem;
    if (!goes_on) break;
  }
  return {};
}

}  // namespace parshall
