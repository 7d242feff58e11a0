// SPDX-License-Identifier: Apache-2.0
#include "parquet/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "parquet/compression.hpp"
#include "parquet/thrift_reader.hpp"

namespace parshall {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::size_t kTailBytes = 8;  ///< length of the footer, and the magic

ParquetPlace read_place(ThriftReader& thrift) {
  ParquetPlace place;
  thrift.structure([&](int id) {
    if (id != 3) return false;
    thrift.structure([&](int of_metadata) {
      switch (of_metadata) {
        case 1:
          place.type = thrift.number();
          return true;
        case 3: {
          std::size_t parts = 0;
          thrift.list([&] {
            place.column = thrift.text();
            ++parts;
          });
          place.is_nested = parts > 1;
          return true;
        }
        case 4:
          place.codec = thrift.number();
          return true;
        case 7:
          place.packed_bytes = thrift.number();
          return true;
        case 9:
          place.data_at = thrift.number();
          return true;
        case 11:
          place.dictionary_at = thrift.number();
          return true;
        default:
          return false;
      }
    });
    return true;
  });
  return place;
}

/// Reads a column of the schema. `nested` counts the columns to come that are in others. The schema lists each column
/// in front of those in it, and itself first.
void read_column(ThriftReader& thrift, ParquetFooter& footer, std::uint64_t& nested) {
  ParquetFooter::Column column;
  std::string name;
  std::int64_t children = 0;
  thrift.structure([&](int id) {
    switch (id) {
      case 1:
        column.type = thrift.number();
        return true;
      case 3: {
        constexpr std::int64_t kRepeated = 2;
        const std::int64_t repetition = thrift.number();
        column.may_be_absent = repetition != 0;
        column.is_list = repetition == kRepeated;
        return true;
      }
      case 4:
        name = thrift.text();
        return true;
      case 5:
        children = thrift.number();
        return true;
      default:
        return false;
    }
  });
  const bool is_schema = footer.columns.empty(), is_nested = nested != 0;
  if (is_nested) --nested;
  if (children > 0 && !is_schema) nested += static_cast<std::uint64_t>(children);
  if (!is_nested) footer.columns[name] = column;
}

bool read_footer(Bytes bytes, ParquetFooter& footer) {
  ThriftReader thrift(bytes);
  std::uint64_t nested = 0;
  thrift.structure([&](int id) {
    switch (id) {
      case 2:
        thrift.list([&] { read_column(thrift, footer, nested); });
        return true;
      case 3:
        footer.rows = thrift.number();
        return true;
      case 4:
        thrift.list([&] {
          ParquetGroup& group = footer.groups.emplace_back();
          thrift.structure([&](int of_group) {
            if (of_group == 1)
              thrift.list([&] { group.places.push_back(read_place(thrift)); });
            else if (of_group == 3)
              group.rows = thrift.number();
            else
              return false;
            return true;
          });
        });
        return true;
      case 5:
        thrift.list([&] {
          std::string name, value;
          thrift.structure([&](int of_pair) {
            if (of_pair != 1 && of_pair != 2) return false;
            (of_pair == 1 ? name : value) = thrift.text();
            return true;
          });
          footer.metadata[name] = value;
        });
        return true;
      default:
        return false;
    }
  });
  return thrift.ok();
}

ParquetPage read_page_header(ThriftReader& thrift) {
  ParquetPage page;
  thrift.structure([&](int id) {
    if (id == 5 || id == 7) {
      thrift.structure([&](int of_data) {
        if (of_data != 1 && of_data != 2) return false;
        (of_data == 1 ? page.values : page.encoding) = thrift.number();
        return true;
      });
      return true;
    }
    if (id == 8) {
      thrift.structure([&](int of_data) {
        switch (of_data) {
          case 1:
            page.values = thrift.number();
            return true;
          case 4:
            page.encoding = thrift.number();
            return true;
          case 5:
            page.level_bytes = thrift.number();
            return true;
          case 6:
            page.repetition_bytes = thrift.number();
            return true;
          case 7:
            page.is_compressed = thrift.flag();
            return true;
          default:
            return false;
        }
      });
      return true;
    }
    if (id < 1 || id > 3) return false;
    (id == 1 ? page.kind : id == 2 ? page.raw_bytes : page.packed_bytes) = thrift.number();
    return true;
  });
  return page;
}

/// Decompresses a page. The levels of kDataV2 stand in front of it, as they are.
bool unpack(const ParquetPage& page, std::int64_t codec, Bytes packed, std::span<std::uint8_t> raw) {
  const std::int64_t levels = page.kind == ParquetPage::kDataV2 ? page.level_bytes + page.repetition_bytes : 0;
  if (page.level_bytes < 0 || page.repetition_bytes < 0 || levels > page.raw_bytes || levels > page.packed_bytes)
    return false;
  const auto plain = static_cast<std::size_t>(levels);
  std::ranges::copy(packed.first(plain), raw.begin());
  return decompress(page.is_compressed ? codec : 0, packed.subspan(plain), raw.subspan(plain));
}

}  // namespace

std::string ParquetFooter::read(Bytes file) {
  const auto is_magic = [](Bytes bytes) { return std::equal(bytes.begin(), bytes.end(), kMagic.begin()); };
  if (file.size() < kMagic.size() + kTailBytes || !is_magic(file.last(kMagic.size())))
    return "not whole: it has no footer";
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length |= std::size_t{file[file.size() - kTailBytes + i]} << 8 * i;
  if (length > file.size() - kMagic.size() - kTailBytes) return "not whole: its footer is truncated";
  return read_footer(file.last(length + kTailBytes).first(length), *this) ? "" : "its footer is broken";
}

std::string visit_pages(Bytes file, const ParquetPlace& place,
                        const std::function<bool(const ParquetPage&, Bytes)>& visit) {
  // More than files have, but small enough that a file of a few bytes does not take long.
  constexpr std::int64_t kMostPage = 1 << 24, kMostRows = 1 << 20;
  const auto broken = [&](std::string_view what) { return fmt::format("column {}: {}", place.column, what); };
  if (!can_decompress(place.codec))
    return broken("it is compressed in another way than zstd and Snappy: write the file again with one of these");
  if (place.begin() > file.size() || place.packed_bytes < 0 ||
      static_cast<std::size_t>(place.packed_bytes) > file.size() - place.begin())
    return broken("it extends beyond the end of the file");
  Bytes pages = file.subspan(place.begin(), static_cast<std::size_t>(place.packed_bytes));
  std::vector<std::uint8_t> raw;
  while (!pages.empty()) {
    ThriftReader thrift(pages);
    const ParquetPage header = read_page_header(thrift);
    if (!thrift.ok() || header.packed_bytes < 0 || header.raw_bytes < 0 || header.raw_bytes > kMostPage ||
        header.values < 0 || header.values > kMostRows || static_cast<std::size_t>(header.packed_bytes) > thrift.left())
      return broken("a page's header is broken");
    const Bytes packed = pages.last(thrift.left()).first(static_cast<std::size_t>(header.packed_bytes));
    raw.resize(static_cast<std::size_t>(header.raw_bytes));
    if (!unpack(header, place.codec, packed, raw) || !visit(header, raw)) return broken("a page is broken");
    pages = pages.last(thrift.left()).subspan(packed.size());
  }
  return {};
}

}  // namespace parshall
