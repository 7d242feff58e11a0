// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../thorough.hpp"
#include "played.hpp"
#include "traffic/benchmark_addresses.hpp"
#include "traffic/flow_tuples.hpp"
#include "traffic/paced_source.hpp"

namespace parshall {
namespace {

template <int kBits, std::uint64_t kBound>
void expect_bijection() {
  std::vector<bool> met(kBound);
  for (std::uint64_t i = 0; i < kBound; ++i) {
    const std::uint64_t to = scramble_below<kBits, kBound>(i);
    ASSERT_LT(to, kBound);
    ASSERT_FALSE(met[to]) << kBits << " bits, " << i;
    met[to] = true;
  }
}

TEST(ScrambleBelow, IsABijection) {
  expect_bijection<16, 65536>();
  expect_bijection<16, 65535>();
  expect_bijection<20, 600'001>();
  expect_bijection<2, 3>();
}

bool is_below(std::span<const std::uint8_t> address, std::initializer_list<std::uint8_t> prefix) {
  return std::ranges::equal(address.first(prefix.size()), prefix);
}

/// From the first half to the second, and the other way for the second direction of connections.
void expect_for_benchmarks(const FlowKey& key, bool back) {
  const auto from = back ? key.dst_address() : key.src_address(), to = back ? key.src_address() : key.dst_address();
  if (key.ip_version == 6) {
    ASSERT_TRUE(is_below(from, {0x20, 1, 0, 2, 0, 0, 0, 0}));
    ASSERT_TRUE(is_below(to, {0x20, 1, 0, 2, 0, 0, 0, 1}));
  } else {
    ASSERT_TRUE(is_below(from, {198, 18}));
    ASSERT_TRUE(is_below(to, {198, 19}));
    for (const auto address : {from, to}) {
      ASSERT_FALSE(is_below(address.subspan(2), {0, 0}));
      ASSERT_FALSE(is_below(address.subspan(2), {255, 255}));
    }
  }
  ASSERT_GE(key.src_port(), 1024);
  ASSERT_GE(key.dst_port(), 1024);
}

TEST(BenchmarkAddresses, AreThoseOfAllBuiltInTraffic) {
  for (const char* kind :
       {"flows=5000,packets=5000,ipv6=0.5", "flows=5000,packets=5000,protocol=connections,ipv6=0.5",
        "flows=50,packets=50000,flood=0.5", "flows=50,packets=200000,dist=trains:1", "flows=5000,seed=99"}) {
    SCOPED_TRACE(kind);
    const auto trace = trace_of(std::string(kind) + ",addresses=benchmark");
    std::size_t at = 0;
    play(trace, 1, [&](const RawPacket& packet) {
      const bool back = trace->spec().connected() && trace->flow_of(at) % 2 == 1;
      ASSERT_NO_FATAL_FAILURE(expect_for_benchmarks(key_of(packet), back));
      ASSERT_EQ(check_checksums(packet.data, packet.captured_bytes, datagram_of(packet)), ChecksumState::good);
      ++at;
    });
  }
}

/// Who sends: what a bijection keeps apart, and not chance.
std::string sender_of(const FlowTuple& tuple) {
  std::string text(1, static_cast<char>(tuple.ipv6));
  text.append(reinterpret_cast<const char*>(tuple.source), tuple.ipv6 ? 16 : 4);
  return text.append(reinterpret_cast<const char*>(tuple.source_port), 2);
}

bool all_differ(std::vector<std::string>& texts) {
  std::ranges::sort(texts);
  return std::ranges::adjacent_find(texts) == texts.end();
}

TEST(FlowTuples, OfAnyTwoFlowsDiffer) {
  for (const char* spec : {"", ",ipv6=0.3", ",protocol=connections", ",seed=18446744073709551615", ",seed=4227729400"})
    for (const char* kind : {"addresses=random", "addresses=benchmark"}) {
      const TrafficSpec parsed = *TrafficSpec::parse(std::string(kind) + spec);
      const FlowTuples tuples(parsed);
      std::vector<std::string> senders;
      for (std::uint64_t flow = 0; flow < (thorough() ? 1u << 19 : 1u << 17); flow += parsed.connected() ? 2 : 1) {
        senders.push_back(sender_of(tuples(flow)));
        senders.push_back(sender_of(tuples((1 << 28) - 2 - flow)));
      }
      EXPECT_TRUE(all_differ(senders)) << kind << spec;
    }
}

TEST(FlowTuples, OfTheTwoDirectionsOfAConnectionAreEachOthers) {
  const FlowTuples tuples(*TrafficSpec::parse("protocol=connections,ipv6=0.5,addresses=benchmark"));
  for (std::uint64_t flow = 0; flow < 1000; flow += 2) {
    const FlowTuple there = tuples(flow), back = tuples(flow + 1);
    EXPECT_EQ(there.ipv6, back.ipv6);
    EXPECT_TRUE(std::ranges::equal(there.source, back.destination) &&
                std::ranges::equal(back.source, there.destination));
    EXPECT_TRUE(std::ranges::equal(there.source_port, back.destination_port) &&
                std::ranges::equal(back.source_port, there.destination_port));
  }
}

/// Sources come again after so many flows, ports and destinations then being others.
TEST(FlowTrains, OfAddressesForBenchmarksNeverComeAgainEither) {
  constexpr std::uint64_t kSources = BenchmarkAddresses::kHosts * BenchmarkAddresses::kPorts;
  const auto trace = trace_of("flows=1,dist=trains:1,addresses=benchmark");
  std::vector<std::string> texts;
  for (const std::uint64_t from :
       {std::uint64_t{0}, BenchmarkAddresses::kHosts * 5 - 500, kSources - 1000, 2 * kSources - 1000,
        kSources * BenchmarkAddresses::kHosts - 1000, (std::uint64_t{1} << 48) - 2000}) {
    std::uint64_t now_ns = 0;
    PacedSource source(trace, Pace(1e7), 4096, 0, [&now_ns] { return now_ns += 1000; });
    source.play_from(from);
    play(source, 2000, [&](const RawPacket& packet) {
      const FlowKey key = key_of(packet);
      ASSERT_NO_FATAL_FAILURE(expect_for_benchmarks(key, false));
      texts.emplace_back(reinterpret_cast<const char*>(&key), FlowKey::kHeadBytes);
    });
  }
  EXPECT_TRUE(all_differ(texts));
}

TEST(SynFlood, OfAddressesForBenchmarksNeverRepeatsEither) {
  const auto trace = trace_of("flows=2,packets=1000,flood=0.9,addresses=benchmark");
  std::vector<std::string> texts;
  std::size_t at = 0;
  play(trace, 500, [&](const RawPacket& packet) {
    const FlowKey key = key_of(packet);
    if (trace->is_flood(at++ % 1000)) texts.emplace_back(reinterpret_cast<const char*>(&key), FlowKey::kHeadBytes);
  });
  EXPECT_GT(texts.size(), 400'000u);
  EXPECT_TRUE(all_differ(texts));
}

}  // namespace
}  // namespace parshall
