// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "verify/exported_file.hpp"
#include "verify/thrift_reader.hpp"

namespace parshall {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::size_t kTailBytes = 8;  ///< length of the footer, and the magic

struct Chunk {
  std::string column;
  std::int64_t data_at = 0, dictionary_at = 0, packed_bytes = 0, codec = 0;
  std::size_t begin() const noexcept { return static_cast<std::size_t>(dictionary_at > 0 ? dictionary_at : data_at); }
};

struct Footer {
  std::int64_t rows = 0;
  std::vector<Chunk> chunks;
  std::map<std::string, std::string> metadata;
};

struct PageHeader {
  std::int64_t kind = -1, raw_bytes = 0, packed_bytes = 0, values = 0, encoding = 0;
};

Chunk read_chunk(ThriftReader& thrift) {
  Chunk chunk;
  thrift.structure([&](int id) {
    if (id != 3) return false;
    thrift.structure([&](int of_metadata) {
      switch (of_metadata) {
        case 3:
          thrift.list([&] { chunk.column = thrift.text(); });
          return true;
        case 4:
          chunk.codec = thrift.number();
          return true;
        case 7:
          chunk.packed_bytes = thrift.number();
          return true;
        case 9:
          chunk.data_at = thrift.number();
          return true;
        case 11:
          chunk.dictionary_at = thrift.number();
          return true;
        default:
          return false;
      }
    });
    return true;
  });
  return chunk;
}

bool read_footer(Bytes bytes, Footer& footer) {
  ThriftReader thrift(bytes);
  thrift.structure([&](int id) {
    switch (id) {
      case 3:
        footer.rows = thrift.number();
        return true;
      case 4:
        thrift.list([&] {
          thrift.structure([&](int of_group) {
            if (of_group != 1) return false;
            thrift.list([&] { footer.chunks.push_back(read_chunk(thrift)); });
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

PageHeader read_page_header(ThriftReader& thrift) {
  PageHeader page;
  thrift.structure([&](int id) {
    if (id == 5) {
      thrift.structure([&](int of_data) {
        if (of_data != 1 && of_data != 2) return false;
        (of_data == 1 ? page.values : page.encoding) = thrift.number();
        return true;
      });
      return true;
    }
    if (id < 1 || id > 3) return false;
    (id == 1 ? page.kind : id == 2 ? page.raw_bytes : page.packed_bytes) = thrift.number();
    return true;
  });
  return page;
}

/// Reads numbers of `bits` bits each, from the lowest bit on.
class BitReader {
 public:
  explicit BitReader(Bytes bytes) noexcept : bytes_(bytes) {}
  std::uint64_t next(unsigned bits) noexcept {
    std::uint64_t value = 0;
    for (unsigned have = 0; have < bits;) {
      const unsigned in_byte = at_ % 8, take = std::min(8 - in_byte, bits - have);
      value |= std::uint64_t{static_cast<unsigned>(bytes_[at_ / 8]) >> in_byte & ((1u << take) - 1)} << have;
      have += take;
      at_ += take;
    }
    return value;
  }

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
};

/// Returns the sum of a page of 64-bit numbers in DELTA_BINARY_PACKED, behind levels if values may be absent. Returns
/// nullopt if the page is invalid.
std::optional<std::uint64_t> sum_of_deltas(Bytes page, std::int64_t values, bool may_be_absent) {
  ByteReader reader(page);
  if (may_be_absent) reader.take(__builtin_bswap32(static_cast<std::uint32_t>(reader.big(4))));
  constexpr std::uint64_t kMostBlock = 4096;
  const std::uint64_t block = reader.varint(), miniblocks = reader.varint(), count = reader.varint();
  if (!reader.ok() || miniblocks == 0 || block == 0 || block % (miniblocks * 32) != 0 || block > kMostBlock ||
      (may_be_absent ? count > static_cast<std::uint64_t>(values) : count != static_cast<std::uint64_t>(values)))
    return std::nullopt;
  const std::uint64_t in_mini = block / miniblocks;
  auto value = static_cast<std::uint64_t>(reader.zigzag());
  std::uint64_t sum = count == 0 ? 0 : value;
  for (std::uint64_t done = 1; done < count;) {
    const auto least = static_cast<std::uint64_t>(reader.zigzag());
    const Bytes widths = reader.take(miniblocks);
    if (!reader.ok()) return std::nullopt;
    for (const std::uint8_t bits : widths) {
      if (done >= count) break;
      const Bytes packed = reader.take(in_mini * bits / 8);
      if (!reader.ok() || bits > 64) return std::nullopt;
      BitReader numbers(packed);
      for (std::uint64_t i = 0; i < in_mini && done < count; ++i, ++done) sum += value += least + numbers.next(bits);
    }
  }
  return sum;
}

/// Reads all pages of a chunk, each of which has a checksum. Returns what is wrong, if anything.
std::string read_pages(Bytes file, const Chunk& chunk, std::uint64_t& packets) {
  // More than our files have, but small enough that a file of a few bytes does not take long.
  constexpr std::int64_t kZstd = 6, kMostPage = 1 << 24, kMostRows = 1 << 20, kData = 0, kDelta = 5;
  const auto broken = [&](std::string_view what) { return fmt::format("column {}: {}", chunk.column, what); };
  if (chunk.codec != kZstd) return broken("not of ours");
  if (chunk.begin() > file.size() || chunk.packed_bytes < 0 ||
      static_cast<std::size_t>(chunk.packed_bytes) > file.size() - chunk.begin())
    return broken("it extends beyond the end of the file");
  Bytes pages = file.subspan(chunk.begin(), static_cast<std::size_t>(chunk.packed_bytes));
  std::vector<std::uint8_t> raw;
  while (!pages.empty()) {
    ThriftReader thrift(pages);
    const PageHeader header = read_page_header(thrift);
    if (!thrift.ok() || header.packed_bytes < 0 || header.raw_bytes < 0 || header.raw_bytes > kMostPage ||
        header.values < 0 || header.values > kMostRows || static_cast<std::size_t>(header.packed_bytes) > thrift.left())
      return broken("a page's header is broken");
    const Bytes packed = pages.last(thrift.left()).first(static_cast<std::size_t>(header.packed_bytes));
    raw.resize(static_cast<std::size_t>(header.raw_bytes));
    if (ZSTD_decompress(raw.data(), raw.size(), packed.data(), packed.size()) != raw.size())
      return broken("a page is broken");
    const bool may_be_absent = chunk.column == "reverse_packets";
    if (header.kind == kData && (chunk.column == "packets" || may_be_absent)) {
      const auto sum = header.encoding == kDelta ? sum_of_deltas(raw, header.values, may_be_absent) : std::nullopt;
      if (!sum) return broken("a page is broken");
      packets += *sum;
    }
    pages = pages.last(thrift.left()).subspan(packed.size());
  }
  return {};
}

std::optional<std::uint64_t> number_of(const Footer& footer, const std::string& name) {
  const auto at = footer.metadata.find("parshall." + name);
  if (at == footer.metadata.end()) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = at->second.data() + at->second.size();
  const auto [rest, wrong] = std::from_chars(at->second.data(), end, number);
  if (wrong != std::errc() || rest != end) return std::nullopt;
  return number;
}

std::optional<ExportAccount> account_of(const Footer& footer) {
  const auto counted = number_of(footer, "counted_in_flows");
  if (!counted) return std::nullopt;
  const auto number = [&](const char* name) { return number_of(footer, name).value_or(0); };
  return ExportAccount{.counted_in_flows = *counted,
                       .packets_offered = number_of(footer, "packets_offered").value_or(*counted),
                       .whole_run = number_of(footer, "whole_run").value_or(1) == 1,
                       .records_written = number("records_written"),
                       .packets_written = number("packets_written"),
                       .records_not_sent = number("records_not_sent"),
                       .packets_not_sent = number("packets_not_sent"),
                       .balanced = number("balanced") == 1};
}

}  // namespace

ExportedFile read_parquet(Bytes file) {
  const auto is_magic = [](Bytes bytes) { return std::equal(bytes.begin(), bytes.end(), kMagic.begin()); };
  if (file.size() < kMagic.size() + kTailBytes || !is_magic(file.last(kMagic.size())))
    return {.problem = "not whole: it has no footer"};
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length |= std::size_t{file[file.size() - kTailBytes + i]} << 8 * i;
  if (length > file.size() - kMagic.size() - kTailBytes) return {.problem = "not whole: its footer is truncated"};
  Footer footer;
  if (!read_footer(file.last(length + kTailBytes).first(length), footer)) return {.problem = "its footer is broken"};
  ExportedFile read{.run = footer.metadata["parshall.run"], .account = account_of(footer)};
  const auto records = number_of(footer, "records"), packets = number_of(footer, "packets");
  read.has_packets = !number_of(footer, "packets_not_in_columns");
  if (!read.account && (!records || (read.has_packets && !packets)))
    return {.problem = "not written by parshall: it does not state its number of records"};
  std::size_t bytes = 0;
  for (const Chunk& chunk : footer.chunks) {
    bytes += static_cast<std::size_t>(std::max<std::int64_t>(chunk.packed_bytes, 0));
    if (bytes > file.size()) return {.problem = "its columns overlap"};
    if (auto problem = read_pages(file, chunk, read.packets); !problem.empty()) read.problem = problem;
  }
  if (read.account) return read;
  read.records = static_cast<std::uint64_t>(footer.rows);
  const std::uint64_t told = read.has_packets ? *packets : read.packets;
  if (read.problem.empty() && (read.records != *records || read.packets != told))
    read.problem = fmt::format("it states {} records with {} packets", *records, told);
  return read;
}

}  // namespace parshall
