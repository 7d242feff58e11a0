// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <utility>

#include "pipeline/measure/tasks/missing.hpp"
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {
namespace {

constexpr Parameter kHeavyHittersParameters[] = {
    {"key", "src", "part of the key that flows are counted by"},
    {"by", "wire_bytes", "packets, ip_bytes, wire_bytes, flows or new_flows"},
    {"threshold", "0.1%", "smallest value of a heavy hitter: a number, or a percentage of the window's total"},
    {"top", "0", "report only this number of the largest; without a threshold unless one is given; 0: all"},
};

/// Reports the keys with the largest amount of something in the window.
///
/// Error: that of Aggregate. A key is reported if its count, which is a lower bound, reaches the threshold, so none is
///        reported wrongly.
class HeavyHitters final : public Task {
 public:
  HeavyHitters(Arguments& arguments, TaskContext& context)
      : part_(std::make_shared<const KeyPart>(arguments.key("key", context.fields()))),
        aggregate_(context.aggregate(*part_)),
        amount_(arguments.amount("by")),
        threshold_(arguments.threshold("threshold")),
        top_(arguments.count("top", 0, std::numeric_limits<std::uint32_t>::max())) {
    if (top_ != 0 && !arguments.given("threshold")) threshold_ = {};
  }

  bool finds_heavy() const noexcept override {
    return amount_.of != &KeyCounts::flows && amount_.of != &KeyCounts::new_flows;
  }

  bool finds_shares() const noexcept override { return finds_heavy() && threshold_.is_share; }

  void unread(const UnreadFlows& flows) override { unread_.add(flows); }

  void end(EventWriter& events) override {
    const std::uint64_t total = total_of(amount_, aggregate_, events.window());
    const auto of = [this](const Aggregate::Table::Entry* entry) { return entry->value.*amount_.of; };
    std::vector<const Aggregate::Table::Entry*> heavy;
    for (const auto& entry : aggregate_.entries())
      if (threshold_.reached(of(&entry), total)) heavy.push_back(&entry);
    std::ranges::sort(heavy,
                      [&](auto* a, auto* b) { return of(a) != of(b) ? of(a) > of(b) : order_of(a->key, b->key) < 0; });
    if (top_ != 0 && heavy.size() > top_) heavy.resize(top_);
    KeyCounts missing = most_missing(aggregate_, events.window());
    missing.add(std::exchange(unread_, {}));
    const std::vector<EventValue> error = missing_error(missing);
    write_left_out(events, aggregate_, error);
    for (const auto* entry : heavy) {
      const double share = total == 0 ? 0 : static_cast<double>(of(entry)) / static_cast<double>(total);
      std::vector<EventValue> values{{"share", share}, {std::string(amount_.name), of(entry)}};
      for (const Amount& amount : kAmounts)
        if (amount.of != amount_.of) values.push_back({std::string(amount.name), entry->value.*amount.of});
      events.write(part_, entry->key, std::move(values), error);
    }
  }

 private:
  std::shared_ptr<const KeyPart> part_;
  const Aggregate& aggregate_;
  const Amount& amount_;
  Threshold threshold_;
  std::uint64_t top_;
  KeyCounts unread_;  ///< counts of flows reduced to lighter states
};

}  // namespace

extern const TaskEntry kHeavyHitters{
    "heavy-hitters",
    "keys with the most packets, bytes or flows",
    "key, its share, and all its counts",
    "exact if the window has at most --task-keys keys; else each count states how much may be missing",
    kHeavyHittersParameters,
    [](Arguments& arguments, TaskContext& context) -> std::unique_ptr<Task> {
      return std::make_unique<HeavyHitters>(arguments, context);
    },
    /*finds_any=*/true,
    /*looks_at_flows=*/true,
    Severity::info};

}  // namespace parshall
