// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/schema.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "pipeline/decode/application/libcrypto.hpp"
#include "pipeline/flow/both_ways.hpp"
#include "pipeline/output/json/flow_json.hpp"
#include "pipeline/output/put_value.hpp"
#include "pipeline/output/records/community_id.hpp"
#include "pipeline/output/records/statistic_element.hpp"

namespace parshall {
namespace {

using Names = std::vector<std::string>;

FlowRecord record() {
  FlowRecord flow;
  flow.key.ip_version = 4;
  flow.key.protocol = 6;
  flow.key.src_port_bytes = {0x30, 0x39};
  flow.key.dst_port_bytes = {0, 80};
  flow.key.address = {192, 0, 2, 1, 198, 51, 100, 7};
  flow.packets = 3;
  flow.ip_bytes = 120;
  flow.wire_bytes = 180;
  flow.first_ns = 1'600'000'000'000'000'000;
  flow.last_ns = flow.first_ns + 1'500'000'000;
  flow.tcp_flags = 0x12;
  flow.end_reason = EndReason::lack_of_resources;
  return flow;
}

std::string written_value(const ColumnInfo& column, const Value& value) {
  std::string text(longest_value(column), '#');
  text.resize(static_cast<std::size_t>(put_value(text.data(), column, value) - text.data()));
  return text;
}

std::vector<Value> row_of(const Schema& schema, const FlowRecord& flow, const IntervalBase& base = {}) {
  std::vector<Value> values(schema.columns().size());
  schema.read(flow, {}, base, values);
  return values;
}

/// But for the community id, which takes OpenSSL.
Schema all_of_the_counters() {
  Names names;
  for (const ColumnEntry& entry : counter_columns())
    if (entry.type != kCommunityId) names.emplace_back(entry.name);
  return *Schema::make(names, {});
}

class NoInspector final : public Inspector {
 public:
  std::span<const std::string> classes() const noexcept override { return {}; }
  std::unique_ptr<Inspection> begin() override { return nullptr; }
};

TEST(Schema, NoTwoColumnsHaveOneName) {
  std::set<std::string> names;
  for (const ColumnInfo& column : list_columns()) EXPECT_TRUE(names.insert(column.name).second) << column.name;
  EXPECT_GT(names.size(), 50u);
}

TEST(Schema, EveryColumnThatCanBeAskedForIsListedAsItIs) {
  Names names{"first_sizes", "first_times", "first_flags"};
  for (const ColumnEntry& entry : counter_columns())
    if (entry.type != kCommunityId || !crypto_problem()) names.emplace_back(entry.name);
  for (const IdentityColumn& column : identity_columns())
    if (column.name != "ja4" || !crypto_problem()) names.emplace_back(column.name);
  for (const char* const variable : {"gap", "iat", "size", "ip_size"})
    for (const char* const what : {"last", "min", "max", "mean", "sd", "skewness", "kurtosis", "p50", "p99"})
      names.push_back(std::string(variable) + "_" + what);
  StatisticOptions options{.biflows = true};
  options.labeller = std::make_shared<Labeller>(std::make_unique<NoInspector>(), 1);
  const auto schema = Schema::make(names, options);
  ASSERT_TRUE(schema) << schema.error().message;
  const auto listed = list_columns();
  for (const ColumnInfo& column : schema->columns()) {
    std::string pattern = column.name;
    if (const auto digit = pattern.find_first_of("0123456789"); digit != pattern.npos) {
      const auto end = std::min(pattern.find('_', digit), pattern.size());
      pattern.replace(digit, end - digit, pattern[digit - 1] == 'p' ? "<percentile>" : "<1-16>");
    }
    const auto found = std::ranges::find_if(
        listed, [&](const ColumnInfo& info) { return info.name == column.name || info.name == pattern; });
    ASSERT_NE(found, listed.end()) << column.name;
    EXPECT_EQ(type_text(found->type), type_text(column.type)) << column.name;
    EXPECT_EQ(found->unit, column.unit) << column.name;
    EXPECT_EQ(found->nullable, column.nullable) << column.name;
    if (!column.unit.empty() && column.unit.find('/') == column.unit.npos && column.role == ColumnRole::asked) {
      EXPECT_NE(("_" + column.name).find("_" + column.unit), column.name.npos) << column.name;
    }
  }
}

TEST(Schema, NamesAndOrderOfWhatEveryRecordBeginsWithStay) {
  const Schema schema;
  std::string names;
  for (const ColumnInfo& column : schema.columns()) names += column.name + ",";
  EXPECT_EQ(names,
            "ip_version,protocol,src_ip,src_port,dst_ip,dst_port,packets,ip_bytes,wire_bytes,first_seen_ns,"
            "last_seen_ns,");
}

std::string names_of(std::span<const ColumnInfo> columns) {
  std::string names;
  for (const ColumnInfo& column : columns) names += std::string(names.empty() ? "" : ",") + column.name;
  return names;
}

TEST(Schema, AWholeListHasItsColumnsAloneInItsOrder) {
  const auto schema =
      Schema::make(Names{"wire_bytes", "rate_pps", "src_ip", "size_max", "wire_bytes"}, {}, ColumnList::whole);
  ASSERT_TRUE(schema) << schema.error().message;
  EXPECT_EQ(names_of(schema->columns()), "wire_bytes,rate_pps,src_ip,size_max_bytes");
  EXPECT_EQ(columns_of_record(schema->columns()), 0);
  const auto values = row_of(*schema, record());
  EXPECT_EQ(values[0].as_unsigned(), record().wire_bytes);
  EXPECT_TRUE(values[1].present());
  EXPECT_EQ(values[2].type(), ValueType::address);
  EXPECT_FALSE(values[3].present()) << "without a row";
  const auto with_default = Schema::make(Names{"record", "default"}, {}, ColumnList::whole);
  EXPECT_EQ(names_of(with_default->columns()), "record," + names_of(Schema().columns()));
  EXPECT_EQ(names_of(Schema::make(Names{"packets", "record"}, {})->columns()),
            names_of(Schema().columns()) + ",record");
}

TEST(Schema, FieldsThatAreNotInTheKeyAreAbsent) {
  const std::pair<KeyFields, std::string> kept[] = {
      {KeyFields::five_tuple, "ip_version,protocol,src_ip,src_port,dst_ip,dst_port"},
      {KeyFields::src_dst, "ip_version,src_ip,dst_ip"},
      {KeyFields::src, "ip_version,src_ip"},
      {KeyFields::dst, "ip_version,dst_ip"}};
  for (const auto& [key, wanted] : kept) {
    Schema schema;
    schema.set_key(key);
    const auto values = row_of(schema, record());
    std::string present;
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(values[i].present(), !schema.columns()[i].nullable);
      if (values[i].present()) present += (present.empty() ? "" : ",") + schema.columns()[i].name;
    }
    EXPECT_EQ(present, wanted);
    EXPECT_EQ(values[6].as_unsigned(), record().packets);
    EXPECT_EQ(columns_of_record(schema.columns()), key == KeyFields::five_tuple ? kBaseColumns : 0);
  }
}

TEST(Schema, FormsAreOfTimesAndOfIntegersThatFiftyThreeBitsMayNotHold) {
  Schema schema = *Schema::make(Names{"size_max", "duration", "flow_first_seen"}, {});
  schema.set_forms(TextForm::iso_time, TextForm::quoted_number);
  std::string quoted, iso;
  for (const ColumnInfo& column : schema.columns()) {
    if (column.form == TextForm::quoted_number) quoted += column.name + " ";
    if (column.form == TextForm::iso_time) iso += std::string(column.text_name()) + " ";
  }
  EXPECT_EQ(quoted, "packets ip_bytes wire_bytes duration_ns ");
  EXPECT_EQ(iso, "first_seen last_seen flow_first_seen ");
}

TEST(Schema, EveryElementOfIanasIsAColumnsOwn) {
  std::set<std::pair<std::uint32_t, std::uint16_t>> elements;
  for (const ColumnInfo& column : list_columns()) {
    if (column.ipfix.element == 0) continue;
    EXPECT_TRUE(elements.insert({column.ipfix.pen, column.ipfix.element}).second) << column.name;
    if (column.ipfix.other != 0) {
      EXPECT_TRUE(elements.insert({column.ipfix.pen, column.ipfix.other}).second) << column.name;
    }
    const bool has_two = column.type.value == ValueType::address || column.type.value == ValueType::time ||
                         column.name == "icmp_type_code";
    EXPECT_EQ(column.ipfix.other != 0, column.ipfix.pen == 0 && has_two) << column.name;
  }
  EXPECT_TRUE(elements.contains({0, 2}) && elements.contains({0, 27}) && elements.contains({kOwnPen, 12}));
}

TEST(Schema, AValueHasTheTypeOfItsColumnAndIsThereWhereItAlwaysIs) {
  const Schema schema = all_of_the_counters();
  FlowRecord live = record();
  live.end_reason = EndReason::none;
  live.last_ns = live.first_ns;
  const auto full = row_of(schema, record(), {.packets = 1, .wire_bytes = 60, .first_ns = 0, .interval_s = 1});
  const auto bare = row_of(schema, live);
  for (std::size_t i = 0; i < full.size(); ++i) {
    const ColumnInfo& column = schema.columns()[i];
    ASSERT_TRUE(full[i].present()) << column.name;
    EXPECT_EQ(full[i].type(), column.type.value) << column.name;
    EXPECT_EQ(bare[i].present(), !column.nullable) << column.name;
  }
}

TEST(Schema, StatisticsTellWholeNumbersWhereTheyCountAndAreAbsentWithoutARow) {
  const auto schema = Schema::make(Names{"size_max", "size_mean", "ip_size_1", "tcp_flags_1"}, {});
  ASSERT_TRUE(schema);
  const StatisticSet& set = *schema->statistics();
  alignas(8) std::array<std::byte, 256> row{};
  ASSERT_LE(set.row_bytes(), row.size());
  for (const auto& placed : set.statistics()) {
    std::byte* const at = row.data() + placed.offset;
    placed.statistic->begin(at);
    constexpr std::uint64_t kSamples[] = {60, 61};
    for (const std::uint64_t& sample : kSamples) placed.statistic->update({{&at, 1}, 0, {&sample, 1}});
  }
  std::vector<Value> values(schema->columns().size());
  schema->read(record(), row, {}, values);
  const auto asked = std::span(values).subspan(kBaseColumns);
  EXPECT_EQ(asked[0], Value::of_unsigned(61));
  EXPECT_EQ(asked[1], Value::of_real(60.5));
  EXPECT_EQ(asked[2], Value::of_unsigned(60));
  EXPECT_EQ(asked[3], Value::of_flags(60));
  schema->read(record(), {}, {}, values);
  for (const Value& value : asked) EXPECT_FALSE(value.present());
}

TEST(Schema, AnEnumerationNamesAllItsValues) {
  const Schema schema = all_of_the_counters();
  std::size_t enumerations = 0;
  for (std::size_t i = 0; i < schema.columns().size(); ++i) {
    const ColumnInfo& column = schema.columns()[i];
    EXPECT_EQ(column.values.empty(), column.type.value != ValueType::enumeration) << column.name;
    if (column.name != "end_reason") continue;
    ++enumerations;
    for (auto reason = 1; reason <= static_cast<int>(EndReason::lack_of_resources); ++reason) {
      FlowRecord flow = record();
      flow.end_reason = static_cast<EndReason>(reason);
      const Value value = row_of(schema, flow)[i];
      ASSERT_LT(value.as_unsigned(), column.values.size());
      EXPECT_EQ(column.name_of(value), kEndReasonNames[reason]);
      EXPECT_FALSE(column.name_of(value).empty());
    }
  }
  EXPECT_EQ(enumerations, 1u);
}

TEST(Schema, ARowIsWrittenAsItsTypesSay) {
  const Schema schema = all_of_the_counters();
  const auto values = row_of(schema, record(), {.packets = 1, .wire_bytes = 60, .first_ns = 0, .interval_s = 2});
  std::string csv;
  for (std::size_t i = 0; i < values.size(); ++i) csv += written_value(schema.columns()[i], values[i]) + ",";
  EXPECT_EQ(csv,
            "4,6,192.0.2.1,12345,198.51.100.7,80,3,120,180,1600000000000000000,1600000001500000000,1500000000,2,960,1,"
            "480,18,evicted,");
  const FlowJson json(schema.columns());
  std::string text(json.longest(), '#');
  const FlowRecord flow = record();
  text.resize(static_cast<std::size_t>(json.put(text.data(), {flow, values}) - text.data()));
  EXPECT_EQ(
      text,
      R"({"ip_version":4,"protocol":6,"src_ip":"192.0.2.1","src_port":12345,"dst_ip":"198.51.100.7","dst_port":80,)"
      R"("packets":3,"ip_bytes":120,"wire_bytes":180,"first_seen_ns":1600000000000000000,)"
      R"("last_seen_ns":1600000001500000000,"duration_ns":1500000000,"rate_pps":2,"rate_bps":960,)"
      R"("interval_rate_pps":1,"interval_rate_bps":480,"tcp_flags":18,"end_reason":"evicted"})");
}

/// Of a flow that began at the time of `flow` less 5 s, in its third record.
std::vector<Value> identity_of(const Schema& schema, const FlowRecord& flow, bool known = true) {
  std::vector<std::byte> row(schema.statistics()->row_bytes());
  if (known && !row.empty()) {
    std::byte* const state = schema.statistics()->origin_state(row.data());
    FlowOrigin::begin_at(state, flow.first_ns - 5'000'000'000);
    FlowRecord ended{.key = {}, .packets = 10, .ip_bytes = 400, .wire_bytes = 600};
    ended.first_ns = flow.first_ns - 5'000'000'001;  // a late packet
    FlowOrigin::go_on(state, ended);
    ended.first_ns = flow.first_ns - 3'000'000'000;
    FlowOrigin::go_on(state, ended);
  }
  std::vector<Value> values(schema.columns().size());
  schema.read(flow, row, {}, values);
  return {values.begin() + kBaseColumns, values.end()};
}

TEST(Schema, ARecordTellsWhichOfItsFlowItIsAndWhatItMayLack) {
  const Names names{"flow_id", "record", "flow_first_seen", "exact", "missed_packets_at_most", "totals"};
  const auto schema = Schema::make(names, {.seed = 1});
  ASSERT_TRUE(schema) << schema.error().message;
  const auto values = identity_of(*schema, record());
  EXPECT_EQ(values[5], Value::of_unsigned(2 * 10 + record().packets));
  EXPECT_EQ(values[6], Value::of_unsigned(2 * 400 + record().ip_bytes));
  EXPECT_EQ(values[7], Value::of_unsigned(2 * 600 + record().wire_bytes));
  EXPECT_EQ(values[1], Value::of_unsigned(2));
  EXPECT_EQ(values[2], Value::of_time(record().first_ns - 5'000'000'001));
  EXPECT_EQ(values[3], Value::of_bool(true));
  EXPECT_EQ(values[4], Value::of_unsigned(0));
  EXPECT_EQ(written_value(schema->asked()[3], values[3]), "true");
  EXPECT_EQ(written_value(schema->asked()[3], Value::of_bool(false)), "false");
  EXPECT_EQ(type_text(schema->asked()[3].type), "bool");
  const auto unknown = identity_of(*schema, record(), /*known=*/false);
  for (const std::size_t column : {0u, 1u, 2u}) EXPECT_FALSE(unknown[column].present());
  EXPECT_TRUE(unknown[3].present());
}

TEST(Schema, AFlowsNameIsOfItsKeyItsBeginningAndTheSeed) {
  const auto schema = Schema::make(Names{"flow_id"}, {.seed = 1}),
             other_seed = Schema::make(Names{"flow_id"}, {.seed = 2});
  const auto name_of = [](const Schema& by, const FlowRecord& flow) { return identity_of(by, flow)[0].as_unsigned(); };
  std::set<std::uint64_t> names{name_of(*schema, record()), name_of(*other_seed, record())};
  FlowRecord more = record();
  more.packets = 1000, more.last_ns += 7, more.end_reason = EndReason::none;
  EXPECT_EQ(name_of(*schema, more), name_of(*schema, record())) << "what comes later does not change it";
  FlowRecord later = record();
  ++later.first_ns;
  names.insert(name_of(*schema, later));
  for (std::size_t byte = 0; byte < 8; ++byte) {
    FlowRecord another = record();
    another.key.address[byte] ^= 1;
    names.insert(name_of(*schema, another));
  }
  FlowRecord ipv6 = record();
  ipv6.key.ip_version = 6;
  names.insert(name_of(*schema, ipv6));
  for (std::size_t byte = 8; byte < 32; ++byte) {
    FlowRecord another = ipv6;
    another.key.address[byte] ^= 1;
    names.insert(name_of(*schema, another));
  }
  EXPECT_EQ(names.size(), 2u + 1 + 8 + 1 + 24);
}

TEST(Schema, AKeyHasTheSameNameInAllItsFlowsAndBothDirectionsButForABit) {
  const auto schema = Schema::make(Names{"flow_key"}, {.seed = 1}),
             other_seed = Schema::make(Names{"flow_key"}, {.seed = 2});
  const auto name_of = [](const Schema& by, const FlowRecord& flow) { return identity_of(by, flow)[0].as_unsigned(); };
  const std::uint64_t name = name_of(*schema, record());
  FlowRecord later = record();
  ++later.first_ns;
  EXPECT_EQ(name_of(*schema, later), name);
  std::set<std::uint64_t> names{name, name_of(*other_seed, record())};
  for (const std::uint8_t version : {std::uint8_t{4}, std::uint8_t{6}})
    for (std::size_t byte = 0; byte < (version == 4 ? 8u : 32u); ++byte) {
      FlowRecord another = record();
      another.key.ip_version = version;
      another.key.address[byte] ^= 1;
      const std::uint64_t its_name = name_of(*schema, another);
      names.insert(its_name);
      another.key = opposite(another.key);
      EXPECT_EQ(name_of(*schema, another), its_name ^ 1);
    }
  EXPECT_EQ(names.size(), 2u + 8 + 32);
}

TEST(Schema, ADigestIsThatOfTheRow) {
  const auto schema = Schema::make(Names{"digest"}, {.seed = 1});
  ASSERT_TRUE(schema) << schema.error().message;
  ASSERT_EQ(schema->asked().size(), 11u);
  std::vector<std::byte> row(schema->statistics()->row_bytes());
  const auto read = [&] {
    std::vector<Value> values(schema->columns().size());
    schema->read(record(), row, {}, values);
    return std::vector<Value>(values.begin() + kBaseColumns + 1, values.end());
  };
  for (const Value& value : read()) EXPECT_FALSE(value.present());
  Digest::State state{.names = ~std::uint64_t{0},
                      .cut_names = (1ull << 63) + 3,
                      .times_ns = ~std::uint64_t{1},
                      .cut_times_ns = 7,
                      .cut_name = (1ull << 63) + 1,
                      .cut_time_ns = 5};
  for (const bool is_repeat : {false, false, true}) state.counts.add(is_repeat);
  for (const bool is_repeat : {false, true, true, true}) state.cut_counts.add(is_repeat);
  std::byte* const at = row.data() + (schema->statistics()->digest_state(row.data()) - row.data());
  std::memcpy(at, &state, sizeof state);
  const auto values = read();
  EXPECT_EQ(values[0], Value::of_unsigned(3));
  EXPECT_EQ(values[1], Value::of_unsigned(1));
  EXPECT_EQ(values[2], Value::of_unsigned(state.names));
  EXPECT_EQ(values[3], Value::of_unsigned(state.times_ns));
  EXPECT_EQ(values[4], Value::of_unsigned(state.cut_name));
  EXPECT_EQ(values[5], Value::of_time(state.cut_time_ns));
  EXPECT_EQ(values[6], Value::of_unsigned(4));
  EXPECT_EQ(values[7], Value::of_unsigned(3));
  EXPECT_EQ(values[8], Value::of_unsigned(state.cut_names));
  EXPECT_EQ(values[9], Value::of_unsigned(state.cut_times_ns));
}

TEST(Schema, WhatIsOpenAtTheEndOfADamagedCaptureIsNotExact) {
  const auto schema = Schema::make(Names{"exact", "missed_packets_at_most"}, {});
  schema->losses()->note_damage();
  FlowRecord flow = record();
  EXPECT_EQ(identity_of(*schema, flow)[0], Value::of_bool(true)) << "it ended before";
  for (const EndReason reason : {EndReason::none, EndReason::forced_end}) {
    flow.end_reason = reason;
    EXPECT_EQ(identity_of(*schema, flow)[0], Value::of_bool(false));
    EXPECT_FALSE(identity_of(*schema, flow)[1].present());
  }
}

TEST(Schema, NoValueIsLongerThanItsColumnAllows) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const ColumnInfo number{.name = "n", .type = kUint64}, sign{.name = "s", .type = kInt64},
      real{.name = "r", .type = kFloat64}, address{.name = "a", .type = kAddress},
      word{.name = "w", .type = kEnum8, .values = {"", std::string(500, 'x')}};
  EXPECT_EQ(written_value(number, Value::of_unsigned(kMost)), "18446744073709551615");
  EXPECT_EQ(written_value(sign, Value::of_signed(std::numeric_limits<std::int64_t>::min())), "-9223372036854775808");
  EXPECT_EQ(written_value(sign, Value::of_signed(-7)), "-7");
  EXPECT_EQ(written_value(real, Value::of_real(-1.23456789012345e-300)), "-1.23456789012345e-300");
  EXPECT_EQ(written_value(word, Value::of_enumeration(1)), std::string(500, 'x'));
  std::array<std::uint8_t, 16> all;
  all.fill(0xff);
  EXPECT_EQ(written_value(address, Value::of_address(all)), "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
}

TEST(Value, AnAddressIsMappedIntoSixteenBytes) {
  const std::array<std::uint8_t, 4> four{192, 0, 2, 1};
  const Value value = Value::of_address(four);
  EXPECT_EQ(value.ip_version(), 4);
  EXPECT_TRUE(std::ranges::equal(value.as_address(), four));
  const std::array<std::uint8_t, 16> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1};
  EXPECT_TRUE(std::ranges::equal(value.mapped_address(), mapped));
  const Value six = Value::of_address(mapped);
  EXPECT_EQ(six.ip_version(), 6);
  EXPECT_TRUE(std::ranges::equal(six.as_address(), mapped));
  EXPECT_NE(six, value);
}

TEST(Value, OrderIsThatOfTheTypeWithAbsentValuesFirst) {
  EXPECT_LT(Value(), Value::of_unsigned(0));
  EXPECT_LT(Value(), Value::of_real(-1e300));
  EXPECT_LT(Value::of_signed(-1), Value::of_signed(0));
  EXPECT_LT(Value::of_unsigned(1ull << 63), Value::of_unsigned((1ull << 63) + 1)) << "a double has them equal";
  EXPECT_LT(Value::of_real(-2), Value::of_real(0.5));
  const std::array<std::uint8_t, 4> low{10, 0, 0, 2}, high{9, 0, 0, 10};
  EXPECT_LT(Value::of_address(high), Value::of_address(low));
}

/// All columns that a name of list_columns() stands for.
Names columns_of(const std::string& name) {
  const std::size_t at = name.find('<');
  if (at == name.npos) return {name};
  const auto with = [&](const std::string& what) {
    return name.substr(0, at) + what + name.substr(name.find('>') + 1);
  };
  Names all;
  const bool is_sample = name.find("<1-16>") != name.npos;
  for (int i = 1; is_sample && i <= 16; ++i) all.push_back(with(std::to_string(i)));
  for (int tenth = 1; !is_sample && tenth < 1000; ++tenth)
    all.push_back(with(std::to_string(tenth / 10) + (tenth % 10 == 0 ? "" : "." + std::to_string(tenth % 10))));
  for (int hundredth = 1; !is_sample && hundredth < 100; ++hundredth)
    if (hundredth % 10 != 0)
      all.push_back(with("99." + std::string(hundredth < 10 ? "0" : "") + std::to_string(hundredth)));
  return all;
}

TEST(InformationElements, EveryColumnHasOneThatNoOtherHas) {
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::string> known;
  for (const ColumnInfo& column : list_columns()) {
    for (const std::string& name : columns_of(column.name)) {
      const IpfixElement element = name == column.name ? column.ipfix : statistic_element(name);
      EXPECT_NE(element.element, 0) << name;
      EXPECT_LT(element.element, 0x8000) << name;
      const auto& other = known.try_emplace({element.pen, element.element}, name).first->second;
      EXPECT_EQ(other, name) << element.pen << "/" << element.element;
    }
  }
  EXPECT_GT(known.size(), 6'000u);
}

TEST(InformationElements, EveryDirectionHasItsOwn) {
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::string> known;
  for (const ColumnInfo& column : list_columns()) known[{column.ipfix.pen, column.ipfix.element}] = column.name;
  for (const StatisticListing& statistic : list_statistics({}))
    for (const std::string& plain : columns_of(statistic.column))
      for (const std::string& name : {"reverse_" + plain, "both_" + plain}) {
        const IpfixElement element = statistic_element(name);
        EXPECT_NE(element.element, 0) << name;
        EXPECT_LT(element.element, 0x8000) << name;
        const auto& other = known.try_emplace({element.pen, element.element}, name).first->second;
        EXPECT_EQ(other, name) << element.pen << "/" << element.element;
      }
  EXPECT_GT(known.size(), 12'000u);
  EXPECT_EQ(statistic_element("reverse_ttl_max"), (IpfixElement{kReversePen, 53})) << "RFC 5103";
  EXPECT_EQ(statistic_element("reverse_icmp_type_code"), (IpfixElement{kReversePen, 32, 139}));
  EXPECT_EQ(statistic_element("both_ttl_max"), (IpfixElement{kOwnPen, 25553}));
  EXPECT_EQ(statistic_element("reverse_iat_mean_ns"), (IpfixElement{kOwnPen, 17010}));
  EXPECT_EQ(statistic_element("both_rtt_p99.99_ns"), (IpfixElement{kOwnPen, 32599}));
  EXPECT_EQ(statistic_element("both_iat_p99.999_ns"), IpfixElement());
}

TEST(Schema, StatisticsOfOtherDirectionsNeedBiflowsAndSayWhatTheyAreOf) {
  for (const char* const name : {"reverse_iat_mean", "both_size_p99", "reverse_packets"}) {
    const auto refused = Schema::make(Names{name}, {});
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().message, fmt::format("{} is of biflows: give --biflow", name));
  }
  const auto schema =
      Schema::make(Names{"both_first_sizes_2", "reverse_iat_max", "iat_max", "reverse_iat_max_ns"}, {.biflows = true});
  ASSERT_TRUE(schema) << schema.error().message;
  ASSERT_EQ(schema->asked().size(), 4u);
  const std::array<std::string, 4> names{"both_ip_size_1_bytes", "both_ip_size_2_bytes", "reverse_iat_max_ns",
                                         "iat_max_ns"};
  EXPECT_TRUE(std::ranges::equal(schema->asked(), names, {}, &ColumnInfo::name));
  EXPECT_TRUE(schema->asked()[2].help.ends_with(", reverse direction"));
  EXPECT_EQ(schema->asked()[2].type, schema->asked()[3].type);
  EXPECT_FALSE(Schema::make(Names{"reverse_class"}, {.biflows = true})) << "classes are of connections";
  EXPECT_FALSE(Schema::make(Names{"both_shape"}, {.biflows = true})) << "has columns that are no statistics";
}

TEST(InformationElements, APercentileWithMoreDigitsHasNone) {
  for (const char* const name :
       {"iat_p99.999_ns", "iat_p98.99_ns", "iat_p100_ns", "iat_p_ns", "tcp_flags_p50", "gap_17_packets"})
    EXPECT_EQ(statistic_element(name), IpfixElement()) << name;
}

TEST(FlowOriginOfTwoWorkers, BeginsAtTheSmallestTimeOfBoth) {
  alignas(8) std::byte a[sizeof(FlowOrigin::State)], b[sizeof a];
  FlowOrigin::begin_at(a, 100);
  FlowOrigin::begin_at(b, 200);
  FlowRecord ended;
  ended.first_ns = 50;  // a late packet of the one that began later
  FlowOrigin::go_on(b, ended);
  FlowOrigin().merge(a, b);
  EXPECT_EQ(FlowOrigin::state_of(a).began_ns, 100u);
  EXPECT_EQ(FlowOrigin::state_of(a).first_ns, 50u);
}

}  // namespace
}  // namespace parshall
