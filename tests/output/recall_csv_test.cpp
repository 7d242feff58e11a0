// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/recall_csv.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace parshall {
namespace {

WindowRecall told_of(WindowLength length) {
  WindowRecall told{.task = "bursty", .threshold = 0.75, .flows_seen = 30, .flows_missed = 10};
  told.window = {length, 3, {.packets = 800, .shed_packets = 200, .missed_packets = 7, .one_in = 3}};
  told.recall = 0.5;
  told.at_least = 0.25;
  told.packets = 400;
  told.packets_given_way = 100;
  return told;
}

TEST(RecallCsv, OfAWindowOfTimeHasItsBoundsInNanoseconds) {
  EXPECT_EQ(recall_csv(told_of({WindowLength::Unit::ns, 10'000'000})),
            "30000000,40000000,,,bursty,0.5,0.25,0.75,30,10,800,7,200,3,0.25\n");
}

TEST(RecallCsv, OfAWindowOfPacketsHasItsBoundsInPackets) {
  EXPECT_EQ(recall_csv(told_of({WindowLength::Unit::packets, 1000})),
            ",,3000,4000,bursty,0.5,0.25,0.75,30,10,800,7,200,3,0.25\n");
}

TEST(RecallCsv, WhatIsNotKnownIsEmpty) {
  WindowRecall told = told_of({WindowLength::Unit::packets, 1000});
  told.recall = told.at_least = std::nullopt;
  told.packets = told.packets_given_way = 0;
  EXPECT_EQ(recall_csv(told), ",,3000,4000,bursty,,,0.75,30,10,800,7,200,3,\n");
}

TEST(RecallCsv, TheHeaderHasAsManyColumnsAsALine) {
  const std::string line = recall_csv(told_of({WindowLength::Unit::ns, 1}));
  EXPECT_EQ(std::ranges::count(recall_csv_header(), ','), std::ranges::count(line, ','));
  EXPECT_TRUE(recall_csv_header().ends_with('\n'));
}

}  // namespace
}  // namespace parshall
