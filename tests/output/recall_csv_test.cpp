// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/files/recall_csv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace parshall {
namespace {

WindowRecall told_of(WindowLength length) {
  WindowRecall told{.task = "bursty", .threshold = 0.75, .flows_seen = 30, .flows_missed = 10};
  told.window = {length, 3, {.packets = 800, .missed_packets = 7}};
  told.recall = 0.5;
  told.at_least = 0.25;
  told.packets = 400;
  told.packets_left_out = 100;
  return told;
}

/// The lines of a file that it was told to.
std::vector<std::string> lines_of(const WindowRecall& told) {
  auto output = Output::create_temporary(".csv");
  const std::string path = (*output)->name();
  const auto exporter = make_recall_exporter(*std::move(output));
  exporter->begin({});
  exporter->recall(told);
  exporter->flush();
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::filesystem::remove(path);
  return lines;
}

TEST(RecallCsv, OfAWindowOfTimeHasItsBoundsInNanoseconds) {
  EXPECT_EQ(lines_of(told_of({WindowLength::Unit::ns, 10'000'000})).at(1),
            "30000000,40000000,,,bursty,0.5,0.25,0.75,30,10,800,7,0.25");
}

TEST(RecallCsv, OfAWindowOfPacketsHasItsBoundsInPackets) {
  EXPECT_EQ(lines_of(told_of({WindowLength::Unit::packets, 1000})).at(1),
            ",,3000,4000,bursty,0.5,0.25,0.75,30,10,800,7,0.25");
}

TEST(RecallCsv, WhatIsNotKnownIsEmpty) {
  WindowRecall told = told_of({WindowLength::Unit::packets, 1000});
  told.recall = told.at_least = std::nullopt;
  told.packets = told.packets_left_out = 0;
  EXPECT_EQ(lines_of(told).at(1), ",,3000,4000,bursty,,,0.75,30,10,800,7,");
}

TEST(RecallCsv, TheHeaderHasAsManyColumnsAsALine) {
  const auto lines = lines_of(told_of({WindowLength::Unit::ns, 1}));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(std::ranges::count(lines[0], ','), std::ranges::count(lines[1], ','));
  EXPECT_TRUE(lines[0].starts_with("window_begin_ns,"));
}

}  // namespace
}  // namespace parshall
