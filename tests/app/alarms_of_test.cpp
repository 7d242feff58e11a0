// SPDX-License-Identifier: Apache-2.0
#include "app/alarms_of.hpp"

#include <gtest/gtest.h>

#include "pipeline/flow/both_ways.hpp"
#include "reports.hpp"

namespace parshall::cli {
namespace {

using live::Opened;

/// Event about this part of a flow from 10.0.0.1:4096 to 192.0.2.1:443, by TCP.
Event event_about(const std::string& part) {
  const auto parsed = std::make_shared<const KeyPart>(*KeyPart::parse(part));
  return {
      .task = "made", .window = {}, .part = parsed, .key = parsed->of(live::flow(1, 1).key), .values = {}, .error = {}};
}

Opened group(std::string_view by, const FlowKey& flow, std::size_t which = 0) {
  const Grouping* const grouping = find_grouping(by);
  std::array<GroupOfFlow, 2> found;
  grouping->find(flow, {}, found);
  return {.by = grouping, .key = found[which].group};
}

FlowKey from_nowhere() {
  FlowKey key = live::flow(1, 1).key;
  std::fill_n(key.address.begin(), 4, std::uint8_t{0});
  key.src_port_bytes = {0, 0};
  return key;
}

constexpr std::optional<bool> kYes = true, kNo = false, kUnknown = std::nullopt;

TEST(AlarmsOf, AHostIsOneOfTheAddressesThatTheKeyHas) {
  const FlowKey one = live::flow(1, 1).key, two = live::flow(2, 1).key;
  for (const char* const part : {"src", "src-dst", "5tuple", "src-dst-port"}) {
    EXPECT_EQ(belongs_to(event_about(part), group("host", one)), kYes) << part;
    EXPECT_EQ(belongs_to(event_about(part), group("host", two)), kNo) << part;
    EXPECT_EQ(belongs_to(event_about(part), group("host", from_nowhere())), kNo) << part;
  }
  EXPECT_EQ(belongs_to(event_about("dst"), group("host", one)), kNo);
  EXPECT_EQ(belongs_to(event_about("dst"), group("host", one, 1)), kYes);
  EXPECT_EQ(belongs_to(event_about("src/24"), group("host", one)), kUnknown);
  EXPECT_EQ(belongs_to(event_about("dst-port"), group("host", one)), kUnknown);
}

TEST(AlarmsOf, APrefixNeedsAsManyBits) {
  const FlowKey one = live::flow(1, 1).key, same = live::flow(9, 1).key, other = live::flow(256, 1).key;
  for (const char* const part : {"src", "src/24"}) {
    EXPECT_EQ(belongs_to(event_about(part), group("prefix", same)), kYes) << part;
    EXPECT_EQ(belongs_to(event_about(part), group("prefix", other)), kNo) << part;
  }
  EXPECT_EQ(belongs_to(event_about("src/16"), group("prefix", one)), kUnknown);
}

TEST(AlarmsOf, AServiceIsAPortWithItsProtocol) {
  const FlowKey https = live::flow(1, 1).key, quic = live::flow(1, 1, 17).key;
  for (const char* const part : {"dst-port", "5tuple"}) {
    EXPECT_EQ(belongs_to(event_about(part), group("service", https)), kYes) << part;
    EXPECT_EQ(belongs_to(event_about(part), group("service", quic)), kNo) << part;
  }
  for (const char* const part : {"src", "src-port"})
    EXPECT_EQ(belongs_to(event_about(part), group("service", https)), kUnknown) << part;
  Event dns = event_about("5tuple");
  dns.key.src_port_bytes = {0, 53};
  EXPECT_EQ(belongs_to(dns, group("service", https)), kNo) << "its service is the lower port";
  EXPECT_EQ(belongs_to(event_about("protocol"), group("protocol", https)), kYes);
  EXPECT_EQ(belongs_to(event_about("protocol"), group("protocol", quic)), kNo);
}

TEST(AlarmsOf, AConversationIsToldByBothAddresses) {
  const FlowKey one = live::flow(1, 1).key, two = live::flow(2, 1).key;
  EXPECT_EQ(belongs_to(event_about("5tuple"), group("conversation", one)), kYes);
  EXPECT_EQ(belongs_to(event_about("5tuple"), group("conversation", two)), kNo);
  for (const char* const part : {"src-dst", "src-dst-port"}) {
    EXPECT_EQ(belongs_to(event_about(part), group("conversation", one)), kYes) << part;
    EXPECT_EQ(belongs_to(event_about(part), group("conversation", opposite(one))), kYes) << part;
    EXPECT_EQ(belongs_to(event_about(part), group("conversation", two)), kNo) << part;
  }
  EXPECT_EQ(belongs_to(event_about("src"), group("conversation", one)), kUnknown);
  EXPECT_EQ(belongs_to(event_about("src"), group("conversation", two)), kNo);
}

TEST(AlarmsOf, Ipv6IsComparedInFull) {
  FlowKey six;
  six.ip_version = 6;
  six.protocol = 6;
  for (std::size_t i = 0; i < six.address.size(); ++i) six.address[i] = static_cast<std::uint8_t>(i);
  FlowKey near = six;
  near.address[15] ^= 1;
  const auto about = [&](const std::string& part) {
    Event event = event_about(part);
    event.key = event.part->of(six);
    return event;
  };
  EXPECT_EQ(belongs_to(about("src"), group("host", six)), kYes);
  EXPECT_EQ(belongs_to(about("src"), group("host", near)), kNo);
  EXPECT_EQ(belongs_to(about("src"), group("prefix", near)), kYes);
  EXPECT_EQ(belongs_to(about("src"), group("host", live::flow(1, 1).key)), kNo);
  EXPECT_EQ(belongs_to(about("src/24"), group("host", six)), kUnknown);
  EXPECT_EQ(belongs_to(about("src/24"), group("prefix", near)), kYes) << "48 bits";
  EXPECT_EQ(belongs_to(about("src-dst"), group("conversation", near)), kNo);
}

TEST(AlarmsOf, OfSeveralGroupsThoseCountThatTheKeyTells) {
  const FlowKey one = live::flow(1, 1).key, quic = live::flow(1, 1, 17).key;
  const Opened host = group("host", one), service = group("service", one), protocol = group("protocol", quic);
  const Opened vlan{.by = find_grouping("vlan"), .key = group_of_value(Value::of_unsigned(5))};
  EXPECT_TRUE(belongs_to(event_about("src"), {vlan, host, service}));
  EXPECT_FALSE(belongs_to(event_about("5tuple"), {host, service, protocol}));
  EXPECT_FALSE(belongs_to(event_about("src"), std::vector<Opened>{vlan}));
  EXPECT_FALSE(belongs_to(Event{}, std::vector<Opened>{host})) << "about all traffic";
}

}  // namespace
}  // namespace parshall::cli
