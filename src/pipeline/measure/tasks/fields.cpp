// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/fields.hpp"

#include <algorithm>

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

constexpr FlowField kFields[] = {
    {"packets", "packets", [](const FlowWindow& flow) -> Number { return number(flow.packets); }},
    {"ip_bytes", "bytes from the IP header on", [](const FlowWindow& flow) -> Number { return number(flow.ip_bytes); }},
    {"wire_bytes", "bytes of its frames", [](const FlowWindow& flow) -> Number { return number(flow.wire_bytes); }},
    {"size_mean_bytes", "mean frame length",
     [](const FlowWindow& flow) -> Number { return number(flow.wire_bytes) / number(flow.packets); }},
    {"duration_s", "from its first to its last packet in the window",
     [](const FlowWindow& flow) -> Number { return duration_s(flow); }},
    {"rate_pps", "packets over that duration; none where it is 0",
     [](const FlowWindow& flow) { return per_second(flow, number(flow.packets)); }},
    {"rate_bps", "bits of its frames over that duration; none where it is 0",
     [](const FlowWindow& flow) { return per_second(flow, 8 * number(flow.wire_bytes)); }},
    {"tcp_flags", "all TCP flags of its packets, as a number",
     [](const FlowWindow& flow) -> Number { return flow.tcp_flags; }},
    {"starts", "1 where it began in the window, else 0",
     [](const FlowWindow& flow) -> Number { return flow.starts ? 1 : 0; }},
    {"protocol", "IANA number", [](const FlowWindow& flow) -> Number { return flow.key.protocol; }},
    {"src_port", "source port; 0 without ports", [](const FlowWindow& flow) -> Number { return flow.key.src_port(); }},
    {"dst_port", "destination port; 0 without ports",
     [](const FlowWindow& flow) -> Number { return flow.key.dst_port(); }},
};

}  // namespace

std::span<const FlowField> flow_fields() noexcept { return kFields; }

const FlowField* find_field(std::string_view name) noexcept {
  const auto found = std::ranges::find(kFields, name, &FlowField::name);
  return found == std::end(kFields) ? nullptr : found;
}

}  // namespace parshall
