// SPDX-License-Identifier: Apache-2.0
#include "tester/trailer_writer.hpp"

#include <gtest/gtest.h>

#include <map>

#include "frames.hpp"
#include "tester/frame_reader.hpp"
#include "tester/trial_id.hpp"
#include "traffic/memory_source.hpp"

namespace parshall::tester {
namespace {

std::shared_ptr<const Trace> trace_of(const std::string& text) {
  auto spec = TrafficSpec::parse(text);
  EXPECT_TRUE(spec) << spec.error().message;
  spec->trailer = true;
  auto trace = Trace::make(*spec);
  EXPECT_TRUE(trace);
  return std::make_shared<const Trace>(*std::move(trace));
}

/// Frames of one batch, written.
struct Batch {
  std::vector<RawPacket> packets;
  std::vector<OutFrame> frames;
  std::vector<std::vector<std::uint8_t>> bytes;

  Batch(MemorySource& source, FrameWriter& writer, std::size_t count, std::uint64_t first_ns)
      : packets(count), frames(count) {
    packets.resize(source.poll(packets));
    frames.resize(packets.size());
    writer.lengths(packets, frames);
    std::vector<std::uint64_t> due_ns;
    for (OutFrame& frame : frames) {
      bytes.emplace_back(frame.bytes, 0xEE);
      frame.data = bytes.back().data();
      due_ns.push_back(first_ns + due_ns.size());
    }
    writer.write(packets, frames, due_ns);
  }
};

TEST(TrailerWriter, NumbersTheFramesOfEachStreamAndKeepsChecksumsGood) {
  for (const char* text :
       {"flows=7,protocol=udp,size=64", "flows=7,protocol=tcp,size=81",
        "flows=7,protocol=mix,ipv6=0.5,size=94:7+570:4+1518:1", "flows=7,protocol=mix,ipv6=0.5,vlan=5.6,size=110-133",
        "flows=7,protocol=udp,vlan=1,size=75"}) {
    const auto trace = trace_of(std::string(text) + ",packets=1000");
    const auto sent = std::make_shared<std::vector<SentFlow>>(7);
    TrailerWriter writer(sent);
    MemorySource source(trace, 3000);
    std::map<std::uint32_t, std::uint32_t> next;
    std::uint64_t bytes = 0, first_ns = 0x18B7'A1B2'C3D4'0000;
    for (std::size_t written = 0; written < 3000;) {
      const Batch batch(source, writer, 100, first_ns);
      for (std::size_t i = 0; i < batch.bytes.size(); ++i) {
        const auto& frame = batch.bytes[i];
        Datagram datagram;
        ASSERT_EQ(find_datagram(Frame(frame.data(), frame.size(), frame.size()), LinkType::ethernet,
                                IpHeader::outermost, datagram),
                  Verdict::counted);
        ASSERT_EQ(check_checksums(frame.data(), frame.size(), datagram), ChecksumState::good) << text << " " << i;
        const auto trailer = Trailer::read(frame.data() + datagram.end - Trailer::kBytes);
        ASSERT_TRUE(trailer);
        EXPECT_EQ(trailer->stream, trace->flow_of((written + i) % 1000));
        EXPECT_EQ(trailer->sequence, next[trailer->stream]++);
        EXPECT_EQ(trailer->full_time_ns(first_ns), first_ns + i);
        bytes += frame.size();
      }
      written += batch.bytes.size();
      first_ns += 12'345'678;
    }
    std::uint64_t frames = 0, wire_bytes = 0;
    for (std::uint32_t stream = 0; stream < 7; ++stream) {
      EXPECT_EQ((*sent)[stream].frames, next[stream]);
      frames += (*sent)[stream].frames;
      wire_bytes += (*sent)[stream].wire_bytes;
    }
    EXPECT_EQ(frames, 3000u);
    EXPECT_EQ(wire_bytes, bytes);
  }
}

TEST(TrailerWriter, WritesWhatOnlyAReaderOfItsOwnTrialTakesForOurs) {
  constexpr std::uint32_t kStreams = 7;
  const auto trace = trace_of("flows=7,protocol=mix,size=81,packets=1000");
  const std::uint32_t id = draw_trial_id(), other = id ^ 1u << 31;
  const auto sent = std::make_shared<std::vector<SentFlow>>(kStreams);
  TrailerWriter writer(sent, id);
  MemorySource source(trace, 1000);
  const Batch batch(source, writer, 1000, 1);
  const FrameReader own({.id = id, .streams = kStreams, .frames = 1000}),
      another({.id = other, .streams = kStreams, .frames = 1000});
  std::map<std::uint32_t, std::uint32_t> next;
  for (std::size_t i = 0; i < batch.bytes.size(); ++i) {
    const RawPacket packet = packet_of(batch.bytes[i], LinkType::ethernet, 1000);
    const TestFrame frame = own.read(packet);
    ASSERT_EQ(frame.kind, FrameKind::ours) << i;
    EXPECT_EQ(frame.trailer.stream, trace->flow_of(i));
    EXPECT_EQ(frame.trailer.sequence, next[frame.trailer.stream]++);
    EXPECT_EQ(another.read(packet).kind, FrameKind::contradictory) << i;
  }
  EXPECT_NE(draw_trial_id(), draw_trial_id());
}

TEST(TrailerWriter, GivesTheNumbersOfFramesThatWereNotSentToTheNext) {
  const auto trace = trace_of("flows=3,protocol=udp,size=100,packets=300");
  const auto sent = std::make_shared<std::vector<SentFlow>>(3);
  TrailerWriter writer(sent);
  MemorySource source(trace, 600);
  const Batch first(source, writer, 90, 0);
  writer.take_back(std::span(first.packets).subspan(30));
  EXPECT_EQ((*sent)[0].frames + (*sent)[1].frames + (*sent)[2].frames, 30u);
  EXPECT_EQ((*sent)[0].wire_bytes + (*sent)[1].wire_bytes + (*sent)[2].wire_bytes, 30u * 96);
  const auto before = *sent;
  const Batch second(source, writer, 90, 0);
  std::map<std::uint32_t, std::uint32_t> next;
  for (const auto& frame : second.bytes) {
    const auto trailer = Trailer::read(frame.data() + frame.size() - Trailer::kBytes);
    ASSERT_TRUE(trailer);
    EXPECT_EQ(trailer->sequence, before[trailer->stream].frames + next[trailer->stream]++);
  }
}

}  // namespace
}  // namespace parshall::tester
