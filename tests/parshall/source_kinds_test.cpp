// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "parshall/sources/source_kind.hpp"

namespace parshall {
namespace {

/// One plan for each way to name a source.
const SourcePlan kPlans[] = {
    {.file = "a.pcap"},
    {.file = "-"},
    {.interface = "eth0"},
    {.interface = "eth0,eth1"},
    {.interface = "any"},
    {.interface = "eth0", .via = "af_xdp"},
    {.interface = "eth0", .forward = "eth1"},
    {.interface = "0000:03:00.0"},
    {.interface = "03:00.0", .via = "af_xdp"},
    {.interface = "vdev:net_pcap0,rx_pcap=a.pcap"},
    {.interface = "vdev:"},
    {.traffic = "flows=10"},
    {.traffic = "nonsense"},
};

TEST(SourceKinds, ExactlyOneMatchesWhateverNamesASource) {
  std::set<const SourceKind*> seen;
  for (const SourcePlan& plan : kPlans) {
    const auto matches = [&](const SourceKind* kind) { return kind->matches(plan); };
    EXPECT_EQ(std::ranges::count_if(source_kinds(), matches), 1) << plan.file << plan.interface << plan.traffic;
    EXPECT_FALSE(kind_of(plan).name_in(plan).empty());
    EXPECT_TRUE(names_source(plan));
    seen.insert(&kind_of(plan));
  }
  EXPECT_EQ(seen.size(), source_kinds().size()) << "a kind that no plan here names";
  EXPECT_FALSE(names_source({}));
  EXPECT_FALSE(kind_of({}).is_link);
}

TEST(SourceKinds, HaveAllThatEveryKindNeeds) {
  for (const SourceKind* const kind : source_kinds()) {
    EXPECT_FALSE(kind->option.empty());
    EXPECT_NE(kind->name, nullptr) << kind->option;
    EXPECT_NE(kind->open, nullptr) << kind->option;
    EXPECT_FALSE(kind->is_link && kind->is_capture) << kind->option;
  }
}

TEST(SourceKinds, OnlyALinkAndTrafficAtAPaceDoNotWait) {
  const auto waits = [](const SourcePlan& plan) { return kind_of(plan).can_wait(plan); };
  EXPECT_TRUE(waits({.file = "a.pcap"}));
  EXPECT_TRUE(waits({.traffic = "flows=10"}));
  EXPECT_FALSE(waits({.traffic = "flows=10,pace=1000"}));
  for (const SourcePlan& plan : kPlans)
    if (kind_of(plan).is_link) {
      EXPECT_FALSE(waits(plan)) << plan.interface;
    }
}

TEST(SourceKinds, OnlyThoseOfDpdkKeepPrivilegesUntilTheyAreOpen) {
  for (const SourcePlan& plan : kPlans) {
    const SourceNeeds needs = needs_of(plan);
    EXPECT_NE(kind_of(plan).is_held_wholly, needs.has_driver) << plan.interface;
    EXPECT_EQ(kind_of(plan).has_nic_hashes, needs.has_driver) << plan.interface;
  }
}

TEST(SourceKinds, SayWhatADriverNeeds) {
  EXPECT_TRUE(needs_of({.interface = "eth0", .via = "af_xdp"}).uses_xdp);
  EXPECT_TRUE(needs_of({.interface = "vdev:net_af_xdp0,iface=eth0"}).uses_xdp);
  EXPECT_FALSE(needs_of({.interface = "03:00.0", .via = "af_xdp"}).uses_xdp);
  EXPECT_TRUE(needs_of({.interface = "03:00.0"}).is_on_pci);
  EXPECT_TRUE(needs_of({.interface = "eth0", .forward = "0000:03:00.0"}).is_on_pci);
  EXPECT_FALSE(needs_of({.interface = "eth0"}).is_on_pci);
  const SourceNeeds memif = needs_of({.interface = "vdev:net_memif0,socket=/run/a.sock"});
  EXPECT_TRUE(memif.abstract_sockets);
  EXPECT_EQ(memif.binds, std::vector<std::string>{"/run/a.sock"});
  const SourceNeeds files = needs_of({.interface = "vdev:net_pcap0,rx_pcap=a.pcap,tx_pcap=b.pcap", .eal = "--x=/c"});
  EXPECT_EQ(files.reads, std::vector<std::string>{"a.pcap"});
  EXPECT_EQ(files.writes, (std::vector<std::string>{"b.pcap", "/c"}));
}

TEST(SourceKinds, ACaptureMayHaveAllLinkTypesThatAreDecoded) {
  const auto types = kind_of({.file = "a.pcap"}).link_types({});
  for (const LinkType type : {LinkType::null, LinkType::ethernet, LinkType::erf, LinkType::linux_sll2})
    EXPECT_NE(std::ranges::find(types, type), types.end()) << static_cast<int>(type);
  EXPECT_EQ(std::ranges::find(types, LinkType{147}), types.end());
}

}  // namespace
}  // namespace parshall
