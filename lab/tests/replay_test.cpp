// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <deque>
#include <fstream>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "lab/classify/replay_source.hpp"
#include "pipeline/decode/decode.hpp"
#include "pipeline/flow/key_hash.hpp"
#include "tests/capture/capture_bytes.hpp"
#include "traffic/frame.hpp"

namespace parshall::lab {
namespace {

using testing::Bytes;
using testing::PcapFile;

constexpr std::uint64_t kFirstNs = 1'000'000'000;

/// A frame of UDP over IPv4 or IPv6, in so many tags; `reply`: from the other end.
Bytes frame(std::uint32_t flow, std::uint32_t frame_bytes, bool ipv6, bool reply, std::size_t tags = 0) {
  Bytes bytes(frame_bytes);
  write_ethernet(bytes.data(), 0);
  std::uint8_t* at = bytes.data() + 12;
  for (std::size_t tag = 0; tag < tags; ++tag, at += 4) put16(at, 0x8100);
  put16(at, ipv6 ? kEtherIpv6 : kEtherIpv4);
  std::uint8_t* const ip = at + 2;
  const auto ip_bytes = static_cast<std::uint32_t>(bytes.data() + bytes.size() - ip);
  const std::size_t address_bytes = ipv6 ? 16 : 4, header_bytes = ipv6 ? 40 : 20;
  ip[0] = ipv6 ? 0x60 : 0x45;
  put16(ip + (ipv6 ? 4 : 2), ip_bytes - (ipv6 ? 40 : 0));
  ip[ipv6 ? 6 : 9] = 17;
  std::uint8_t* const client = ip + (ipv6 ? 8 : 12) + (reply ? address_bytes : 0);
  std::uint8_t* const server = ip + (ipv6 ? 8 : 12) + (reply ? 0 : address_bytes);
  put16(client, 0x0a00 + (flow >> 8));
  put16(client + 2, flow);
  put16(server, 0xc612);
  put16(server + 2, flow % 7);
  std::uint8_t* const udp = ip + header_bytes;
  put16(udp + (reply ? 2 : 0), 1000 + flow % 50);
  put16(udp + (reply ? 0 : 2), 53);
  put16(udp + 4, ip_bytes - static_cast<std::uint32_t>(header_bytes));
  return bytes;
}

std::shared_ptr<const ReplayTrace> trace_of(const std::vector<Bytes>& frames, std::size_t most = 100'000) {
  const std::string path = ::testing::TempDir() + "replay_test.pcap";
  std::ofstream file(path, std::ios::binary);
  const PcapFile pcap;
  const auto write = [&](const Bytes& bytes) {
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  };
  write(pcap.header());
  for (std::uint32_t i = 0; i < frames.size(); ++i) write(pcap.record(i, frames[i]));
  file.close();
  auto trace = ReplayTrace::of_file(path, most);
  std::remove(path.c_str());
  EXPECT_TRUE(trace) << trace.error().message;
  return std::make_shared<const ReplayTrace>(*std::move(trace));
}

/// Connections with packets both ways, each flow several times, some in tags, some of no flow.
std::vector<Bytes> mixed(std::uint32_t flows) {
  std::vector<Bytes> frames;
  for (std::uint32_t round = 0; round < 4; ++round)
    for (std::uint32_t flow = 0; flow < flows; ++flow) {
      frames.push_back(frame(flow, 90 + (flow * 37 + round * 501) % 1400, flow % 3 == 0, round == 1, flow % 4 == 0));
      if (flow % 10 == 0) frames.push_back(Bytes(42, 0));  // an ARP that never was
    }
  return frames;
}

std::uint64_t fake_now_ns = 0;
std::uint64_t fake_clock() noexcept { return fake_now_ns; }

struct Played {
  FlowKey key;
  bool of_flow;
  std::uint64_t time_ns;
  std::uint32_t ip_bytes, wire_bytes;
};

/// All that comes to a queue until so many ns have gone by, polled often enough.
std::vector<Played> play(std::shared_ptr<const ReplayTrace> trace, std::uint32_t cap, std::size_t queue,
                         std::size_t queues, std::uint64_t interface, double gbps, std::uint64_t for_ns) {
  fake_now_ns = 777;
  ReplaySource source(trace, std::make_shared<const ReplaySchedule>(*trace, cap, queue, queues), interface, gbps, 4096,
                      kFirstNs, fake_clock);
  std::vector<Played> played;
  std::array<RawPacket, 64> batch;
  while (fake_now_ns <= 777 + for_ns) {
    while (const std::size_t count = source.poll(batch))
      for (const RawPacket& packet : std::span(batch).first(count)) {
        PacketFacts facts{};
        const bool of_flow = decode_any(packet, IpHeader::outermost, facts) == Verdict::counted;
        played.push_back({facts.key, of_flow, packet.time_ns, facts.counts.ip_bytes(), packet.wire_bytes});
        EXPECT_LE(packet.time_ns, source.now_ns());
      }
    fake_now_ns += 1000;
  }
  EXPECT_EQ(source.counters()[Counter::nic_missed], 0u);
  EXPECT_EQ(source.counters()[Counter::nic_received], played.size());
  return played;
}

TEST(ReplaySource, FramesFollowEachOtherWithAllThatALineHasBetweenThem) {
  const auto trace = trace_of({frame(1, 60, false, false), Bytes(42, 0), frame(2, 1514, false, false)});
  const auto played = play(trace, 0, 0, 1, 0, 8.0, 10'000);  // a byte a ns
  ASSERT_GE(played.size(), 5u);
  EXPECT_EQ(played[0].time_ns, kFirstNs + 84);
  EXPECT_EQ(played[1].time_ns, kFirstNs + 2 * 84) << "a short frame is padded to 60 bytes";
  EXPECT_EQ(played[2].time_ns, kFirstNs + 2 * 84 + 1538);
  EXPECT_EQ(played[3].time_ns, kFirstNs + 3 * 84 + 1538) << "and again";
  EXPECT_EQ(line_bytes(64), 88u) << "14.2 Mpps of 10 Gb/s";
  const auto slower = play(trace, 0, 0, 1, 0, 4.0, 10'000);
  EXPECT_EQ(slower[2].time_ns, kFirstNs + 2 * (2 * 84 + 1538));
}

TEST(ReplaySource, ACapIsOfTheLineAndPacketsKeepTheirLengths) {
  const auto trace = trace_of({frame(1, 60, false, false), frame(2, 744, false, false), frame(3, 1514, true, false)});
  const auto whole = play(trace, 0, 0, 1, 0, 8.0, 3000), capped = play(trace, 200, 0, 1, 0, 8.0, 3000);
  EXPECT_EQ(capped[0].time_ns, kFirstNs + 84);
  EXPECT_EQ(capped[1].time_ns, kFirstNs + 84 + 224);
  EXPECT_EQ(capped[2].time_ns, kFirstNs + 84 + 2 * 224);
  for (const std::size_t i : {0, 1, 2}) {
    EXPECT_EQ(capped[i].ip_bytes, whole[i].ip_bytes);
    EXPECT_EQ(capped[i].wire_bytes, whole[i].wire_bytes);
  }
  EXPECT_EQ(whole[1].ip_bytes, 730u);
  EXPECT_EQ(whole[2].ip_bytes, 1500u) << "though only 96 of its bytes are kept";
}

using Keys = std::unordered_set<FlowKey, KeyHash>;

TEST(ReplaySource, NoFlowComesAgainInAnotherRepetitionOrOnAnotherInterface) {
  const auto frames = mixed(100);
  const auto trace = trace_of(frames);
  EXPECT_EQ(trace->flows(), 200u) << "both directions of 100 connections";
  EXPECT_EQ(trace->fixed_packets(), 0u);
  EXPECT_EQ(trace->flow_packets(), 400u);
  Keys all;
  std::size_t packets = 0;
  for (const std::uint64_t interface : {0, 1}) {
    const auto played = play(trace, 64, 0, 1, interface, 10, 200'000);
    ASSERT_GT(played.size(), 5 * frames.size());
    for (std::size_t loop = 0; loop < played.size() / frames.size(); ++loop) {
      Keys own;
      for (const Played& packet : std::span(played).subspan(loop * frames.size(), frames.size()))
        if (packet.of_flow) own.insert(packet.key);
      EXPECT_EQ(own.size(), trace->flows());
      for (const FlowKey& key : own) {
        EXPECT_TRUE(all.insert(key).second) << "loop " << loop << ", interface " << interface;
        FlowKey reply = key;
        std::swap(reply.src_port_bytes, reply.dst_port_bytes);
        const std::size_t bytes = key.address_bytes();
        std::swap_ranges(reply.address.begin(), reply.address.begin() + static_cast<std::ptrdiff_t>(bytes),
                         reply.address.begin() + static_cast<std::ptrdiff_t>(bytes));
        EXPECT_TRUE(own.contains(reply)) << "a connection's directions stay together";
      }
      ++packets;
    }
  }
  EXPECT_EQ(all.size(), packets * trace->flows());
}

TEST(ReplaySource, EachFlowComesToOneQueueAsPartOfTheSameLine) {
  const auto trace = trace_of(mixed(191));
  constexpr std::uint64_t kNs = 1'500'000;
  const auto whole = play(trace, 0, 0, 1, 1, 10, kNs);
  std::vector<Played> spread;
  std::unordered_map<FlowKey, std::size_t, KeyHash> queue_of;
  std::array<std::size_t, 2> flows{};
  for (const std::size_t queue : {0, 1})
    for (const Played& packet : play(trace, 0, queue, 2, 1, 10, kNs)) {
      spread.push_back(packet);
      if (!packet.of_flow) continue;
      const auto [known, is_new] = queue_of.insert({packet.key, queue});
      EXPECT_EQ(known->second, queue);
      flows[queue] += is_new;
    }
  EXPECT_GT(std::min(flows[0], flows[1]), (flows[0] + flows[1]) / 3);
  std::ranges::stable_sort(spread, {}, &Played::time_ns);
  ASSERT_EQ(spread.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    ASSERT_EQ(spread[i].time_ns, whole[i].time_ns);
    ASSERT_EQ(spread[i].of_flow, whole[i].of_flow);
    ASSERT_TRUE(!whole[i].of_flow || spread[i].key == whole[i].key);
  }
}

/// Against a queue of arrival times.
TEST(ReplaySource, WhatFindsTheQueueFullIsMissedAndCounted) {
  SplitMix64 random(3);
  const auto frames = mixed(30);
  const auto trace = trace_of(frames);
  for (const std::size_t queue : {0, 1})
    for (const std::size_t room : {1u, 10u, 500u}) {
      const auto schedule = std::make_shared<const ReplaySchedule>(*trace, 100, queue, 2);
      fake_now_ns = 5'000;
      ReplaySource source(trace, schedule, 0, 8.0, room, kFirstNs, fake_clock);
      std::deque<std::uint64_t> waiting;  // times
      std::uint64_t came = 0, missed = 0, delivered = 0;
      for (int step = 0; step < 3000; ++step) {
        const std::uint64_t elapsed = fake_now_ns - 5'000;
        for (;; ++came) {
          const std::uint64_t at =
              came / schedule->packets() * schedule->loop_bytes() + schedule->end_bytes(came % schedule->packets());
          if (at > elapsed) break;
          if (waiting.size() < room)
            waiting.push_back(kFirstNs + at);
          else
            ++missed;
        }
        std::array<RawPacket, 64> batch;
        const std::size_t asked = random.below(65), count = source.poll({batch.data(), asked});
        ASSERT_EQ(count, std::min(asked, waiting.size()));
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(batch[i].time_ns, waiting.front());
          waiting.pop_front();
        }
        delivered += count;
        ASSERT_EQ(source.counters()[Counter::nic_missed], missed);
        ASSERT_EQ(source.counters()[Counter::nic_received], delivered);
        ASSERT_EQ(delivered + missed + waiting.size(), came);
        fake_now_ns += random.below(step % 100 < 90 ? 5'000 : 500'000);
      }
      EXPECT_GT(delivered, 1000u);
      EXPECT_GT(missed, 1000u);
    }
}

TEST(ReplayTrace, SaysWhatIsLeftOut) {
  const auto frames = mixed(20);
  EXPECT_TRUE(trace_of(frames)->warning().empty());
  const auto part = trace_of(frames, 10);
  EXPECT_EQ(part->size(), 10u);
  EXPECT_NE(part->warning().find("only its first 10 packets"), std::string::npos);
  EXPECT_FALSE(ReplayTrace::of_file("/no/such/file", 10));
}

}  // namespace
}  // namespace parshall::lab
