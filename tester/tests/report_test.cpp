// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "frames.hpp"
#include "tester/report_writers.hpp"
#include "traffic/frame.hpp"

namespace parshall::tester {
namespace {

using testing::ethernet;
using ::testing::HasSubstr;
using testing::ipv4;
using testing::udp;

constexpr std::uint64_t kReportBegin = 1'700'000'000'000'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kSending = 29'000'000'000;  ///< from the first of 30 frames to the last: one a second
constexpr TestPlan kReportPlan{.streams = 3, .frames = 10, .begin_ns = kReportBegin, .end_ns = kReportBegin + kSecond};

Bytes test_frame(const Trailer& trailer) {
  return with_checksums(ethernet(kEtherIpv4, ipv4(17, udp(1000, 2000, payload_with(trailer, 58)))));
}

FlowKey key_of(std::uint8_t host) {
  FlowKey key{.src_port_bytes = {0x03, 0xE8}, .dst_port_bytes = {0x07, 0xD0}, .protocol = 17, .ip_version = 4};
  key.address = {10, 0, 0, host, 10, 0, 1, host};
  return key;
}

/// Receives frames of three flows of ten: all come, half of it and a duplicate, none; a corrupted frame of the second,
/// one of a stream that is not there, two foreign ones.
class Received {
 public:
  explicit Received(const BookOptions& options = {}) : receiver_(kReportPlan, options) {
    for (std::uint32_t sequence = 0; sequence < 10; ++sequence) take({0, sequence}, 1000 + sequence);
    for (const std::uint32_t sequence : {0, 1, 2, 4, 3, 4}) take({1, sequence}, 5000);
    Bytes corrupted = test_frame({1, 5, kReportBegin});
    corrupted[50] ^= 1;
    add(corrupted);
    add(test_frame({3, 0, kReportBegin}));
    add(ethernet(0x0806, Bytes(46)));
    add(ethernet(0x0806, Bytes(46)));
  }

  TestReport report(Confidence confidence = Confidence::percent_95) const {
    std::vector<SentFlow> sent;
    for (std::uint8_t host = 1; host <= 3; ++host)
      sent.push_back({.key = host == 3 ? FlowKey{} : key_of(host), .frames = 10, .wire_bytes = 1000});
    return make_report(receiver_, sent, kSending, confidence);
  }

 private:
  void take(Trailer trailer, std::uint64_t latency_ns) {
    trailer.time_ns = kReportBegin + trailer.sequence * 1'000'000;
    const Bytes frame = test_frame(trailer);
    const RawPacket packet = packet_of(frame, LinkType::ethernet, trailer.time_ns + latency_ns);
    receiver_.take({&packet, 1});
  }
  void add(const Bytes& frame) {
    const RawPacket packet = packet_of(frame, LinkType::ethernet, kReportBegin + 1);
    receiver_.take({&packet, 1});
  }

  Receiver receiver_;
};

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all(1);
  for (const char c : line) {
    if (c == ',')
      all.emplace_back();
    else
      all.back() += c;
  }
  return all;
}

std::vector<std::vector<std::string>> csv(const TestReport& report) {
  std::istringstream lines(report_csv(report));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(cells(line));
  return rows;
}

TEST(TestReport, AccountsForEveryFrameThatCameAndThatWasSent) {
  const TestReport report = Received().report();
  EXPECT_EQ(report.frames.ours, 16u);
  EXPECT_EQ(report.frames.corrupted, 1u);
  EXPECT_EQ(report.frames.corrupted_of_no_flow, 0u);
  EXPECT_EQ(report.frames.contradictory, 1u);
  EXPECT_EQ(report.frames.foreign, 2u);
  EXPECT_EQ(report.frames.all(), 20u);
  const FlowResult& total = report.total;
  EXPECT_EQ(total.sent, 30u);
  EXPECT_EQ(total.received, 15u);
  EXPECT_EQ(total.losses.frames, 15u);
  EXPECT_EQ(total.losses.periods, 2u);
  EXPECT_EQ(total.losses.longest_frames, 10u);
  EXPECT_EQ(total.losses.longest_ns, 5'000'000u);  // of the flow that came in part: five of its spacings
  EXPECT_EQ(total.duplicates, 1u);
  EXPECT_EQ(total.reordered, 1u);
  EXPECT_EQ(total.overtaking, 1u);
  EXPECT_EQ(total.corrupted, 1u);
  EXPECT_EQ(report.frames.ours, total.received + total.duplicates + total.too_late);
  EXPECT_EQ(report.silent_flows, 1u);
  EXPECT_EQ(report.flows_with_loss, 2u);
  EXPECT_EQ(total.latency_least_ns, 1000u);
  EXPECT_EQ(total.latency_largest_ns, 5000u);
  EXPECT_DOUBLE_EQ(*total.latency_mean_ns, (10'045 + 25'000) / 15.0);
  EXPECT_NEAR(*report.latency.p99_ns, 5000, 10);
  EXPECT_NEAR(*report.latency.pdv_p99_ns, 4000, 10);
}

TEST(TestReport, CountsFramesBeyondWhatWasSentAsThoseOfAnother) {
  Receiver receiver(kReportPlan);
  for (std::uint32_t sequence = 0; sequence < 10; ++sequence) {
    const Bytes frame = test_frame({.stream = 1, .sequence = sequence, .time_ns = kReportBegin + sequence});
    const RawPacket packet = packet_of(frame, LinkType::ethernet, kReportBegin + 1000);
    receiver.take({&packet, 1});
  }
  const std::vector<SentFlow> sent{{}, {.key = {}, .frames = 4, .wire_bytes = 400}, {}};
  const TestReport report = make_report(receiver, sent, kSending);
  EXPECT_TRUE(report.total.sent == 4 && report.total.received == 4);
  EXPECT_TRUE(report.frames.ours == 4 && report.frames.contradictory == 6);
  EXPECT_EQ(report.frames.all(), 10u);
}

TEST(TestReport, HasRatesOfTheLineAndJainsFairness) {
  const TestReport report = Received().report();
  EXPECT_DOUBLE_EQ(*report.rates.sent_pps, 1);
  EXPECT_DOUBLE_EQ(*report.rates.received_pps, 0.5);
  EXPECT_DOUBLE_EQ(*report.rates.sent_line_bps, 8 * (100 + 24));
  EXPECT_DOUBLE_EQ(*report.rates.received_line_bps, 8 * 0.5 * (14 + 20 + 8 + 58 + 24));
  EXPECT_DOUBLE_EQ(*report.rows[1].rates.received_pps, 5 / 30.0);
  EXPECT_DOUBLE_EQ(*report.fairness_of_rates, 15.0 * 15 / (3 * (100 + 25)));
  EXPECT_DOUBLE_EQ(*report.fairness_of_ratios, 1.5 * 1.5 / (3 * (1 + 0.25)));
  const std::vector<SentFlow> nothing(3);
  const TestReport empty = make_report(Receiver(kReportPlan), nothing, 0);
  EXPECT_FALSE(empty.fairness_of_rates || empty.rates.sent_pps || empty.latency.p50_ns || empty.total.jitter_ns);
}

TEST(TestReport, WritesARowForEachFlowAndLeavesEmptyWhatDoesNotExist) {
  const auto rows = csv(Received().report());
  ASSERT_EQ(rows.size(), 4u);
  const std::vector<std::string> key{"stream", "ip_version", "protocol", "src_ip", "src_port", "dst_ip", "dst_port"};
  EXPECT_EQ(std::vector(rows[0].begin(), rows[0].begin() + 7), key);
  EXPECT_EQ(std::vector(rows[2].begin(), rows[2].begin() + 7),
            (std::vector<std::string>{"1", "4", "17", "10.0.0.2", "1000", "10.0.1.2", "2000"}));
  const auto cell = [&](std::size_t row, const std::string& column) {
    const auto at = std::ranges::find(rows[0], column);
    EXPECT_NE(at, rows[0].end()) << column;
    return rows[row][static_cast<std::size_t>(at - rows[0].begin())];
  };
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(cell(2, "sent_frames"), "10");
  EXPECT_EQ(cell(2, "received_frames"), "5");
  EXPECT_EQ(cell(2, "lost_frames"), "5");
  EXPECT_EQ(cell(2, "duplicate_frames"), "1");
  EXPECT_EQ(cell(2, "corrupted_frames"), "1");
  EXPECT_EQ(cell(2, "reordered_frames"), "1");
  EXPECT_EQ(cell(2, "overtaking_frames"), "1");
  EXPECT_EQ(cell(2, "lost_ratio"), "0.5");
  EXPECT_EQ(cell(2, "longest_loss_ns"), "5000000");
  EXPECT_EQ(cell(2, "reordering_extent_max_frames"), "1");
  EXPECT_EQ(cell(1, "latency_min_ns"), "1000");
  EXPECT_EQ(cell(1, "latency_max_ns"), "1009");
  EXPECT_EQ(cell(1, "latency_mean_ns"), "1004.5");
  EXPECT_EQ(cell(1, "longest_loss_ns"), "");
  EXPECT_EQ(cell(1, "reordering_extent_max_frames"), "");
  EXPECT_EQ(cell(1, "latency_p50_ns"), "");
  EXPECT_EQ(cell(3, "src_ip"), "");
  EXPECT_EQ(cell(3, "received_frames"), "0");
  EXPECT_EQ(cell(3, "latency_min_ns"), "");
  EXPECT_EQ(cell(3, "jitter_ns"), "");
  EXPECT_EQ(cell(3, "reordered_ratio"), "");
}

TEST(TestReport, HasPercentilesOfEachFlowWhereAsked) {
  const TestReport report = Received({.flow_latency_error = 0.01}).report();
  EXPECT_NEAR(*report.rows[0].latency->p50_ns, 1004, 11);
  EXPECT_NEAR(*report.rows[1].latency->p50_ns, 5000, 50);
  EXPECT_FALSE(report.rows[2].latency->p50_ns);
}

TEST(TestReport, IsTheSameInJsonAsInCsv) {
  const TestReport report = Received().report(Confidence::percent_99);
  const auto json = nlohmann::json::parse(report_json(report));
  const auto rows = csv(report);
  ASSERT_EQ(json["flows"].size(), 3u);
  for (std::size_t flow = 0; flow < 3; ++flow) {
    for (std::size_t column = 0; column < rows[0].size(); ++column) {
      const std::string& name = rows[0][column];
      const std::string& cell = rows[flow + 1][column];
      const auto value = json["flows"][flow].contains(name) ? json["flows"][flow][name] : nlohmann::json();
      if (value.is_null())
        EXPECT_EQ(cell, "") << name;
      else if (value.is_string())
        EXPECT_EQ(cell, value.get<std::string>()) << name;
      else
        EXPECT_NEAR(std::stod(cell), value.get<double>(), 1e-9 * value.get<double>()) << name;
    }
  }
  EXPECT_EQ(json["summary"]["lost_frames"], 15);
  EXPECT_EQ(json["summary"]["frames_that_came"]["contradictory"], 1);
  EXPECT_EQ(json["summary"]["confidence"], 0.99);
  EXPECT_TRUE(json["flows"][2]["latency_min_ns"].is_null());
}

TEST(TestReport, BeginsWithWhatWasAskedAndNotSent) {
  TestReport report = Received().report();
  const auto as_asked = [&] { return nlohmann::json::parse(report_json(report))["as_asked"]; };
  report.about = {.command = "test run", .sending = {.taken = 1000, .sent = 1000}, .late_p50_ns = 2e6};
  EXPECT_EQ(as_asked(), true);
  EXPECT_TRUE(report_text(report).starts_with("device "));
  report.about.late_p50_ns = 1.3e9;
  EXPECT_EQ(as_asked(), false);
  EXPECT_TRUE(report_text(report).starts_with("not as requested: half of the frames sent left at least 1.3 s late: "));
  report.about.sending = {.taken = 1000, .sent = 750, .refused = 50, .unsent = 200};
  report.about.dropped_in_sending = 5;
  report.about.late_p50_ns = 2e6;
  EXPECT_EQ(as_asked(), false);
  EXPECT_TRUE(report_text(report).starts_with("not as requested: 255 of 1000 frames due were not sent (25.5 %): "));
  report.about.late_p50_ns = 1.3e9;
  EXPECT_TRUE(report_text(report).starts_with("not as requested: 255 of 1000 frames due were not sent (25.5 %); half"));
}

TEST(TestReport, SaysInTextWhatReorderedAndOvertakingMean) {
  TestReport report = Received().report();
  report.total.reordered = 0;
  EXPECT_THAT(report_text(report), Not(HasSubstr("that was sent later")));
  report.total.reordered = 1;
  EXPECT_THAT(report_text(report), HasSubstr("these frames arrived after a frame of their flow that was sent later"));
  EXPECT_THAT(report_text(report),
              HasSubstr("these frames arrived before a frame of their flow that was sent earlier"));
}

TEST(TestReport, SaysInTextWhatWasLostAndByWhom) {
  TestReport report = Received().report();
  report.rates.sent_pps = 9999.9;
  report.rates.sent_line_bps = 11.84e6;
  report.rates.received_pps = std::nullopt;
  const std::string text = report_text(report);
  EXPECT_THAT(text, HasSubstr(", 10.0 kpps, 11.8 Mbit/s on the line\nreceived"));
  EXPECT_THAT(text, HasSubstr(", -, "));
  EXPECT_THAT(text, HasSubstr("3, 2 with loss, 1 without any received frame"));
  EXPECT_THAT(text, HasSubstr("lost        15: 50 % (33.15 .. 66.85 %), in 2 periods"));
  EXPECT_THAT(text, HasSubstr("latency     min 1 us, mean 2.336 us, max 5 us"));
  EXPECT_THAT(text, HasSubstr("UDP 10.0.0.2:1000 > 10.0.1.2:2000"));
  EXPECT_LT(text.find("         2           10           10            -"), text.find("10.0.0.2"));
  const std::string empty = report_text(make_report(Receiver(kReportPlan), std::vector<SentFlow>(3), 0));
  EXPECT_EQ(empty.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace parshall::tester
