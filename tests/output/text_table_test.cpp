// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/text/text_table.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../resident_bytes.hpp"
#include "temporary_folder.hpp"

namespace parshall {
namespace {

constexpr std::uint64_t kLines = 300'000;  // more than memory has room for

/// The later, the wider.
std::string name_of(std::uint64_t line) { return std::string(8 * line / kLines, 'n') + std::to_string(line); }

struct Lines {
  std::vector<std::string> lines;
  bool whole = false;
};

/// What is written of so many lines.
Lines written(std::uint64_t count) {
  const std::string path = std::filesystem::temp_directory_path() / ("text_table_" + std::to_string(::getpid()));
  Lines written;
  {
    auto output = Output::open(path);
    TextTable table({"name", "count"}, 1, **output);
    for (std::uint64_t i = 0; i < count; ++i) table.add(std::vector{name_of(i), std::to_string(i)});
    written.whole = table.finish();
  }
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) written.lines.push_back(line);
  std::filesystem::remove(path);
  return written;
}

std::string aligned(const std::string& name, std::size_t name_width, const std::string& count, std::size_t width) {
  return name + std::string(name_width - name.size() + 2 + width - count.size(), ' ') + count;
}

TEST(TextTable, IsNothingWithoutALine) {
  const Lines table = written(0);
  EXPECT_TRUE(table.whole);
  EXPECT_TRUE(table.lines.empty());
}

TEST(TextTable, HasAllLinesInOrderAndAsWideAsTheWidestHoweverManyThereAre) {
  for (const std::uint64_t count : {std::uint64_t{3}, kLines}) {
    const Lines table = written(count);
    EXPECT_TRUE(table.whole);
    ASSERT_EQ(table.lines.size(), 2 + count);
    std::size_t widest = 0;
    for (std::uint64_t i = 0; i < count; ++i) widest = std::max(widest, name_of(i).size());
    widest = std::max<std::size_t>(widest, 4);
    const std::size_t width = std::max<std::size_t>(std::to_string(count - 1).size(), 5);
    EXPECT_EQ(table.lines[0], "");
    ASSERT_EQ(table.lines[1], aligned("name", widest, "count", width));
    for (std::uint64_t i = 0; i < count; ++i)
      ASSERT_EQ(table.lines[2 + i], aligned(name_of(i), widest, std::to_string(i), width));
  }
}

TEST(TextTable, TakesNoMoreMemoryForManyMoreLines) {
  auto output = Output::open("/dev/null");
  const std::uint64_t before = resident_bytes();
  TextTable table({"name", "count"}, 1, **output);
  for (std::uint64_t i = 0; i < 10 * kLines; ++i) table.add(std::vector{name_of(i), std::to_string(i)});
  if (!kSanitized) {
    EXPECT_LT(resident_bytes(), before + TextTable::memory_bytes());
  }
  EXPECT_TRUE(table.finish());
}

TEST(TextTable, WhereNoFileCanBeMadeAllLinesAreThereInPiecesOfTheirOwnWidths) {
  const TemporaryFolder none("/no/such/folder");
  const std::string path = "/tmp/text_table_pieces_" + std::to_string(::getpid());
  std::uint64_t lines = 0, width = 0, widths = 0;
  {
    auto output = Output::open(path);
    TextTable table({"name", "count"}, 1, **output);
    for (std::uint64_t i = 0; i < kLines; ++i) table.add(std::vector{name_of(i), std::to_string(i)});
    EXPECT_TRUE(table.finish());
  }
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::getline(file, line);
  EXPECT_EQ(line.substr(0, 5), "name ");
  for (; std::getline(file, line); ++lines) {
    ASSERT_EQ(line.substr(0, line.find(' ')), name_of(lines));
    widths += width != line.size();
    width = line.size();
  }
  std::filesystem::remove(path);
  EXPECT_EQ(lines, kLines);
  EXPECT_GT(widths, 1u);
  EXPECT_LE(widths, kLines * 40 / (std::uint64_t{4} << 20) + 1);
}

}  // namespace
}  // namespace parshall
