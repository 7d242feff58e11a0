// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "lab/parse/report.hpp"
#include "pipeline/decode/decode.hpp"

namespace parshall::lab {
namespace {

using ::testing::HasSubstr;

template <class Entry>
std::vector<const Entry*> all(std::span<const Entry> registry) {
  std::vector<const Entry*> entries;
  for (const Entry& entry : registry) entries.push_back(&entry);
  return entries;
}

ParseSweep quick_parse(std::vector<const HeaderAccess*> accesses) {
  return {.accesses = std::move(accesses),
          .traffic = all(frame_kinds()),
          .memory_bytes = {FrameMemory::kLeastBytes, 300'000},
          .rounds = 1};
}

TEST(FrameMemory, IsFilledWithItsKindAndWalkedOverWholly) {
  for (const FrameKind& kind : frame_kinds()) {
    SCOPED_TRACE(std::string(kind.name));
    const auto memory = FrameMemory::make(kind, 100'000, 7);
    ASSERT_TRUE(memory);
    FrameWalk walk(*memory, 5);
    std::vector<RawPacket> packets(memory->frames());
    walk.poll(packets);
    std::set<const std::uint8_t*> places;
    std::set<std::uint8_t> protocols;
    for (const RawPacket& packet : packets) {
      places.insert(packet.data);
      PacketFacts facts;
      ASSERT_EQ(decode_any(packet, IpHeader::outermost, facts), Verdict::counted);
      ASSERT_EQ(facts.key.ip_version, kind.ipv6 ? 6 : 4);
      ASSERT_EQ(packet.data[12] == 0x81, kind.tagged);
      protocols.insert(facts.key.protocol);
    }
    EXPECT_EQ(places.size(), memory->frames());
    EXPECT_EQ(protocols, (std::set<std::uint8_t>{6, 17}));
    std::vector<RawPacket> again(1);
    walk.poll(again);
    EXPECT_EQ(again[0].data, packets[0].data);
    FrameWalk(*memory, 5 + 3).poll(again);
    EXPECT_EQ(again[0].data, packets[3].data) << "a walk that begins three later";
  }
}

TEST(ParseExperiment, MeasuresEveryAccessOnEveryKindOfFrame) {
  const ParseSweep sweep = quick_parse(all(header_accesses()));
  std::size_t parts = 0;
  const auto measured = measure_parsing(
      sweep,
      [&](std::span<const ParseRow> rows) {
        ++parts;
        ASSERT_EQ(rows.size(), 2 * header_accesses().size() - 1) << "a descriptor is not asked for";
        EXPECT_EQ(rows[0].cost.ratio, 1);
        for (const ParseRow& row : rows) {
          EXPECT_GT(row.cost.median_ns, 0);
          EXPECT_LE(row.cost.low_ns, row.cost.median_ns);
          EXPECT_GE(row.cost.high_ns, row.cost.median_ns);
        }
        const Part part = parse_part(rows);
        EXPECT_EQ(part.rows.size(), rows.size());
        for (const auto& cells : part.rows) EXPECT_EQ(cells.size(), parse_columns().size());
      },
      [] { return false; });
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(*measured, combinations(sweep));
  EXPECT_EQ(parts, 2 * frame_kinds().size());
}

/// Reads five-tuples, and one protocol wrongly.
class Careless final : public HeaderReader {
 public:
  void read(std::span<const RawPacket>) noexcept override {}
  void keys(std::span<const RawPacket> packets, std::span<FlowKey> keys) noexcept override {
    for (std::size_t i = 0; i < packets.size(); ++i) {
      PacketFacts facts;
      decode_any(packets[i], IpHeader::outermost, facts);
      keys[i] = facts.key;
      if (++read_ == 300) keys[i].protocol = 1;
    }
  }

 private:
  std::size_t read_ = 0;
};

TEST(ParseExperiment, RefusesToMeasureWhatReadsWrongly) {
  const HeaderAccess careless{
      "careless", "", HeaderFields::five_tuple,
      [](bool, std::uint64_t) -> std::unique_ptr<HeaderReader> { return std::make_unique<Careless>(); }};
  bool handed_over = false;
  const auto measured = measure_parsing(
      quick_parse({&careless}), [&](auto) { handed_over = true; }, [] { return false; });
  ASSERT_FALSE(measured);
  EXPECT_THAT(measured.error().message, HasSubstr("careless reads frame 299 of ipv4"));
  EXPECT_FALSE(handed_over);
}

TEST(ParseExperiment, RefusesMoreMemoryThanThereIs) {
  ParseSweep sweep = quick_parse(all(header_accesses()));
  sweep.memory_bytes = {FrameMemory::kLeastBytes, std::size_t{1} << 50};
  const auto measured = measure_parsing(
      sweep, [](auto) {}, [] { return false; });
  ASSERT_FALSE(measured);
  EXPECT_THAT(measured.error().message, HasSubstr("--memory"));
}

TEST(ParseExperiment, StopsBetweenCombinationsAndKeepsWhatWasDone) {
  std::size_t done = 0;
  const auto measured = measure_parsing(
      quick_parse({&header_accesses()[0]}), [&](auto) { ++done; }, [&] { return done == 2; });
  ASSERT_TRUE(measured);
  EXPECT_EQ(*measured, 2u);
  EXPECT_EQ(done, 2u);
}

}  // namespace
}  // namespace parshall::lab
