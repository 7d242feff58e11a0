// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4frame.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <chrono>
#include <random>
#include <string>
#include <thread>

#include "delivery.hpp"
#include "pipeline/capture/compressed/compressed_stream.hpp"
#include "pipeline/capture/pcap_file.hpp"

namespace parshall::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

Bytes gzip(const Bytes& bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes out(deflateBound(&stream, bytes.size()));
  stream.next_in = const_cast<std::uint8_t*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

Bytes zstd(const Bytes& bytes) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&::ZSTD_freeCCtx)> context(::ZSTD_createCCtx(), ::ZSTD_freeCCtx);
  ::ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  Bytes out(::ZSTD_compressBound(bytes.size()));
  out.resize(::ZSTD_compress2(context.get(), out.data(), out.size(), bytes.data(), bytes.size()));
  return out;
}

Bytes lz4(const Bytes& bytes) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  Bytes out(::LZ4F_compressFrameBound(bytes.size(), &preferences));
  out.resize(::LZ4F_compressFrame(out.data(), out.size(), bytes.data(), bytes.size(), &preferences));
  return out;
}

Bytes xz(const Bytes& bytes) {
  Bytes out(::lzma_stream_buffer_bound(bytes.size()));
  std::size_t used = 0;
  EXPECT_EQ(::lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, nullptr, bytes.data(), bytes.size(), out.data(), &used,
                                      out.size()),
            LZMA_OK);
  out.resize(used);
  return out;
}

struct Way {
  const char* name;
  Bytes (*compress)(const Bytes&);
};
constexpr Way kWays[] = {{"gzip", gzip}, {"zstd", zstd}, {"lz4", lz4}, {"xz", xz}};

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

Bytes joined(const Bytes& first, const Bytes& second) {
  Bytes all = first;
  return all += second;
}

Bytes records(std::uint32_t from, std::uint32_t count) {
  const PcapFile file;
  Bytes bytes;
  for (std::uint32_t i = from; i < from + count; ++i) bytes += file.record(i, payload(40 + i * 37 % 1500, i));
  return bytes;
}

Bytes pcap_of(std::uint32_t count) { return joined(PcapFile{}.header(), records(0, count)); }

/// As two consumers read it, each in a thread of its own.
Delivery read_by_two(const Bytes& bytes) {
  auto sources = open_capture_descriptor(file_of(bytes), "capture", 2);
  if (!sources) return {.packets = {}, .damage = sources.error().message};
  std::array<Delivery, 2> got;
  {
    std::array<std::jthread, 2> consumers;
    for (std::size_t i = 0; i < 2; ++i) consumers[i] = std::jthread([&, i] { got[i] = drain(*(*sources)[i]); });
  }
  EXPECT_EQ(got[1].lost, std::nullopt) << "one tells what was lost";
  got[1].lost = got[0].lost;
  EXPECT_EQ(got[0], got[1]);
  return got[0];
}

/// From a file, from a pipe, by one and by two consumers: the same of each.
Delivery read_all_ways(const Bytes& bytes) {
  const Delivery delivery = read_as_file(bytes);
  EXPECT_EQ(read_by_two(bytes), delivery);
  EXPECT_EQ(read_as_stream(bytes, 997), delivery);
  return delivery;
}

/// The first `packets` of `all`, and nothing else.
void expect_beginning(const Delivery& got, const Delivery& all, std::size_t least) {
  ASSERT_LE(got.packets.size(), all.packets.size());
  EXPECT_GE(got.packets.size(), least);
  for (std::size_t i = 0; i < got.packets.size(); ++i) ASSERT_EQ(got.packets[i], all.packets[i]) << i;
}

class Compressed : public ::testing::TestWithParam<Way> {
 protected:
  Bytes compress(const Bytes& bytes) const { return GetParam().compress(bytes); }
  std::string name() const { return GetParam().name; }
};

INSTANTIATE_TEST_SUITE_P(Formats, Compressed, ::testing::ValuesIn(kWays),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(Compressed, WhatItHoldsIsDelivered) {
  for (const std::uint32_t count : {0u, 1u, 100u, 3000u}) {
    const Delivery plain = read_as_file(pcap_of(count));
    EXPECT_EQ(plain.packets.size(), count);
    EXPECT_EQ(read_all_ways(compress(pcap_of(count))), plain);
  }
  EXPECT_EQ(read_as_stream(compress(pcap_of(20)), 1), read_as_file(pcap_of(20))) << "a byte at a time";
}

TEST_P(Compressed, PcapngAndErfAreFoundInside) {
  const PcapngFile file;
  Bytes bytes = joined(file.section(), file.interface(1));
  for (std::uint64_t i = 0; i < 50; ++i) bytes += file.packet(i, payload(60));
  EXPECT_EQ(read_all_ways(compress(bytes)), read_as_file(bytes));
  Bytes erf;
  for (std::uint32_t i = 0; i < 50; ++i) erf += ErfFile::ethernet(1'000'000'000 + i, payload(60, i));
  EXPECT_EQ(read_all_ways(compress(erf)), read_as_file(erf));
  EXPECT_EQ(read_as_file(erf).packets.size(), 50u);
}

TEST_P(Compressed, DamageWithinWhatTellsErfIsNoReasonNotToReadIt) {
  Bytes erf;
  for (std::uint32_t i = 0; i < 5; ++i) erf += ErfFile::ethernet(1'000'000'000 + i, payload(60, i));
  const Bytes whole = compress(erf);
  const Delivery got = read_all_ways(Bytes(whole.begin(), whole.end() - 1));
  EXPECT_EQ(got.packets, read_as_file(erf).packets);
  EXPECT_THAT(got.damage, HasSubstr("data are cut"));
}

TEST_P(Compressed, FramesOneBehindTheOtherAreOneInput) {
  const Bytes bytes = pcap_of(300);
  Bytes all;
  for (std::size_t at = 0; at < bytes.size(); at += 3001) {  // records begin in one and end in another
    all += compress(Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                          bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at + 3001, bytes.size()))));
    all += compress({});
  }
  EXPECT_EQ(read_all_ways(all), read_as_file(bytes));
}

TEST_P(Compressed, ACutAnywhereGivesWhatCameBeforeAndSaysWhere) {
  const Delivery all = read_as_file(pcap_of(400));
  const Bytes whole = compress(pcap_of(400));
  for (std::size_t left = 1; left < whole.size(); left += 1 + whole.size() / 61) {
    const Delivery got = read_all_ways(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(left)));
    expect_beginning(got, all, 0);
    if (left < 6) continue;
    EXPECT_THAT(got.damage, AllOf(HasSubstr("the " + name() + " data are cut at byte " + std::to_string(left)),
                                  HasSubstr(name() + " -t")))
        << left;
  }
  const Delivery nearly_whole = read_all_ways(Bytes(whole.begin(), whole.end() - 1));
  expect_beginning(nearly_whole, all, 300);
}

TEST_P(Compressed, DamageNeverPassesUnnoticed) {
  const Delivery all = read_as_file(pcap_of(400));
  const Bytes whole = compress(pcap_of(400));
  std::size_t told = 0;
  for (std::size_t at = 6; at < whole.size(); at += 1 + whole.size() / 199) {
    Bytes damaged = whole;
    damaged[at] ^= 0x10;
    const Delivery got = read_as_file(damaged);
    if (got.damage.empty()) {  // a field without meaning: gzip has a time and a system in its header
      EXPECT_EQ(got, all) << "byte " << at;
    } else {
      ++told;
      EXPECT_THAT(got.damage, AnyOf(HasSubstr(" byte "), HasSubstr("is not a pcap"))) << at;
    }
    if (at % 5 == 0) {
      EXPECT_EQ(read_by_two(damaged), got);
    }
  }
  EXPECT_GT(told, 150u);
}

TEST_P(Compressed, RandomBytesBehindTheMagicDoNoHarm) {
  std::mt19937 random(7);
  const Bytes whole = compress(pcap_of(20));
  for (int i = 0; i < 2000; ++i) {
    Bytes bytes(whole.begin(), whole.begin() + 4 + static_cast<std::ptrdiff_t>(random() % 40));
    bytes.resize(bytes.size() + random() % 300);
    for (std::size_t at = 4 + random() % 40; at < bytes.size(); ++at) bytes[at] = static_cast<std::uint8_t>(random());
    read_as_file(bytes);
  }
}

TEST_P(Compressed, AnEmptyContentIsNoCapture) {
  EXPECT_THAT(read_as_file(compress({})).damage, HasSubstr("capture (decompressed) is empty"));
}

TEST_P(Compressed, WhatIsCompressedTwiceIsRefusedWithWhatToDo) {
  for (const Way& inside : kWays)
    EXPECT_THAT(read_as_file(compress(inside.compress(pcap_of(5)))).damage,
                AllOf(HasSubstr("capture is compressed twice, with " + name() + " and inside with " + inside.name),
                      HasSubstr(name() + " -dc"), HasSubstr("capture | parshall watch -r -")));
}

TEST_P(Compressed, EndlessZerosAreRefusedAtOnce) {
  const Bytes bomb = compress(Bytes(64u << 20));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(read_as_file(bomb).damage, AllOf(HasSubstr("capture (decompressed) is not a pcap, pcapng or ERF capture"),
                                               HasSubstr("00 00 00 00")));
  EXPECT_THAT(read_as_stream(bomb, 4096).damage, HasSubstr("00 00 00 00"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST_P(Compressed, ABombThatIsACaptureIsReadAsFarAsWanted) {
  for (const std::size_t consumers : {1u, 2u}) {
    auto sources =
        open_capture_descriptor(file_of(compress(joined(PcapFile{}.header(), Bytes(64u << 20)))), "bomb", consumers);
    ASSERT_TRUE(sources);
    std::array<RawPacket, 256> batch;
    std::size_t packets = 0;
    for (int i = 0; i < 100; ++i)
      for (auto& source : *sources) packets += source->poll(batch);
    EXPECT_GT(packets, 0u);
    const auto start = std::chrono::steady_clock::now();
    sources->clear();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  }
}

TEST_P(Compressed, FramesThatHoldNothingAreSteppedOverAndTheirReaderStops) {
  Bytes nothing;
  while (nothing.size() < 100'000) nothing += compress({});
  const Bytes capture = pcap_of(10);
  EXPECT_EQ(read_all_ways(joined(nothing, compress(capture))), read_as_file(capture));
}

TEST(CompressedGzip, PaddingOfZerosIsNoDamageAndAnythingElseIs) {
  const Bytes capture = pcap_of(30);
  EXPECT_EQ(read_all_ways(joined(gzip(capture), Bytes(512))), read_as_file(capture));
  const Delivery got = read_all_ways(joined(gzip(capture), Bytes{'h', 'e', 'l', 'l', 'o'}));
  EXPECT_EQ(got.packets, read_as_file(capture).packets);
  EXPECT_THAT(got.damage, HasSubstr("damaged gzip data (incorrect header check)"));
}

TEST(CompressedGzip, MembersBehindLongPaddingAreRead) {
  const Bytes capture = pcap_of(30);
  const Bytes two = joined(joined(gzip(PcapFile{}.header()), Bytes(300'000)), gzip(records(0, 30)));
  EXPECT_EQ(read_all_ways(two), read_as_file(capture));
}

TEST(CompressedGzip, AWrongChecksumIsDamageThoughAllPacketsCame) {
  const Bytes capture = pcap_of(30);
  Bytes bytes = gzip(capture);
  bytes[bytes.size() - 8] ^= 1;
  const Delivery got = read_all_ways(bytes);
  EXPECT_EQ(got.packets, read_as_file(capture).packets);
  EXPECT_THAT(got.damage, HasSubstr("incorrect data check"));
}

TEST(CompressedXz, PaddingBetweenStreamsIsPassedOver) {
  const Bytes capture = pcap_of(30);
  const Bytes two = joined(joined(xz(PcapFile{}.header()), Bytes(8)), joined(xz(records(0, 30)), Bytes(4)));
  EXPECT_EQ(read_all_ways(two), read_as_file(capture));
}

TEST(CompressedZstd, SkippableFramesAreSteppedOver) {
  const Bytes capture = pcap_of(30);
  const Bytes skippable = joined({0x53, 0x2a, 0x4d, 0x18, 4, 0, 0, 0}, Bytes(4, 9));
  EXPECT_EQ(read_all_ways(joined(skippable, joined(zstd(capture), skippable))), read_as_file(capture));
  EXPECT_EQ(read_all_ways(joined(lz4(capture), skippable)), read_as_file(capture)) << "lz4 has the same";
}

TEST(CompressedZstd, AFrameOfFewerBytesThanItSaysIsDamage) {
  const Bytes capture = pcap_of(30);
  // Says that it has 16 MiB, more than there is room for at once, and ends with an empty block.
  const Bytes bytes = joined(zstd(capture), {0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 1, 1, 0, 0});
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{997}, bytes.size()}) {
    const Delivery got = read_as_stream(bytes, piece);
    EXPECT_EQ(got.packets, read_as_file(capture).packets) << piece;
    EXPECT_THAT(got.damage, ::testing::HasSubstr("damaged zstd data")) << piece;
  }
}

TEST(CompressedZstd, AFrameOfAnOlderFormatIsDamageHoweverItComes) {
  const Bytes capture = pcap_of(30);
  // Version 0.6's: a frame of nothing, which the library takes where the first four bytes come at once.
  const Bytes bytes = joined(zstd(capture), {0x26, 0xb5, 0x2f, 0xfd, 0, 0xc0, 0, 0});
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{997}, bytes.size()}) {
    const Delivery got = read_as_stream(bytes, piece);
    EXPECT_EQ(got.packets, read_as_file(capture).packets) << piece;
    EXPECT_THAT(got.damage, HasSubstr("damaged zstd data (Unknown frame descriptor)")) << piece;
  }
}

TEST(CompressedZstd, WhatHasComeIsDeliveredWithoutWaitingForMore) {
  for (const std::uint32_t packets : {200u, 230u, 260u, 270u, 2000u}) {
    const PcapFile file;
    Bytes bytes = file.header();  // ends within a block of 128 KiB that a chunk has no room for
    for (std::uint32_t i = 0; i < packets; ++i) bytes += file.record(i, Bytes(1400));
    const std::unique_ptr<ZSTD_CCtx, decltype(&::ZSTD_freeCCtx)> context(::ZSTD_createCCtx(), ::ZSTD_freeCCtx);
    Bytes out(::ZSTD_compressBound(bytes.size()));
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    ZSTD_outBuffer room{out.data(), out.size(), 0};
    ASSERT_EQ(::ZSTD_compressStream2(context.get(), &room, &in, ZSTD_e_flush), 0u);
    ASSERT_LT(room.pos, 60'000u) << "it fits into a pipe, and into one read";
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    ASSERT_EQ(::write(ends[1], out.data(), room.pos), static_cast<ssize_t>(room.pos));
    {
      auto sources = open_capture_descriptor(ends[0], "pipe", 1);
      ASSERT_TRUE(sources);
      std::array<RawPacket, 256> batch;
      std::size_t got = 0;
      const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(5);
      while (got < packets && std::chrono::steady_clock::now() < give_up) got += sources->front()->poll(batch);
      EXPECT_EQ(got, packets);
    }
    ::close(ends[1]);
  }
}

TEST(CompressedZstd, AWindowAboveTheLimitIsRefusedWithTheLimitAndWhatToDo) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&::ZSTD_freeCCtx)> context(::ZSTD_createCCtx(), ::ZSTD_freeCCtx);
  ::ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, 28);
  ::ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, 0);
  const Bytes capture = pcap_of(30);
  Bytes out(::ZSTD_compressBound(capture.size()));
  ZSTD_inBuffer in{capture.data(), capture.size(), 0};
  ZSTD_outBuffer room{out.data(), out.size(), 0};
  ::ZSTD_compressStream2(context.get(), &room, &in, ZSTD_e_flush);  // the size of the whole is not known yet
  ASSERT_EQ(::ZSTD_compressStream2(context.get(), &room, &in, ZSTD_e_end), 0u);
  out.resize(room.pos);
  EXPECT_THAT(read_as_file(out).damage, AllOf(HasSubstr("a window above the limit of 128 MiB"),
                                              HasSubstr("zstd -dc --long=31 FILE | parshall watch -r -")));
}

TEST(CompressedXz, ADictionaryAboveTheLimitIsRefusedWithTheLimitAndWhatToDo) {
  lzma_options_lzma options;
  ::lzma_lzma_preset(&options, 0);
  const Bytes capture = pcap_of(30);
  const std::array<lzma_filter, 2> filters{{{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}}};
  Bytes out(::lzma_stream_buffer_bound(capture.size()));
  std::size_t used = 0;
  ASSERT_EQ(::lzma_stream_buffer_encode(const_cast<lzma_filter*>(filters.data()), LZMA_CHECK_CRC32, nullptr,
                                        capture.data(), capture.size(), out.data(), &used, out.size()),
            LZMA_OK);
  out.resize(used);
  EXPECT_EQ(read_as_file(out), read_as_file(capture));
  // The size of the dictionary is one byte of the block's header, which ends in a CRC: 39 says 3 GiB.
  constexpr std::size_t kBlock = 12, kCrcBytes = 4;
  const auto block = out.begin() + kBlock;
  const auto crc_at = block + (*block + 1) * 4 - kCrcBytes;
  constexpr std::array<std::uint8_t, 2> kLzma2{0x21, 1};
  const auto filter = std::search(block, crc_at, kLzma2.begin(), kLzma2.end());
  ASSERT_NE(filter, crc_at);
  filter[2] = 39;
  const std::uint32_t crc = ::lzma_crc32(&*block, static_cast<std::size_t>(crc_at - block), 0);
  for (int i = 0; i < 4; ++i) crc_at[i] = static_cast<std::uint8_t>(crc >> 8 * i);
  EXPECT_THAT(read_as_file(out).damage, AllOf(HasSubstr("MiB of memory, above the limit of 144 MiB"),
                                              HasSubstr("xz -dc FILE | parshall watch -r -")));
}

}  // namespace
}  // namespace parshall::testing
