// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <string>

#include "delivery.hpp"
#include "pipeline/capture/erf_parser.hpp"

namespace parshall::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint32_t kErfSecond = 1'100'000'000;

Bytes ethernet_records(std::uint32_t count, std::uint32_t from = 0) {
  Bytes bytes;
  for (std::uint32_t i = from; i < from + count; ++i)
    bytes += ErfFile::ethernet(kErfSecond + i, payload(60 + i % 9, i));
  return bytes;
}

Bytes joined_records(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all += part;
  return all;
}

const std::string kUnknown = "capture is not a pcap, pcapng or ERF capture";

TEST(Erf, EthernetFramesComeWithoutWhatStandsBeforeAndBehindThem) {
  for (const std::uint32_t count : {1u, 2u, 7u, 8u, 100u, 5000u}) {
    const Delivery got = read_every_way(ethernet_records(count));
    EXPECT_EQ(got.damage, "");
    ASSERT_EQ(got.packets.size(), count);
    for (std::uint32_t i = 0; i < count; ++i)
      EXPECT_EQ(got.packets[i], (Delivered{(kErfSecond + i) * std::uint64_t{1'000'000'000}, 60 + i % 9,
                                           LinkType::ethernet, payload(60 + i % 9, i)}));
  }
}

TEST(Erf, TypesGiveTheLinkTypeAndWhereTheFrameBegins) {
  const auto first_of = [](std::uint8_t type, const Bytes& before, std::uint16_t wire_bytes = 40) {
    Bytes behind = before;
    behind += payload(40);
    const Delivery got = read_every_way(ErfFile::record(type, std::uint64_t{kErfSecond} << 32, behind, wire_bytes));
    EXPECT_EQ(got.damage, "");
    return got.packets.size() == 1 ? got.packets.front() : Delivered{};
  };
  const auto frame = [](LinkType link_type) {
    return Delivered{kErfSecond * std::uint64_t{1'000'000'000}, 40, link_type, payload(40)};
  };
  for (const std::uint8_t type : std::initializer_list<std::uint8_t>{2, 11, 16, 20})
    EXPECT_EQ(first_of(type, {0, 0}), frame(LinkType::ethernet));
  for (const std::uint8_t type : std::initializer_list<std::uint8_t>{1, 10, 15, 19})
    EXPECT_EQ(first_of(type, {}), frame(LinkType::ppp_hdlc));
  for (const std::uint8_t type : std::initializer_list<std::uint8_t>{5, 17})
    EXPECT_EQ(first_of(type, {0, 0, 0, 1}), frame(LinkType::ppp_hdlc));
  EXPECT_EQ(first_of(4, Bytes(4)), frame(LinkType::atm_rfc1483));
  EXPECT_EQ(first_of(9, Bytes(8)), frame(LinkType::atm_rfc1483));
  EXPECT_EQ(first_of(22, {}), frame(LinkType::ipv4));
  EXPECT_EQ(first_of(23, {}), frame(LinkType::ipv6));
  Bytes extended{0x83, 0, 0, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(first_of(0x82, extended), frame(LinkType::ethernet)) << "two extension headers";
  for (const std::uint8_t type : std::initializer_list<std::uint8_t>{3, 6, 21, 24, 27, 29}) {
    const Delivered got = first_of(type, Bytes(4));
    EXPECT_EQ(got.link_type, LinkType::erf) << "carries no IP that is read";
    EXPECT_EQ(got.captured.size(), 60u) << "the whole record";
    EXPECT_EQ(got.wire_bytes, 40u);
  }
}

TEST(Erf, ASnappedFrameKeepsItsLengthOnTheWire) {
  const Delivery got = read_every_way(ErfFile::record(2, std::uint64_t{kErfSecond} << 32, payload(62), 1500));
  ASSERT_EQ(got.packets.size(), 1u);
  EXPECT_EQ(got.packets[0].captured.size(), 60u);
  EXPECT_EQ(got.packets[0].wire_bytes, 1500u);
}

TEST(Erf, LossesBeforeARecordAreToldAndColoursAreNone) {
  const auto lost = [](std::uint8_t type) {
    return read_every_way(joined_records({ErfFile::ethernet(kErfSecond, payload(60), type, 3),
                                          ErfFile::ethernet(kErfSecond + 1, payload(61), type),
                                          ErfFile::ethernet(kErfSecond + 2, payload(62), type, 500)}))
        .lost;
  };
  EXPECT_EQ(lost(2), 503u);
  for (const std::uint8_t colour : Bytes{11, 16, 20}) EXPECT_EQ(lost(colour), std::nullopt);
}

TEST(Erf, PaddingRecordsAreNoPackets) {
  const Bytes pad = ErfFile::record(48, 0, Bytes(24), 0);
  const Delivery got = read_every_way(joined_records({pad, ethernet_records(5), pad, ethernet_records(5, 5), pad}));
  EXPECT_EQ(got.packets.size(), 10u);
  EXPECT_EQ(got.damage, "");
}

TEST(Erf, TimesAreThoseThatANanosecondWasWrittenTo) {
  Bytes bytes;
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> times;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t fraction_ns = i < 3 ? 999'999'999 - i : random() % 1'000'000'000;
    times.push_back(kErfSecond * std::uint64_t{1'000'000'000} + fraction_ns);
    const std::uint64_t stamp = std::uint64_t{kErfSecond} << 32 | (fraction_ns << 32) / 1'000'000'000;
    bytes += ErfFile::record(2, stamp, payload(62), 60);
  }
  const Delivery got = read_every_way(bytes);
  ASSERT_EQ(got.packets.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_EQ(got.packets[i].time_ns, times[i]);
}

TEST(Erf, ACutOrImpossibleRecordIsDamageBehindWhatIsSound) {
  const Bytes whole = ethernet_records(20);
  for (std::size_t left = whole.size() - 1; left > whole.size() - 80; --left) {
    const Delivery got = read_every_way(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(left)));
    EXPECT_EQ(got.packets.size(), 19u);
    EXPECT_THAT(got.damage, AllOf(HasSubstr("cut"), HasSubstr("at packet 20, byte offset"))) << left;
  }
  const Delivery zeros = read_every_way(joined_records({whole, Bytes(64)}));
  EXPECT_EQ(zeros.packets.size(), 20u);
  EXPECT_THAT(zeros.damage, HasSubstr("a record of type 0 claims a length of 0 bytes, at packet 21"));
  Bytes endless = ErfFile::record(0x82, std::uint64_t{kErfSecond + 30} << 32, Bytes(64, 0xff), 60);
  const Delivery extensions = read_every_way(joined_records({whole, endless}));
  EXPECT_EQ(extensions.packets.size(), 20u);
  EXPECT_THAT(extensions.damage, HasSubstr("a record of type 2 is shorter than its headers"));
}

TEST(Erf, AShortCaptureThatIsCutIsRecognisedByThreeRecords) {
  const Bytes whole = ethernet_records(4);
  const Delivery got = read_every_way(Bytes(whole.begin(), whole.end() - 20));
  EXPECT_EQ(got.packets.size(), 3u);
  EXPECT_THAT(got.damage, HasSubstr("cut"));
  const Bytes two = ethernet_records(2);
  EXPECT_THAT(read_as_file(Bytes(two.begin(), two.end() - 20)).damage, HasSubstr(kUnknown));
}

TEST(Erf, TimesThatNoCardWritesAreNoErf) {
  const auto with_step = [](std::int64_t seconds) {
    Bytes bytes;
    for (std::int64_t i = 0; i < 4; ++i)
      bytes += ErfFile::ethernet(static_cast<std::uint32_t>(kErfSecond + i * seconds), payload(60));
    return read_every_way(bytes);
  };
  EXPECT_EQ(with_step(1).packets.size(), 4u);
  EXPECT_EQ(with_step(-1).packets.size(), 4u) << "interfaces are not in order to the second";
  EXPECT_EQ(with_step(3600 * 24 * 300).packets.size(), 4u);
  EXPECT_THAT(with_step(-3).damage, HasSubstr(kUnknown));
  EXPECT_THAT(with_step(3600 * 24 * 400).damage, HasSubstr(kUnknown));
}

TEST(Erf, TextIsNeverTakenForErf) {
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    Bytes text(1 + random() % 200'000);
    const std::string letters = i % 3 == 0 ? "0\n\t 1" : i % 3 == 1 ? "0" : "abcdefghi 0123456789\n\r\t\xc3\xa4";
    if (i < 128) {
      std::fill(text.begin(), text.end(), static_cast<std::uint8_t>(i));  // one byte over and over
    } else {
      text.resize(text.size() / 20 + 1);
      for (std::uint8_t& byte : text) byte = static_cast<std::uint8_t>(letters[random() % letters.size()]);
    }
    ASSERT_THAT(read_as_file(text).damage, HasSubstr(kUnknown)) << i;
  }
}

TEST(Erf, RandomBytesAreNeverTakenForErf) {
  std::mt19937_64 random(5);
  Bytes bytes(1 << 20);
  for (int i = 0; i < 100; ++i) {
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
      const std::uint64_t word = random();
      std::copy_n(reinterpret_cast<const std::uint8_t*>(&word), 8, &bytes[at]);
    }
    for (std::size_t from = 0; from < 64'000; from += 16)
      ASSERT_FALSE(ErfParser::is_erf(std::span(bytes).subspan(from, 100 + from * 15)));
    ASSERT_THAT(read_as_file(bytes).damage, HasSubstr(kUnknown));
  }
}

}  // namespace
}  // namespace parshall::testing
