// SPDX-License-Identifier: Apache-2.0
#include "traffic/capture_loops.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "sending.hpp"
#include "traffic/pcap_sink.hpp"

namespace parshall {
namespace {

class Loops : public ::testing::Test {
 protected:
  ~Loops() override { std::remove(path_.c_str()); }
  const std::string path_ = ::testing::TempDir() + "loops_" + std::to_string(::getpid()) + ".pcap";

  void make_file(std::size_t packets, std::uint32_t bytes = 60) const {
    auto sink = PcapSink::create(path_);
    for (std::size_t i = 0; i < packets; ++i) {
      OutFrame frame{nullptr, bytes, 1'000'000 + 300 * i};
      (*sink)->reserve({&frame, 1});
      std::fill_n(frame.data, bytes, static_cast<std::uint8_t>(i));
      (*sink)->send(1);
    }
    (*sink)->flush();
  }

  /// First byte and time of all packets.
  static std::vector<std::pair<int, std::uint64_t>> all_of(CaptureLoops& loops, std::size_t most = 1u << 30) {
    std::vector<std::pair<int, std::uint64_t>> all;
    std::vector<RawPacket> batch(7);
    while (!loops.exhausted() && all.size() < most) {
      const std::size_t count = loops.poll(batch);
      for (const RawPacket& packet : std::span(batch).first(count)) all.emplace_back(packet.data[0], packet.time_ns);
    }
    return all;
  }
};

TEST_F(Loops, PlayACaptureSoOftenWithTimeGoingOn) {
  make_file(11);
  for (const std::uint64_t loops : {1u, 2u, 5u}) {
    auto capture = CaptureLoops::open(path_, loops);
    ASSERT_TRUE(capture);
    const auto all = all_of(**capture);
    ASSERT_EQ(all.size(), 11 * loops);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].first, static_cast<int>(i % 11));
      EXPECT_EQ(all[i].second, 1'000'000 + 300 * i) << "a mean gap between two loops";
    }
    EXPECT_EQ((*capture)->loop(), loops - 1);
    EXPECT_FALSE((*capture)->damage());
  }
}

TEST_F(Loops, GoOnForEver) {
  make_file(3);
  auto capture = CaptureLoops::open(path_, 0);
  ASSERT_TRUE(capture);
  EXPECT_GE(all_of(**capture, 10'000).size(), 10'000u);
}

TEST_F(Loops, EndWhereThereIsNothingToRepeat) {
  make_file(0);
  auto capture = CaptureLoops::open(path_, 0);
  ASSERT_TRUE(capture);
  EXPECT_TRUE(all_of(**capture).empty());
}

TEST_F(Loops, ReadTheFileAgainWhereItIsLong) {
  make_file(5000, 60'000);  // 300 MB
  auto capture = CaptureLoops::open(path_, 2);
  ASSERT_TRUE(capture);
  const auto all = all_of(**capture);
  ASSERT_EQ(all.size(), 10'000u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i].first, static_cast<int>(i % 5000 % 256));
    ASSERT_EQ(all[i].second, 1'000'000 + 300 * i);
  }
}

TEST_F(Loops, TellOfDamageOnceAllBeforeItWasPlayed) {
  make_file(10);
  std::ofstream(path_, std::ios::app) << "not a whole header";
  auto capture = CaptureLoops::open(path_, 3);
  ASSERT_TRUE(capture);
  EXPECT_EQ(all_of(**capture).size(), 30u);
  EXPECT_TRUE((*capture)->damage());
}

TEST_F(Loops, CannotReadAPipeTwice) {
  EXPECT_FALSE(CaptureLoops::open("-", 2));
  EXPECT_FALSE(CaptureLoops::open("/no/such/file", 2));
}

}  // namespace
}  // namespace parshall
