// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "lab/classify/class_model.hpp"
#include "lab/classify/report.hpp"
#include "lab/cores/scheduling.hpp"
#include "traffic/frame.hpp"

namespace parshall::lab {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kClasses = 5, kFirst = 4;

/// Tells a class by all sizes and their order.
class ByAllSizes final : public Classifier {
 public:
  std::size_t packets() const noexcept override { return kFirst; }
  std::span<const std::string> classes() const noexcept override { return names_; }
  void classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept override {
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = class_of(sizes.subspan(i * kFirst, kFirst));
  }
  static ClassId class_of(std::span<const std::uint16_t> sizes) noexcept {
    std::uint32_t sum = 0;
    for (const std::uint16_t size : sizes) sum = sum * 31 + size;
    return static_cast<ClassId>(sum % kClasses);
  }

 private:
  std::vector<std::string> names_{"a", "b", "c", "d", "e"};
};

/// Some packets, once; it waits for its reader.
class ListSource final : public PacketSource {
 public:
  explicit ListSource(std::span<const RawPacket> packets) : packets_(packets) {}
  std::size_t poll(std::span<RawPacket> out) noexcept override {
    const std::size_t count = std::min(out.size(), packets_.size() - at_);
    std::copy_n(packets_.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }
  bool exhausted() const noexcept override { return at_ == packets_.size(); }

 private:
  std::span<const RawPacket> packets_;
  std::size_t at_ = 0;
};

/// Flows of 1 to 8 packets, many at once, of sizes of their own.
class Flows {
 public:
  Flows(std::uint32_t first, std::uint32_t flows) {
    std::vector<std::vector<std::uint16_t>> sizes(flows);
    std::vector<std::pair<std::uint32_t, std::uint16_t>> order;
    for (std::uint32_t at = 0; at < flows; at += kTogether)
      for (std::uint32_t packet = 0; packet < 8; ++packet)
        for (std::uint32_t i = at; i < std::min(at + kTogether, flows); ++i)
          if (packet < 1 + (first + i) % 8) {
            const auto size = static_cast<std::uint16_t>(46 + ((first + i) * 131 + packet * 977) % 1400);
            order.emplace_back(first + i, size);
            sizes[i].push_back(size);
          }
    for (const auto& one : sizes)
      if (one.size() >= kFirst) ++of_class_[ByAllSizes::class_of(std::span(one).first(kFirst))];
    frames_.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::uint8_t* const bytes = frames_[i].data();
      write_ethernet(bytes, kEtherIpv4);
      std::uint8_t* const ip = bytes + kEthernetBytes;
      ip[0] = 0x45;
      put16(ip + 2, order[i].second);
      ip[9] = 6;
      put16(ip + 12, order[i].first >> 16);
      put16(ip + 14, order[i].first & 0xFFFF);
      ip[20 + 12] = 5 << 4;
      packets_.push_back({.data = bytes,
                          .time_ns = 1'000'000'000 + i * 100,
                          .captured_bytes = 64,
                          .wire_bytes = order[i].second + 14u});
    }
  }

  std::unique_ptr<PacketSource> source() const { return std::make_unique<ListSource>(packets_); }
  std::size_t packets() const { return packets_.size(); }
  const std::map<ClassId, std::uint64_t>& of_class() const { return of_class_; }

 private:
  static constexpr std::uint32_t kTogether = 100;

  std::vector<std::array<std::uint8_t, 64>> frames_;
  std::vector<RawPacket> packets_;
  std::map<ClassId, std::uint64_t> of_class_;
};

CrewOptions options_of(std::string_view shape) {
  return {.shape = &*std::ranges::find(classify_shapes(), shape, &ClassifyShape::name),
          .cores = usable_cores(),
          .table = *find_table("bucketed", Identity::exact),
          .flows = 1 << 17,
          .timeouts = {},
          .classifier = std::make_shared<ByAllSizes>(),
          .ring_packets = 1024,
          .ring_jobs = 1 << 16};
}

constexpr auto kLong = std::chrono::minutes(5);

TEST(ClassifyCrew, CountsEachPacketOnceAndTellsEachClassInEveryShape) {
  for (const ClassifyShape& shape : classify_shapes())
    for (const Placement placement : {Placement::chain, Placement::any}) {
      SCOPED_TRACE(std::string(shape.name));
      CrewOptions options = options_of(shape.name);
      options.placement = placement;
      std::vector<Flows> flows;
      std::vector<std::unique_ptr<PacketSource>> queues;
      for (std::size_t queue = 0; queue < shape.all_queues(); ++queue)
        flows.emplace_back(static_cast<std::uint32_t>(queue) << 20, 40'000);
      for (const Flows& of_queue : flows) queues.push_back(of_queue.source());
      const auto run = ClassifyCrew(options, std::move(queues)).run(kLong);
      ASSERT_TRUE(run) << run.error().message;
      ASSERT_EQ(run->chains.size(), shape.chains);
      for (std::size_t chain = 0; chain < shape.chains; ++chain) {
        std::uint64_t packets = 0, classified = 0;
        std::map<ClassId, std::uint64_t> expected;
        for (std::size_t queue = 0; queue < flows.size(); ++queue) {
          if (shape.chain_of(queue) != chain) continue;
          packets += flows[queue].packets();
          for (const auto& [id, count] : flows[queue].of_class()) expected[id] += count, classified += count;
        }
        const ChainRun& of_chain = run->chains[chain];
        EXPECT_EQ(of_chain.accounting[Counter::polled], packets);
        EXPECT_EQ(of_chain.accounting[Counter::arrived], packets);
        EXPECT_EQ(of_chain.accounting[Counter::live_flow_packets], packets) << "no flow has ended";
        EXPECT_EQ(of_chain.accounting.lost(), 0u);
        EXPECT_EQ(of_chain.classified, classified);
        EXPECT_LE(of_chain.told, classified);
        if (!shape.inlined) {
          EXPECT_EQ(of_chain.jobs.sent, classified) << "there is room for all";
          EXPECT_LE(of_chain.told, of_chain.jobs.sent);
        }
        for (const auto& [id, count] : expected) EXPECT_EQ(of_chain.classes[id][ClassCounter::flows], count) << id;
      }
      const std::size_t threads = run->cpu_ns[0].size() + run->cpu_ns[1].size() + run->cpu_ns[2].size();
      EXPECT_EQ(threads, shape.threads());
    }
}

/// Makes the packets that each queue of a shape is sent by itself, far faster than it can be taken.
std::vector<std::unique_ptr<PacketSource>> flood(ClassifyTraffic& traffic, const ClassifyShape& shape) {
  std::vector<std::unique_ptr<PacketSource>> queues;
  for (std::size_t interface = 0; interface < shape.interfaces; ++interface)
    for (std::size_t queue = 0; queue < shape.queues; ++queue)
      queues.push_back(traffic.source({interface, queue, shape.queues}, 1, 4096));
  return queues;
}

TEST(ClassifyCrew, SaysWherePacketsThatWereLostGotLost) {
  auto traffic = ClassifyTraffic::of_trains("flows=1,dist=trains:5", {.mpps = 300});
  ASSERT_TRUE(traffic);
  for (const ClassifyShape& shape : classify_shapes()) {
    SCOPED_TRACE(std::string(shape.name));
    CrewOptions options = options_of(shape.name);
    options.flows = 1 << 8;  // flows end for want of room, and by time
    options.timeouts.idle_ns = 1'000'000;
    const auto run = ClassifyCrew(options, flood(*traffic, shape)).run(std::chrono::milliseconds(150));
    ASSERT_TRUE(run) << run.error().message;
    for (const ChainRun& chain : run->chains) {
      const Accounting& all = chain.accounting;
      EXPECT_GT(all.device_lost(), 0u);
      EXPECT_EQ(shape.inlined, all[Counter::ring_full] == 0);
      EXPECT_GT(all[Counter::ended_records], 0u);
      EXPECT_EQ(all[Counter::polled], all[Counter::ring_full] + all[Counter::arrived]);
      EXPECT_GT(chain.classified, 0u);
      EXPECT_LE(chain.classified_packets, all[Counter::arrived]);
    }
    const std::uint64_t offered = run->sum([](const ChainRun& chain) { return chain.accounting.offered(); });
    const double share =
        static_cast<double>(offered) / run->sniffing_s / (300e6 * static_cast<double>(shape.interfaces));
    EXPECT_LT(share, 1.01) << "none is in the account that did not come";
    EXPECT_GT(share, 0.3)
        << "but for those after a thread's last look (a machine shared with others may take its core just then), "
           "all that came are: what is taken alone is a tenth";
    double cpu_ns = 0;
    for (const auto& module : run->cpu_ns) cpu_ns = std::accumulate(module.begin(), module.end(), cpu_ns);
    EXPECT_LE(cpu_ns, 1.1e9 * run->seconds * static_cast<double>(std::min(shape.threads(), usable_cores().size())));
  }
}

TEST(ClassifyTraffic, QueuesAndInterfacesPlayFlowsOfTheirOwn) {
  auto traffic = ClassifyTraffic::of_trains("flows=1,dist=trains:5", {.mpps = 100});
  ASSERT_TRUE(traffic);
  EXPECT_FALSE(ClassifyTraffic::of_trains("flows=10", {.mpps = 1})) << "flows that go on";
  std::map<std::string, std::size_t> packets;
  for (const std::size_t interface : {0, 1})
    for (const std::size_t queue : {0, 1}) {
      std::uint64_t now_ns = 0;
      const auto source = traffic->source({interface, queue, 2}, 1, 4096, [&] { return now_ns += 10'000; });
      std::array<RawPacket, 256> batch;
      for (std::size_t done = 0; done < 10'000;) {
        const std::size_t count = source->poll({batch.data(), std::min(batch.size(), 10'000 - done)});
        for (const RawPacket& packet : std::span(batch).first(count))
          ++packets[std::string(reinterpret_cast<const char*>(packet.data + 26), 12)];
        done += count;
      }
    }
  EXPECT_GE(packets.size(), 4 * 2000u);
  for (const auto& [flow, count] : packets) ASSERT_LE(count, 5u) << "none is played twice";
}

TEST(ClassifyTraffic, ALineTakesWhatItHasBitsFor) {
  auto traffic = ClassifyTraffic::of_trains("flows=100,dist=trains:49,size=748", {.gbps = 10});
  ASSERT_TRUE(traffic);
  EXPECT_NEAR(traffic->mpps(), 1.6276, 1e-4) << "744 bytes and 24";
  traffic->cap_frames(64);
  EXPECT_NEAR(traffic->mpps(), 14.2045, 1e-4) << "the paper's 14.2";
  EXPECT_DOUBLE_EQ(traffic->gbps(), 10);
  EXPECT_GT(traffic->source_ns(), 0);
}

ClassifySweep sweep_of(double mpps) {
  auto traffic = ClassifyTraffic::of_trains("flows=1,dist=trains:5", {.mpps = mpps});
  EXPECT_TRUE(traffic);
  return {.shapes = {&classify_shapes()[0], &classify_shapes()[1]},
          .placements = {Placement::any},
          .traffic = std::make_shared<ClassifyTraffic>(*std::move(traffic)),
          .seconds = 0.05,
          .flows = 1 << 14,
          .table = *find_table("bucketed", Identity::exact),
          .model = "by sizes",
          .classifier = std::make_shared<ByAllSizes>(),
          .rounds = 2};
}

std::vector<ClassifyRow> classify_rows(const ClassifySweep& sweep) {
  std::vector<ClassifyRow> rows;
  const auto parts = measure_classifying(
      sweep, [&](std::span<const ClassifyRow> part) { rows.assign(part.begin(), part.end()); }, [] { return false; });
  EXPECT_TRUE(parts) << parts.error().message;
  EXPECT_EQ(*parts, sweep.caps.size());
  return rows;
}

TEST(MeasureClassifying, FindsTheLoadThatIsTakenWithoutLoss) {
  ClassifySweep sweep = sweep_of(0.001);
  sweep.find_rate = true;
  for (const ClassifyRow& row : classify_rows(sweep)) {
    EXPECT_DOUBLE_EQ(row.lossless_mpps.median, 0.001) << "a load that is taken is not exceeded";
    EXPECT_EQ(row.lost_share.median, 0);
  }
  sweep.traffic = sweep_of(0.1).traffic;
  for (const ClassifyRow& row : classify_rows(sweep))
    EXPECT_GT(row.told_share, 0.5) << "by threads that have all the time they want";
  sweep.traffic = sweep_of(400).traffic;
  for (const ClassifyRow& row : classify_rows(sweep)) EXPECT_LT(row.lossless_mpps.median, 200);
}

TEST(MeasureClassifying, HasARowForEachShapeAndACellForEachColumn) {
  const ClassifySweep sweep = sweep_of(500);
  const auto rows = classify_rows(sweep);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(name_of(rows[0]), "1I-1Q-1P, any");
  for (const ClassifyRow& row : rows) {
    EXPECT_EQ(row.samples, 2u);
    EXPECT_GT(row.lost_share.median, 0.5);
    EXPECT_GE(row.offered_mpps.median, row.sniffed_mpps.median);
    EXPECT_GT(row.classified_kfps.median, 0);
    EXPECT_GT(row.memory_bytes, 0u);
    EXPECT_NEAR(row.cpu_share_of_all.median,
                row.cpu_share[0].median + row.cpu_share[1].median + row.cpu_share[2].median, 0.5);
  }
  const Part part = classify_part(sweep, rows, 5);
  for (const auto& cells : part.rows) EXPECT_EQ(cells.size(), classify_columns().size());
}

TEST(MeasureClassifying, SaysHowSureItIsOfWhatIsCompared) {
  const ClassifySweep sweep = sweep_of(500);
  auto rows = classify_rows(sweep);
  ClassifyRow& row = rows[0];
  row.offered_mpps = {12, 11, 13};
  row.sniffed_mpps = {22, 21, 23};
  row.handled_mpps = {32, 31, 33};
  row.classified_mpps = {42, 41, 43};
  row.cpu_ns = {Estimate{52, 51, 53}, Estimate{62, 61, 63}, Estimate{72, 71, 73}};
  row.cpu_ns_of_all = {82, 81, 83};
  const Part part = classify_part(sweep, rows, 5);
  const auto columns = classify_columns();
  const auto value = [&](const std::string& key) {
    const auto column = std::ranges::find(columns, key, &Column::name);
    return std::get<double>(part.rows[0][static_cast<std::size_t>(column - columns.begin())]);
  };
  double told = 12;
  for (const std::string key : {"offered_mpps", "sniffed_mpps", "handled_mpps", "classified_mpps", "sniffing_ns",
                                "handling_ns", "classifying_ns", "cpu_ns"}) {
    EXPECT_EQ(value(key), told) << key;
    EXPECT_EQ(value("low_" + key), told - 1) << key;
    EXPECT_EQ(value("high_" + key), told + 1) << key;
    told += 10;
  }
}

TEST(MeasureClassifying, RefusesMoreMemoryThanThereIs) {
  ClassifySweep sweep = sweep_of(1);
  sweep.flows = std::size_t{1} << 28;
  const auto measured = measure_classifying(
      sweep, [](auto) {}, [] { return false; });
  ASSERT_FALSE(measured);
  EXPECT_THAT(measured.error().message, HasSubstr("give fewer with --flows"));
}

TEST(MeasureClassifying, StopsBetweenRuns) {
  int asked = 0;
  const auto measured = measure_classifying(
      sweep_of(1), [](auto) { ADD_FAILURE() << "nothing was done"; }, [&] { return ++asked > 1; });
  ASSERT_TRUE(measured);
  EXPECT_EQ(*measured, 0u);
}

}  // namespace
}  // namespace parshall::lab
