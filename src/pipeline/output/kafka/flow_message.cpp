// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/kafka/flow_message.hpp"

#include <algorithm>
#include <bit>

#include "pipeline/output/records/community_id.hpp"
#include "pipeline/output/varint.hpp"

namespace parshall {
namespace {

constexpr FlowMessageField kFields[] = {
    {"src_ip", 6},
    {"dst_ip", 7},
    {"ip_bytes", 9},
    {"packets", 10},
    {"protocol", 20},
    {"src_port", 21},
    {"dst_port", 22},
    {"src_asn", 14},
    {"dst_asn", 15},
    {"ttl_min", 25},
    {"tcp_flags", 26},
    {"vlan", 29},
    {"first_seen_ns", 111},
    {"last_seen_ns", 112},
    {"ip_version", 2000},
    {"wire_bytes", 2001},
    {"flow_id", 2002},
    {"record", 2003},
    {"flow_first_seen_ns", 2004},
    {"end_reason", 2005},
    {"exact", 2006},
    {"missed_packets_at_most", 2007},
    {"packets_total", 2008},
    {"ip_bytes_total", 2009},
    {"wire_bytes_total", 2010},
    {"duration_ns", 2011},
    {"iat_mean_ns", 2012},
    {"iat_p50_ns", 2013},
    {"iat_p99_ns", 2014},
    {"gap_p99_packets", 2015},
    {"size_mean_bytes", 2016},
    {"size_p99_bytes", 2017},
    {"class", 2018},
    {"ttl_max", 2019},
    {"dscp", 2020},
    {"icmp_type_code", 2021},
    {"rtt_min_ns", 2022},
    {"rtt_p50_ns", 2023},
    {"tcp_retransmissions", 2024},
    {"tcp_out_of_order", 2025},
    {"tcp_lost_segments", 2026},
    {"tcp_zero_windows", 2027},
    {"reverse_packets", 2028},
    {"reverse_ip_bytes", 2029},
    {"reverse_wire_bytes", 2030},
    {"reverse_tcp_flags", 2031},
    {"biflow_direction", 2032},
    {"community_id", 2035},
    {"flow_key", 2036},
    {"digest_packets", 2037},
    {"digest_names", 2038},
    {"digest_times_ns", 2039},
    {"cut_name", 2040},
    {"cut_time_ns", 2041},
    {"cut_packets", 2042},
    {"cut_names", 2043},
    {"cut_times_ns", 2044},
    {"digest_repeats", 2045},
    {"cut_repeats", 2046},
    {"server_name", 2047},
    {"alpn", 2048},
    {"tls_version", 2049},
    {"ja4", 2050},
    {"http_host", 2051},
    {"http_user_agent", 2052},
    {"dns_name", 2053},
    {"dns_rcode", 2054},
    {"src_name", 2055},
    {"dst_name", 2056},
    {"service", 2057},
    {"application", 2058},
    {"application_confidence", 2059},
    {"src_country", 2060},
    {"dst_country", 2061},
    {"class_basis", 2062},
};

/// Fields of every message; goflow2's numbers, and ours.
enum : std::uint32_t {
  kType = 1,
  kSamplingRate = 3,
  kSequence = 4,
  kEtherType = 30,
  kReceivedNs = 110,
  kProbe = 2033,
  kRun = 2034
};
constexpr std::uint64_t kIpfix = 4, kIpv4 = 0x0800, kIpv6 = 0x86dd;

enum Wire : std::uint32_t { varint = 0, fixed64 = 1, bytes = 2 };

void put_number(std::string& out, std::uint32_t number, std::uint64_t value) {
  put_varint(out, std::uint64_t{number} << 3 | Wire::varint);
  put_varint(out, value);
}

void put_bytes(std::string& out, std::uint32_t number, std::string_view value) {
  put_varint(out, std::uint64_t{number} << 3 | Wire::bytes);
  put_varint(out, value.size());
  out += value;
}

void put_real(std::string& out, std::uint32_t number, double value) {
  put_varint(out, std::uint64_t{number} << 3 | Wire::fixed64);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (unsigned shift = 0; shift < 64; shift += 8) out += static_cast<char>(bits >> shift);
}

}  // namespace

std::span<const FlowMessageField> flow_message_fields() noexcept { return kFields; }

std::vector<std::string> columns_without_field(std::span<const ColumnInfo> columns) {
  std::vector<std::string> names;
  for (const ColumnInfo& column : columns)
    if (std::ranges::find(kFields, std::string_view(column.name), &FlowMessageField::column) == std::end(kFields))
      names.push_back(column.name);
  return names;
}

FlowMessages::FlowMessages(std::span<const ColumnInfo> columns, const ExportRun& run) : columns_(columns) {
  put_number(begin_, kType, kIpfix);
  put_number(begin_, kSamplingRate, 1);
  put_bytes(begin_, kProbe, run.probe);
  put_bytes(begin_, kRun, run.run);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto field = std::ranges::find(kFields, std::string_view(columns[i].name), &FlowMessageField::column);
    if (field == std::end(kFields)) continue;
    // End reasons have RFC 5102's numbers; other enumerations have only names.
    const bool is_text = columns[i].type.value == ValueType::enumeration && columns[i].name != "end_reason";
    fields_.push_back({i, field->number, columns[i].type, is_text});
  }
}

void FlowMessages::put(const ReportFlow& flow, std::uint64_t sequence, std::uint64_t now_ns, std::string& out) {
  message_ = begin_;
  put_number(message_, kSequence, sequence & 0xffffffff);
  put_number(message_, kEtherType, flow.record.key.ip_version == 6 ? kIpv6 : kIpv4);
  put_number(message_, kReceivedNs, now_ns);
  for (const Placed& field : fields_) {
    const Value& value = flow.values[field.column];
    if (!value.present()) continue;
    if (field.is_text) {
      put_bytes(message_, field.number, columns_[field.column].name_of(value));
    } else if (field.type.value == ValueType::address) {
      const auto address = value.mapped_address();
      put_bytes(message_, field.number, {reinterpret_cast<const char*>(address.data()), address.size()});
    } else if (field.type.value == ValueType::community_id) {
      put_bytes(message_, field.number, community_id_text(value.as_digest()));
    } else if (field.type.value == ValueType::text) {
      put_bytes(message_, field.number, value.as_text());
    } else if (field.type.value == ValueType::real) {
      put_real(message_, field.number, value.as_real());
    } else {
      put_number(message_, field.number, value.as_unsigned());
    }
  }
  put_varint(out, message_.size());
  out += message_;
}

}  // namespace parshall
