// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <time.h>

#include "lab/tests/toeplitz.hpp"
#include "pipeline/flow/bucketed_table.hpp"
#include "run.hpp"

namespace parshall {
namespace {

using namespace testing;

/// TCP SYNs, each from another address and port: frames made as they are polled.
class SynFlood final : public PacketSource {
 public:
  explicit SynFlood(std::uint64_t packets) : packets_(packets) {}
  std::size_t poll(std::span<RawPacket> out) noexcept override {
    const std::size_t count = std::min<std::uint64_t>({out.size(), packets_ - next_, kFrames / 2});
    for (RawPacket& packet : out.first(count)) {
      auto& frame = frames_[next_ % kFrames];
      frame = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6};
      std::memcpy(&frame[26], &next_, 4);
      frame[30] = 10;
      frame[35] = static_cast<std::uint8_t>(next_ >> 32);
      frame[37] = 80;
      frame[46] = 5 << 4;
      frame[47] = 2;
      packet = {.data = frame.data(), .time_ns = kStartNs + 67 * next_, .captured_bytes = 60, .wire_bytes = 60};
      ++next_;
    }
    return count;
  }
  bool exhausted() const noexcept override { return next_ == packets_; }

 private:
  static constexpr std::size_t kFrames = 2048;
  std::uint64_t packets_, next_ = 0;
  std::array<std::array<std::uint8_t, 60>, kFrames> frames_;
};

TEST(Flood, MillionsOfNewFlowsIn64KiSlotsAreAllReportedInTheMemoryPromised) {
  constexpr std::uint64_t kPackets = kSanitized ? 1'500'000 : 3'000'000;
  Input input{
      .description = "flood", .sources = {}, .dealing = Dealing::all_to_each, .owner = nullptr, .device = nullptr};
  input.sources.push_back(std::make_unique<SynFlood>(kPackets));
  const SessionOptions options = options_of({.flows = 65'536});
  const Schema schema = schema_of({});
  const std::uint64_t before = resident_bytes();
  Session session(std::move(input), options, schema);
  ASSERT_FALSE(session.start());
  std::uint64_t most = 0;
  while (!session.finished()) {
    most = std::max(most, resident_bytes());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const Report report = session.final_report();
  most = std::max(most, resident_bytes());
  expect_balanced(report.summary.total);
  EXPECT_EQ(report.summary.total.counted(), kPackets);
  std::uint64_t records = 0, packets = 0, syn_only = 0;
  report.flows([&](const ReportFlow& flow) {
    ++records;
    packets += flow.record.packets;
    syn_only += flow.record.tcp_flags == 2;
  });
  EXPECT_EQ(packets, kPackets);
  EXPECT_EQ(records, kPackets);
  EXPECT_EQ(syn_only, kPackets);
  EXPECT_EQ(report.summary.total[Counter::evicted_records], kPackets - report.summary.total[Counter::live_flows]);
  constexpr std::uint64_t kSlack = 24 << 20;  // pages of 2 MB that arrays round up to, and the C library's own
  RecordProperty("promised_MB", static_cast<int>(Session::memory_bytes(options, schema) >> 20));
  RecordProperty("resident_MB", static_cast<int>((most - before) >> 20));
  if (!kSanitized) {
    EXPECT_LE(most, before + Session::memory_bytes(options, schema) + kSlack);
  }
}

double thread_seconds() {
  timespec now;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct NoSink final : FlowSink {
  void flow_ended(FlowRecord&, std::uint32_t, std::size_t) noexcept override {}
};

/// Seconds for some rounds over the keys, as the stage does it: hash, ask for memory, count.
double count_all(ExactTable& table, const FlowIdentity& identity, const std::vector<FlowKey>& keys, int rounds) {
  std::vector<PacketFacts> facts(64);
  std::vector<SlotRef> slots(64);
  const double began = thread_seconds();
  for (int round = 0; round < rounds; ++round)
    for (std::size_t at = 0; at + 64 <= keys.size(); at += 64) {
      for (std::size_t i = 0; i < 64; ++i) {
        facts[i].key = keys[at + i];
        facts[i].time_ns = kStartNs;
        facts[i].counts = CountWord::narrow(46, 14, 0);
        identity.ipv4(FlowIdentity::load_head(facts[i].key), facts[i]);
        table.prefetcher()(facts[i].hash);
      }
      table.update(facts, slots);
    }
  return thread_seconds() - began;
}

/// How many times as long as the random keys the others take, each in a table of its own that has seen them once.
double cost_ratio(std::size_t capacity, const std::vector<FlowKey>& keys, const std::vector<FlowKey>& random,
                  int rounds) {
  NoSink sink;
  const FlowIdentity identity(KeyFields::five_tuple, Identity::exact, 0x5EED);
  ExactTable of_keys(capacity, {}, sink), of_random(capacity, {}, sink);
  count_all(of_keys, identity, keys, 1);
  count_all(of_random, identity, random, 1);
  EXPECT_EQ(of_keys.size(), 65'536u);
  std::vector<double> ratios;
  for (int i = 0; i < 9; ++i) {
    const double usual = count_all(of_random, identity, random, rounds);
    ratios.push_back(count_all(of_keys, identity, keys, rounds) / usual);
  }
  std::ranges::sort(ratios);
  std::printf("%.2f times as long as random ones (%.2f to %.2f)\n", ratios[4], ratios.front(), ratios.back());
  return ratios[4];
}

/// Every packet a flow of its own in a full table: SYNs from one address after the other, and from random ones.
TEST(Flood, NewFlowsInOrderCostLikeRandomOnes) {
  constexpr std::size_t kCapacity = 65'536, kNew = 1 << 18;
  std::vector<FlowKey> flood(kNew), random(kNew);
  SplitMix64 numbers(10);
  for (std::size_t i = 0; i < kNew; ++i) {
    FlowKey key;
    key.ip_version = 4;
    key.protocol = 6;
    const std::uint64_t bits = numbers();
    const auto source = static_cast<std::uint32_t>(i);
    std::memcpy(key.address.data(), &source, 4);
    flood[i] = key;
    std::memcpy(key.address.data(), &bits, 8);
    random[i] = key;
  }
  EXPECT_LT(cost_ratio(kCapacity, flood, random, 1), 2);
}

TEST(Flood, FiveTuplesAimedAtOneRssValueCostLikeRandomOnes) {
  const std::vector<FlowKey> aimed = colliding_keys();
  std::vector<FlowKey> random = aimed;
  SplitMix64 numbers(9);
  for (FlowKey& key : random) {
    const std::uint64_t bits = numbers();
    std::memcpy(key.address.data(), &bits, 4);
    std::memcpy(key.src_port_bytes.data(), reinterpret_cast<const char*>(&bits) + 4, 2);
  }
  EXPECT_LT(cost_ratio(1 << 17, aimed, random, 4), 2);
}

}  // namespace
}  // namespace parshall
