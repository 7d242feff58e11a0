// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "pipeline/measure/tasks/missing.hpp"
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {
namespace {

constexpr Parameter kHierarchicalHeavyHittersParameters[] = {
    {"key", "src", "src or dst: addresses whose prefixes are counted"},
    {"by", "wire_bytes", "packets, ip_bytes, wire_bytes, flows or new_flows"},
    {"threshold", "1%", "smallest value of a heavy hitter: a number, or a percentage of the window's total"},
};

struct Level {
  std::uint8_t ipv4, ipv6;
};
constexpr Level kLevels[] = {{32, 128}, {24, 64}, {16, 48}, {8, 32}, {0, 0}};

/// Reports the prefixes with the largest amounts in the window, without the part that belongs to longer reported
/// prefixes.
///
/// Error: none while the addresses fit into the aggregate; beyond that a prefix lacks at most all that was dropped.
/// Source: Cormode, Korn, Muthukrishnan, Srivastava, "Finding hierarchical heavy hitters in data streams", VLDB 2003,
///         definition 3 (discounted counts), exactly.
class HierarchicalHeavyHitters final : public Task {
 public:
  HierarchicalHeavyHitters(Arguments& arguments, TaskContext& context)
      : aggregate_(context.aggregate(side(arguments, context))),
        amount_(arguments.amount("by")),
        threshold_(arguments.threshold("threshold")),
        most_prefixes_(context.keys()) {
    for (const Level& level : kLevels)
      parts_.push_back(std::make_shared<const KeyPart>(aggregate_.part().with_prefix(level.ipv4, level.ipv6)));
  }

  void end(EventWriter& events) override {
    const std::uint64_t total = total_of(amount_, aggregate_, events.window());
    const auto error = missing_error(amount_, most_missing_of_any(aggregate_, events.window()));
    write_left_out(events, aggregate_, error);
    prefixes_.clear();
    for (const auto& entry : aggregate_.entries()) {
      const std::uint64_t count = entry.value.*amount_.of;
      prefixes_.push_back({entry.key, count, count});
    }
    for (std::size_t level = 0; level < parts_.size(); ++level) {
      join(*parts_[level]);
      for (Prefix& prefix : prefixes_) {
        if (prefix.unreported == 0 || !threshold_.reached(prefix.unreported, total)) continue;
        events.write(
            parts_[level], prefix.key,
            {{std::string(amount_.name) + "_of_its_own", prefix.unreported}, {std::string(amount_.name), prefix.all}},
            error);
        prefix.unreported = 0;
      }
    }
  }

  std::size_t memory_bytes() const noexcept override { return most_prefixes_ * sizeof(Prefix); }

 private:
  struct Prefix {
    FlowKey key;
    std::uint64_t all;
    std::uint64_t unreported;  ///< part not reported by longer prefixes
  };

  static KeyPart side(Arguments& arguments, TaskContext& context) {
    constexpr std::string_view kSides[] = {"src", "dst"};
    arguments.choice("key", kSides);
    return arguments.key("key", context.fields());
  }

  /// Shortens the prefixes and merges those that become equal.
  void join(const KeyPart& part) {
    for (Prefix& prefix : prefixes_) prefix.key = part.of(prefix.key);
    std::ranges::sort(prefixes_, [](const Prefix& a, const Prefix& b) { return order_of(a.key, b.key) < 0; });
    std::size_t kept = 0;
    for (const Prefix& prefix : prefixes_) {
      if (kept != 0 && prefixes_[kept - 1].key == prefix.key) {
        prefixes_[kept - 1].all += prefix.all;
        prefixes_[kept - 1].unreported += prefix.unreported;
      } else {
        prefixes_[kept++] = prefix;
      }
    }
    prefixes_.resize(kept);
  }

  const Aggregate& aggregate_;
  const Amount& amount_;
  Threshold threshold_;
  std::size_t most_prefixes_;
  std::vector<std::shared_ptr<const KeyPart>> parts_;
  std::vector<Prefix> prefixes_;
};

}  // namespace

extern const TaskEntry kHierarchicalHeavyHitters{
    "hierarchical-heavy-hitters",
    "prefixes (/32 /24 /16 /8 /0, IPv6 /128 /64 /48 /32 /0) with the most traffic, not counting longer prefixes that "
    "are reported",
    "prefix, its total, and the part that no longer reported prefix has",
    "exact if the window has at most --task-keys addresses; else each count states how much may be missing",
    kHierarchicalHeavyHittersParameters,
    [](Arguments& arguments, TaskContext& context) -> std::unique_ptr<Task> {
      return std::make_unique<HierarchicalHeavyHitters>(arguments, context);
    },
    /*finds_any=*/true,
    /*looks_at_flows=*/true,
    Severity::info};

}  // namespace parshall
