// SPDX-License-Identifier: Apache-2.0
#include "classify/labels.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "classify/label_flow.hpp"

namespace parshall {
namespace {

Result<Labels> labels_in(const std::string& text, BadLines bad_lines = BadLines::skip) {
  std::istringstream stream(text);
  return Labels::parse(stream, "list", bad_lines);
}

FlowKey tcp_flow(const std::string& from, const std::string& from_port, const std::string& to,
                 const std::string& to_port, const std::string& protocol = "tcp") {
  return *flow_of({protocol, from, from_port, to, to_port});
}

/// Returns the class of a flow from 10.0.0.1 to 10.0.0.2, ports 1000 and `port`; empty if it has none.
std::string class_of(const Labels& labels, const std::string& port, const std::string& protocol = "tcp") {
  return std::string(labels.find("any.pcap", tcp_flow("10.0.0.1", "1000", "10.0.0.2", port, protocol)).value_or(""));
}

constexpr const char* kHead = "class,protocol,src_ip,src_port,dst_ip,dst_port\n";

std::string csv_line(const std::string& name, const std::string& port) {
  return name + ",tcp,10.0.0.1,1000,10.0.0.2," + port + "\n";
}

TEST(Labels, SkipBadLinesAndKeepTheOthers) {
  const auto labels = labels_in(kHead + csv_line("web", "80") + csv_line("mail", "x") + csv_line("a\"b", "3") +
                                csv_line("\"a\"b", "4") + csv_line("", "5") + csv_line("dns", "53"));
  ASSERT_TRUE(labels);
  EXPECT_EQ(labels->size(), 2u);
  EXPECT_EQ(class_of(*labels, "80"), "web");
  EXPECT_EQ(class_of(*labels, "53"), "dns");
  EXPECT_EQ(labels->bad_lines(), 4u);
  EXPECT_EQ(labels->warning(),
            "4 bad lines are skipped in labels, and 2 used; the first: list, line 3: dst_port \"x\" is not a number "
            "from 0 to "
            "65535");
}

TEST(Labels, CountAllLinesThatAnOpenQuoteTakes) {
  std::string lost;
  for (int line = 0; line < 40; ++line) lost += csv_line("web", "80");  // more than a cell can have
  const auto labels = labels_in(kHead + ("\"" + lost) + csv_line("dns", "53"));
  ASSERT_TRUE(labels);
  EXPECT_EQ(class_of(*labels, "53"), "dns");
  const std::size_t lines = 41;
  EXPECT_EQ(class_of(*labels, "80"), "web");
  EXPECT_LT(labels->bad_lines(), 40u);
  EXPECT_GT(labels->bad_lines(), 20u);
  EXPECT_TRUE(labels->warning().find("and " + std::to_string(lines - labels->bad_lines()) + " used") !=
              std::string::npos)
      << labels->warning();
}

TEST(Labels, RefuseTheFirstBadLineIfAsked) {
  const std::string text = kHead + csv_line("web", "80") + csv_line("mail", "x") + csv_line("", "y");
  const auto labels = labels_in(text, BadLines::refuse);
  ASSERT_FALSE(labels);
  EXPECT_EQ(labels.error().message, "list, line 3: dst_port \"x\" is not a number from 0 to 65535");
}

TEST(Labels, AreAnErrorWhereEveryLineIsBadOrTheHeadIs) {
  const auto all_bad = labels_in(kHead + csv_line("web", "x") + csv_line("", "80"));
  ASSERT_FALSE(all_bad);
  EXPECT_EQ(all_bad.error().message,
            "list, line 2: dst_port \"x\" is not a number from 0 to 65535; no other line is valid either (2 lines in "
            "all): correct the file");
  const auto no_head = labels_in(csv_line("web", "80") + csv_line("web", "81"));
  ASSERT_FALSE(no_head);
  EXPECT_TRUE(no_head.error().message.starts_with("list, line 1: the first line must name the columns"));
  EXPECT_FALSE(labels_in(""));
  EXPECT_TRUE(labels_in(kHead)) << "a list without flows, for example of a quiet hour, is valid";
}

}  // namespace
}  // namespace parshall
