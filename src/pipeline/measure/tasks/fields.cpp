// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/fields.hpp"

#include <algorithm>

#include "pipeline/measure/windows/measures/bursts.hpp"
#include "pipeline/measure/windows/measures/round_trips.hpp"
#include "pipeline/measure/windows/measures/tcp_counts.hpp"

namespace parshall {
namespace {

using Number = std::optional<double>;

double number(std::uint64_t value) noexcept { return static_cast<double>(value); }

double duration_s(const FlowWindow& flow) noexcept {
  return flow.last_ns > flow.first_ns ? number(flow.last_ns - flow.first_ns) * 1e-9 : 0;
}
Number per_second(const FlowWindow& flow, double amount) noexcept {
  const double seconds = duration_s(flow);
  return seconds > 0 ? Number(amount / seconds) : std::nullopt;
}

double milliseconds(std::uint64_t ns) noexcept { return number(ns) * 1e-6; }

/// Returns a field for a flow whose packets were tracked as TCP.
template <class Of>
Number of_tcp(const std::byte* measured, Of of) {
  const auto volume = measured_as<TcpVolume>(measured);
  return volume.packets == 0 ? std::nullopt : Number(of(volume));
}
template <TcpMark kMark>
Number marked(const FlowWindow& flow, const std::byte* measured) {
  constexpr std::uint8_t kTcp = 6;
  if (flow.key.protocol != kTcp) return std::nullopt;
  return measured_as<TcpCounts>(measured).of(kMark);
}
template <class Of>
Number of_round_trips(const std::byte* measured, Of of) {
  const auto trips = measured_as<RoundTrips>(measured);
  return trips.samples == 0 ? std::nullopt : Number(of(trips));
}

std::shared_ptr<const FlowMeasure> bursts() { return Bursts::within(1'000'000); }
std::shared_ptr<const FlowMeasure> latency_changes() { return LatencyChanges::beyond(2, 8); }

constexpr auto kCount = FlowField::Kind::count;

constexpr FlowField kFields[] = {
    {"packets", "packets", [](const FlowWindow& flow, const std::byte*) -> Number { return number(flow.packets); }},
    {"ip_bytes", "bytes from the IP header on",
     [](const FlowWindow& flow, const std::byte*) -> Number { return number(flow.ip_bytes); }},
    {"wire_bytes", "bytes of its frames",
     [](const FlowWindow& flow, const std::byte*) -> Number { return number(flow.wire_bytes); }},
    {"size_mean_bytes", "mean frame length",
     [](const FlowWindow& flow, const std::byte*) -> Number { return number(flow.wire_bytes) / number(flow.packets); }},
    {"duration_s", "time from its first to its last packet in the window",
     [](const FlowWindow& flow, const std::byte*) -> Number { return duration_s(flow); }},
    {"rate_pps", "packets per second of that duration; absent if it is 0",
     [](const FlowWindow& flow, const std::byte*) { return per_second(flow, number(flow.packets)); }},
    {"rate_bps", "bits of its frames per second of that duration; absent if it is 0",
     [](const FlowWindow& flow, const std::byte*) { return per_second(flow, 8 * number(flow.wire_bytes)); }},
    {"tcp_flags", "all TCP flags of its packets, as a number",
     [](const FlowWindow& flow, const std::byte*) -> Number { return flow.tcp_flags; }},
    {"starts", "1 if the flow began in the window, else 0",
     [](const FlowWindow& flow, const std::byte*) -> Number { return flow.starts ? 1 : 0; }},
    {"protocol", "IANA number", [](const FlowWindow& flow, const std::byte*) -> Number { return flow.key.protocol; }},
    {"src_port", "source port; 0 without ports",
     [](const FlowWindow& flow, const std::byte*) -> Number { return flow.key.src_port(); }},
    {"dst_port", "destination port; 0 without ports",
     [](const FlowWindow& flow, const std::byte*) -> Number { return flow.key.dst_port(); }},
    {"burst_share", "share of its packets that came within 1 ms of the one before",
     [](const FlowWindow& flow, const std::byte* measured) -> Number {
       return number(measured_as<Bursts>(measured).packets) / number(flow.packets);
     },
     bursts},
    {"tcp_data_packets", "TCP packets with data; absent if the flow is not TCP",
     [](const FlowWindow&, const std::byte* measured) {
       return of_tcp(measured, [](const TcpVolume& volume) { return volume.data_packets; });
     },
     TcpVolume::measure, kCount},
    {"tcp_payload_bytes", "bytes of data, including retransmissions",
     [](const FlowWindow&, const std::byte* measured) {
       return of_tcp(measured, [](const TcpVolume& volume) { return number(volume.payload_bytes); });
     },
     TcpVolume::measure, kCount},
    {"tcp_retransmissions", "packets that retransmit data, including those of the next two fields",
     marked<TcpMark::retransmission>, TcpCounts::measure, kCount},
    {"tcp_fast_retransmissions", "retransmissions soon after duplicate acknowledgements",
     marked<TcpMark::fast_retransmission>, TcpCounts::measure, kCount},
    {"tcp_spurious_retransmissions", "retransmissions of data that had been acknowledged",
     marked<TcpMark::spurious_retransmission>, TcpCounts::measure, kCount},
    {"tcp_out_of_order", "packets that arrived after later ones", marked<TcpMark::out_of_order>, TcpCounts::measure,
     kCount},
    {"tcp_duplicate_acks", "acknowledgements that repeat the one before", marked<TcpMark::duplicate_ack>,
     TcpCounts::measure, kCount},
    {"tcp_lost_segments", "packets before which others were not captured", marked<TcpMark::lost_segment>,
     TcpCounts::measure, kCount},
    {"tcp_acked_unseen", "acknowledgements of data that was not captured", marked<TcpMark::ack_unseen>,
     TcpCounts::measure, kCount},
    {"tcp_keep_alives", "keep-alive probes", marked<TcpMark::keep_alive>, TcpCounts::measure, kCount},
    {"tcp_zero_windows", "packets with a receive window of zero", marked<TcpMark::zero_window>, TcpCounts::measure,
     kCount},
    {"rtt_samples", "round-trip times between the capture point and its sender; absent if there is none",
     [](const FlowWindow&, const std::byte* measured) {
       return of_round_trips(measured, [](const RoundTrips& trips) { return trips.samples; });
     },
     RoundTrips::measure, kCount},
    {"rtt_mean_ms", "mean of these round-trip times",
     [](const FlowWindow&, const std::byte* measured) {
       return of_round_trips(measured,
                             [](const RoundTrips& trips) { return milliseconds(trips.sum_ns) / trips.samples; });
     },
     RoundTrips::measure},
    {"rtt_min_ms", "smallest of these round-trip times",
     [](const FlowWindow&, const std::byte* measured) {
       return of_round_trips(measured, [](const RoundTrips& trips) { return milliseconds(trips.min_ns); });
     },
     RoundTrips::measure},
    {"rtt_max_ms", "largest of these round-trip times",
     [](const FlowWindow&, const std::byte* measured) {
       return of_round_trips(measured, [](const RoundTrips& trips) { return milliseconds(trips.max_ns); });
     },
     RoundTrips::measure},
    {"rtt_ambiguous", "ambiguous round trips, of segments sent more than once; not in the fields above",
     [](const FlowWindow&, const std::byte* measured) -> Number { return measured_as<RoundTrips>(measured).ambiguous; },
     RoundTrips::measure, kCount},
    {"rtt_handshake_ms", "time from the SYN to the end of the handshake; absent in other windows",
     [](const FlowWindow&, const std::byte* measured) -> Number {
       const auto handshake = measured_as<Handshake>(measured);
       return handshake.after_ns == 0 ? std::nullopt : Number(milliseconds(handshake.after_ns - 1));
     },
     Handshake::measure},
    {"latency_changes", "round-trip times more than 2 standard deviations from the mean of at least 8 before",
     [](const FlowWindow&, const std::byte* measured) -> Number {
       return number(measured_as<LatencyChanges>(measured).changes);
     },
     latency_changes, kCount},
};

}  // namespace

std::span<const FlowField> flow_fields() noexcept { return kFields; }

const FlowField* find_field(std::string_view name) noexcept {
  const auto found = std::ranges::find(kFields, name, &FlowField::name);
  return found == std::end(kFields) ? nullptr : found;
}

}  // namespace parshall
