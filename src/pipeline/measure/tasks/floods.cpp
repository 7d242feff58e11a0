// SPDX-License-Identifier: Apache-2.0
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "pipeline/flow/both_ways.hpp"
#include "pipeline/measure/tasks/key_table.hpp"
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {
namespace {

constexpr Parameter kFloodsParameters[] = {
    {"threshold", "10k", "report a destination with more unanswered packets than this in a window"},
};

/// Reports destinations of very many packets that nobody answers.
///
/// A packet of TCP is unanswered if its flow shows no ACK, as in floods of SYN, whatever the destination answers, and
/// is not a reset alone. Any other packet is unanswered unless the window has a flow in the opposite direction.
///
/// Shape:  88 bytes for each of --task-keys flows that are not TCP, and 16 of the index; 104 for as many destinations.
/// Full:   the window's flows so far are judged early: packets that may be answered by others are told as the error. Of
///         the destinations, the half with the fewest packets is dropped, and each count says how much it may lack.
class Floods final : public Task {
 public:
  Floods(Arguments& arguments, TaskContext& context)
      : part_(std::make_shared<const KeyPart>(*KeyPart::parse("dst"))),
        threshold_(arguments.count("threshold", 1, std::uint64_t{1} << 40)),
        flows_(context.keys(), context.seed()),
        destinations_(context.keys(), context.seed() + 1) {
    if (context.fields() != KeyFields::five_tuple)
      arguments.complain("flows do not have both ends with their ports: leave out --key");
  }

  void flows(std::span<const FlowWindow> flows) override {
    constexpr std::uint16_t kRst = 4, kAck = 16;
    for (const FlowWindow& flow : flows) {
      const Sum sum{flow.packets, flow.wire_bytes, 1};
      if (flow.key.protocol == IPPROTO_TCP) {
        if ((flow.tcp_flags & kAck) == 0 && flow.tcp_flags != kRst) charge(flow.key, sum, /*is_sure=*/true);
        continue;
      }
      const auto [key, end] = both_ways(flow.key);
      const std::uint64_t hash = flows_.hash(key);
      Ends* ends = flows_.find_or_add(hash, key);
      if (ends == nullptr) [[unlikely]] {
        judge_flows(/*is_sure=*/false);
        was_full_ = true;
        ends = flows_.find_or_add(hash, key);
      }
      (*ends)[end].add(sum);
    }
  }

  void end(EventWriter& events) override {
    judge_flows(/*is_sure=*/!std::exchange(was_full_, false));
    const std::uint64_t missing = most_missing_ + events.window().totals.untold_packets();
    if (dropped_ != 0) events.write_left_out(dropped_, error_of(missing, 0));
    std::vector<const Destinations::Entry*> found;
    for (const auto& entry : destinations_.entries())
      if (entry.value.all.packets > threshold_) found.push_back(&entry);
    std::ranges::sort(found, [](auto* a, auto* b) {
      const auto packets = [](auto* entry) { return entry->value.all.packets; };
      return packets(a) != packets(b) ? packets(a) > packets(b) : order_of(a->key, b->key) < 0;
    });
    for (const auto* const entry : found) {
      const Sum& all = entry->value.all;
      events.write(part_, entry->key,
                   {{"unanswered_packets", all.packets}, {"wire_bytes", all.wire_bytes}, {"flows", all.flows}},
                   error_of(missing, entry->value.unsure_packets));
    }
    destinations_.clear();
    most_missing_ = dropped_ = 0;
  }

  std::size_t memory_bytes() const noexcept override {
    return KeyTable<Ends>::memory_bytes(flows_.capacity()) + Destinations::memory_bytes(destinations_.capacity());
  }

 private:
  struct Sum {
    std::uint64_t packets = 0, wire_bytes = 0, flows = 0;

    void add(const Sum& more) noexcept {
      packets += more.packets;
      wire_bytes += more.wire_bytes;
      flows += more.flows;
    }
  };
  using Ends = std::array<Sum, 2>;  ///< packets of both directions
  struct Destination {
    Sum all;
    std::uint64_t unsure_packets = 0;  ///< part of them: may have been answered later
  };
  using Destinations = KeyTable<Destination>;

  static std::vector<EventValue> error_of(std::uint64_t missing, std::uint64_t unsure) {
    std::vector<EventValue> error;
    if (missing != 0) error.push_back({"unanswered_packets_missing", missing});
    if (unsure != 0) error.push_back({"packets_maybe_answered", unsure});
    return error;
  }

  void charge(const FlowKey& flow, const Sum& sum, bool is_sure) {
    const FlowKey key = part_->of(flow);
    const std::uint64_t hash = destinations_.hash(key);
    Destination* destination = destinations_.find_or_add(hash, key);
    if (destination == nullptr) [[unlikely]] {
      drop_destinations();
      destination = destinations_.find_or_add(hash, key);
    }
    destination->all.add(sum);
    if (!is_sure) destination->unsure_packets += sum.packets;
  }

  void judge_flows(bool is_sure) {
    for (const auto& [key, tag, ends] : flows_.entries()) {
      if (ends[0].packets != 0 && ends[1].packets != 0) continue;
      const std::size_t end = ends[0].packets != 0 ? 0 : 1;
      charge(end == 0 ? key : opposite(key), ends[end], is_sure);
    }
    flows_.clear();
  }

  void drop_destinations() {
    const auto dropped = destinations_.drop_half([](const auto& entry) { return entry.value.all.packets; });
    dropped_ += dropped.entries;
    most_missing_ += dropped.heaviest;
  }

  std::shared_ptr<const KeyPart> part_;
  std::uint64_t threshold_;
  KeyTable<Ends> flows_;
  Destinations destinations_;
  std::uint64_t most_missing_ = 0, dropped_ = 0;
  bool was_full_ = false;  ///< flows of the window were judged before its end
};

}  // namespace

extern const TaskEntry kFloods{
    "floods",
    "destinations of very many packets that nobody answers",
    "destination, its unanswered packets, their bytes, and the flows that they came in",
    "exact; with more flows or destinations than --task-keys, each count states how much may be missing or answered",
    kFloodsParameters,
    [](Arguments& arguments, TaskContext& context) -> std::unique_ptr<Task> {
      return std::make_unique<Floods>(arguments, context);
    },
    /*finds_any=*/true,
    /*looks_at_flows=*/true,
    Severity::critical};

}  // namespace parshall
