// SPDX-License-Identifier: Apache-2.0
#include "traffic/shared_source.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "played.hpp"

namespace parshall {
namespace {

constexpr std::uint64_t kFirstNs = 1'000'000'007;

struct Seen {
  std::uint64_t time_ns = 0;
  std::vector<std::uint8_t> bytes;
  std::size_t share = 0;

  bool operator==(const Seen& other) const { return time_ns == other.time_ns && bytes == other.bytes; }
};

Seen seen_of(const RawPacket& packet, std::size_t share = 0) {
  EXPECT_EQ(packet.captured_bytes, packet.wire_bytes);
  return {packet.time_ns, {packet.data, packet.data + packet.captured_bytes}, share};
}

std::vector<std::unique_ptr<PacketSource>> shares_of(const std::string& text, std::size_t workers,
                                                     std::uint64_t limit) {
  const auto spec = TrafficSpec::parse(text, TrafficSpec::kAll);
  auto made = Trace::make(*spec, workers);
  EXPECT_TRUE(made) << made.error().message;
  const auto trace = std::make_shared<const Trace>(*std::move(made));
  std::vector<std::unique_ptr<PacketSource>> shares;
  for (std::size_t i = 0; i < workers; ++i) shares.push_back(std::make_unique<SharedSource>(trace, i, limit, kFirstNs));
  return shares;
}

/// Until it has none left, `batch` packets at a time; by their numbers, which go up.
void play_share(PacketSource& source, std::size_t share, std::size_t batch, std::map<std::uint64_t, Seen>& packets) {
  std::vector<RawPacket> out(batch);
  while (!source.exhausted()) {
    const std::size_t count = source.poll(out);
    ASSERT_NE(count, 0u);
    ASSERT_EQ(source.share()->numbers().size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t number = source.share()->numbers()[i];
      if (i != 0) {
        ASSERT_GT(number, source.share()->numbers()[i - 1]);
      }
      ASSERT_TRUE(packets.emplace(number, seen_of(out[i], share)).second) << number << " is in two shares";
    }
    ASSERT_EQ(source.share()->reached(), source.share()->numbers().back() + 1);
  }
  EXPECT_EQ(source.poll(out), 0u);
}

class SharedTraffic : public ::testing::TestWithParam<const char*> {};

TEST_P(SharedTraffic, IsTheWholeOfIt) {
  const auto trace = trace_of(std::string(GetParam()));
  const std::uint64_t packets = 2 * trace->packets() + 123;
  std::map<std::uint64_t, Seen> whole;
  MemorySource source(trace, packets, kFirstNs);
  play(source, packets, [&](const RawPacket& packet) { whole.emplace(whole.size(), seen_of(packet)); });
  for (const std::size_t workers : {1u, 2u, 5u}) {
    std::map<std::uint64_t, Seen> together;
    const auto shares = shares_of(GetParam(), workers, packets);
    for (std::size_t i = 0; i < workers; ++i) play_share(*shares[i], i, 1 + 100 * i, together);
    EXPECT_TRUE(together == whole) << workers << " workers";
  }
}

TEST_P(SharedTraffic, HasBothDirectionsOfEachFlowInOneShare) {
  std::map<std::uint64_t, Seen> packets;
  const auto shares = shares_of(GetParam(), 3, 5000);
  for (std::size_t i = 0; i < shares.size(); ++i) play_share(*shares[i], i, 64, packets);
  std::map<std::set<std::string>, std::size_t> share_of;
  std::set<std::size_t> used;
  for (const auto& [number, seen] : packets) {
    const FlowKey key = key_of({.data = seen.bytes.data(),
                                .captured_bytes = static_cast<std::uint32_t>(seen.bytes.size()),
                                .wire_bytes = static_cast<std::uint32_t>(seen.bytes.size())});
    const auto end = [](std::span<const std::uint8_t> address, std::uint16_t port) {
      return std::string(address.begin(), address.end()) + std::to_string(port);
    };
    const auto at = share_of.emplace(
        std::set{end(key.src_address(), key.src_port()), end(key.dst_address(), key.dst_port())}, seen.share);
    ASSERT_EQ(at.first->second, seen.share);
    used.insert(seen.share);
  }
  EXPECT_EQ(used.size(), 3u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, SharedTraffic,
                         ::testing::Values("flows=1000,packets=5000,size=64",
                                           "flows=1000,packets=5000,dist=zipf:1.1,size=imix,ipv6=0.3",
                                           "flows=200,packets=5000,protocol=sessions,size=imix,resend=0.1,flood=0.2",
                                           "flows=100,packets=3000,protocol=connections,size=64-1518,flood=0.1"));

TEST(SharedSource, EndsBeforeAPacketThatIsNotItsOwn) {
  const auto shares = shares_of("flows=100,packets=1000,size=64", 2, ~std::uint64_t{0});
  std::vector<RawPacket> out(10);
  shares[0]->poll(out);
  const std::uint64_t end = shares[0]->share()->reached() + 700;
  std::map<std::uint64_t, Seen> packets;
  for (const auto& share : shares) share->share()->end_before(end);
  play_share(*shares[0], 0, 64, packets);
  play_share(*shares[1], 1, 64, packets);
  EXPECT_EQ(packets.size(), end - 10);
  EXPECT_EQ(packets.rbegin()->first, end - 1);
  for (const auto& share : shares) {
    EXPECT_EQ(share->share()->passed().packets, end);
    EXPECT_EQ(share->share()->passed().latest_ns, packets.rbegin()->second.time_ns);
  }
}

TEST(SharedSource, HasNothingWhereThereAreFewerFlowsThanWorkers) {
  std::size_t empty = 0;
  for (const auto& share : shares_of("flows=1,packets=1000,size=64", 4, ~std::uint64_t{0})) {
    RawPacket packet;
    if (!share->exhausted()) continue;
    ++empty;
    EXPECT_EQ(share->poll({&packet, 1}), 0u);
    EXPECT_EQ(share->share()->reached(), 0u) << "others need not go on for it";
  }
  EXPECT_EQ(empty, 3u);
}

}  // namespace
}  // namespace parshall
