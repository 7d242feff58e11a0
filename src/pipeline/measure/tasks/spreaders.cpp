// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>

#include "pipeline/measure/tasks/distinct.hpp"
#include "pipeline/measure/tasks/heavy_keys.hpp"
#include "pipeline/measure/tasks/missing.hpp"
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {
namespace {

constexpr std::string_view kMethods[] = {"exact", "bloom", "linear", "hyperloglog"};
constexpr std::string_view kMethodHelp =
    "exact: keeps every pair; bloom: 1024 bits per key, counts to about 400; linear: 1024 bits, counts to 4000; "
    "hyperloglog: error 6.5 %";

constexpr Parameter kSpreaderParameters[] = {
    {"key", "src", "address that is counted: src, or a prefix of it"},
    {"of", "dst", "what is counted: dst, or dst-and-port"},
    {"threshold", "128", "report a key with more distinct values than this in a window"},
    {"method", "exact", kMethodHelp},
};
constexpr Parameter kVictimParameters[] = {
    {"key", "dst", "address that is counted: dst, or a prefix of it"},
    {"of", "src", "what is counted: src, or src-and-port"},
    {"threshold", "128", "report a key with more distinct values than this in a window"},
    {"method", "exact", kMethodHelp},
};

/// Direction in which spreaders are sought.
struct Side {
  std::string_view keys, others, others_and_ports;
  std::string_view value, value_with_ports;
};
constexpr Side kSources{"src", "dst", "dst-and-port", "destinations", "destinations_and_ports"};
constexpr Side kDestinations{"dst", "src", "src-and-port", "sources", "sources_and_ports"};

/// Returns the other end of a flow as a key.
FlowKey other_end(const FlowKey& key, bool destinations, bool with_port) noexcept {
  FlowKey other;
  other.ip_version = key.ip_version;
  const auto address = destinations ? key.dst_address() : key.src_address();
  std::ranges::copy(address, other.address.begin());
  if (!with_port) return other;
  other.protocol = key.protocol;
  other.dst_port_bytes = destinations ? key.dst_port_bytes : key.src_port_bytes;
  return other;
}

/// Reports keys that have many different peers.
class Spreaders : public Task {
 public:
  Spreaders(const Side& side, Arguments& arguments, TaskContext& context)
      : part_(std::make_shared<const KeyPart>(arguments.key("key", context.fields()))),
        destinations_(side.keys == "src"),
        threshold_(static_cast<double>(arguments.count("threshold", 0, std::uint64_t{1} << 40))) {
    if (destinations_ ? !part_->src() || part_->dst() : !part_->dst() || part_->src())
      arguments.complain(fmt_key(side));
    const std::string_view ends[] = {side.others, side.others_and_ports};
    with_port_ = arguments.choice("of", ends) == 1;
    value_ = with_port_ ? side.value_with_ports : side.value;
    if (context.fields() != KeyFields::five_tuple && (with_port_ || context.fields() != KeyFields::src_dst))
      arguments.complain("flows do not have both ends: leave out --key");
  }

 protected:
  struct Found {
    const FlowKey* key;
    double estimate;
    double missing;  ///< upper bound of what the task had no room for
  };
  /// Keys that found no room in the window.
  struct LeftOut {
    std::uint64_t keys;
    double most_of_one;  ///< the most that any key lacks
  };

  /// Reports the findings, largest first.
  void report(std::vector<Found> found, LeftOut left_out, EventWriter& events,
              std::optional<double> (*relative_error)(double)) {
    const std::uint64_t untold = events.window().totals.untold_flows();
    if (left_out.keys != 0 || left_out.most_of_one != 0)
      events.write_left_out(left_out.keys, missing_error(left_out.most_of_one, untold));
    std::ranges::sort(found, [](const Found& a, const Found& b) {
      return a.estimate != b.estimate ? a.estimate > b.estimate : order_of(*a.key, *b.key) < 0;
    });
    for (const Found& one : found) {
      std::vector<EventValue> error = missing_error(one.missing, untold);
      if (relative_error != nullptr) {
        if (const auto relative = relative_error(one.estimate))
          error.push_back({value_ + "_relative", *relative});
        else
          error.push_back({value_ + "_at_least", one.estimate});
      }
      const EventValue value = relative_error == nullptr ? EventValue{value_, static_cast<std::uint64_t>(one.estimate)}
                                                         : EventValue{value_, one.estimate};
      events.write(part_, *one.key, {value}, std::move(error));
    }
  }

  FlowKey key_of(const FlowWindow& flow) const noexcept { return part_->of(flow.key); }
  FlowKey other_of(const FlowWindow& flow) const noexcept { return other_end(flow.key, destinations_, with_port_); }
  double threshold() const noexcept { return threshold_; }

 private:
  std::vector<EventValue> missing_error(double missing, std::uint64_t untold) const {
    const std::uint64_t most = static_cast<std::uint64_t>(std::ceil(missing)) + untold;
    return most == 0 ? std::vector<EventValue>{} : std::vector<EventValue>{{value_ + "_missing", most}};
  }
  static std::string fmt_key(const Side& side) {
    return std::string("key: give ") + std::string(side.keys) + ", or a prefix of it such as " +
           std::string(side.keys) + "/24";
  }

  std::shared_ptr<const KeyPart> part_;
  bool destinations_, with_port_ = false;
  double threshold_;
  std::string value_;
};

/// Counts peers with an approximate counter per key.
///
/// Shape: a key and its counter, for --task-keys of them.
/// Error: the counter's, and what HeavyKeys left out.
template <class Counter>
class CountedSpreaders final : public Spreaders {
 public:
  CountedSpreaders(const Side& side, Arguments& arguments, TaskContext& context)
      : Spreaders(side, arguments, context),
        keys_(context.keys(), context.seed()),
        others_(KeyFields::five_tuple, Identity::exact, context.seed() + 1) {}

  void flows(std::span<const FlowWindow> flows) override {
    for (const FlowWindow& flow : flows) {
      const FlowKey key = key_of(flow);
      const std::uint64_t hash = keys_.hash(key);
      auto* value = keys_.find_or_add(hash, key);
      if (value == nullptr) [[unlikely]] {
        keys_.drop_half();
        value = keys_.find_or_add(hash, key);
      }
      value->counter.add(others_.hash(other_of(flow)));
    }
  }

  void end(EventWriter& events) override {
    std::vector<Found> found;
    for (const auto& [key, tag, value] : keys_.entries())
      if (const double estimate = value.counter.estimate(); estimate > threshold())
        found.push_back({&key, estimate, value.before});
    report(std::move(found), {keys_.dropped_keys(), keys_.most_missing()}, events, Counter::relative_error);
    keys_.clear();
  }

  std::size_t memory_bytes() const noexcept override { return keys_.memory_bytes(keys_.capacity()); }

 private:
  HeavyKeys<Counter> keys_;
  FlowIdentity others_;
};

/// Counts peers exactly.
///
/// Shape: a key and a count for --task-keys of them, and eight pairs of hashes for each.
/// Error: pairs are distinguished by 128 bits of two hashes. If there is no room for a key, HeavyKeys makes room. If
///        there is none for a pair, the keys with the most pairs stop counting if they are above the threshold; their
///        counts are lower bounds. Otherwise the lightest keys are dropped. Each event says how much its count lacks at
///        most.
class ExactSpreaders final : public Spreaders {
 public:
  ExactSpreaders(const Side& side, Arguments& arguments, TaskContext& context)
      : Spreaders(side, arguments, context),
        keys_(context.keys(), context.seed()),
        pairs_(kPairs * context.keys(), context.seed() + 1) {}

  void flows(std::span<const FlowWindow> flows) override {
    for (const FlowWindow& flow : flows) {
      const FlowKey key = key_of(flow);
      const std::uint64_t hash = keys_.hash(key);
      const FlowKey pair = pair_of(hash, pairs_.hash(other_of(flow)));
      const std::uint64_t pair_hash = pairs_.hash(pair);
      if (pairs_.find(pair_hash, pair) != nullptr) continue;
      if (pairs_.size() == pairs_.capacity()) [[unlikely]]
        make_room_for_pairs();
      auto* value = keys_.find_or_add(hash, key);
      if (value == nullptr) [[unlikely]] {
        keys_.drop_half();
        forget_pairs();
        value = keys_.find_or_add(hash, key);
      }
      if (value->counter.has_stopped || pairs_.size() == pairs_.capacity()) [[unlikely]] {
        ++value->counter.not_counted;
        continue;
      }
      pairs_.add(pair_hash, pair);
      ++value->counter.count;
    }
  }

  void end(EventWriter& events) override {
    std::vector<Found> found;
    double most_missing = keys_.most_missing();
    for (const auto& [key, tag, value] : keys_.entries()) {
      const double count = value.counter.estimate(), missing = value.before + value.counter.most() - count;
      most_missing = std::max(most_missing, missing);
      if (count > threshold()) found.push_back({&key, count, missing});
    }
    report(std::move(found), {keys_.dropped_keys(), most_missing}, events, nullptr);
    keys_.clear();
    pairs_.clear();
  }

  std::size_t memory_bytes() const noexcept override {
    return keys_.memory_bytes(keys_.capacity()) + pairs_.memory_bytes(pairs_.capacity()) +
           keys_.capacity() * sizeof(Load);
  }

 private:
  static constexpr std::size_t kPairs = 8;

  struct Count {
    std::uint64_t count = 0;
    std::uint64_t not_counted = 0;  ///< flows that came since it stopped
    bool has_stopped = false;       ///< its pairs are no longer kept

    double estimate() const noexcept { return static_cast<double>(count); }
    double most() const noexcept { return static_cast<double>(count + not_counted); }
  };
  struct Load {
    double above;
    std::uint64_t pairs;
  };

  static FlowKey pair_of(std::uint64_t key_hash, std::uint64_t other_hash) noexcept {
    FlowKey pair;
    pair.ip_version = 6;
    std::memcpy(pair.address.data(), &key_hash, sizeof key_hash);
    std::memcpy(pair.address.data() + 8, &other_hash, sizeof other_hash);
    return pair;
  }
  static std::uint64_t key_hash_of(const FlowKey& pair) noexcept {
    std::uint64_t hash;
    std::memcpy(&hash, pair.address.data(), sizeof hash);
    return hash;
  }

  /// Frees at least a quarter of the pairs, first those of keys that are reported in any case or have far more pairs
  /// than average.
  void make_room_for_pairs() {
    loads_.clear();
    for (const auto& entry : keys_.entries())
      if (!entry.value.counter.has_stopped) loads_.push_back({keys_.above(entry.value), entry.value.counter.count});
    std::ranges::sort(loads_, {}, &Load::above);
    const std::size_t wanted = pairs_.capacity() / 4;
    const double enough = std::min(threshold(), static_cast<double>(pairs_.capacity() / 64));
    std::size_t freed = 0;
    double limit = 0;
    for (auto load = loads_.rbegin(); load != loads_.rend() && load->above > enough && freed < wanted; ++load) {
      limit = load->above;
      freed += load->pairs;
    }
    if (freed >= wanted) {
      for (auto& entry : keys_.entries()) entry.value.counter.has_stopped |= keys_.above(entry.value) >= limit;
    } else {
      freed = 0;
      for (auto load = loads_.begin(); load != loads_.end() && freed < wanted; ++load) {
        limit = load->above;
        freed += load->pairs;
      }
      keys_.drop_up_to(limit);
    }
    forget_pairs();
  }

  /// Removes pairs whose keys no longer count them.
  void forget_pairs() noexcept {
    pairs_.drop([&](const auto& pair) {
      const auto* const value = keys_.table().find_hash(key_hash_of(pair.key));
      return value == nullptr || value->counter.has_stopped;
    });
  }

  HeavyKeys<Count> keys_;
  KeyTable<char> pairs_;
  std::vector<Load> loads_;
};

std::unique_ptr<Task> make(const Side& side, Arguments& arguments, TaskContext& context) {
  switch (arguments.choice("method", kMethods)) {
    case 1:
      return std::make_unique<CountedSpreaders<BloomCount>>(side, arguments, context);
    case 2:
      return std::make_unique<CountedSpreaders<LinearCount>>(side, arguments, context);
    case 3:
      return std::make_unique<CountedSpreaders<HyperLogLogCount>>(side, arguments, context);
    default:
      return std::make_unique<ExactSpreaders>(side, arguments, context);
  }
}

}  // namespace

extern const TaskEntry kSuperspreaders{
    "superspreaders",
    "sources with many different destinations: scans",
    "source, and the number of destinations (or destinations and ports) that it sent to",
    "method exact: 0, or the most that may be missing if the table was full; others: three standard errors, or a lower "
    "bound",
    kSpreaderParameters,
    [](Arguments& arguments, TaskContext& context) { return make(kSources, arguments, context); }};

extern const TaskEntry kVictims{
    "victims",
    "destinations with many different sources: distributed denial of service",
    "destination, and the number of sources (or sources and ports) that sent to it",
    "same as for superspreaders",
    kVictimParameters,
    [](Arguments& arguments, TaskContext& context) { return make(kDestinations, arguments, context); }};

}  // namespace parshall
