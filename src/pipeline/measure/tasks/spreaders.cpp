// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "pipeline/measure/tasks/distinct.hpp"
#include "pipeline/measure/tasks/missing.hpp"
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {
namespace {

constexpr std::string_view kMethods[] = {"exact", "bloom", "linear", "hyperloglog"};
constexpr std::string_view kMethodHelp =
    "exact: every pair is kept; bloom: 1024 bits a key, to about 400; linear: likewise, to 4000; hyperloglog: 6.5 %";

constexpr Parameter kSpreaderParameters[] = {
    {"key", "src", "who is looked at: src, or a prefix of it"},
    {"of", "dst", "what is counted: dst, or dst-and-port"},
    {"threshold", "128", "reported with more different ones than this in a window"},
    {"method", "exact", kMethodHelp},
};
constexpr Parameter kVictimParameters[] = {
    {"key", "dst", "who is looked at: dst, or a prefix of it"},
    {"of", "src", "what is counted: src, or src-and-port"},
    {"threshold", "128", "reported with more different ones than this in a window"},
    {"method", "exact", kMethodHelp},
};

/// Which way a spreader is looked for.
struct Side {
  std::string_view keys, others, others_and_ports;
  std::string_view value, value_with_ports;
};
constexpr Side kSources{"src", "dst", "dst-and-port", "destinations", "destinations_and_ports"};
constexpr Side kDestinations{"dst", "src", "src-and-port", "sources", "sources_and_ports"};

/// The other end of a flow as a key.
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

/// Keys with many different others at the far end of their flows.
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
  };

  /// Largest first.
  void report(std::vector<Found> found, EventWriter& events, std::optional<double> (*relative_error)(double)) {
    std::ranges::sort(found, [](const Found& a, const Found& b) {
      return a.estimate != b.estimate ? a.estimate > b.estimate : order_of(*a.key, *b.key) < 0;
    });
    for (const Found& one : found) {
      std::vector<EventValue> error;
      if (relative_error != nullptr) {
        if (const auto relative = relative_error(one.estimate))
          error.push_back({value_ + "_relative", *relative});
        else
          error.push_back({value_ + "_at_least", one.estimate});
      }
      if (const std::uint64_t missing = events.window().totals.untold_flows() + refused_pairs_; missing != 0)
        error.push_back({value_ + "_missing", missing});
      if (refused_keys_ != 0) error.push_back({"keys_missing", refused_keys_});
      const EventValue value = relative_error == nullptr ? EventValue{value_, static_cast<std::uint64_t>(one.estimate)}
                                                         : EventValue{value_, one.estimate};
      events.write(part_, *one.key, {value}, std::move(error));
    }
    refused_keys_ = refused_pairs_ = 0;
  }

  void refuse_key() noexcept { ++refused_keys_; }
  void refuse_pair() noexcept { ++refused_pairs_; }

  FlowKey key_of(const FlowWindow& flow) const noexcept { return part_->of(flow.key); }
  FlowKey other_of(const FlowWindow& flow) const noexcept { return other_end(flow.key, destinations_, with_port_); }
  double threshold() const noexcept { return threshold_; }

 private:
  static std::string fmt_key(const Side& side) {
    return std::string("key: give ") + std::string(side.keys) + ", or a prefix of it such as " +
           std::string(side.keys) + "/24";
  }

  std::shared_ptr<const KeyPart> part_;
  bool destinations_, with_port_ = false;
  double threshold_;
  std::string value_;
  std::uint64_t refused_keys_ = 0, refused_pairs_ = 0;  ///< flows without room for their key, or pairs
};

/// Shape: a key and its counter, for --task-keys of them.
/// Error: the counter's. Keys beyond the room for them are not looked at, and events say so.
template <class Counter>
class CountedSpreaders final : public Spreaders {
 public:
  CountedSpreaders(const Side& side, Arguments& arguments, TaskContext& context)
      : Spreaders(side, arguments, context),
        table_(context.keys(), context.seed()),
        others_(KeyFields::five_tuple, Identity::exact, context.seed() + 1) {}

  void flows(std::span<const FlowWindow> flows) override {
    for (const FlowWindow& flow : flows) {
      const FlowKey key = key_of(flow);
      Counter* const counter = table_.find_or_add(table_.hash(key), key);
      if (counter == nullptr)
        refuse_key();
      else
        counter->add(others_.hash(other_of(flow)));
    }
  }

  void end(EventWriter& events) override {
    std::vector<Found> found;
    for (const auto& entry : table_.entries())
      if (const double estimate = entry.value.estimate(); estimate > threshold())
        found.push_back({&entry.key, estimate});
    report(std::move(found), events, Counter::relative_error);
    table_.clear();
  }

  std::size_t memory_bytes() const noexcept override { return table_.memory_bytes(table_.capacity()); }

 private:
  KeyTable<Counter> table_;
  FlowIdentity others_;
};

/// Shape: a key and a count for --task-keys of them, and eight pairs of hashes for each.
/// Error: pairs are told apart by 128 bits of two hashes. Pairs beyond the room for them are not counted: then a count
///        is too low, and events say by how much at most.
class ExactSpreaders final : public Spreaders {
 public:
  ExactSpreaders(const Side& side, Arguments& arguments, TaskContext& context)
      : Spreaders(side, arguments, context),
        table_(context.keys(), context.seed()),
        pairs_(kPairs * context.keys(), context.seed() + 1) {}

  void flows(std::span<const FlowWindow> flows) override {
    for (const FlowWindow& flow : flows) {
      const FlowKey key = key_of(flow);
      const std::uint64_t hash = table_.hash(key);
      const FlowKey pair = pair_of(hash, pairs_.hash(other_of(flow)));
      const std::size_t before = pairs_.size();
      if (pairs_.find_or_add(pairs_.hash(pair), pair) == nullptr) {
        refuse_pair();
        continue;
      }
      if (pairs_.size() == before) continue;
      std::uint64_t* const count = table_.find_or_add(hash, key);
      if (count == nullptr)
        refuse_key();
      else
        ++*count;
    }
  }

  void end(EventWriter& events) override {
    std::vector<Found> found;
    for (const auto& entry : table_.entries())
      if (const auto count = static_cast<double>(entry.value); count > threshold())
        found.push_back({&entry.key, count});
    report(std::move(found), events, nullptr);
    table_.clear();
    pairs_.clear();
  }

  std::size_t memory_bytes() const noexcept override {
    return table_.memory_bytes(table_.capacity()) + pairs_.memory_bytes(pairs_.capacity());
  }

 private:
  static constexpr std::size_t kPairs = 8;

  static FlowKey pair_of(std::uint64_t key_hash, std::uint64_t other_hash) noexcept {
    FlowKey pair;
    pair.ip_version = 6;
    std::memcpy(pair.address.data(), &key_hash, sizeof key_hash);
    std::memcpy(pair.address.data() + 8, &other_hash, sizeof other_hash);
    return pair;
  }

  KeyTable<std::uint64_t> table_;
  KeyTable<char> pairs_;
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
    "source; how many destinations (or destinations and ports) it sent to",
    "exact: none while there is room; else three standard errors, or that it is a lower bound",
    kSpreaderParameters,
    [](Arguments& arguments, TaskContext& context) { return make(kSources, arguments, context); }};

extern const TaskEntry kVictims{
    "victims",
    "destinations with many different sources: distributed denial of service",
    "destination; how many sources (or sources and ports) sent to it",
    "as of superspreaders",
    kVictimParameters,
    [](Arguments& arguments, TaskContext& context) { return make(kDestinations, arguments, context); }};

}  // namespace parshall
