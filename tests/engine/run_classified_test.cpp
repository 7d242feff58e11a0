// SPDX-License-Identifier: Apache-2.0
// FlowStage::run_classified(): each packet of a batch is told the class that its flow has once the batch was counted.
#include <gtest/gtest.h>

#include <unordered_map>

#include "../thorough.hpp"
#include "engine/tables.hpp"
#include "pipeline/flow/hashes/registry.hpp"
#include "traffic.hpp"

namespace parshall {
namespace {

using namespace testing;

/// By the sum of the first two sizes; one in five is unknown.
class BySum final : public Classifier {
 public:
  std::size_t packets() const noexcept override { return 2; }
  std::span<const std::string> classes() const noexcept override { return classes_; }
  void classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept override {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto sum = static_cast<unsigned>(sizes[2 * i] + sizes[2 * i + 1]);
      ids[i] = sum % 5 == 4 ? kUnknownClass : static_cast<ClassId>(sum % 5);
    }
  }

 private:
  std::vector<std::string> classes_{"0", "1", "2", "3"};
};

struct ClassifiedCase {
  std::string table = "bucketed";
  Identity identity = Identity::exact;
  std::size_t capacity = 1 << 14;
  Timeouts timeouts = {};
  const HashFunction* hash = nullptr;
  std::optional<BpfFilter> filter = std::nullopt;
  IpHeader header = IpHeader::outermost;
  std::uint32_t flood_filter_bytes = 0;
  std::size_t batch = 256;
};

/// Flow stage, front end, and what is known of the flows after each batch.
class Marked {
 public:
  explicit Marked(const ClassifiedCase& c)
      : identity_(KeyFields::five_tuple, c.identity, 1, c.hash),
        front_(c.header, identity_, {}, c.filter),
        statistics_(std::make_shared<const StatisticSet>(
            *make_statistics(std::vector<std::string>{"class"}, {.classifier = std::make_shared<BySum>()}))),
        stage_((*find_table(c.table, c.identity))
                   ->make({.flows = c.capacity,
                           .timeouts = c.timeouts,
                           .statistics = {statistics_, 1},
                           .flood_filter_bytes = c.flood_filter_bytes,
                           .classified_batch = c.batch})) {}

  std::vector<ClassId> run(std::span<const RawPacket> batch) {
    std::vector<ClassId> classes(batch.size(), 99);
    stage_->run_classified(front_, batch, classes);
    return classes;
  }

  struct Live {
    std::uint64_t first_ns;
    ClassId id;
  };
  using LiveFlows = std::unordered_map<std::string, Live>;
  LiveFlows live() const {
    LiveFlows flows;
    stage_->visit([&](const FlowRecord& record, std::span<const std::byte> row) {
      flows[text_of(record.key)] = {record.first_ns, statistics_->class_of(row.data())};
    });
    return flows;
  }

  FlowStage& stage() { return *stage_; }
  void take_ended() {
    stage_->ended().drain([](std::span<const std::byte>) {});
  }

 private:
  FlowIdentity identity_;
  FrontEnd front_;
  std::shared_ptr<const StatisticSet> statistics_;
  std::unique_ptr<FlowStage> stage_;
};

struct Seen {
  std::uint64_t classified = 0, unknown = 0, none = 0, began_again = 0, kept_out = 0;
};

/// Flows of the traffic come in the order of Traffic::sent(), which knows nothing of other packets.
Seen check(ClassifiedCase c, const Traffic& traffic) {
  Marked marked(c);
  const std::vector<RawPacket>& packets = traffic.packets();
  Seen seen;
  std::size_t sent = 0;
  for (std::size_t at = 0; at < packets.size(); at += c.batch) {
    const std::span batch = std::span(packets).subspan(at, std::min(c.batch, packets.size() - at));
    const std::vector<ClassId> classes = marked.run(batch);
    const auto live = marked.live();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const bool is_ip = sent < traffic.sent().size() && traffic.sent()[sent].time_ns == batch[i].time_ns;
      const std::string flow = is_ip ? traffic.sent()[sent++].flow : "";
      const bool filtered = c.filter && !c.filter->matches(batch[i]);
      const auto found = is_ip && !filtered ? live.find(flow) : live.end();
      const ClassId expected = found != live.end() ? found->second.id : kNotClassified;
      // A packet of an earlier record of its flow has the flow's class only where that lives in the same place.
      if (found != live.end() && found->second.first_ns > batch[i].time_ns && classes[i] == kNotClassified) {
        ++seen.began_again;
        continue;
      }
      EXPECT_EQ(classes[i], expected) << "packet " << at + i;
      if (classes[i] != expected) return seen;
      ++(classes[i] == kNotClassified ? seen.none : classes[i] == kUnknownClass ? seen.unknown : seen.classified);
    }
    marked.take_ended();
    marked.stage().housekeep({});
  }
  seen.kept_out = marked.stage().counts()[Counter::kept_out_packets];
  return seen;
}

void expect_all_kinds(const Seen& seen) {
  EXPECT_GT(seen.classified, 1000u);
  EXPECT_GT(seen.unknown, 100u);
  EXPECT_GT(seen.none, 100u);
}

TEST(RunClassified, TellsEachPacketTheClassOfItsFlowAndNoneThatHasNoFlow) {
  const auto traffic = make_traffic({.packets = thorough() ? 20'000u : 6000u, .flows = 500});
  for (const std::size_t batch : {1, 7, 8, 31, 256, 300, 4096})
    expect_all_kinds(check({.capacity = 1024, .batch = batch}, *traffic));
}

TEST(RunClassified, PacketsWithoutAFlowMayStandAnywhereInAGroup) {
  auto traffic = std::make_shared<Traffic>();
  std::uint64_t time_ns = kStartNs;
  for (unsigned pattern = 0; pattern < 256; ++pattern)
    for (unsigned i = 0; i < 8; ++i) {
      ++time_ns;
      if ((pattern >> i & 1) != 0)
        traffic->add_ip(pattern % 5 + i, time_ns, pattern);
      else if (i % 2 == 0)
        traffic->add_arp(time_ns);
      else
        traffic->add_malformed(time_ns);
    }
  const Seen seen = check({.batch = 64}, *traffic);
  EXPECT_GT(seen.classified, 500u);
  EXPECT_GT(seen.none, 1000u);
}

TEST(RunClassified, HoldsOnEveryPathOfTheFrontEnd) {
  const auto traffic = make_traffic({.packets = 10'000, .flows = 300});
  const auto filter = BpfFilter::compile("ip6 or udp[0] & 1 = 1");
  ASSERT_TRUE(filter);
  expect_all_kinds(check({.filter = *filter}, *traffic));
  expect_all_kinds(check({.header = IpHeader::innermost}, *traffic));
  for (const HashFunction& hash : hash_registry())
    if (hash.name == "crc32c") expect_all_kinds(check({.hash = &hash}, *traffic));
}

TEST(RunClassified, AFlowThatTookTheSlotOfAnotherDoesNotLendItItsClass) {
  const auto traffic = make_traffic({.packets = 60'000, .flows = 3000, .zipf_exponent = 1.0});
  std::uint64_t began_again = 0;
  for (const TableEntry& table : table_registry()) {
    if (!table.exact) continue;
    SCOPED_TRACE(table.name);
    const Seen seen = check({.table = std::string(table.name), .capacity = 600, .batch = 512}, *traffic);
    expect_all_kinds(seen);
    began_again += seen.began_again;
  }
  EXPECT_GT(began_again, 100u);
}

TEST(RunClassified, OfFlowsThatTheFloodFilterKeepsOutThereIsNoClass) {
  // Most packets begin a flow, a few are of flows that go on.
  auto traffic = std::make_shared<Traffic>();
  std::uint64_t time_ns = kStartNs;
  for (unsigned i = 0; i < 200'000; ++i) {
    traffic->add_ip(1000 + i, time_ns += 200, 10);
    if (i % 10 == 0) traffic->add_ip(i / 10 % 100, time_ns += 200, i % 90);
  }
  const Seen seen = check({.flood_filter_bytes = 200, .batch = 4096}, *traffic);
  EXPECT_GT(seen.none, 10'000u);
  EXPECT_GT(seen.classified, 1000u);
  EXPECT_GT(seen.kept_out, 1000u);
}

TEST(RunClassified, FlowsKeepTheirClassesWhenOtherStatisticsAreAskedFor) {
  const auto traffic = make_traffic({.packets = 4000, .flows = 50, .others = false});
  const auto classifier = std::make_shared<BySum>();
  Marked marked({.batch = 2000});
  const std::span packets = traffic->packets();
  marked.run(packets.first(2000));
  const auto before = marked.live();
  auto others = make_statistics(std::vector<std::string>{"gap_mean", "class", "iat_p99"}, {.classifier = classifier});
  ASSERT_TRUE(others);
  marked.stage().request_statistics({std::make_shared<const StatisticSet>(*std::move(others)), 2});
  marked.stage().housekeep({});
  const auto classes = marked.run(packets.subspan(2000, 2000));
  for (std::size_t i = 0; i < classes.size(); ++i)
    ASSERT_EQ(classes[i], before.at(traffic->sent()[2000 + i].flow).id) << "packet " << i;
}

TEST(RunClassified, WithoutAModelOrOnceItsColumnIsGonePacketsAreCountedAndHaveNoClass) {
  const auto traffic = make_traffic({.packets = 2000, .flows = 50});
  Marked marked({.batch = 1000});
  const std::span packets = traffic->packets();
  const auto before = marked.run(packets.first(1000));
  EXPECT_TRUE(std::ranges::any_of(before, [](ClassId id) { return id != kNotClassified; }));
  marked.stage().request_statistics({nullptr, 2});
  marked.stage().housekeep({});
  const auto after = marked.run(packets.subspan(1000, 1000));
  EXPECT_TRUE(std::ranges::all_of(after, [](ClassId id) { return id == kNotClassified; }));
  EXPECT_EQ(marked.stage().counts()[Counter::arrived] + traffic->not_ip() + traffic->malformed(), 2000u);
}

}  // namespace
}  // namespace parshall
