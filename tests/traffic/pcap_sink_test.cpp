// SPDX-License-Identifier: Apache-2.0
#include "traffic/pcap_sink.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstdio>
#include <filesystem>

#include "pipeline/capture/pcap_file.hpp"
#include "sending.hpp"

namespace parshall {
namespace {

class PcapFile : public ::testing::Test {
 protected:
  ~PcapFile() override { std::remove(path_.c_str()); }
  const std::string path_ = ::testing::TempDir() + "pcap_sink_" + std::to_string(::getpid()) + ".pcap";

  /// The i-th of the frames that the tests write.
  static std::uint32_t length_of(std::size_t i) { return static_cast<std::uint32_t>(i * 7919 % 3000); }
  static std::uint64_t time_of(std::size_t i) { return 1'700'000'000'999'999'990 + 3 * i; }

  static std::size_t send(PcapSink& sink, std::size_t first, std::size_t count) {
    std::vector<OutFrame> frames(count);
    for (std::size_t i = 0; i < count; ++i) frames[i] = {nullptr, length_of(first + i), time_of(first + i)};
    const std::size_t reserved = sink.reserve(frames);
    for (std::size_t i = 0; i < reserved; ++i)
      std::fill_n(frames[i].data, frames[i].bytes, static_cast<std::uint8_t>(first + i));
    return sink.send(reserved);
  }

  /// How many of the frames, all of them right, the file has; it has nothing else.
  std::size_t frames_in_file() const {
    auto sources = open_capture_file(path_, 1);
    EXPECT_TRUE(sources) << sources.error().message;
    if (!sources) return 0;
    PacketSource& file = *sources->front();
    std::vector<RawPacket> batch(100);
    std::size_t at = 0;
    while (!file.exhausted()) {
      const std::size_t count = file.poll(batch);
      for (const RawPacket& packet : std::span(batch).first(count)) {
        EXPECT_EQ(packet.time_ns, time_of(at));
        EXPECT_EQ(packet.wire_bytes, length_of(at));
        EXPECT_EQ(packet.captured_bytes, length_of(at));
        EXPECT_EQ(Bytes(packet.data, packet.data + packet.captured_bytes),
                  Bytes(length_of(at), static_cast<std::uint8_t>(at)));
        ++at;
      }
    }
    EXPECT_FALSE(file.damage());
    return at;
  }
};

TEST_F(PcapFile, HasWhatWasSentWithItsTime) {
  constexpr std::size_t kFrames = 20'000;  // 30 MB: many buffers
  {
    auto sink = PcapSink::create(path_);
    ASSERT_TRUE(sink);
    for (std::size_t sent = 0; sent < kFrames;)
      sent += send(**sink, sent, std::min<std::size_t>(kFrames - sent, 1 + sent % 1500));
    (*sink)->flush();
    EXPECT_EQ((*sink)->lost(), 0u);
  }
  EXPECT_EQ(frames_in_file(), kFrames);
}

TEST_F(PcapFile, ForgetsWhatWasReservedAndNotSent) {
  auto sink = PcapSink::create(path_);
  ASSERT_TRUE(sink);
  std::vector<OutFrame> frames(3, OutFrame{nullptr, 100, 5});
  (*sink)->reserve(frames);
  EXPECT_EQ(send(**sink, 0, 5), 5u);
  (*sink)->reserve(frames);
  (*sink)->flush();
  EXPECT_EQ(frames_in_file(), 5u);
}

TEST_F(PcapFile, IsACaptureThoughNothingWasSent) {
  {
    auto sink = PcapSink::create(path_);
    ASSERT_TRUE(sink);
    (*sink)->flush();
  }
  EXPECT_EQ(std::filesystem::file_size(path_), 24u);
}

TEST_F(PcapFile, EndsWithAWholeFrameWhereTheDiskIsFullAndCountsTheRest) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{.rlim_cur = 3'000'001, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::size_t sent = 0;
  std::uint64_t lost = 0;
  {
    auto sink = PcapSink::create(path_);
    ASSERT_TRUE(sink);
    while (const std::size_t taken = send(**sink, sent, 100)) sent += taken;
    (*sink)->flush();
    EXPECT_TRUE((*sink)->damage());
    lost = (*sink)->lost();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(frames_in_file(), sent - lost);
  EXPECT_GT(std::filesystem::file_size(path_), 2'990'000u);
}

TEST(PcapSink, SaysWhyAFileCannotBeMade) {
  const auto sink = PcapSink::create("/no/such/folder/x.pcap");
  ASSERT_FALSE(sink);
  EXPECT_NE(sink.error().message.find("/no/such/folder/x.pcap"), std::string::npos);
}

}  // namespace
}  // namespace parshall
