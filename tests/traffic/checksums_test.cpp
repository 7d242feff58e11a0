// SPDX-License-Identifier: Apache-2.0
#include "traffic/checksums.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "traffic/frame.hpp"

namespace parshall {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Headers {
  std::uint8_t version = 4, protocol = 17;
  Bytes extension = {};  ///< of IPv6, with its first byte the number of the next header
  std::uint8_t extension_number = 0;
  std::uint32_t fragment = 0;  ///< IPv4's word
};

/// A frame with `payload` behind the IP header.
Bytes frame_of(const Headers& headers, const Bytes& payload) {
  Bytes frame(kEthernetBytes);
  write_ethernet(frame.data(), headers.version == 4 ? kEtherIpv4 : kEtherIpv6);
  Bytes ip(headers.version == 4 ? 20 : 40);
  if (headers.version == 4) {
    ip[0] = 0x45;
    put16(&ip[2], static_cast<std::uint32_t>(20 + payload.size()));
    put16(&ip[6], headers.fragment);
    ip[8] = 64;
    ip[9] = headers.protocol;
  } else {
    ip[0] = 0x60;
    put16(&ip[4], static_cast<std::uint32_t>(headers.extension.size() + payload.size()));
    ip[6] = headers.extension.empty() ? headers.protocol : headers.extension_number;
    ip[7] = 64;
  }
  std::iota(ip.begin() + (headers.version == 4 ? 12 : 8), ip.end(), static_cast<std::uint8_t>(1));
  frame.insert(frame.end(), ip.begin(), ip.end());
  frame.insert(frame.end(), headers.extension.begin(), headers.extension.end());
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

Datagram datagram_of(const Bytes& frame) {
  Datagram datagram;
  EXPECT_EQ(
      find_datagram(Frame(frame.data(), frame.size(), frame.size()), LinkType::ethernet, IpHeader::outermost, datagram),
      Verdict::counted);
  return datagram;
}

ChecksumState state_of(const Bytes& frame) { return check_checksums(frame.data(), frame.size(), datagram_of(frame)); }
Bytes with_checksums(Bytes frame) {
  write_checksums(frame.data(), frame.size(), datagram_of(frame));
  return frame;
}

/// A transport header and so much data.
Bytes payload_of(std::uint8_t protocol, std::size_t bytes) {
  Bytes payload(bytes);
  std::iota(payload.begin(), payload.end(), static_cast<std::uint8_t>(200));
  if (protocol == 17) put16(&payload[4], static_cast<std::uint32_t>(bytes));
  return payload;
}

/// RFC 1071, section 3.
TEST(InternetSum, IsThatOfTheRfc) {
  const Bytes bytes{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  EXPECT_EQ(fold_sum(internet_sum(bytes.data(), bytes.size())), 0xddf2);
  EXPECT_EQ(fold_sum(internet_sum(bytes.data(), 3)), 0xf201) << "an odd byte is the upper half of a word";
  EXPECT_EQ(internet_sum(bytes.data(), 0), 0u);
}

/// A DNS query of RFC 768's kind, taken apart by hand: 0x0402+..., so that no code of ours made the figure.
TEST(Checksums, AreThoseOfAKnownPacket) {
  // 192.168.0.1:1024 -> 192.168.0.2:53, "hi": pseudo-header c0a8+0001+c0a8+0002+0011+000a = 1816e, header and data
  // 0400+0035+000a+6869 = 6ca8; 1816e + 6ca8 = 1ee16 -> ee17, and its complement is 11e8.
  Bytes frame = frame_of({}, {4, 0, 0, 0x35, 0, 10, 0, 0, 'h', 'i'});
  const std::uint8_t addresses[] = {192, 168, 0, 1, 192, 168, 0, 2};
  std::copy(std::begin(addresses), std::end(addresses), frame.begin() + 26);
  frame = with_checksums(frame);
  EXPECT_EQ(get16(&frame[34 + 6]), 0x11e8u);
  EXPECT_EQ(state_of(frame), ChecksumState::good);
}

TEST(Checksums, AreGoodOnceWrittenAndWrongWithAnyBitChanged) {
  for (const std::uint8_t version : {std::uint8_t{4}, std::uint8_t{6}})
    for (const std::uint8_t protocol : Bytes{6, 17, 1, 58}) {
      for (const std::size_t bytes : {20u, 21u, 33u, 46u}) {
        const Bytes good =
            with_checksums(frame_of({.version = version, .protocol = protocol}, payload_of(protocol, bytes)));
        ASSERT_EQ(state_of(good), ChecksumState::good) << int(version) << " " << int(protocol) << " " << bytes;
        const std::size_t transport = version == 4 ? 34u : 54u;
        for (std::size_t bit = transport * 8; bit < good.size() * 8; ++bit) {
          Bytes bad = good;
          bad[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
          ASSERT_EQ(state_of(bad), ChecksumState::wrong) << bit;
        }
      }
    }
}

TEST(Checksums, CoverTheAddressesAndTheIpv4Header) {
  const Bytes good = with_checksums(frame_of({.version = 6}, payload_of(17, 30)));
  for (std::size_t at = 14 + 8; at < 14 + 40; ++at) {
    Bytes bad = good;
    bad[at] ^= 0x10;
    EXPECT_EQ(state_of(bad), ChecksumState::wrong) << at;
  }
  Bytes bad = with_checksums(frame_of({.protocol = 89}, payload_of(89, 30)));
  EXPECT_EQ(state_of(bad), ChecksumState::unknown) << "OSPF";
  bad[14 + 8] = 63;
  EXPECT_EQ(state_of(bad), ChecksumState::wrong);
}

TEST(Checksums, OfUdpMayBeNoneOverIpv4Only) {
  Bytes frame = with_checksums(frame_of({}, payload_of(17, 30)));
  put16(&frame[34 + 6], 0);
  EXPECT_EQ(state_of(frame), ChecksumState::unknown);
  frame = with_checksums(frame_of({.version = 6}, payload_of(17, 30)));
  put16(&frame[54 + 6], 0);
  EXPECT_EQ(state_of(frame), ChecksumState::wrong);
}

TEST(Checksums, OfUdpAreFfffWhereTheSumIsNought) {
  Bytes payload = payload_of(17, 30);
  put16(&payload[28], 0);
  const Bytes first = with_checksums(frame_of({}, payload));
  put16(&payload[28], get16(&first[34 + 6]));  // what was the checksum is data now: the sum is all ones
  const Bytes second = with_checksums(frame_of({}, payload));
  EXPECT_EQ(get16(&second[34 + 6]), 0xFFFFu);
  EXPECT_EQ(state_of(second), ChecksumState::good);
}

TEST(Checksums, OfWhatIsCutOrInPartsAreLeftAlone) {
  const Bytes whole = frame_of({.protocol = 6}, payload_of(6, 60));
  Bytes cut(whole.begin(), whole.end() - 1);
  const Bytes still_cut = with_checksums(cut);
  EXPECT_EQ(Bytes(still_cut.begin() + 34, still_cut.end()), Bytes(cut.begin() + 34, cut.end()));
  EXPECT_EQ(state_of(still_cut), ChecksumState::unknown);
  for (const std::uint32_t fragment : {0x2000u, 0x0010u}) {
    const Bytes part = frame_of({.protocol = 17, .fragment = fragment}, payload_of(17, 40));
    EXPECT_EQ(state_of(with_checksums(part)), ChecksumState::unknown);
    EXPECT_EQ(get16(&with_checksums(part)[40]), get16(&part[40]));
  }
}

TEST(Checksums, AreNotOfPaddingBehindTheDatagram) {
  Bytes frame = with_checksums(frame_of({}, payload_of(17, 9)));
  const Bytes good = frame;
  frame.resize(60, 0xAB);
  EXPECT_EQ(state_of(frame), ChecksumState::good);
  EXPECT_EQ(get16(&with_checksums(frame)[40]), get16(&good[40]));
}

TEST(Checksums, AreKnownBehindDestinationOptionsButNotBehindARoutingHeader) {
  const Bytes options{17, 0, 1, 4, 0, 0, 0, 0};
  const Headers with_options{.version = 6, .extension = options, .extension_number = 60};
  EXPECT_EQ(state_of(with_checksums(frame_of(with_options, payload_of(17, 30)))), ChecksumState::good);
  Bytes routing{17, 2, 0, 1};
  routing.resize(24);
  const Headers routed{.version = 6, .extension = routing, .extension_number = 43};
  EXPECT_EQ(state_of(with_checksums(frame_of(routed, payload_of(17, 30)))), ChecksumState::unknown);
}

}  // namespace
}  // namespace parshall
