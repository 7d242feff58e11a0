// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/name_reader.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace parshall {
namespace {

/// A TCP segment with this payload, by Ethernet and IPv4.
std::vector<std::uint8_t> segment_of(const std::vector<std::uint8_t>& payload) {
  std::vector<std::uint8_t> frame(54);
  frame[12] = 8;
  frame[14] = 0x45;
  const std::size_t ip_bytes = 40 + payload.size();
  frame[16] = static_cast<std::uint8_t>(ip_bytes >> 8);
  frame[17] = static_cast<std::uint8_t>(ip_bytes);
  frame[22] = 64;
  frame[23] = 6;
  frame[46] = 0x50;
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

/// Reads first segments of flows from an interface.
class FirstSegments : public ::testing::Test {
 protected:
  /// Reads this payload as the first of a flow, at that time.
  void read(const std::vector<std::uint8_t>& payload, std::uint64_t time_ns) {
    const auto frame = segment_of(payload);
    const auto bytes = static_cast<std::uint32_t>(frame.size());
    RawPacket packet{};
    packet.data = frame.data();
    packet.captured_bytes = packet.wire_bytes = bytes;
    packet.time_ns = time_ns;
    packet.link_type = LinkType::ethernet;
    alignas(8) std::array<std::byte, 8> state{};
    names_.begin(state.data());
    reader_->read(slot_, state.data(), carries_.data(), packet, names_);
    reader_->flow_ended(slot_++, state.data());
  }

  static NameColumns wanted() {
    NameColumns columns;
    columns.add(NameColumn::server_name);
    columns.add(NameColumn::ja4);
    return columns;
  }

  std::atomic<std::uint64_t> not_read_{0};
  ApplicationNames names_{wanted()};
  std::vector<std::byte> carries_ = std::vector<std::byte>(names_.carry_bytes());
  std::unique_ptr<NameReader> reader_ = std::make_unique<NameReader>(NameReader::Options{
      .wanted = wanted(), .header = IpHeader::outermost, .can_wait = false, .not_read = &not_read_});
  std::uint32_t slot_ = 0;
};

std::vector<std::uint8_t> long_hello_head() {
  std::vector<std::uint8_t> head(1400);
  constexpr std::uint8_t kBegin[] = {22, 3, 1, 8, 0, 1, 0, 7, 252, 3, 3};
  std::copy(std::begin(kBegin), std::end(kBegin), head.begin());
  return head;
}

TEST_F(FirstSegments, OfOtherProtocolsTakeNoTimeFromHellos) {
  for (int i = 0; i < 100'000; ++i) read(std::vector<std::uint8_t>(1400, 0x80), 1);
  read(long_hello_head(), 1);
  EXPECT_EQ(not_read_, 0);
}

TEST_F(FirstSegments, ThatComeOneByOneTakeNoMoreThanTheirShare) {
  constexpr int kSegments = 100'000;
  for (int i = 0; i < kSegments; ++i) read(long_hello_head(), 1 + 1'000ULL * static_cast<unsigned>(i));
  // Each takes 10 us by its tariff, so a fifth of 1 us allows one of 50.
  EXPECT_GT(not_read_, kSegments * 9 / 10);
  EXPECT_LT(not_read_, kSegments);
}

TEST_F(FirstSegments, HaveAShareOfTheTimeThatComesBack) {
  for (int i = 0; i < 100'000; ++i) read(long_hello_head(), 1);
  EXPECT_GT(not_read_, 90'000);
  const std::uint64_t before = not_read_;
  read(long_hello_head(), 10'000'000'000);
  EXPECT_EQ(not_read_, before);
  for (int i = 0; i < 10'000; ++i) read(long_hello_head(), 10'000'000'000);
  const std::uint64_t later = not_read_;
  EXPECT_GT(later, before);
  read(long_hello_head(), 5);  // the clock was set back
  read(long_hello_head(), 1'000'005);
  EXPECT_EQ(not_read_, later + 1);
}

}  // namespace
}  // namespace parshall
