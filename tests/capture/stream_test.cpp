// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "delivery.hpp"
#include "pipeline/capture/pcap_file.hpp"
#include "pipeline/capture/stream_ring.hpp"

namespace parshall::testing {
namespace {

using namespace std::chrono_literals;

/// A pipe whose reading end a capture takes over.
class Pipe {
 public:
  Pipe() {
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(::pipe(ends_.data()), 0);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() { close(); }

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void write(const Bytes& bytes) const {
    EXPECT_EQ(::write(ends_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void close() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{};
};

/// Writes from another thread, as the reader may have to make room.
std::jthread write_and_close(Pipe& pipe, const Bytes& bytes) {
  return std::jthread([&] {
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t wrote = ::write(pipe.writer(), bytes.data() + at, bytes.size() - at);
      if (wrote <= 0) break;
      at += static_cast<std::size_t>(wrote);
    }
    pipe.close();
  });
}

std::vector<std::unique_ptr<PacketSource>> open_pipe(const Pipe& pipe, std::size_t consumers) {
  auto sources = open_capture_descriptor(pipe.reader(), "pipe", consumers);
  EXPECT_TRUE(sources.has_value());
  return std::move(*sources);
}

/// Polls until something comes; gives up after some seconds.
std::size_t poll_soon(PacketSource& source, std::span<RawPacket> out) {
  for (const auto end = std::chrono::steady_clock::now() + 10s; std::chrono::steady_clock::now() < end;) {
    if (const std::size_t packets = source.poll(out)) return packets;
    if (source.exhausted()) return 0;
  }
  return 0;
}

Bytes many_records(std::size_t total_bytes) {
  const PcapFile file;
  Bytes bytes = file.header();
  for (std::uint32_t i = 0; bytes.size() < total_bytes; ++i) bytes += file.record(i, payload(40 + i * 37 % 1500, i));
  return bytes;
}

TEST(Stream, WhatHasComeIsDeliveredWithoutWaitingForMore) {
  Pipe pipe;
  const PcapFile file;
  pipe.write(file.header());
  auto sources = open_pipe(pipe, 1);
  std::array<RawPacket, 8> batch;
  EXPECT_EQ(sources[0]->poll(batch), 0u);
  EXPECT_FALSE(sources[0]->exhausted());
  for (std::uint32_t i = 1; i <= 3; ++i) {
    pipe.write(file.record(i, payload(60, i)));
    ASSERT_EQ(poll_soon(*sources[0], batch), 1u);
    EXPECT_EQ(Bytes(batch[0].data, batch[0].data + 60), payload(60, i));
  }
  pipe.close();
  EXPECT_EQ(poll_soon(*sources[0], batch), 0u);
  EXPECT_TRUE(sources[0]->exhausted());
  EXPECT_FALSE(sources[0]->damage());
}

TEST(Stream, PollDoesNotBlockLongWhenNothingComes) {
  Pipe pipe;
  pipe.write(PcapFile{}.header());
  auto sources = open_pipe(pipe, 1);
  std::array<RawPacket, 8> batch;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(sources[0]->poll(batch), 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
}

TEST(Stream, RecordsAcrossChunkBordersArriveWhole) {
  const Bytes bytes = many_records(5 * StreamRing::kChunkBytes);
  EXPECT_EQ(read_as_stream(bytes, 1 << 16), read_as_file(bytes));
  EXPECT_EQ(read_as_stream(bytes, 4097), read_as_file(bytes));
}

TEST(Stream, ARecordLargerThanAChunkArrivesWhole) {
  constexpr std::uint32_t kUsbPcap = 249;
  const PcapFile file{.network = kUsbPcap};
  Bytes bytes = file.header();
  bytes += file.record(1, payload(3 * StreamRing::kChunkBytes));
  for (std::uint32_t i = 0; i < 40; ++i) bytes += file.record(i, payload(100'000, i));
  EXPECT_EQ(read_as_stream(bytes, 1 << 16), read_as_file(bytes));
}

TEST(Stream, EveryConsumerGetsEveryPacketAtItsOwnPace) {
  const Bytes bytes = many_records(8 * StreamRing::kChunkBytes);
  const Delivery expected = read_as_file(bytes);
  Pipe pipe;
  const std::jthread writer = write_and_close(pipe, bytes);
  auto sources = open_pipe(pipe, 3);
  std::array<Delivery, 3> got;
  {
    std::array<std::jthread, 3> consumers;
    for (std::size_t i = 0; i < 3; ++i) {
      consumers[i] = std::jthread([&, i] {
        if (i == 2) std::this_thread::sleep_for(50ms);
        got[i] = drain(*sources[i]);
      });
    }
  }
  for (const Delivery& one : got) EXPECT_EQ(one, expected);
}

TEST(Stream, PacketsStayValidUntilTheSecondPollAfterTheirs) {
  const Bytes bytes = many_records(24 * StreamRing::kChunkBytes);
  Pipe pipe;
  const std::jthread writer = write_and_close(pipe, bytes);
  auto sources = open_pipe(pipe, 1);
  // One poll behind: a batch is looked at only after the next poll and some time for the reader to overwrite it.
  std::array<std::array<RawPacket, 512>, 2> batches;
  std::array<std::size_t, 2> sizes{};
  std::uint32_t seen = 0;
  for (unsigned turn = 0; !sources[0]->exhausted() || sizes[1 - turn] > 0; turn = 1 - turn) {
    sizes[turn] = sources[0]->poll(batches[turn]);
    if (seen % 4096 < 512) std::this_thread::sleep_for(1ms);
    for (std::size_t i = 0; i < sizes[1 - turn]; ++i, ++seen) {
      const RawPacket& packet = batches[1 - turn][i];
      ASSERT_EQ(Bytes(packet.data, packet.data + packet.captured_bytes), payload(packet.captured_bytes, seen));
    }
    sizes[1 - turn] = 0;
  }
  EXPECT_EQ(seen, read_as_file(bytes).packets.size());
}

TEST(Stream, AReaderWithoutPollsStopsTheWriterInsteadOfGrowing) {
  Pipe pipe;
  pipe.write(PcapFile{}.header());
  auto sources = open_pipe(pipe, 1);
  const Bytes record = PcapFile{}.record(1, payload(60'000));
  ::fcntl(pipe.writer(), F_SETFL, O_NONBLOCK);
  std::size_t written = 0;
  for (int idle = 0; idle < 20;) {
    const ssize_t wrote = ::write(pipe.writer(), record.data(), record.size());
    if (wrote > 0) {
      written += static_cast<std::size_t>(wrote);
      idle = 0;
    } else {
      ++idle;
      std::this_thread::sleep_for(5ms);
    }
    ASSERT_LT(written, 64u << 20);
  }
  EXPECT_LE(written, (StreamRing::kChunks + 2) * StreamRing::kChunkBytes);
}

TEST(Stream, ClosingASourceBeforeTheEndStopsTheReaderAtOnce) {
  for (const bool reader_is_blocked_by_a_full_ring : {false, true}) {
    Pipe pipe;
    pipe.write(PcapFile{}.header());
    auto sources = open_pipe(pipe, 2);
    if (reader_is_blocked_by_a_full_ring) {
      ::fcntl(pipe.writer(), F_SETFL, O_NONBLOCK);
      const Bytes record = PcapFile{}.record(1, payload(60'000));
      for (int i = 0; i < 200; ++i) {
        if (::write(pipe.writer(), record.data(), record.size()) <= 0) std::this_thread::sleep_for(1ms);
      }
    }
    const auto start = std::chrono::steady_clock::now();
    sources.clear();
    EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
  }
}

TEST(Stream, AConsumerThatLeavesDoesNotHoldUpTheOthers) {
  const Bytes bytes = many_records((StreamRing::kChunks + 8) * StreamRing::kChunkBytes);
  Pipe pipe;
  const std::jthread writer = write_and_close(pipe, bytes);
  auto sources = open_pipe(pipe, 2);
  sources[0].reset();
  EXPECT_EQ(drain(*sources[1]), read_as_file(bytes));
}

TEST(Stream, AFifoIsReadAsAStream) {
  const auto path = std::filesystem::temp_directory_path() / ("parshall-fifo-" + std::to_string(::getpid()));
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const Bytes bytes = many_records(100'000);
  std::thread writer([&] {
    const int fd = ::open(path.c_str(), O_WRONLY);
    EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ::close(fd);
  });
  auto sources = open_capture_file(path, 1);
  ASSERT_TRUE(sources);
  const Delivery got = drain(*sources->front());
  writer.join();
  std::filesystem::remove(path);
  EXPECT_EQ(got, Delivery(read_as_file(bytes)));
}

}  // namespace
}  // namespace parshall::testing
