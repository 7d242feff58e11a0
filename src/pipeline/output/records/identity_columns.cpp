// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/identity_columns.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/service_names.hpp"
#include "base/simd.hpp"
#include "pipeline/flow/both_ways.hpp"
#include "pipeline/measure/statistics/first_payloads.hpp"

namespace parshall {
namespace {

/// Returns whether the record may be incomplete because the capture is damaged; its end reason does not show that.
bool lacks_the_rest(const RecordIdentity& of) noexcept {
  const EndReason reason = of.record.end_reason;
  return (reason == EndReason::none || reason == EndReason::forced_end) && of.losses.is_damaged();
}

LossLog::Missed missed(const RecordIdentity& of) { return of.losses.missed(of.record.first_ns, of.record.last_ns); }

/// Returns the flow's total so far: ended records plus this one.
template <std::uint64_t FlowOrigin::State::*kBefore, std::uint64_t FlowRecord::*kNow>
Value total(const RecordIdentity& of) {
  return of.origin.is_known() ? Value::of_unsigned(of.origin.*kBefore + of.record.*kNow) : Value();
}

/// Returns a number of the digest, if there is one.
Value of_digest(const RecordIdentity& of, std::uint64_t number) {
  return of.digest.counts.packets() == 0 ? Value() : Value::of_unsigned(number);
}
/// Returns a number of its cut, if there is one.
Value of_cut(const RecordIdentity& of, std::uint64_t number) {
  return of.digest.has_cut() ? Value::of_unsigned(number) : Value();
}

template <NameColumn kColumn>
Value text_of(const RecordIdentity& of) {
  const std::string_view text = of.names.text(kColumn);
  return text.empty() ? Value() : Value::of_text(text);
}

template <NameColumn kColumn>
Value host_of(const RecordIdentity& of, std::span<const std::uint8_t> address) {
  const std::string_view listed = of.hosts == nullptr ? std::string_view() : of.hosts->find_listed(address);
  return listed.empty() ? text_of<kColumn>(of) : Value::of_text(listed);
}

Value as_number_of(const RecordIdentity& of, std::span<const std::uint8_t> address) {
  const std::uint32_t number = of.hosts == nullptr ? 0 : of.hosts->place_of(address).as_number;
  return number == 0 ? Value() : Value::of_unsigned(number);
}
Value country_of(const RecordIdentity& of, std::span<const std::uint8_t> address) {
  const std::string_view country = of.hosts == nullptr ? std::string_view() : of.hosts->place_of(address).country;
  return country.empty() ? Value() : Value::of_text(country);
}

// clang-format off
/// fields: name, unit, type, IPFIX, what it needs in the rows, help, function that reads it, names of values
constexpr IdentityColumn kColumns[] = {
    {"flow_id", "", kUint64, {0, 148}, RowNeed::origin,
      "identifier of the flow, the same in all its records: a keyed hash (--seed) of its key and start",
     [](const RecordIdentity& of) {
       return of.origin.is_known() ? Value::of_unsigned(of.ids(of.record.key, of.origin.began_ns)) : Value();
     }},
    {"flow_key", "", kUint64, {kOwnPen, 5}, RowNeed::nothing,
      "identifier of the key, the same at all taps with the same --seed, --key and --inner; the other direction has the same one but for the lowest bit",
     [](const RecordIdentity& of) { return Value::of_unsigned(of.ids.of_key(of.record.key)); }},
    {"record", "", kUint32, {kOwnPen, 2}, RowNeed::origin,
      "number of the record within its flow, from 0",
     [](const RecordIdentity& of) { return of.origin.is_known() ? Value::of_unsigned(of.origin.record()) : Value(); }},
    {"flow_first_seen_ns", "ns", kTime, {kOwnPen, 4}, RowNeed::origin,
      "smallest capture time of the flow, over all its records so far",
     [](const RecordIdentity& of) {
       return of.origin.is_known() ? Value::of_time(std::min(of.origin.first_ns, of.record.first_ns)) : Value();
     }},
    {"packets_total", "packets", kUint64, {0, 86}, RowNeed::origin, "packets of the flow, over all its records so far",
     total<&FlowOrigin::State::packets, &FlowRecord::packets>},
    {"ip_bytes_total", "bytes", kUint64, {0, 85}, RowNeed::origin,
      "bytes of the flow, over all its records so far, by the IP headers",
     total<&FlowOrigin::State::ip_bytes, &FlowRecord::ip_bytes>},
    {"wire_bytes_total", "bytes", kUint64, {0, 353}, RowNeed::origin,
      "bytes of the flow, over all its records so far, frames without FCS",
     total<&FlowOrigin::State::wire_bytes, &FlowRecord::wire_bytes>},
    {"exact", "", kBool, {kOwnPen, 40}, RowNeed::nothing,
     "true if no packet can be missing or belong to another flow: none was lost or kept out while the record was open",
     [](const RecordIdentity& of) { return Value::of_bool(!lacks_the_rest(of) && missed(of).exact); }},
    {"missed_packets_at_most", "packets", kUint64, {kOwnPen, 41}, RowNeed::nothing,
     "upper bound of packets, of any flow, that were lost while the record was open; absent if the capture was damaged, or if the device does not report losses",
     [](const RecordIdentity& of) {
       const auto packets = lacks_the_rest(of) ? std::nullopt : missed(of).packets_at_most;
       return packets ? Value::of_unsigned(*packets) : Value();
     }},
    {"digest_packets", "packets", kUint64, {kOwnPen, 90}, RowNeed::digest,
      "packets of the flow so far, over all its records, as in the other columns of digest",
     [](const RecordIdentity& of) { return of_digest(of, of.digest.counts.packets()); }},
    {"digest_repeats", "", kUint32, {kOwnPen, 98}, RowNeed::digest,
      "those of them that have the same name as another one within 100 ms, modulo 2^24",
     [](const RecordIdentity& of) { return of_digest(of, of.digest.counts.repeats()); }},
    {"digest_names", "", kUint64, {kOwnPen, 91}, RowNeed::digest,
      "sum of the names of these packets (hashes of what does not change on the way, --seed), modulo 2^64",
     [](const RecordIdentity& of) { return of_digest(of, of.digest.names); }},
    {"digest_times_ns", "ns", kUint64, {kOwnPen, 92}, RowNeed::digest,
      "sum of the capture times of these packets, modulo 2^64",
     [](const RecordIdentity& of) { return of_digest(of, of.digest.times_ns); }},
    {"cut_name", "", kUint64, {kOwnPen, 93}, RowNeed::digest,
      "the smallest name of a packet in this record: the cut",
     [](const RecordIdentity& of) { return of_cut(of, of.digest.cut_name); }},
    {"cut_time_ns", "ns", kTime, {kOwnPen, 94}, RowNeed::digest, "capture time of the cut",
     [](const RecordIdentity& of) { return of.digest.has_cut() ? Value::of_time(of.digest.cut_time_ns) : Value(); }},
    {"cut_packets", "packets", kUint64, {kOwnPen, 95}, RowNeed::digest, "digest_packets at the cut, with it",
     [](const RecordIdentity& of) { return of_cut(of, of.digest.cut_counts.packets()); }},
    {"cut_repeats", "", kUint32, {kOwnPen, 99}, RowNeed::digest, "digest_repeats at the cut, with it",
     [](const RecordIdentity& of) { return of_cut(of, of.digest.cut_counts.repeats()); }},
    {"cut_names", "", kUint64, {kOwnPen, 96}, RowNeed::digest, "digest_names at the cut, with it",
     [](const RecordIdentity& of) { return of_cut(of, of.digest.cut_names); }},
    {"cut_times_ns", "ns", kUint64, {kOwnPen, 97}, RowNeed::digest, "digest_times_ns at the cut, with it",
     [](const RecordIdentity& of) { return of_cut(of, of.digest.cut_times_ns); }},
    {"src_name", "", kText, {kOwnPen, 8}, RowNeed::resolved_names, "name of the source address, by --hosts or --resolve",
     [](const RecordIdentity& of) { return host_of<NameColumn::src_name>(of, of.record.key.src_address()); }},
    {"dst_name", "", kText, {kOwnPen, 9}, RowNeed::resolved_names, "name of the destination address, by --hosts or --resolve",
     [](const RecordIdentity& of) { return host_of<NameColumn::dst_name>(of, of.record.key.dst_address()); }},
    {"src_asn", "", kUint32, {0, 16}, RowNeed::nothing, "autonomous system of the source address, by --geo",
     [](const RecordIdentity& of) { return as_number_of(of, of.record.key.src_address()); }},
    {"dst_asn", "", kUint32, {0, 17}, RowNeed::nothing, "autonomous system of the destination address, by --geo",
     [](const RecordIdentity& of) { return as_number_of(of, of.record.key.dst_address()); }},
    {"src_country", "", kText, {kOwnPen, 32}, RowNeed::nothing, "country of the source address, two letters, by --geo",
     [](const RecordIdentity& of) { return country_of(of, of.record.key.src_address()); }},
    {"dst_country", "", kText, {kOwnPen, 33}, RowNeed::nothing, "country of the destination address, two letters, by --geo",
     [](const RecordIdentity& of) { return country_of(of, of.record.key.dst_address()); }},
    {"service", "", kText, {kOwnPen, 30}, RowNeed::nothing, "usual name of the lower port, such as https, whatever is spoken there",
     [](const RecordIdentity& of) {
       const FlowKey& key = of.record.key;
       const std::string_view name = service_name(key.protocol, std::min(key.src_port(), key.dst_port()));
       return name.empty() ? Value() : Value::of_text(name);
     }},
    {"application", "", kText, {kOwnPen, 34}, RowNeed::label,
      "application of the connection by inspection of its first packets, if it is one that --label chose",
     [](const RecordIdentity& of) {
       return of.label.basis == LabelBasis::none ? Value() : Value::of_text(of.label.application);
     }},
    {"application_confidence", "", kEnum8, {kOwnPen, 31}, RowNeed::label,
      "what that rests on: payload, or a cache of earlier connections",
     [](const RecordIdentity& of) {
       return of.label.basis == LabelBasis::none ? Value()
                                                 : Value::of_enumeration(static_cast<std::uint64_t>(of.label.basis));
     }, kLabelBasisNames},
    {"server_name", "", kText, {kCesnetPen, 808}, RowNeed::names,
      "name of the server that the client asks for, by TLS or QUIC (SNI)", text_of<NameColumn::server_name>},
    {"alpn", "", kText, {kFlowmonPen, 337}, RowNeed::names,
      "protocols above TLS or QUIC that the client offers, or the one that the server chose (ALPN)",
     text_of<NameColumn::alpn>},
    {"tls_version", "", kEnum8, {kOwnPen, 6}, RowNeed::names,
      "version of TLS that the server chose, or the highest that the client offers",
     [](const RecordIdentity& of) {
       return of.names.tls_version == TlsVersion::none
                  ? Value()
                  : Value::of_enumeration(static_cast<std::uint64_t>(of.names.tls_version));
     }, kTlsVersionNames},
    {"ja4", "", kText, {kCesnetPen, 809}, RowNeed::names,
      "fingerprint of the client's TLS or QUIC library (JA4)", text_of<NameColumn::ja4>},
    {"http_host", "", kText, {0, 460}, RowNeed::names, "host of the first HTTP/1 request",
     text_of<NameColumn::http_host>},
    {"http_user_agent", "", kText, {0, 468}, RowNeed::names, "program that sent the first HTTP/1 request",
     text_of<NameColumn::http_user_agent>},
    {"dns_name", "", kText, {kCesnetPen, 2}, RowNeed::names, "name of the first question of DNS, mDNS or LLMNR; of an mDNS answer without one, the name that it answers",
     text_of<NameColumn::dns_name>},
    {"dns_rcode", "", kEnum8, {kOwnPen, 7}, RowNeed::names, "result of that query, in an answer",
     [](const RecordIdentity& of) {
       return of.names.dns_rcode ? Value::of_enumeration(*of.names.dns_rcode) : Value();
     }, kDnsRcodeNames},
};
// clang-format on

template <std::size_t kReverse, std::size_t kNumber>
Value payload_of(const RecordIdentity& of) {
  const std::byte* const row = of.payloads[kReverse];
  const std::string_view bytes = row == nullptr ? std::string_view() : FirstPayloads::payload(row, kNumber);
  return bytes.empty() ? Value() : Value::of_text(bytes);
}

constexpr std::string_view kPayloadNames[2][FirstPayloads::kMost] = {
    {"payload_1", "payload_2", "payload_3", "payload_4", "payload_5", "payload_6", "payload_7", "payload_8"},
    {"reverse_payload_1", "reverse_payload_2", "reverse_payload_3", "reverse_payload_4", "reverse_payload_5",
     "reverse_payload_6", "reverse_payload_7", "reverse_payload_8"}};

template <std::size_t kReverse, std::size_t... kNumber>
constexpr std::array<IdentityColumn, sizeof...(kNumber)> payload_columns(std::index_sequence<kNumber...>) {
  constexpr std::uint16_t kFirst = kReverse != 0 ? 451 : 441;
  constexpr std::string_view kHelp =
      kReverse != 0 ? "the same of the reverse direction (--biflow)"
                    : "first bytes, at most 255, of the flow's n-th packet with payload, by TCP or UDP";
  return {IdentityColumn{.name = kPayloadNames[kReverse][kNumber],
                         .unit = "",
                         .type = kOctets,
                         .ipfix = {kOwnPen, static_cast<std::uint16_t>(kFirst + kNumber)},
                         .needs = kReverse != 0 ? RowNeed::reverse_payloads : RowNeed::payloads,
                         .help = kHelp,
                         .read = payload_of<kReverse, kNumber>}...};
}

constexpr auto kColumnsOfPayloads = [] {
  constexpr std::make_index_sequence<FirstPayloads::kMost> kNumbers;
  const auto forward = payload_columns<0>(kNumbers), reverse = payload_columns<1>(kNumbers);
  std::array<IdentityColumn, 2 * FirstPayloads::kMost> both{};
  std::ranges::copy(reverse, std::ranges::copy(forward, both.begin()).out);
  return both;
}();

}  // namespace

FlowIds::FlowIds(std::uint64_t seed) noexcept
    : hash_(KeyedHash(seed)(simd::words(seed, 0x666c'6f77'5f69'6473))),
      portable_(KeyedHash(seed).portable(seed, 0x666c'6f77'5f6b'6579)) {}

std::uint64_t FlowIds::operator()(const FlowKey& key, std::uint64_t began_ns) const noexcept {
  const auto* const bytes = reinterpret_cast<const char*>(&key);
  const simd::Bytes16 head = simd::load(bytes);
  if (key.ip_version == 4) return hash_(head, simd::words(began_ns, 4), simd::Bytes16{});
  const std::uint64_t of_key = hash_(head, simd::load(bytes + 16), simd::load_low(bytes + 32));
  return hash_(simd::words(of_key, began_ns), simd::words(0, 6), simd::Bytes16{});
}

std::uint64_t FlowIds::of_key(const FlowKey& key) const noexcept {
  const auto& [both, is_from_second] = both_ways(key);
  std::array<std::uint64_t, 6> words{};
  static_assert(sizeof words >= sizeof both);
  std::memcpy(words.data(), &both, both.significant_bytes());
  std::uint64_t name = 0;
  for (const std::uint64_t word : words) name = portable_.portable(name, word);
  return (name & ~std::uint64_t{1}) | is_from_second;
}

std::uint64_t FlowIds::check() const noexcept { return portable_.portable(0, 0); }

std::size_t payload_number(const IdentityColumn& column) noexcept {
  return static_cast<std::size_t>(column.name.back() - '0');
}

std::span<const IdentityColumn> identity_columns() noexcept {
  static constexpr auto kAll = [] {
    std::array<IdentityColumn, std::size(kColumns) + kColumnsOfPayloads.size()> all{};
    std::ranges::copy(kColumnsOfPayloads, std::ranges::copy(kColumns, all.begin()).out);
    return all;
  }();
  return kAll;
}

}  // namespace parshall
