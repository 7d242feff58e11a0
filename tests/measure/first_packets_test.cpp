// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "one_flow.hpp"
#include "pipeline/measure/flow_rows.hpp"

namespace parshall {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Names = std::vector<std::string>;

/// The class is the sum of the sizes, where there is such a class.
class BySum final : public Classifier {
 public:
  explicit BySum(std::size_t packets, std::size_t classes = 3000) : packets_(packets) {
    for (std::size_t i = 0; i < classes; ++i) classes_.push_back("c" + std::to_string(i));
  }
  std::size_t packets() const noexcept override { return packets_; }
  std::span<const std::string> classes() const noexcept override { return classes_; }
  void classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept override {
    for (std::size_t flow = 0; flow < ids.size(); ++flow) {
      std::size_t sum = 0;
      for (const std::uint16_t size : sizes.subspan(flow * packets_, packets_)) sum += size;
      ids[flow] = sum < classes_.size() ? static_cast<ClassId>(sum) : kUnknownClass;
    }
  }

 private:
  std::size_t packets_;
  std::vector<std::string> classes_;
};

StatisticOptions by_sum(std::size_t packets) {
  StatisticOptions options;
  options.classifier = std::make_shared<BySum>(packets);
  return options;
}

/// Knows the class of flows of UDP port 53, too.
class BySumOrPort final : public Classifier {
 public:
  static constexpr ClassId kDns = 5;

  std::size_t packets() const noexcept override { return sum_.packets(); }
  std::span<const std::string> classes() const noexcept override { return sum_.classes(); }
  void classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept override {
    sum_.classify(sizes, ids);
  }
  bool knows_ports() const noexcept override { return true; }
  std::shared_ptr<const PortLookup> ports() const noexcept override { return std::make_shared<Dns>(); }

 private:
  struct Dns final : PortLookup {
    ClassId find(std::uint8_t protocol, std::uint16_t lower_port) const noexcept override {
      return protocol == 17 && lower_port == 53 ? kDns : kNotClassified;
    }
  };
  BySum sum_{4};
};

TEST(FirstSamples, AreTheFirstOnesInTheirOrderAndNoOthers) {
  for (std::uint64_t samples = 0; samples < 40; ++samples) {
    OneFlow flow({"ip_size_3", "ip_size_1", "ip_size_16"});
    for (std::uint64_t i = 1; i <= samples; ++i) flow.add({{100 + i}});
    for (const std::uint64_t i : {1u, 3u, 16u}) {
      const auto value = flow["ip_size_" + std::to_string(i) + "_bytes"];
      ASSERT_EQ(value.has_value(), i <= samples);
      if (value) {
        ASSERT_EQ(*value, 100 + static_cast<double>(i));
      }
    }
  }
}

TEST(FirstSamples, OfMoreThan32BitsAreWholeAsTimesAndTheLargestAsSizes) {
  OneFlow times({"iat_1"}), sizes({"size_1"});
  times.add({{std::uint64_t{1} << 40}});
  sizes.add({{std::uint64_t{1} << 40}});
  EXPECT_EQ(times["iat_1_ns"], 0x1p40);
  EXPECT_EQ(sizes["size_1_bytes"], 0xffffffff);
}

TEST(FirstSamples, AreNumberedFrom1To16) {
  for (const char* name : {"ip_size_0", "ip_size_17", "ip_size_01", "ip_size_-1", "ip_size_1x", "ip_size_"})
    EXPECT_FALSE(make_statistics(Names{name}, {})) << name;
}

TEST(FirstSamples, OfFlagsAreAllThatFlagsHave) {
  EXPECT_EQ(make_statistics(Names{"tcp_flags_2"}, {})->columns()[0].name, "tcp_flags_2");
  EXPECT_FALSE(make_statistics(Names{"tcp_flags_mean"}, {}));
  EXPECT_FALSE(make_statistics(Names{"tcp_flags_p99"}, {}));
}

TEST(FirstPackets, AreAsManyAsAnyStatisticLooksAtAndAllWhereOneLooksAtAll) {
  const auto of = [](const Names& names, std::size_t packets = 5) {
    return make_statistics(names, by_sum(packets))->first_packets();
  };
  EXPECT_EQ(of({}), std::nullopt);
  EXPECT_EQ(of({"ip_size_3"}), 3u);
  EXPECT_EQ(of({"ip_size_3", "iat_3"}), 4u) << "the third time is the fourth packet's";
  EXPECT_EQ(of({"class"}), 5u);
  EXPECT_EQ(of({"class", "ip_size_7"}), 7u);
  EXPECT_EQ(of({"class", "size_mean"}), std::nullopt);
}

TEST(FlowClass, IsToldWithTheLastOfItsPacketsAndStays) {
  OneFlow flow({"class"}, by_sum(4));
  for (const std::uint64_t size : {1000, 200, 30}) {
    flow.add({{size}});
    ASSERT_FALSE(flow["class"]);
    ASSERT_EQ(flow.set().class_of(flow.row()), kNotClassified);
  }
  flow.add({{4}});
  EXPECT_EQ(flow["class"], 1234);
  flow.add({{1500, 1500}});
  EXPECT_EQ(flow["class"], 1234);
  EXPECT_EQ(flow.set().columns()[0].values[1234], "c1234");
}

TEST(FlowClass, OfSizesBeyond16BitsIsThatOfTheLargest) {
  OneFlow flow({"class"}, by_sum(1));
  flow.add({{70'000}});
  EXPECT_EQ(flow.set().class_of(flow.row()), kUnknownClass) << "and not that of 70,000 - 65,536";
  EXPECT_EQ(flow.set().columns()[0].values[static_cast<std::size_t>(*flow["class"])], "unknown");
}

TEST(FlowClass, IsToldOfAllFlowsOfABatchWhateverTheirOrder) {
  for (const std::size_t packets : {1u, 2u, 5u, 16u}) {
    const auto set = make_statistics(Names{"class"}, by_sum(packets));
    constexpr std::size_t kFlows = 7;
    std::vector<std::uint64_t> memory(kFlows * set->row_bytes() / 8);
    auto* const rows = reinterpret_cast<std::byte*>(memory.data());
    for (std::size_t flow = 0; flow < kFlows; ++flow)
      set->statistics()[0].statistic->begin(rows + flow * set->row_bytes());
    std::vector<std::uint64_t> sums(kFlows);
    std::vector<std::byte*> at;
    std::vector<std::uint64_t> sizes;
    for (std::size_t packet = 0; packet < packets; ++packet)
      for (std::size_t flow = 0; flow < kFlows; ++flow) {
        at.push_back(rows + (flow * 3 % kFlows) * set->row_bytes());
        sizes.push_back(20 + 3 * flow + packet);
        sums[flow * 3 % kFlows] += sizes.back();
      }
    const std::span<std::byte* const> all(at);
    for (std::size_t done = 0; done < at.size(); done += kStatBatch) {
      const std::size_t count = std::min(kStatBatch, at.size() - done);
      set->statistics()[0].statistic->update({all.subspan(done, count), 0, std::span(sizes).subspan(done, count)});
    }
    for (std::size_t flow = 0; flow < kFlows; ++flow)
      ASSERT_EQ(set->class_of(rows + flow * set->row_bytes()), sums[flow]) << packets << " packets";
  }
}

TEST(FlowClass, NeedsAModel) { EXPECT_THAT(make_statistics(Names{"class"}, {}).error().message, HasSubstr("--model")); }

TEST(FlowClass, StandsWhereItWasAskedForAndOnce) {
  const auto set = make_statistics(Names{"gap_mean", "class", "ip_size_1", "class"}, by_sum(4));
  Names names;
  for (const Column& column : set->columns()) names.push_back(column.name);
  EXPECT_THAT(names, ElementsAre("gap_mean_packets", "class", "ip_size_1_bytes"));
  EXPECT_FALSE(set->mergeable());
}

/// Packets of one flow in one slot.
class SplitFlow {
 public:
  explicit SplitFlow(const Names& names)
      : rows_(std::make_shared<const StatisticSet>(*make_statistics(names, by_sum(4))), 1) {}

  void packet(std::uint32_t ip_bytes, bool starts = false, bool is_split = false, bool is_late = false) {
    const RowUpdate update{.slot = 0,
                           .starts_flow = starts,
                           .is_split = is_split,
                           .is_late = is_late,
                           .counts = CountWord::narrow(ip_bytes, 14, 0),
                           .time_ns = 1000 * ++packets_,
                           .place = {packets_, 1000 * packets_}};
    rows_.update({&update, 1});
  }
  std::vector<std::optional<double>> values() const {
    std::vector<std::optional<double>> values(rows_.set()->columns().size());
    rows_.set()->read(rows_.statistics(0).data(), values);
    return values;
  }

 private:
  FlowRows rows_;
  std::uint64_t packets_ = 0;
};

TEST(FlowRows, OfARecordThatAnActiveTimeoutBeganKnowTheFlowsFirstPackets) {
  SplitFlow alone({"class", "ip_size_1", "iat_2"}), among({"class", "ip_size_1", "iat_2", "ip_size_mean", "iat_mean"});
  for (SplitFlow* const flow : {&alone, &among}) {
    flow->packet(40, /*starts=*/true);
    flow->packet(50);
    flow->packet(60, /*starts=*/true, /*is_split=*/true);
    flow->packet(70);
    flow->packet(80);
  }
  EXPECT_THAT(alone.values(), ElementsAre(40 + 50 + 60 + 70, 40, 1000));
  EXPECT_THAT(among.values(), ElementsAre(40 + 50 + 60 + 70, 40, 1000, 70, 1000));
  among.packet(90, /*starts=*/true);
  EXPECT_THAT(among.values(), ElementsAre(std::nullopt, 90, std::nullopt, 90, std::nullopt)) << "another flow";
}

/// One flow of one slot whose class others tell.
class TalkedAbout {
 public:
  void packets(std::initializer_list<std::uint32_t> sizes, bool starts) {
    for (const std::uint32_t size : sizes) {
      const RowUpdate update{.slot = 0,
                             .starts_flow = std::exchange(starts, false),
                             .counts = CountWord::narrow(size, 14, 0),
                             .time_ns = 1,
                             .place = {}};
      rows.update({&update, 1});
    }
  }
  /// The next job, with its verdict.
  ClassJob job() {
    const auto waiting = ring().jobs.readable(1);
    if (waiting.empty()) return {.slot = ~0u, .id = 0, .sizes = {}};
    const ClassJob job = waiting[0];
    ring().jobs.release(1);
    return job;
  }
  void verdict(ClassJob job, ClassId id) {
    job.id = id;
    *ring().verdicts.stage() = job;
    ring().verdicts.flush();
    rows.take_classes();
  }
  ClassId id() const { return rows.set()->class_of(rows.statistics(0).data()); }
  ClassJobRing& ring() { return *jobs.rings()[0]; }

  ClassJobs jobs{1};
  FlowRows rows{
      std::make_shared<const StatisticSet>(*make_statistics(
          Names{"class"}, {.classifier = std::make_shared<BySum>(4), .classes_told_by = ToldBy::other_threads})),
      1,
      {.jobs = &jobs}};
};

TEST(ClassJobs, HaveTheFirstSizesAndTheirVerdictIsTheClass) {
  TalkedAbout flow;
  flow.packets({40, 50, 60}, true);
  EXPECT_EQ(flow.job().slot, ~0u) << "three packets are too few";
  flow.packets({70, 80}, false);
  const ClassJob job = flow.job();
  EXPECT_EQ(job.slot, 0u);
  EXPECT_THAT(std::span(job.sizes).first(4), ElementsAre(40, 50, 60, 70));
  EXPECT_EQ(flow.id(), 220) << "who asks before the verdict is told by the sizes";
  flow.verdict(job, 7);
  EXPECT_EQ(flow.id(), 7);
  EXPECT_EQ(flow.job().slot, ~0u) << "one job a flow";
}

TEST(ClassJobs, OfAFlowThatIsGoneSayNothingOfTheNextInItsSlot) {
  TalkedAbout flow;
  flow.packets({40, 50, 60, 70}, true);
  const ClassJob old = flow.job();
  flow.packets({40, 50, 60}, true);
  flow.verdict(old, 7);
  EXPECT_EQ(flow.id(), kNotClassified);
  flow.packets({71}, false);
  flow.verdict(old, 7);
  EXPECT_EQ(flow.id(), 221);
  EXPECT_EQ(flow.jobs.counts().told, 0u);
}

TEST(ClassJobs, WithoutRoomAreTriedAgainWithTheNextPacketAndTheFirstSizes) {
  TalkedAbout flow;
  for (std::size_t i = 0; i < ClassJobRing::kJobs; ++i) flow.packets({1, 2, 3, 4}, true);
  EXPECT_FALSE(flow.rows.class_jobs_wait());
  flow.packets({40, 50, 60, 70}, true);
  EXPECT_TRUE(flow.rows.class_jobs_wait());
  flow.packets({80, 90}, false);
  EXPECT_EQ(flow.jobs.counts().refused, 3u);
  EXPECT_EQ(flow.id(), 220);
  flow.job();
  flow.packets({100}, false);
  EXPECT_FALSE(flow.rows.class_jobs_wait());
  ClassJob last = flow.job();
  for (ClassJob next = last; next.slot == 0; next = flow.job()) last = next;
  EXPECT_THAT(std::span(last.sizes).first(4), ElementsAre(40, 50, 60, 70));
}

TEST(ClassJobs, OfAFlowThatEndsWhileItWaitsAreGivenUp) {
  TalkedAbout flow;
  for (std::size_t i = 0; i <= ClassJobRing::kJobs; ++i) flow.packets({40, 50, 60, 70}, true);
  EXPECT_TRUE(flow.rows.class_jobs_wait());
  flow.rows.flow_ended(0);
  EXPECT_FALSE(flow.rows.class_jobs_wait());
  flow.rows.flow_ended(0);
  EXPECT_FALSE(flow.rows.class_jobs_wait());
  EXPECT_EQ(flow.id(), 220);
  flow.packets({80}, false);
  EXPECT_TRUE(flow.rows.class_jobs_wait()) << "it went on in another record";
}

/// Flows with classes by ports in slot 0, told one packet at a time.
struct FlowWithPort {
  FlowWithPort(std::uint16_t src_port, std::uint16_t dst_port, ToldBy told_by, ClassJobs* jobs = nullptr)
      : rows(std::make_shared<const StatisticSet>(*make_statistics(
                 Names{"class_basis"}, {.classifier = std::make_shared<BySumOrPort>(), .classes_told_by = told_by})),
             1, {.jobs = jobs}) {
    key.protocol = 17;
    key.src_port_bytes = {static_cast<std::uint8_t>(src_port >> 8), static_cast<std::uint8_t>(src_port)};
    key.dst_port_bytes = {static_cast<std::uint8_t>(dst_port >> 8), static_cast<std::uint8_t>(dst_port)};
  }
  void packet(std::uint64_t size, bool starts, bool is_split = false, bool is_late = false) {
    const RowUpdate update{.slot = 0,
                           .starts_flow = starts,
                           .is_split = is_split,
                           .is_late = is_late,
                           .counts = CountWord::narrow(size, 14, 0),
                           .time_ns = 1,
                           .place = {}};
    const auto key_of = [this](std::uint32_t) { return key; };
    const FlowKeys keys(key_of);
    rows.update({&update, 1}, nullptr, nullptr, &keys);
  }
  /// The class, and what it was told from.
  std::pair<ClassId, std::string> told() const {
    std::array<std::optional<double>, 2> values;
    rows.set()->read(rows.statistics(0).data(), values);
    EXPECT_EQ(values[0].has_value(), values[1].has_value());
    if (!values[1]) return {kNotClassified, ""};
    const ToldClass told = rows.told_class(0);
    EXPECT_EQ(rows.set()->columns()[0].name, "class_basis");
    EXPECT_EQ(told.id, static_cast<ClassId>(*values[1]));
    return {told.id, rows.set()->columns()[0].values[static_cast<std::size_t>(*values[0])]};
  }

  FlowKey key{};
  FlowRows rows;
};

TEST(FlowClass, IsThatOfThePortUntilThereAreEnoughPackets) {
  FlowWithPort flow(53, 40'000, ToldBy::worker), other(80, 40'000, ToldBy::worker);
  for (int i = 0; i < 3; ++i) {
    flow.packet(100, i == 0), other.packet(100, i == 0);
    EXPECT_EQ(flow.told(), std::pair(BySumOrPort::kDns, std::string("port")));
    EXPECT_EQ(other.told(), std::pair(kNotClassified, std::string()));
    EXPECT_EQ(flow.rows.class_of(0), kNotClassified) << "which is by sizes alone";
  }
  flow.packet(200, false), other.packet(200, false);
  EXPECT_EQ(flow.told(), std::pair(ClassId{500}, std::string("sizes")));
  EXPECT_EQ(other.told(), std::pair(ClassId{500}, std::string("sizes")));
  flow.packet(200, /*starts=*/true, /*is_split=*/true);
  EXPECT_EQ(flow.told(), std::pair(ClassId{500}, std::string("sizes"))) << "it goes on in another record";
}

TEST(FlowClass, OfThePortIsNotThatOfAFlowThatMayHaveBegunUnseen) {
  FlowWithPort flow(53, 40'000, ToldBy::worker);
  flow.packet(100, /*starts=*/true, /*is_split=*/false, /*is_late=*/true);
  EXPECT_EQ(flow.told(), std::pair(kNotClassified, std::string()));
}

TEST(FlowClass, OfThePortIsReplacedByWhatOtherThreadsTell) {
  ClassJobs jobs(1);
  FlowWithPort flow(40'000, 53, ToldBy::other_threads, &jobs);
  for (int i = 0; i < 3; ++i) flow.packet(100, i == 0);
  EXPECT_EQ(flow.told(), std::pair(BySumOrPort::kDns, std::string("port")));
  EXPECT_EQ(jobs.counts().sent, 0U);
  flow.packet(200, false);
  EXPECT_EQ(jobs.counts().sent, 1U);
  EXPECT_EQ(flow.told(), std::pair(ClassId{500}, std::string("sizes"))) << "before the verdict";
}

TEST(FlowRows, KnowNoFirstPacketsOfFlowsThatWereThereBefore) {
  SplitFlow old({"class", "ip_size_1", "size_mean"}), late({"class", "ip_size_1", "size_mean"});
  late.packet(40, /*starts=*/true, /*is_split=*/false, /*is_late=*/true);
  for (int i = 0; i < 6; ++i) old.packet(40), late.packet(40);
  for (const SplitFlow* const flow : {&old, &late})
    EXPECT_THAT(flow->values(), ElementsAre(std::nullopt, std::nullopt, 54));
}

}  // namespace
}  // namespace parshall
