// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "flow_count.hpp"
#include "truth.hpp"

namespace parshall::testing {
namespace {

/// How many flows of one capture came out as the truth has them.
struct Comparison {
  std::size_t equal = 0;
  std::size_t in_truth = 0;
  std::size_t ours = 0;
  std::string first_difference;

  bool all() const { return equal == in_truth && ours == in_truth; }
};

Comparison compare(const TruthCapture& capture, const FlowCount& count, IpHeader header) {
  auto truth = read_truth(header == IpHeader::outermost ? capture.flows : capture.inner);
  // The files by innermost header hold no flags.
  const bool with_flags = (header == IpHeader::outermost || capture.inner == capture.flows) &&
                          !accepted_difference(capture.name, Aspect::tcp_flags);
  Comparison result{.in_truth = truth.size(), .ours = count.flows.size(), .first_difference = {}};
  const auto note = [&](const FlowText& flow, const std::string& what) {
    if (result.first_difference.empty()) result.first_difference = to_string(flow) + ": " + what;
  };
  for (auto& [flow, expected] : truth) {
    const auto found = count.flows.find(flow);
    if (found == count.flows.end()) {
      note(flow, "missing");
      continue;
    }
    if (!with_flags) expected.tcp_flags = found->second.tcp_flags;
    const auto what = difference(expected, found->second);
    if (what) {
      note(flow, *what);
    } else {
      ++result.equal;
    }
  }
  for (const auto& [flow, found] : count.flows) {
    if (!truth.contains(flow)) note(flow, fmt::format("{} packets that the truth does not have", found.packets));
  }
  return result;
}

class Conformance : public ::testing::Test {
 protected:
  void SetUp() override {
    captures_ = truth_captures();
    if (captures_.empty()) GTEST_SKIP() << "SKIPPED: no captures; set PARSHALL_TRACES to the folder with MANIFEST.tsv";
  }

  using Count = FlowCount (*)(const std::string&, IpHeader);

  void expect_truth(IpHeader header, Count count) const {
    std::size_t compared = 0;
    for (const TruthCapture& capture : captures_) {
      if (!capture.agree || std::filesystem::file_size(capture.path) == 0) continue;
      if (accepted_difference(capture.name, Aspect::link_type)) continue;
      if (header == IpHeader::innermost && accepted_difference(capture.name, Aspect::innermost)) continue;
      const Comparison got = compare(capture, count(capture.path, header), header);
      EXPECT_TRUE(got.all()) << capture.name << ": " << got.equal << " of " << got.in_truth << " flows equal, "
                             << got.ours << " found; " << got.first_difference;
      ++compared;
    }
    EXPECT_GT(compared, 0u);
    fmt::print("{} captures compared\n", compared);
  }

  std::vector<TruthCapture> captures_;
};

TEST_F(Conformance, OutermostFlowsOfEveryFileEqualTheTruth) { expect_truth(IpHeader::outermost, count_file); }
TEST_F(Conformance, InnermostFlowsOfEveryFileEqualTheTruth) { expect_truth(IpHeader::innermost, count_file); }
TEST_F(Conformance, OutermostFlowsOfEveryStreamEqualTheTruth) { expect_truth(IpHeader::outermost, count_stream); }
TEST_F(Conformance, InnermostFlowsOfEveryStreamEqualTheTruth) { expect_truth(IpHeader::innermost, count_stream); }

TEST_F(Conformance, EveryPacketHasAVerdict) {
  for (const TruthCapture& capture : captures_) {
    if (std::filesystem::file_size(capture.path) == 0) continue;
    const FlowCount count = count_file(capture.path, IpHeader::outermost);
    std::uint64_t verdicts = 0, in_flows = 0;
    for (const std::uint64_t packets : count.verdicts) verdicts += packets;
    for (const auto& [flow, counts] : count.flows) in_flows += counts.packets;
    EXPECT_EQ(verdicts, count.packets) << capture.name;
    EXPECT_EQ(in_flows, count.verdicts[0]) << capture.name;
  }
}

TEST_F(Conformance, AnAcceptedDifferenceIsStillOne) {
  for (const TruthCapture& capture : captures_) {
    if (!accepted_difference(capture.name, Aspect::innermost) && !accepted_difference(capture.name, Aspect::link_type))
      continue;
    EXPECT_FALSE(compare(capture, count_file(capture.path, IpHeader::innermost), IpHeader::innermost).all())
        << capture.name << " agrees now: take it off the list";
  }
}

/// Captures on which the two programs behind the truth disagree: read without harm, and shown.
TEST_F(Conformance, DisputedCapturesAreReadInBothWaysAlike) {
  std::size_t captures = 0, equal = 0;
  for (const TruthCapture& capture : captures_) {
    if (capture.agree) continue;
    for (const IpHeader header : {IpHeader::outermost, IpHeader::innermost}) {
      const FlowCount count = count_file(capture.path, header);
      const Comparison got = compare(capture, count, header);
      const Comparison streamed = compare(capture, count_stream(capture.path, header), header);
      EXPECT_EQ(got.equal, streamed.equal) << capture.name;
      EXPECT_EQ(got.first_difference, streamed.first_difference) << capture.name;
      ++captures;
      equal += got.all();
      if (!got.all()) {
        fmt::print("{:60} {} {:3} of {:3} flows as tshark, {:3} found; {}\n", capture.name,
                   header == IpHeader::outermost ? "outermost" : "innermost", got.equal, got.in_truth, got.ours,
                   got.first_difference);
      }
    }
  }
  fmt::print("disputed captures: {} of {} comparisons as tshark\n", equal, captures);
}

}  // namespace
}  // namespace parshall::testing
