// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/identity_columns.hpp"

#include <algorithm>

namespace parshall {
namespace {

__m128i block(std::uint64_t low, std::uint64_t high) noexcept {
  return _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
}

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

// clang-format off
/// fields: name, unit, type, IPFIX, needs the flow's origin, help, function that reads it
constexpr IdentityColumn kColumns[] = {
    {"flow_id", "", kUint64, {0, 148}, true,
      "identifier of the flow, the same in all its records: a keyed hash (--seed) of its key and start",
     [](const RecordIdentity& of) {
       return of.origin.is_known() ? Value::of_unsigned(of.ids(of.record.key, of.origin.began_ns)) : Value();
     }},
    {"record", "", kUint32, {kOwnPen, 2}, true,
      "number of the record within its flow, from 0",
     [](const RecordIdentity& of) { return of.origin.is_known() ? Value::of_unsigned(of.origin.record()) : Value(); }},
    {"flow_first_seen_ns", "ns", kTime, {kOwnPen, 4}, true,
      "smallest capture time of the flow, over all its records so far",
     [](const RecordIdentity& of) {
       return of.origin.is_known() ? Value::of_time(std::min(of.origin.first_ns, of.record.first_ns)) : Value();
     }},
    {"packets_total", "packets", kUint64, {0, 86}, true, "packets of the flow, over all its records so far",
     total<&FlowOrigin::State::packets, &FlowRecord::packets>},
    {"ip_bytes_total", "bytes", kUint64, {0, 85}, true,
      "bytes of the flow, over all its records so far, by the IP headers",
     total<&FlowOrigin::State::ip_bytes, &FlowRecord::ip_bytes>},
    {"wire_bytes_total", "bytes", kUint64, {0, 353}, true,
      "bytes of the flow, over all its records so far, frames without FCS",
     total<&FlowOrigin::State::wire_bytes, &FlowRecord::wire_bytes>},
    {"exact", "", kBool, {kOwnPen, 40}, false,
     "true if no packet can be missing or belong to another flow: none was lost or kept out while the record was open",
     [](const RecordIdentity& of) { return Value::of_bool(!lacks_the_rest(of) && missed(of).exact); }},
    {"missed_packets_at_most", "packets", kUint64, {kOwnPen, 41}, false,
     "upper bound of packets, of any flow, that were lost while the record was open; absent if the capture was damaged, or if the device does not report losses",
     [](const RecordIdentity& of) {
       const auto packets = lacks_the_rest(of) ? std::nullopt : missed(of).packets_at_most;
       return packets ? Value::of_unsigned(*packets) : Value();
     }},
};
// clang-format on

}  // namespace

FlowIds::FlowIds(std::uint64_t seed) noexcept : hash_(KeyedHash(seed)(block(seed, 0x666c'6f77'5f69'6473))) {}

std::uint64_t FlowIds::operator()(const FlowKey& key, std::uint64_t began_ns) const noexcept {
  const auto at = [bytes = reinterpret_cast<const char*>(&key)](std::size_t offset) {
    return reinterpret_cast<const __m128i*>(bytes + offset);
  };
  const __m128i head = _mm_loadu_si128(at(0));
  if (key.ip_version == 4) return hash_(head, block(began_ns, 4), _mm_setzero_si128());
  const std::uint64_t of_key = hash_(head, _mm_loadu_si128(at(16)), _mm_loadl_epi64(at(32)));
  return hash_(block(of_key, began_ns), block(0, 6), _mm_setzero_si128());
}

std::span<const IdentityColumn> identity_columns() noexcept { return kColumns; }

}  // namespace parshall
