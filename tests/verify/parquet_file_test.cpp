// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>

#include "folder.hpp"
#include "pipeline/output/parquet/encodings.hpp"
#include "pipeline/output/parquet/file.hpp"
#include "verify/exported_file.hpp"

namespace parshall {
namespace {

using ::testing::HasSubstr;

std::vector<ColumnInfo> columns() {
  return {{.name = "packets", .type = kUint64, .nullable = false},
          {.name = "src_ip", .type = kAddress, .nullable = false},
          {.name = "first_seen", .type = kTime, .nullable = true},
          {.name = "gap", .type = kFloat32, .nullable = true},
          {.name = "mean", .type = kFloat64, .nullable = true},
          {.name = "flags", .type = kFlags16, .nullable = false},
          {.name = "end", .type = kEnum8, .nullable = true, .values = {"idle", "active"}},
          {.name = "exact", .type = kBool, .nullable = false},
          {.name = "duration", .type = kInt64, .nullable = false}};
}

/// Writes so many rows, whose packets `packets_of` says; the packets of all.
template <class PacketsOf>
std::uint64_t write_rows(const std::string& path, std::size_t rows, PacketsOf packets_of) {
  auto file = ParquetFile::create(path, columns(), 1);
  EXPECT_TRUE(file) << file.error().message;
  std::uint64_t sum = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint64_t packets = packets_of(row);
    sum += packets;
    const std::array<std::uint8_t, 4> address{10, 0, static_cast<std::uint8_t>(row >> 8),
                                              static_cast<std::uint8_t>(row)};
    const bool odd = row % 2 == 1;
    const std::array<Value, 9> values{Value::of_unsigned(packets),
                                      Value::of_address(address),
                                      odd ? Value() : Value::of_time(1'600'000'000'000'000'000 + row),
                                      odd ? Value::of_real(0.5 * static_cast<double>(row)) : Value(),
                                      Value(),
                                      Value::of_flags(row % 512),
                                      odd ? Value::of_enumeration(row / 2 % 2) : Value(),
                                      Value::of_bool(odd),
                                      Value::of_signed(-static_cast<std::int64_t>(row))};
    for (std::size_t i = 0; i < values.size(); ++i) (*file)->column(i).add(values[i]);
    (*file)->end_row();
  }
  EXPECT_FALSE((*file)->finish({{"parshall.run", "a run"},
                                {"parshall.records", std::to_string(rows)},
                                {"parshall.packets", std::to_string(sum)}}));
  return sum;
}

TEST(ParquetFile, WhatWasWrittenIsReadAgainWhateverItsLength) {
  const Folder folder;
  std::mt19937_64 random(1);
  for (const std::size_t rows :
       {0u, 1u, 2u, 7u, 8u, 9u, 128u, 129u, 130u, 1000u, 122'879u, 122'880u, 122'881u, 300'000u}) {
    const std::string path = folder / fmt::format("{}.parquet", rows);
    const std::uint64_t sum = write_rows(path, rows, [&](std::size_t) { return random() >> random() % 64; });
    const ExportedFile read = read_parquet(bytes_of(path));
    EXPECT_EQ(read.problem, "") << rows;
    EXPECT_EQ(read.records, rows);
    EXPECT_EQ(read.packets, sum) << rows;
    EXPECT_EQ(read.run, "a run");
    EXPECT_FALSE(std::filesystem::exists(folder / fmt::format("_{}.parquet.part", rows)));
  }
}

TEST(ParquetFile, CountsAreReadAgainAtTheirExtremes) {
  const Folder folder;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::vector<std::vector<std::uint64_t>> all = {
      {kMost}, {0, kMost, 0, kMost}, {kMost, kMost}, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {std::uint64_t{1} << 63, 0, 1, 1}};
  for (const auto& values : all) {
    const std::uint64_t sum = write_rows(folder / "x", values.size(), [&](std::size_t row) { return values[row]; });
    const ExportedFile read = read_parquet(bytes_of(folder / "x"));
    EXPECT_EQ(read.problem, "");
    EXPECT_EQ(read.packets, sum);
  }
}

TEST(ParquetFile, OneThatIsNotFinishedIsNotThere) {
  const Folder folder;
  {
    const auto file = ParquetFile::create(folder / "x", columns(), 1);
    EXPECT_TRUE(std::filesystem::exists(folder / "_x.part"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ParquetFile, OneThatSaysMoreThanItHasIsNotBelieved) {
  const Folder folder;
  auto file = ParquetFile::create(folder / "x", columns(), 1);
  ASSERT_FALSE((*file)->finish({{"parshall.records", "1"}, {"parshall.packets", "0"}}));
  EXPECT_THAT(read_parquet(bytes_of(folder / "x")).problem, HasSubstr("it states 1 records with 0 packets"));
}

TEST(ParquetFile, OneThatWasCutIsNotWhole) {
  const Folder folder;
  write_rows(folder / "x", 300, [](std::size_t row) { return row; });
  const auto whole = bytes_of(folder / "x");
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(read_parquet(Bytes(whole).first(length)).problem, "") << length;
}

/// Of pages every byte counts: they have checksums. Of the footer not all do.
TEST(ParquetFile, OneThatWasDamagedIsFoundOrAddsUpAllTheSame) {
  const Folder folder;
  const std::uint64_t sum = write_rows(folder / "x", 300, [](std::size_t row) { return row; });
  const auto whole = bytes_of(folder / "x");
  std::size_t found = 0;
  for (std::size_t at = 4; at < whole.size(); ++at)
    for (const unsigned bits : {0x01u, 0x80u, 0xffu}) {
      auto damaged = whole;
      damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ bits);
      const ExportedFile read = read_parquet(damaged);
      if (read.problem.empty()) {
        EXPECT_EQ(read.packets, sum) << at;
      }
      found += !read.problem.empty();
    }
  EXPECT_GT(found, 2 * whole.size());
}

TEST(ParquetEncodings, BitsArePackedFromTheLowestOn) {
  std::string out;
  // Encodings.md: the numbers 0 to 7 in 3 bits are 0x88 0xc6 0xfa.
  put_hybrid(out, std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}, 3);
  EXPECT_EQ(out, "\x03\x88\xc6\xfa");
  out.clear();
  put_hybrid(out, std::vector<std::uint64_t>(10, 4), 3);
  EXPECT_EQ(out, "\x14\x04") << "all the same: a run";
}

TEST(ParquetEncodings, DifferencesTakeAsManyBitsAsTheyNeed) {
  std::string out;
  // Encodings.md: 1, 2, 3, 4, 5 has only differences of 1: a header, the first value and empty miniblocks.
  put_delta<std::int64_t>(out, std::vector<std::uint64_t>{1, 2, 3, 4, 5});
  EXPECT_EQ(out, std::string("\x80\x01\x04\x05\x02\x02\x00\x00\x00\x00", 10));
}

}  // namespace
}  // namespace parshall
