// SPDX-License-Identifier: Apache-2.0
// The front end's short cuts (one packet at a time, eight at a time) against the general decoder, on common and on
// mutated frames: same packets, same keys, hashes, times, lengths and flags, same verdicts, same TCP headers.
#include "pipeline/flow/front_end.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "../thorough.hpp"
#include "base/random.hpp"
#include "pipeline/flow/hashes/registry.hpp"

namespace parshall {
namespace {

using Verdicts = std::array<std::uint64_t, kVerdicts>;

void expect_same(const TcpFacts& found, const TcpFacts& truth) {
  ASSERT_EQ(found.present, truth.present);
  if (!truth.present) return;
  ASSERT_EQ(found.seq, truth.seq);
  ASSERT_EQ(found.ack, truth.ack);
  ASSERT_EQ(found.payload_bytes, truth.payload_bytes);
  ASSERT_EQ(found.ts_value, truth.ts_value);
  ASSERT_EQ(found.ts_echo, truth.ts_echo);
  ASSERT_EQ(found.window, truth.window);
}

/// Frames, each in an allocation of just its captured length, so that reading beyond it is noticed.
class Frames {
 public:
  Frames(std::uint64_t seed, double odd_share) : random_(seed), odd_share_(odd_share) {}

  RawPacket next() {
    std::vector<std::uint8_t> frame = common();
    RawPacket packet{.time_ns = random_() >> 1, .wire_bytes = static_cast<std::uint32_t>(frame.size())};
    if (uniform() < odd_share_) spoil(frame, packet);
    packet.captured_bytes = static_cast<std::uint32_t>(frame.size());
    packet.nic_hash = static_cast<std::uint32_t>(random_());
    packet.has_nic_hash = random_() % 8 != 0;
    auto bytes = std::make_unique<std::uint8_t[]>(frame.size());
    std::copy(frame.begin(), frame.end(), bytes.get());
    packet.data = bytes.get();
    kept_.push_back(std::move(bytes));
    return packet;
  }

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

 private:
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  std::vector<std::uint8_t> common() {
    std::vector<std::uint8_t> frame(60 + below(40));
    for (std::uint8_t& byte : frame) byte = static_cast<std::uint8_t>(random_());
    const std::size_t ip_bytes = frame.size() - 14 - below(7);
    frame[12] = 8, frame[13] = 0, frame[14] = 0x45;
    frame[16] = static_cast<std::uint8_t>(ip_bytes >> 8), frame[17] = static_cast<std::uint8_t>(ip_bytes);
    frame[20] &= 0x40, frame[21] = 0;
    frame[23] = below(4) == 0 ? 17 : 6;
    frame[46] = static_cast<std::uint8_t>(0x50 | (frame[46] & 15));
    if (below(2) == 0) add_options(frame, 34);
    return frame;
  }

  /// To the TCP header there: time stamps in most cases, and a data offset that may be beyond the frame.
  void add_options(std::vector<std::uint8_t>& frame, std::size_t tcp_at) {
    const std::uint8_t stamps[][4] = {{1, 1, 8, 10}, {1, 8, 10, 0}, {2, 4, 5, 0xb4}, {8, 10, 0, 1}};
    if (frame.size() < tcp_at + 24) return;
    frame[tcp_at + 12] = static_cast<std::uint8_t>((5 + below(5)) << 4 | (frame[tcp_at + 12] & 15));
    std::copy_n(stamps[below(2) * below(4)], 4, frame.begin() + static_cast<std::ptrdiff_t>(tcp_at) + 20);
  }

  void spoil(std::vector<std::uint8_t>& frame, RawPacket& packet) {
    switch (below(10)) {
      case 0:
        frame[12 + below(12)] ^= static_cast<std::uint8_t>(1u << below(8));
        break;
      case 1:
        frame[23] = static_cast<std::uint8_t>(random_());
        break;
      case 2:
        frame[20] = static_cast<std::uint8_t>(random_()), frame[21] = static_cast<std::uint8_t>(random_());
        break;
      case 3:
        frame[16] = static_cast<std::uint8_t>(below(2)), frame[17] = static_cast<std::uint8_t>(random_());
        break;
      case 4:
        frame.resize(below(frame.size()));
        break;
      case 5:
        packet.wire_bytes = static_cast<std::uint32_t>(random_() >> (32 + below(32)));
        if (below(2) == 0)  // the most that is not wide, or one more
          packet.wire_bytes = static_cast<std::uint32_t>(frame[16] << 8 | frame[17]) + CountWord::kMaxExtraBytes +
                              static_cast<std::uint32_t>(below(2));
        break;
      case 6:
        packet.link_type = below(2) == 0 ? LinkType::raw : LinkType::null;
        break;
      case 7:
        if (below(2) == 0) make_ipv6(frame, packet);
        for (std::uint64_t tags = 1 + below(3); tags > 0; --tags) {
          const std::uint8_t tag[] = {static_cast<std::uint8_t>(below(2) == 0 ? 0x81 : 0x88), 0, 0, 7};
          frame.insert(frame.begin() + 12, std::begin(tag), std::end(tag));
          if (tag[0] == 0x88) frame[13] = 0xa8;
        }
        packet.wire_bytes = std::max(packet.wire_bytes, static_cast<std::uint32_t>(frame.size()));
        if (below(4) == 0) frame.resize(below(frame.size()));
        break;
      case 8:
        make_vxlan(frame);
        if (below(2) == 0) frame.insert(frame.begin() + 12, {0x81, 0, 0, 7});
        packet.wire_bytes = static_cast<std::uint32_t>(frame.size());
        break;
      default:
        make_ipv6(frame, packet);
    }
  }

  /// The frame inside an outer one of another UDP flow.
  void make_vxlan(std::vector<std::uint8_t>& frame) {
    std::vector<std::uint8_t> outer = common();
    outer.resize(14 + 20 + 8);
    const std::size_t ip_bytes = 20 + 8 + 8 + frame.size();
    outer[16] = static_cast<std::uint8_t>(ip_bytes >> 8), outer[17] = static_cast<std::uint8_t>(ip_bytes);
    outer[23] = 17;
    outer[36] = 4789 >> 8, outer[37] = 4789 & 255;
    outer[38] = static_cast<std::uint8_t>((ip_bytes - 20) >> 8), outer[39] = static_cast<std::uint8_t>(ip_bytes - 20);
    outer.insert(outer.end(), {0x08, 0, 0, 0, 0, 0, 1, 0});
    outer.insert(outer.end(), frame.begin(), frame.end());
    frame = outer;
  }

  void make_ipv6(std::vector<std::uint8_t>& frame, RawPacket& packet) {
    frame[12] = 0x86, frame[13] = 0xdd;
    frame[14] = static_cast<std::uint8_t>(0x60 | (frame[14] & 15));
    const std::uint64_t odd_payloads[] = {0, 65'535, 65'535 - below(64), random_() & 0xFFFF};
    const std::uint64_t payload = below(5) == 0 ? odd_payloads[below(4)] : frame.size() - 54;
    if (payload > frame.size()) packet.wire_bytes = static_cast<std::uint32_t>(54 + payload);  // the rest was cut off
    frame[18] = static_cast<std::uint8_t>(payload >> 8), frame[19] = static_cast<std::uint8_t>(payload);
    const std::uint8_t headers[] = {6, 17, 6, 17, 0, 44, 60, 58};
    frame[20] = headers[below(std::size(headers))];
    if (below(2) == 0) add_options(frame, 54);
  }

  SplitMix64 random_;
  double odd_share_;
  std::vector<std::unique_ptr<std::uint8_t[]>> kept_;
};

struct Setting {
  const char* name;
  IpHeader header = IpHeader::outermost;
  KeyFields fields = KeyFields::five_tuple;
  Identity identity = Identity::exact;
  Partition partition;
  const char* filter = nullptr;
  const char* hash = nullptr;
  bool together = false;

  FlowIdentity make_identity(std::uint64_t seed) const {
    return FlowIdentity(fields, this->identity, seed, hash == nullptr ? nullptr : *find_hash(hash));
  }
};

class FrontEndShortCuts : public ::testing::TestWithParam<Setting> {
 protected:
  static std::optional<BpfFilter> filter() {
    if (GetParam().filter == nullptr) return std::nullopt;
    return *BpfFilter::compile(GetParam().filter);
  }

  /// What the general decoder makes of the packets.
  struct Expected {
    std::vector<PacketFacts> facts;
    std::vector<TcpFacts> tcp;
    std::vector<LinkPlace> places;
    std::vector<const RawPacket*> from;
    Verdicts verdict{};
    std::uint64_t filtered = 0, elsewhere = 0;
  };
  Expected expect(const std::vector<RawPacket>& packets, const FlowIdentity& identity) {
    Expected expected;
    const Setting& setting = GetParam();
    auto bpf = filter();
    LinkPlace link;
    for (const RawPacket& packet : packets) {
      PacketFacts facts{};
      const bool first = setting.partition.index == 0;
      if (bpf && !bpf->matches(packet)) {
        ++(first ? expected.filtered : expected.elsewhere);
        continue;
      }
      const Verdict verdict = decode_any(packet, setting.header, facts);
      if (verdict != Verdict::counted) {
        ++(first ? expected.verdict[static_cast<std::size_t>(verdict)] : expected.elsewhere);
        continue;
      }
      identity(packet, facts);
      const LinkPlace at{link.position++, link.latest_ns = std::max(link.latest_ns, facts.time_ns)};
      if (!setting.partition.takes(setting.together ? identity.hash(both_ways(facts.key).first) : facts.hash)) {
        ++expected.elsewhere;
        continue;
      }
      ++expected.verdict[static_cast<std::size_t>(Verdict::counted)];
      expected.facts.push_back(facts);
      read_tcp(packet, setting.header, expected.tcp.emplace_back());
      expected.places.push_back(at);
      expected.from.push_back(&packet);
    }
    return expected;
  }

  void check(std::uint64_t seed, double odd_share, bool with_tcp) {
    const Setting& setting = GetParam();
    const FlowIdentity identity = setting.make_identity(seed);
    FrontEnd front(setting.header, identity, setting.partition, filter(),
                   {.facts = with_tcp, .together = setting.together});
    Frames frames(seed, odd_share);
    std::vector<RawPacket> packets;
    for (int i = 0; i < 4000; ++i) packets.push_back(frames.next());
    const Expected expected = expect(packets, identity);
    ASSERT_GT(expected.facts.size(), packets.size() / 8) << "hardly anything is tested";

    auto window = std::make_unique<InFlight>();
    std::vector<const RawPacket*> told;
    std::size_t seen = 0, segments = 0;
    for (std::size_t at = 0; at < packets.size();) {
      const std::size_t count =
          std::min<std::size_t>(frames.below(3) == 0 ? 1 + frames.below(kGroup) : kGroup, packets.size() - at);
      const std::size_t fresh = front.accept({packets.data() + at, count}, *window,
                                             [&](const RawPacket& packet) { told.push_back(&packet); });
      at += count;
      ASSERT_EQ(window->size(), fresh);
      ASSERT_LE(seen + fresh, expected.facts.size());
      window->visit_newest(
          fresh, [&, i = seen](const PacketFacts& facts) mutable { ASSERT_EQ(facts.hash, expected.facts[i++].hash); });
      if (fresh == kGroup) {
        const auto all = window->oldest(kGroup);
        ASSERT_EQ(window->newest_group(), all.size() == kGroup ? all.data() : nullptr);
      }
      while (window->size() != 0) {
        const auto oldest = window->oldest(kGroup);
        for (const PacketFacts& facts : oldest) {
          ASSERT_LT(seen, expected.facts.size());
          const auto i = static_cast<std::size_t>(&facts - oldest.data());
          if (with_tcp) {
            SCOPED_TRACE(seen);
            ASSERT_NO_FATAL_FAILURE(expect_same(window->tcp(i), expected.tcp[seen]));
            segments += window->tcp(i).present;
          }
          const LinkPlace place = window->place(i);
          ASSERT_EQ(place.position, expected.places[seen].position);
          ASSERT_TRUE(place.latest_ns == expected.places[seen].latest_ns ||
                      (place.latest_ns == 0 && setting.partition.of == 1));
          const PacketFacts& truth = expected.facts[seen++];
          ASSERT_EQ(facts.key, truth.key) << "packet " << seen;
          ASSERT_EQ(facts.hash, truth.hash);
          if (!identity.from_nic()) {
            ASSERT_EQ(facts.hash, identity.hash(facts.key)) << "as a table that grows will hash it";
          }
          ASSERT_EQ(facts.time_ns, truth.time_ns);
          ASSERT_EQ(facts.counts.bits(), truth.counts.bits());
        }
        window->pop(oldest.size());
      }
    }
    EXPECT_EQ(seen, expected.facts.size());
    EXPECT_EQ(told, expected.from);
    if (with_tcp) {
      EXPECT_GT(segments, seen / 4) << "hardly any TCP header is tested";
    }
    EXPECT_EQ(front.counts().verdict, expected.verdict);
    EXPECT_EQ(front.counts().filtered, expected.filtered);
    EXPECT_EQ(front.counts().elsewhere, expected.elsewhere);
  }
};

TEST_P(FrontEndShortCuts, AgreeWithTheGeneralDecoder) {
  for (const double odd_share : {0.0, 0.02, 0.3, 1.0})
    for (std::uint64_t seed = 1; seed <= (thorough() ? 8 : 4); ++seed) {
      const bool with_tcp = seed % 2 == 0;
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", share of odd frames " << odd_share
                                        << (with_tcp ? ", with TCP headers" : ""));
      check(seed, odd_share, with_tcp);
      if (HasFatalFailure()) return;
    }
}

TEST(FrontEndPartitions, BothDirectionsOfAConnectionAreOfOnePartitionWhereThatIsAskedFor) {
  SplitMix64 random(3);
  for (const char* hash : {static_cast<const char*>(nullptr), "murmur3"}) {
    const FlowIdentity identity(KeyFields::five_tuple, Identity::exact, 7,
                                hash == nullptr ? nullptr : *find_hash(hash));
    const FrontEnd together(IpHeader::outermost, identity, {}, std::nullopt, {.together = true});
    const FrontEnd apart(IpHeader::outermost, identity, {}, std::nullopt);
    std::size_t met = 0;
    for (int i = 0; i < 2000; ++i) {
      FlowKey key;
      key.ip_version = i % 2 == 0 ? 4 : 6;
      key.protocol = 6;
      for (std::uint8_t& byte : key.address) byte = static_cast<std::uint8_t>(random());
      const std::size_t bytes = key.address_bytes();
      if (i % 3 == 0) std::copy_n(key.address.begin(), bytes, key.address.begin() + static_cast<std::ptrdiff_t>(bytes));
      key.src_port_bytes = {static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random())};
      key.dst_port_bytes = {static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random())};
      FlowKey back = key;
      std::swap(back.src_port_bytes, back.dst_port_bytes);
      std::swap_ranges(back.address.begin(), back.address.begin() + static_cast<std::ptrdiff_t>(bytes),
                       back.address.begin() + static_cast<std::ptrdiff_t>(bytes));
      const PacketFacts there{.key = key, .hash = identity.hash(key)}, here{.key = back, .hash = identity.hash(back)};
      ASSERT_EQ(together.partition_hash(there), together.partition_hash(here)) << "of IPv" << int{key.ip_version};
      ASSERT_EQ(apart.partition_hash(there), there.hash);
      ASSERT_NE(both_ways(key).second, both_ways(back).second) << "the ends are told apart";
      ASSERT_EQ(both_ways(key).first, both_ways(back).first);
      met += Partition::index_of(apart.partition_hash(there), 2) == Partition::index_of(apart.partition_hash(here), 2);
    }
    EXPECT_LT(met, 1200u) << "without it, half of them are";
  }
}

#if defined(PARSHALL_FAST_GROUP) || defined(__aarch64__)
TEST(FrontEndGroups, EightCommonFramesAreDecodedTogether) {
  Frames frames(1, 0);
  std::array<RawPacket, kGroup> packets;
  for (RawPacket& packet : packets) packet = frames.next();
  std::array<PacketFacts, kGroup> facts;
  EXPECT_TRUE(FlowIdentity(KeyFields::five_tuple, Identity::exact, 1).ipv4_group(packets.data(), facts.data()));
}
#endif

INSTANTIATE_TEST_SUITE_P(
    Settings, FrontEndShortCuts,
    ::testing::Values(
        Setting{.name = "plain"}, Setting{.name = "src_dst", .fields = KeyFields::src_dst},
        Setting{.name = "src", .fields = KeyFields::src}, Setting{.name = "dst", .fields = KeyFields::dst},
        Setting{.name = "inner", .header = IpHeader::innermost},
        Setting{.name = "nic_hash", .identity = Identity::nic_hash},
        Setting{.name = "first_of_two", .partition = {.index = 0, .of = 2}},
        Setting{.name = "third_of_three", .partition = {.index = 2, .of = 3}},
        Setting{.name = "connections_first_of_two", .partition = {.index = 0, .of = 2}, .together = true},
        Setting{.name = "filter", .filter = "tcp or udp or ip6"}, Setting{.name = "murmur3", .hash = "murmur3"},
        Setting{.name = "toeplitz", .hash = "toeplitz"},
        Setting{.name = "crc32c_src_dst", .fields = KeyFields::src_dst, .hash = "crc32c"},
        Setting{.name = "crc32c_dst", .fields = KeyFields::dst, .hash = "crc32c"},
        Setting{.name = "xxh3_inner", .header = IpHeader::innermost, .hash = "xxh3"},
        Setting{.name = "spooky_second_of_two", .partition = {.index = 1, .of = 2}, .hash = "spooky"},
        Setting{
            .name = "connections_by_murmur3", .partition = {.index = 1, .of = 2}, .hash = "murmur3", .together = true},
        Setting{.name = "addition_filter", .filter = "tcp or udp or ip6", .hash = "addition"}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace parshall
