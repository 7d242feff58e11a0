// SPDX-License-Identifier: Apache-2.0
#include "pipeline/flow_monitor.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "pipeline/flow/bucketed_table.hpp"

namespace parshall {
namespace {

/// Refuses this process more than `bytes` of further address space for as long as it lives.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(rlim_t bytes) {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    ::getrlimit(RLIMIT_AS, &before_);
    const rlimit limit{pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  ~AddressSpaceLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;

 private:
  rlimit before_{};
};

void admit(Monitor& monitor, const FlowIdentity& identity, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t i = from; i < to; ++i) {
    PacketFacts facts;
    facts.key = {};
    facts.key.ip_version = 4;
    facts.key.protocol = 17;
    facts.key.address[0] = static_cast<std::uint8_t>(i % 10);
    facts.time_ns = i;
    facts.counts = CountWord::narrow(46, 14, 0);
    facts.hash = identity.hash(facts.key);
    monitor.admit({&facts, 1}, {&i, 1});
  }
}

TEST(FlowMonitor, ASnapshotThatFindsNoMemoryForItsRowsStillHasTheCounters) {
  const FlowIdentity identity(KeyFields::five_tuple, Identity::exact, 1);
  FlowMonitor<ExactTable> monitor({.flows = 1 << 18});
  auto statistics = make_statistics(std::vector<std::string>{"gap_p99", "iat_p99", "size_p99"}, {});
  ASSERT_TRUE(statistics);
  monitor.request_statistics({std::make_shared<const StatisticSet>(*std::move(statistics)), 1});
  monitor.housekeep();
  admit(monitor, identity, 0, 100);
  ASSERT_NE(monitor.statistics().set, nullptr);

  monitor.request_snapshot(1);
  {
    const AddressSpaceLimit limit(rlim_t{64} << 20);
    while (monitor.housekeep()) {
    }
    admit(monitor, identity, 100, 200);
  }
  while (monitor.snapshot_ready() == nullptr) monitor.housekeep();
  const Snapshot& snapshot = *monitor.snapshot_ready();
  EXPECT_EQ(snapshot.statistics.set, nullptr) << "the limit did not bite";
  EXPECT_EQ(snapshot.counts.live_flows, 10u);
  EXPECT_EQ(snapshot.counts.live_packets, snapshot.counts.counted);
  monitor.drain();
  EXPECT_EQ(monitor.counts().live_packets, 200u);
}

}  // namespace
}  // namespace parshall
