// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "delivery.hpp"
#include "pipeline/capture/pcap_file.hpp"

namespace parshall::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Bytes text(std::string_view characters) { return {characters.begin(), characters.end()}; }

std::string message_for(const Bytes& bytes) {
  auto sources = open_capture_descriptor(file_of(bytes), "trace.pcap", 1);
  return sources ? "" : sources.error().message;
}

TEST(Open, AFileCompressedInAWayThatIsNotReadIsNamedWithWhatToDo) {
  EXPECT_THAT(
      message_for({'B', 'Z', 'h', '9', 0, 0, 0, 0}),
      AllOf(HasSubstr("trace.pcap is compressed with bzip2"), HasSubstr("bzcat trace.pcap | parshall watch -r -")));
  EXPECT_THAT(message_for({0x02, 0x21, 0x4c, 0x18, 0, 0}), HasSubstr("lz4's legacy format"));
}

TEST(Open, WhatIsNoCaptureIsNamedByItsFirstBytes) {
  EXPECT_THAT(message_for(text("#!/bin/sh\n")), HasSubstr("it begins with \"#!/bin\""));
  EXPECT_THAT(message_for({0x7f, 'E', 'L', 'F', 2, 1, 1}), HasSubstr("it begins with 7f 45 4c 46 02 01"));
  EXPECT_THAT(message_for({0xd4, 0xc3}), HasSubstr("it begins with d4 c3"));
  EXPECT_THAT(message_for({}), HasSubstr("trace.pcap is empty"));
}

TEST(Open, AStreamThatIsNoCaptureIsRefusedTheSameWay) {
  EXPECT_THAT(read_as_stream({'B', 'Z', 'h', '9', 0, 0, 0, 0}, 1).damage, HasSubstr("bzip2"));
  EXPECT_THAT(read_as_stream(text("hello"), 1).damage, HasSubstr("it begins with \"hello\""));
  EXPECT_THAT(read_as_stream({}, 1).damage, HasSubstr("empty"));
}

TEST(Open, AMissingFileAndADirectoryGiveAnError) {
  const auto missing = open_capture_file("/nonexistent/trace.pcap", 1);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "cannot open /nonexistent/trace.pcap: No such file or directory");
  const auto folder = open_capture_file(std::filesystem::temp_directory_path(), 1);
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("it is a directory"));
}

/// Reads `before` polls, cuts the file to `bytes`, reads on.
struct CutRead {
  std::size_t packets = 0;
  std::uint64_t captured_bytes = 0;
  std::string damage;
};
CutRead read_and_cut(const PcapFile& file, std::size_t records, int before, std::size_t bytes,
                     std::size_t grown_to = 0) {
  const Bytes sent = payload(60);
  Bytes all = file.header();
  for (std::size_t i = 0; i < records; ++i) all += file.record(static_cast<std::uint32_t>(i), sent);
  const int fd = file_of(all);
  const int cutter = ::dup(fd);
  auto sources = open_capture_descriptor(fd, "trace.pcap", 1);
  PacketSource& source = *sources->front();
  CutRead got;
  std::array<RawPacket, 256> batch;
  const auto poll = [&] {
    for (const RawPacket& packet : std::span(batch).first(source.poll(batch))) {
      ++got.packets;
      got.captured_bytes += packet.captured_bytes;
      EXPECT_TRUE(std::equal(sent.begin(), sent.end(), packet.data)) << "packet " << got.packets;
    }
  };
  for (int i = 0; i < before; ++i) poll();
  EXPECT_EQ(::ftruncate(cutter, static_cast<off_t>(bytes)), 0);
  if (grown_to != 0) {
    EXPECT_EQ(::ftruncate(cutter, static_cast<off_t>(grown_to)), 0);
  }
  ::close(cutter);
  for (int i = 0; i < 10'000 && !source.exhausted(); ++i) poll();
  EXPECT_TRUE(source.exhausted());
  if (const auto damage = source.damage()) got.damage += damage->message;
  return got;
}

TEST(Open, AFileCutWhileItIsReadEndsThereWithoutAnInventedPacket) {
  const PcapFile file;
  constexpr std::size_t kRecords = 20'000, kRecordBytes = 76;
  for (const std::size_t left : {std::size_t{1}, std::size_t{400}, std::size_t{9'000}, std::size_t{12'000}}) {
    for (const std::size_t odd : {0u, 1u, 15u, 16u, 40u}) {  // within a record, between two
      SCOPED_TRACE(::testing::Message() << left << " records and " << odd << " bytes left");
      const CutRead got = read_and_cut(file, kRecords, 3, 24 + left * kRecordBytes + odd);
      EXPECT_EQ(got.packets, std::max<std::size_t>(left, 3 * 256));  // what was delivered before stays
      EXPECT_EQ(got.captured_bytes, 60 * got.packets);
      EXPECT_THAT(got.damage, HasSubstr("another program cut it while it was read"));
    }
  }
}

TEST(Open, AFileCutAndGrownAgainEndsWhereItWasCut) {
  const PcapFile file;
  constexpr std::size_t kRecords = 20'000, kLeft = 1000;
  const CutRead got = read_and_cut(file, kRecords, 3, 24 + kLeft * 76, 24 + kRecords * 76 + 100);
  EXPECT_EQ(got.packets, kLeft);
  EXPECT_THAT(got.damage, HasSubstr("nothing behind byte 76040"));
}

TEST(Open, AFileCutBehindItsLastRecordWasReadLosesNothing) {
  const PcapFile file;
  const CutRead got = read_and_cut(file, 500, 3, 100);
  EXPECT_EQ(got.packets, 500u);
  EXPECT_EQ(got.damage, "");
}

TEST(Open, AFileReadUpToItsMiddleBeforehandIsReadFromThere) {
  const PcapFile file;
  Bytes bytes = text("four");
  bytes += file.header();
  bytes += file.record(1, payload(60));
  const int fd = file_of(bytes);
  ::lseek(fd, 4, SEEK_SET);
  auto sources = open_capture_descriptor(fd, "trace", 1);
  ASSERT_TRUE(sources);
  EXPECT_EQ(drain(*sources->front()).packets.size(), 1u);
}

TEST(Open, OfACaptureThatSaysWhatAllPacketsAreThatIsKnownBeforeThem) {
  const auto link_types_of = [](const Bytes& bytes) {
    auto sources = open_capture_descriptor(file_of(bytes), "trace", 1);
    return sources ? sources->front()->link_types() : std::vector<LinkType>();
  };
  for (const Order order : {Order::little, Order::big}) {
    const PcapFile file{.order = order, .network = 127};
    EXPECT_EQ(link_types_of(file.header()), std::vector{LinkType::ieee802_11_radiotap});
  }
  EXPECT_TRUE(link_types_of({0x0a, 0x0d, 0x0d, 0x0a, 0, 0, 0, 0}).empty());
}

TEST(Open, EveryConsumerOfAFileGetsEveryPacket) {
  const PcapFile file;
  Bytes bytes = file.header();
  for (std::uint32_t i = 0; i < 100; ++i) bytes += file.record(i, payload(60, i));
  auto sources = open_capture_descriptor(file_of(bytes), "trace", 3);
  ASSERT_TRUE(sources);
  ASSERT_EQ(sources->size(), 3u);
  const Delivery first = drain(*sources->front());
  EXPECT_EQ(first.packets.size(), 100u);
  for (auto& source : *sources) {
    if (source != sources->front()) {
      EXPECT_EQ(drain(*source), first);
    }
  }
}

}  // namespace
}  // namespace parshall::testing
