// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/random.hpp"
#include "pipeline/output/queue/sink.hpp"

namespace parshall {
namespace {

FlowRecord record(unsigned number, std::uint64_t packets) {
  FlowRecord flow;
  flow.key.ip_version = number % 2 == 0 ? 4 : 6;
  flow.key.protocol = 6;
  flow.key.src_port_bytes = {0x30, 0x39};
  flow.key.dst_port_bytes = {0, 80};
  if (number % 2 == 0) {
    flow.key.address = {192, 0, 2, static_cast<std::uint8_t>(number), 198, 51, 100, 7};
  } else {
    flow.key.address = {0x20, 1, 0xd, 0xb8};
    flow.key.address[15] = static_cast<std::uint8_t>(number);
    flow.key.address[16] = 0xfe, flow.key.address[17] = 0x80;
  }
  flow.packets = packets;
  flow.ip_bytes = 40 * packets;
  flow.wire_bytes = 60 * packets;
  flow.first_ns = 1'600'000'000'000'000'000 + number;
  flow.last_ns = flow.first_ns + 1'000'000;
  flow.tcp_flags = 0x12;
  return flow;
}

/// A row of a report: what the record says, then the values of the columns that were asked for.
std::vector<Value> values_of(const FlowRecord& record, std::span<const Value> asked) {
  std::vector<Value> values(kBaseColumns);
  read_base_columns(record, std::span(values).first<kBaseColumns>());
  values.insert(values.end(), asked.begin(), asked.end());
  return values;
}

/// A hand-made report of a few flows and three columns more.
struct Sample {
  Schema schema = *Schema::make(std::vector<std::string>{"gap_mean", "tcp_flags", "end_reason"}, {});
  std::vector<FlowRecord> flows{record(0, 3), record(1, 100), record(2, 20)};
  std::vector<std::vector<Value>> asked{{Value::of_real(0.5), Value::of_flags(18), {}},
                                        {{}, Value::of_flags(18), Value::of_enumeration(5)},
                                        {Value::of_real(7), Value::of_flags(18), Value::of_enumeration(1)}};

  Report report() const {
    Report report;
    report.summary.source = "a \"quoted\" name";
    report.summary.number = 1;
    report.summary.final = true;
    using enum Counter;
    for (const auto& [counter, value] : {std::pair<Counter, std::uint64_t>{first_seen_ns, record(0, 3).first_ns},
                                         {last_seen_ns, record(2, 20).last_ns},
                                         {polled, 130},
                                         {filtered, 2},
                                         {not_ip, 4},
                                         {cut_link_header, 1},
                                         {counted, 123},
                                         {arrived, 123},
                                         {live_flow_packets, 3},
                                         {ended_record_packets, 120},
                                         {ended_records, 2},
                                         {evicted_records, 1},
                                         {live_flows, 1}})
      report.summary.total.set(counter, value);
    report.columns = schema.columns();
    report.flows = [this](const std::function<void(const ReportFlow&)>& visit) {
      for (std::size_t i = 0; i < flows.size(); ++i) visit({flows[i], values_of(flows[i], asked[i])});
    };
    return report;
  }
};

std::string written(const char* format, const Report& report, bool several = false, int times = 1) {
  const auto path = std::filesystem::temp_directory_path() / ("parshall-report-test-" + std::to_string(::getpid()));
  const auto entry = std::ranges::find(sink_registry(), std::string_view(format), &SinkEntry::name);
  {
    auto output = Output::open(path.string());
    const auto sink = entry->make({.several = several});
    for (int i = 0; i < times; ++i) sink->write(report, **output);
    EXPECT_FALSE((*output)->error());
  }
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

constexpr char kCsv[] =
    "ip_version,protocol,src_ip,src_port,dst_ip,dst_port,packets,ip_bytes,wire_bytes,first_seen_ns,last_seen_ns,gap_"
    "mean_packets,tcp_flags,end_reason\n"
    "4,6,192.0.2.0,12345,198.51.100.7,80,3,120,180,1600000000000000000,1600000000001000000,0.5,18,\n"
    "6,6,2001:db8::1,12345,fe80::,80,100,4000,6000,1600000000000000001,1600000000001000001,,18,evicted\n"
    "4,6,192.0.2.2,12345,198.51.100.7,80,20,800,1200,1600000000000000002,1600000000001000002,7,18,idle\n";

TEST(CsvSink, WritesTheContractByteForByte) { EXPECT_EQ(written("csv", Sample().report()), kCsv); }

TEST(CsvSink, SeveralReportsArePartedByAnEmptyLine) {
  EXPECT_EQ(written("csv", Sample().report(), true, 2), std::string(kCsv) + "\n" + kCsv);
}

TEST(CsvSink, AReportWithoutFlowsIsItsHeader) {
  Sample sample;
  sample.flows.clear();
  EXPECT_EQ(written("csv", sample.report()), std::string(kCsv).substr(0, std::string(kCsv).find('\n') + 1));
}

TEST(CsvSink, ThousandsOfRowsAreWrittenWhole) {
  Sample sample;
  Report report = sample.report();
  report.flows = [&sample](const std::function<void(const ReportFlow&)>& visit) {
    const auto values = values_of(sample.flows[1], sample.asked[1]);
    for (int i = 0; i < 20'000; ++i) visit({sample.flows[1], values});
  };
  std::istringstream text(written("csv", report));
  std::string line;
  std::getline(text, line);
  int rows = 0;
  for (; std::getline(text, line); ++rows)
    ASSERT_EQ(line,
              "6,6,2001:db8::1,12345,fe80::,80,100,4000,6000,1600000000000000001,1600000000001000001,,18,evicted");
  EXPECT_EQ(rows, 20'000);
}

TEST(JsonSink, HoldsWhatTheCsvHolds) {
  for (const bool several : {false, true}) {
    const std::string text = written("json", Sample().report(), several);
    const auto json = nlohmann::json::parse(text);
    EXPECT_EQ(json["summary"]["source"], "a \"quoted\" name");
    EXPECT_EQ(json["summary"]["packets"], 123);
    EXPECT_EQ(json["summary"]["accounting"]["offered"], 130);
    EXPECT_EQ(json["summary"]["accounting"]["balanced"], true);
    EXPECT_TRUE(json["summary"]["accounting"]["nic_missed"].is_null());
    ASSERT_EQ(json["flows"].size(), 3u);
    const auto& flow = json["flows"][1];
    EXPECT_EQ(flow["ip_version"], 6);
    EXPECT_EQ(flow["src_ip"], "2001:db8::1");
    EXPECT_EQ(flow["dst_ip"], "fe80::");
    EXPECT_EQ(flow["src_port"], 12345);
    EXPECT_EQ(flow["packets"], 100);
    EXPECT_EQ(flow["first_seen_ns"], 1'600'000'000'000'000'001u);
    EXPECT_TRUE(flow["gap_mean_packets"].is_null());
    EXPECT_EQ(flow["end_reason"], "evicted");
    EXPECT_EQ(json["flows"][0]["gap_mean_packets"], 0.5);
    EXPECT_TRUE(json["flows"][0]["end_reason"].is_null());
    EXPECT_TRUE(json["events"].is_array());
    EXPECT_EQ(std::ranges::count(text, '\n') == 1, several) << "with several reports each is one line";
  }
}

/// Of objects within objects too.
bool has(const nlohmann::json& json, std::string_view name, std::uint64_t value) {
  for (const auto& [key, one] : json.items())
    if ((key == name && one == value) || (one.is_object() && has(one, name, value))) return true;
  return false;
}

TEST(JsonSink, HasEveryCounterThatReportsHaveUnderItsName) {
  const Sample sample;
  Report report = sample.report();
  for (const CounterLine& line : Counters::kTable)
    report.summary.total.set(line.id, 1'000'000 + static_cast<std::uint64_t>(line.id));
  report.summary.flood_filter.emplace();
  report.summary.adaptation.emplace();
  report.summary.classes.resize(1);
  for (const ClassCounterLine& line : ClassCounts::kTable)
    report.summary.classes[0].counts.set(line.id, 2'000'000 + static_cast<std::uint64_t>(line.id));
  const auto summary = nlohmann::json::parse(written("json", report))["summary"];
  for (const CounterLine& line : Counters::kTable)
    EXPECT_EQ(has(summary, line.name, 1'000'000 + static_cast<std::uint64_t>(line.id)),
              line.part != CounterPart::unreported)
        << line.name;
  for (const ClassCounterLine& line : ClassCounts::kTable)
    EXPECT_TRUE(has(summary["classes"], line.name, 2'000'000 + static_cast<std::uint64_t>(line.id))) << line.name;
}

TEST(JsonSink, AFileNameThatIsNotUtf8DoesNotCostTheReport) {
  const Sample sample;
  Report report = sample.report();
  report.summary.source = "caf\xe9.pcap";
  std::string text;
  ASSERT_NO_THROW(text = written("json", report));
  EXPECT_EQ(nlohmann::json::parse(text)["flows"].size(), 3u);
}

TEST(Sinks, TasksThatAreGivenUpAreNamed) {
  Sample sample;
  Report report = sample.report();
  report.summary.adaptation =
      AdaptationSummary{.mode = "adapt", .seconds = 10, .reduced_s = 4, .overhead_share = 0.005, .longest_us = 900};
  EXPECT_NE(written("text", report)
                .find("\noverload   adapt: tasks left out flows in 4 of 10 s; decisions took 0.5 % of the time, 900 us "
                      "at most\n"),
            std::string::npos);
  EXPECT_EQ(written("text", report).find("given up"), std::string::npos);
  report.summary.adaptation->given_up = {{"retransmissions", 3.1, true}, {"bursty", 0.5, false}};
  report.summary.adaptation->windows = 1000;
  report.summary.adaptation->infeasible = 7;
  const std::string text = written("text", report);
  for (const std::string_view line :
       {", and there was no time for all packets in 7 of 1000 windows; ",
        "\ngiven up   retransmissions: in 3.1 of 10 s, including now\n", "\ngiven up   bursty: in 0.5 of 10 s\n"})
    EXPECT_NE(text.find(line), std::string::npos) << text;
  const auto json = nlohmann::json::parse(written("json", report))["summary"]["adaptation"];
  EXPECT_EQ(json["given_up"]["retransmissions"], nlohmann::json::parse(R"({"seconds": 3.1, "now": true})"));
  EXPECT_EQ(json["given_up"]["bursty"]["now"], false);
  EXPECT_EQ(json["seconds_reduced"], 4);
  EXPECT_EQ(json["cost_factor"], 1);
}

TEST(Sinks, OfAWireTheySayWhatWentOnAndHowItWasMarked) {
  Sample sample;
  Report report = sample.report();
  EXPECT_EQ(written("text", report).find("forwarded"), std::string::npos);
  report.summary.forwarding = {
      .offered = 107, .sent = 100, .too_long = 3, .refused = 4, .marks = {{"web", 18, 50}, {"mail", std::nullopt, 0}}};
  EXPECT_NE(written("text", report).find("\nforwarded  107 offered = 100 sent + 3 too long + 4 refused; 50 marked\n"),
            std::string::npos);
  const auto json = nlohmann::json::parse(written("json", report))["summary"]["forwarding"];
  EXPECT_EQ(json, nlohmann::json::parse(R"({"offered": 107, "sent": 100, "not_sent": 7, "too_long": 3, "refused": 4,
      "marked": 50, "marks": {"web": {"dscp": 18, "packets": 50}, "mail": {"dscp": null, "packets": 0}}})"));
}

TEST(TextSink, ColumnsAreAligned) {
  std::istringstream text(written("text", Sample().report()));
  std::string line;
  while (std::getline(text, line) && !line.empty()) EXPECT_EQ(line.find("DOES NOT BALANCE"), line.npos);
  std::getline(text, line);
  const std::size_t packets_end = line.find("packets") + 7, destination = line.find("destination");
  int rows = 0;
  for (; std::getline(text, line); ++rows) {
    ASSERT_GT(line.size(), packets_end);
    EXPECT_NE(line[destination], ' ');
    EXPECT_EQ(line[destination - 1], ' ');
    EXPECT_TRUE(std::isdigit(line[packets_end - 1])) << line;
    EXPECT_EQ(line[packets_end], ' ');
  }
  EXPECT_EQ(rows, 3);
}

TEST(TextSink, WritesFlagsAsLettersValuesByNameAndNothingAsADash) {
  Sample sample;
  sample.schema = *Schema::make(std::vector<std::string>{"tcp_flags_1", "end_reason", "size_max", "duration"}, {});
  sample.flows.resize(1);
  sample.asked = {{Value::of_flags(18), {}, Value::of_unsigned(12345678), Value::of_signed(1'234'567'890'123'456'789)}};
  const std::string text = written("text", sample.report());
  EXPECT_NE(text.find("  AS           -        12345678  1234567890123456789\n"), std::string::npos) << text;
}

TEST(TextSink, SaysWhenTheAccountingDoesNotBalance) {
  const Sample sample;
  Report report = sample.report();
  report.summary.total.add(Counter::polled, 1);
  EXPECT_NE(written("text", report).find("DOES NOT BALANCE"), std::string::npos);
}

std::vector<std::uint64_t> packets_of(const Report& report) {
  std::vector<std::uint64_t> packets;
  report.flows([&packets](const ReportFlow& flow) { packets.push_back(flow.record.packets); });
  return packets;
}

TEST(Sorted, PutsTheLargestFirstAndAbsentValuesLast) {
  const Sample sample;
  EXPECT_EQ(packets_of(*sorted(sample.report(), "packets", 0)), (std::vector<std::uint64_t>{100, 20, 3}));
  EXPECT_EQ(packets_of(*sorted(sample.report(), "packets", 2)), (std::vector<std::uint64_t>{100, 20}));
  EXPECT_EQ(packets_of(*sorted(sample.report(), "", 1)), (std::vector<std::uint64_t>{100}));
  EXPECT_EQ(packets_of(*sorted(sample.report(), "", 0)), (std::vector<std::uint64_t>{3, 100, 20}))
      << "no order asked, none made";
  EXPECT_EQ(packets_of(*sorted(sample.report(), "gap_mean_packets", 0)), (std::vector<std::uint64_t>{20, 3, 100}));
  EXPECT_EQ(packets_of(*sorted(sample.report(), "first_seen_ns", 0)), (std::vector<std::uint64_t>{20, 100, 3}))
      << "times differ by 1 ns";
  EXPECT_EQ(packets_of(*sorted(sample.report(), "packets", 99)).size(), 3u);
  EXPECT_EQ(packets_of(*sorted(sample.report(), "src_ip", 0)), (std::vector<std::uint64_t>{100, 20, 3}));
  EXPECT_EQ(packets_of(*sorted(sample.report(), "end_reason", 0)), (std::vector<std::uint64_t>{100, 20, 3}));
}

TEST(Sorted, NamesTheNearestColumnWhenItKnowsNoSuchColumn) {
  const auto refused = sorted(Sample().report(), "gap_mean_packet", 0);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("\"gap_mean_packet\"; did you mean gap_mean_packets?"), std::string::npos);
}

TEST(Sorted, TopOfManyIsWhatSortingAllBegins) {
  std::vector<FlowRecord> flows;
  for (unsigned i = 0; i < 5000; ++i) flows.push_back(record(i % 200, SplitMix64::mix(i) % 100'000));
  const Schema schema;
  const auto make = [&] {
    Report report;
    report.columns = schema.columns();
    report.flows = [&flows](const std::function<void(const ReportFlow&)>& visit) {
      for (const FlowRecord& flow : flows) visit({flow, values_of(flow, {})});
    };
    return report;
  };
  auto all = packets_of(*sorted(make(), "packets", 0));
  EXPECT_TRUE(std::ranges::is_sorted(all, std::greater<>()));
  all.resize(37);
  EXPECT_EQ(packets_of(*sorted(make(), "packets", 37)), all);
}

TEST(Output, RemembersItsFirstErrorAndGoesOnQuietly) {
  auto output = Output::open("/dev/full");
  ASSERT_TRUE(output);
  for (int i = 0; i < 100; ++i) (*output)->write(std::string(10'000, 'x'));
  (*output)->flush();
  ASSERT_TRUE((*output)->error());
  EXPECT_NE((*output)->error()->message.find("/dev/full"), std::string::npos);
  EXPECT_FALSE(Output::open("/no/such/folder/file"));
}

}  // namespace
}  // namespace parshall
