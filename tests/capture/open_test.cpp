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

TEST(Open, ACompressedFileIsNamedWithWhatToDo) {
  EXPECT_THAT(message_for({0x1f, 0x8b, 8, 0, 0, 0, 0, 0}), AllOf(HasSubstr("trace.pcap is compressed with gzip"),
                                                                 HasSubstr("zcat trace.pcap | parshall watch -r -")));
  EXPECT_THAT(message_for({0xfd, '7', 'z', 'X', 'Z', 0, 0, 0}),
              AllOf(HasSubstr("compressed with xz"), HasSubstr("xzcat trace.pcap | parshall watch -r -")));
  EXPECT_THAT(message_for({0x28, 0xb5, 0x2f, 0xfd, 0, 0}), HasSubstr("zstd"));
}

TEST(Open, WhatIsNoCaptureIsNamedByItsFirstBytes) {
  EXPECT_THAT(message_for(text("#!/bin/sh\n")), HasSubstr("it begins with \"#!/bin\""));
  EXPECT_THAT(message_for({0x7f, 'E', 'L', 'F', 2, 1, 1}), HasSubstr("it begins with 7f 45 4c 46 02 01"));
  EXPECT_THAT(message_for({0xd4, 0xc3}), HasSubstr("it begins with d4 c3"));
  EXPECT_THAT(message_for({}), HasSubstr("trace.pcap is empty"));
}

TEST(Open, AStreamThatIsNoCaptureIsRefusedTheSameWay) {
  EXPECT_THAT(read_as_stream({0x1f, 0x8b, 8, 0, 0, 0, 0, 0}, 1).damage, HasSubstr("gzip"));
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
