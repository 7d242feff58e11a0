// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <utility>

#include "base/escaped.hpp"
#include "parshall/sources/lanes.hpp"
#include "parshall/sources/source_kind.hpp"
#include "traffic/memory_source.hpp"
#include "traffic/paced_source.hpp"
#include "traffic/shared_source.hpp"
#include "traffic/traffic_spec.hpp"

namespace parshall {
namespace {

Result<TrafficSpec> spec_of(const SourcePlan& source) { return TrafficSpec::parse(source.traffic, TrafficSpec::kAll); }

std::optional<Error> traffic_problem(const SourcePlan& source, const SessionOptions& session) {
  const auto spec = spec_of(source);
  if (!spec) return spec.error();
  if (spec->pace_pps != 0 && lanes_of(session) != 1)
    return Error{"traffic at a pace comes in one queue: leave out --workers, or take --threads pipeline"};
  return std::nullopt;
}

/// Returns true if each worker can generate flows of its own: 5-tuple flows whose packets are all counted. Reports by
/// packet time rule it out, since all workers must pause for them.
bool can_deal_flows(const TrafficSpec& spec, const SessionOptions& session) {
  return lanes_of(session) > 1 && spec.pace_pps == 0 && spec.train_packets == 0 && !session.filter &&
         !session.stage.biflow && session.key == KeyFields::five_tuple && session.header == IpHeader::outermost &&
         session.limits.pause_every_ns == 0;
}

Result<Input> open_traffic_source(const SourcePlan& source, const SessionOptions& session, Held) {
  const auto spec = spec_of(source);
  if (!spec) return spec.error();
  const bool deals = can_deal_flows(*spec, session);
  auto trace = Trace::make(*spec, deals ? lanes_of(session) : 0);
  if (!trace) return trace.error();
  const auto shared = std::make_shared<const Trace>(*std::move(trace));
  Input input{.description = "built-in traffic " + escaped(source.traffic),
              .sources = {},
              .dealing = spec->pace_pps != 0 ? Dealing::by_device : Dealing::all_to_each,
              .owner = nullptr,
              .device = nullptr};
  if (spec->pace_pps != 0) {
    auto paced =
        std::make_unique<PacedSource>(shared, Pace(spec->pace_pps, spec->swing_ms / 1e3),
                                      spec->queue != 0 ? spec->queue : TrafficSpec::kPacedQueue, kTrafficStartNs);
    input.device = [counts = paced->counts()] { return counts->counters(); };
    input.remedy = "a longer queue (queue=PACKETS in -g) outlasts longer pauses, a lower pace asks less";
    input.sources.push_back(std::move(paced));
  }
  if (deals) {
    for (std::size_t i = 0; i < lanes_of(session); ++i)
      input.sources.push_back(std::make_unique<SharedSource>(shared, i, limit_of(session), kTrafficStartNs));
    input.dealing = Dealing::by_flow;
  }
  for (std::size_t i = input.sources.size(); i < lanes_of(session); ++i)
    input.sources.push_back(std::make_unique<MemorySource>(shared, ~std::uint64_t{0}, kTrafficStartNs));
  return input;
}

}  // namespace

extern const SourceKind kBuiltInTraffic{
    .option = "-g",
    .value = "SPEC",
    .help =
        [] {
          return std::string("built-in traffic, e.g. flows=65536,size=64,dist=zipf:1.1,protocol=mix,ipv6=0.1,seed=1");
        },
    .name = &SourcePlan::traffic,
    .described_as = "built-in traffic",
    .matches = [](const SourcePlan& source) { return !source.traffic.empty(); },
    .can_wait =
        [](const SourcePlan& source) {
          const auto spec = spec_of(source);
          return spec && spec->pace_pps == 0;  // wire() reports what is wrong with it
        },
    .problem = traffic_problem,
    .open = open_traffic_source,
};

}  // namespace parshall
