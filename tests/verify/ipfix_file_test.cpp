// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>
#include <vector>

#include "pipeline/output/records/column.hpp"
#include "verify/exported_file.hpp"

namespace parshall {
namespace {

using ::testing::HasSubstr;
using Octets = std::vector<std::uint8_t>;

void put(Octets& to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = bytes; i-- > 0;) to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

Octets operator+(Octets a, const Octets& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Octets set(std::uint16_t id, const Octets& content) {
  Octets whole;
  put(whole, id, 2);
  put(whole, content.size() + 4, 2);
  return whole + content;
}

Octets message(std::uint32_t sequence, const Octets& sets) {
  Octets whole;
  put(whole, 10, 2);
  put(whole, sets.size() + 16, 2);
  put(whole, 0, 4);
  put(whole, sequence, 4);
  put(whole, 1, 4);
  return whole + sets;
}

/// Template 256: packetDeltaCount of 8 bytes.
Octets flow_template() { return set(2, {1, 0, 0, 1, 0, 2, 0, 8}); }
Octets flows(std::initializer_list<std::uint64_t> packets) {
  Octets records;
  for (const std::uint64_t each : packets) put(records, each, 8);
  return set(256, records);
}

/// Template 257, of options: the account, of 7 elements, of which four are private.
Octets account_template() {
  Octets record;
  for (const int each : {257, 7, 1, 149, 4, 42, 8, 167, 8}) put(record, static_cast<std::uint64_t>(each), 2);
  for (const auto& [element, bytes] : {std::pair(54, 8), std::pair(59, 8), std::pair(60, 1), std::pair(58, 1)}) {
    put(record, static_cast<std::uint64_t>(0x8000 | element), 2);
    put(record, static_cast<std::uint64_t>(bytes), 2);
    put(record, kOwnPen, 4);
  }
  return set(3, record);
}
Octets account(std::uint64_t records, std::uint64_t not_sent, std::uint64_t counted) {
  Octets record;
  put(record, 1, 4);
  put(record, records, 8);
  put(record, not_sent, 8);
  put(record, counted, 8);
  put(record, counted, 8);
  put(record, 1, 1);
  put(record, 1, 1);
  return set(257, record);
}

TEST(IpfixFile, RecordsAreAddedUpAndTheAccountIsFound) {
  const ExportedFile read = read_ipfix(message(0, flow_template() + flows({3, 4})) +
                                       message(2, flows({5}) + account_template() + account(3, 7, 19)));
  EXPECT_EQ(read.problem, "");
  EXPECT_EQ(read.records, 3u);
  EXPECT_EQ(read.packets, 12u);
  ASSERT_TRUE(read.account);
  EXPECT_EQ(read.account->records_written, 3u);
  EXPECT_EQ(read.account->packets_written, 12u);
  EXPECT_EQ(read.account->packets_not_sent, 7u);
  EXPECT_EQ(read.account->counted_in_flows, 19u);
  EXPECT_TRUE(read.account->balanced);
}

TEST(IpfixFile, WhatIsMissingOrBrokenIsSaid) {
  const Octets good = message(0, flow_template() + flows({3, 4}));
  EXPECT_EQ(read_ipfix(good).problem, "");
  for (std::size_t length = 1; length < good.size(); ++length)
    EXPECT_THAT(read_ipfix(Bytes(good).first(length)).problem, HasSubstr("truncated")) << length;
  EXPECT_THAT(read_ipfix(good + message(3, flows({1}))).problem, HasSubstr("data records are missing"));
  EXPECT_THAT(read_ipfix(message(0, flows({1}))).problem, HasSubstr("precede their template"));
  EXPECT_THAT(read_ipfix(message(0, set(2, {1, 0, 0, 9, 0, 2}))).problem, HasSubstr("a template is broken"));
  EXPECT_THAT(read_ipfix(message(0, {1, 0, 0, 3})).problem, HasSubstr("a set is broken"));
  EXPECT_THAT(read_ipfix(message(0, set(2, {1, 0, 0, 2, 0, 2, 0, 0, 0, 1, 0, 1}))).problem,
              HasSubstr("a field of length 0"));
  EXPECT_THAT(read_ipfix(message(0, {1, 0, 0, 200})).problem, HasSubstr("a message is broken"));
}

TEST(IpfixFile, NoDamageStopsTheReader) {
  const Octets good =
      message(0, flow_template() + flows({3, 4})) + message(2, flows({5}) + account_template() + account(3, 7, 19));
  for (std::size_t at = 0; at < good.size(); ++at)
    for (unsigned value = 0; value < 256; ++value) {
      Octets damaged = good;
      damaged[at] = static_cast<std::uint8_t>(value);
      read_ipfix(damaged);
    }
}

}  // namespace
}  // namespace parshall
