// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "verify/exported_file.hpp"

namespace parshall {
namespace {

ExportedFile read(const std::string& text) {
  return read_json_lines({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

const std::string kFlows = "{\"flow\": {\"packets\":3}}\n{\"event\": {}}\n{\"flow\": {\"packets\":4}}\n";

TEST(JsonLinesFile, RecordsAreAddedUpAndTheAccountIsFound) {
  const ExportedFile file =
      read(kFlows +
           R"({"summary": {"accounting": {"live_flow_packets": 4, "ended_record_packets": 5, "balanced": true}, )"
           R"("outputs": [)"
           R"({"name": "csv:x", "written": {"records": 2, "packets": 9}, "dropped": {"records": 0, "packets": 0}},)"
           R"({"name": "jsonl:x", "written": {"records": 2, "packets": 7}, "dropped": {"records": 1, "packets": 2}}]}})"
           "\n");
  EXPECT_EQ(file.problem, "");
  EXPECT_EQ(file.records, 2u);
  EXPECT_EQ(file.packets, 7u);
  ASSERT_TRUE(file.account);
  EXPECT_EQ(file.account->counted_in_flows, 9u);
  EXPECT_EQ(file.account->packets_written, 7u);
  EXPECT_EQ(file.account->packets_not_sent, 2u);
  EXPECT_TRUE(file.account->balanced);
}

TEST(JsonLinesFile, WithoutASummaryThereIsNoAccount) {
  const ExportedFile file = read(kFlows);
  EXPECT_EQ(file.packets, 7u);
  EXPECT_FALSE(file.account);
}

TEST(JsonLinesFile, WhatIsNoObjectIsSaid) {
  EXPECT_EQ(read(kFlows + "{\"flow\": {\"pack").problem, "line 4 is not a JSON object");
  EXPECT_EQ(read(kFlows + "7\n").problem, "line 4 is not a JSON object");
  EXPECT_NE(read("{\"summary\": {\"accounting\": 7}}\n").problem, "");
  EXPECT_NE(read("{\"summary\": {\"outputs\": [7]}}\n").problem, "");
}

}  // namespace
}  // namespace parshall
