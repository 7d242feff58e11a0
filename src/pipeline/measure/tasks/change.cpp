// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "pipeline/measure/tasks/missing.hpp"
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {
namespace {

constexpr std::string_view kMethods[] = {"ewma", "previous"};

constexpr Parameter kChangeParameters[] = {
    {"key", "src", "part of the key that flows are counted by"},
    {"by", "wire_bytes", "packets, ip_bytes, wire_bytes, flows or new_flows"},
    {"method", "ewma", "forecast: the moving average of earlier windows, or the previous window"},
    {"threshold", "1%",
     "smallest difference from the forecast: a number, or a percentage of the larger total of this window and the "
     "previous one"},
    {"deviations", "4", "ewma: smallest difference in mean deviations"},
    {"warm-up", "3", "ewma: windows before the first in which a change can be reported"},
};

/// Reports keys whose traffic in a window differs from what earlier windows predict.
///
/// - ewma: in the first window, each key's mean m is its x, and its deviation d is x / 2; for a key first seen later
///   both are 0. After the warm-up, x is a change if |x - m| reaches the threshold and exceeds `deviations` d. Then m
///   += (x - m) / 8, d += (|x - m| - d) / 4.
/// - previous: a change if |x - x'| reaches the threshold; x' is 0 for a key that was absent.
/// - A window without any packet reports no change, but every key learns 0 from it. The windows in which the input
///   begins or ends are skipped. A key is forgotten when its mean is below 1/2.
///
/// Full:  of the tracked and the new keys, those with the largest m or x are kept.
/// Error: that of Aggregate for x, and its average for the prediction. A key without room had at most the largest m or
///        x that was dropped, so a later prediction for it is too low by that at most.
/// Source: averages as in RFC 6298, section 2, which the SOSR 2018 paper's "EWMA model" leaves open (section 4.1);
///         previous: heavy changers, Schweller et al., "Reverse hashing for high-speed network monitoring", 2006.
class Change final : public Task {
 public:
  Change(Arguments& arguments, TaskContext& context)
      : part_(std::make_shared<const KeyPart>(arguments.key("key", context.fields()))),
        aggregate_(context.aggregate(*part_)),
        amount_(arguments.amount("by")),
        ewma_(arguments.choice("method", kMethods) == 0),
        threshold_(arguments.threshold("threshold")),
        deviations_(arguments.number("deviations", 0, 1e6)),
        warm_up_(static_cast<std::uint32_t>(arguments.count("warm-up", 0, 1'000'000))),
        followed_(context.keys(), context.seed()) {}

  void end(EventWriter& events) override {
    const EventWindow& window = events.window();
    if (window.totals.partial) return;
    if (windows_ != 0) skip(window.number - last_ - 1);
    std::vector<const Aggregate::Table::Entry*> fresh;
    for (const auto& entry : aggregate_.entries())
      if (Followed* const followed = followed_.find(followed_.hash(entry.key), entry.key))
        followed->now = entry.value.*amount_.of;
      else
        fresh.push_back(&entry);
    make_room(fresh);
    for (const auto* const entry : fresh)
      followed_.add(followed_.hash(entry->key), entry->key).now = entry->value.*amount_.of;
    next_window(&events);
    last_ = window.number;
  }

  /// Includes what a window takes if all its keys are new.
  std::size_t memory_bytes() const noexcept override {
    return followed_.memory_bytes(followed_.capacity()) + followed_.capacity() * (sizeof(void*) + 2 * sizeof(double));
  }

 private:
  struct Followed {
    double mean = 0, deviation = 0;
    std::uint64_t now = 0;
  };
  using Table = KeyTable<Followed>;
  struct Changed {
    const Table::Entry* entry;
    double expected, difference;
  };

  static double weight_of(const Followed& key) noexcept { return std::max(key.mean, static_cast<double>(key.now)); }

  /// Drops the lightest of the tracked and the fresh keys, and all that are equally light.
  void make_room(std::vector<const Aggregate::Table::Entry*>& fresh) {
    largest_left_out_ = 0;
    left_out_ = 0;
    const std::size_t all = followed_.size() + fresh.size();
    if (all <= followed_.capacity()) return;
    const auto fresh_weight = [this](const auto* entry) { return static_cast<double>(entry->value.*amount_.of); };
    std::vector<double> weights;
    weights.reserve(all);
    for (const auto& entry : followed_.entries()) weights.push_back(weight_of(entry.value));
    std::ranges::transform(fresh, std::back_inserter(weights), fresh_weight);
    const auto last = weights.begin() + static_cast<std::ptrdiff_t>(all - followed_.capacity() - 1);
    std::ranges::nth_element(weights, last);
    largest_left_out_ = *last;
    followed_.drop([&](const Table::Entry& entry) { return weight_of(entry.value) <= largest_left_out_; });
    std::erase_if(fresh, [&](const auto* entry) { return fresh_weight(entry) <= largest_left_out_; });
    left_out_ = all - followed_.size() - fresh.size();
  }

  /// Skips windows without packets; after some 340 of them every key is forgotten.
  void skip(std::uint64_t windows) {
    for (; windows != 0 && followed_.size() != 0; --windows) next_window(nullptr);
    if (windows != 0) {
      total_before_ = 0;
      expected_missing_ = ewma_ ? expected_missing_ * std::pow(7. / 8, static_cast<double>(windows)) : 0;
    }
    windows_ += windows;
  }

  /// Ends a window; `events` is null for one without packets.
  void next_window(EventWriter* events) {
    const std::uint64_t total = events == nullptr ? 0 : total_of(amount_, aggregate_, events->window());
    if (events != nullptr) report(std::max(total, total_before_), *events);
    for (auto& entry : followed_.entries()) learn(entry.value);
    followed_.drop([](const Table::Entry& entry) { return entry.value.mean < 0.5; });
    total_before_ = total;
    const auto missing =
        events == nullptr ? 0 : static_cast<double>(most_missing(aggregate_, events->window()).*amount_.of);
    const bool averages = ewma_ && windows_ != 0;  // as in learn()
    expected_missing_ += averages ? (missing - expected_missing_) / 8 : missing - expected_missing_;
    expected_missing_ += std::exchange(largest_left_out_, 0);
    ++windows_;
  }

  void report(std::uint64_t total, EventWriter& events) {
    std::vector<Changed> changed;
    for (auto& entry : followed_.entries()) {
      Followed& key = entry.value;
      const auto now = static_cast<double>(key.now);
      const double difference = now - key.mean;
      if (difference != 0 && is_change(key, std::abs(difference), total))
        changed.push_back({&entry, key.mean, difference});
    }
    std::ranges::sort(changed, [](const Changed& a, const Changed& b) {
      const double x = std::abs(a.difference), y = std::abs(b.difference);
      return x != y ? x > y : order_of(a.entry->key, b.entry->key) < 0;
    });
    const auto error = error_of(events.window(), expected_missing_);
    if (const std::uint64_t keys = aggregate_.dropped_keys() + left_out_; keys != 0)
      events.write_left_out(keys, error_of(events.window(), expected_missing_ + largest_left_out_));
    for (const Changed& one : changed)
      events.write(part_, one.entry->key,
                   {{std::string(amount_.name) + "_difference", one.difference},
                    {std::string(amount_.name), one.entry->value.now},
                    {std::string(amount_.name) + "_expected", one.expected}},
                   error);
  }

  bool is_change(const Followed& key, double difference, std::uint64_t total) const noexcept {
    if (!threshold_.reached(difference, static_cast<double>(total))) return false;
    if (!ewma_) return windows_ != 0;
    return windows_ >= warm_up_ && difference > deviations_ * key.deviation;
  }

  void learn(Followed& key) const noexcept {
    const auto now = static_cast<double>(key.now);
    const double difference = std::abs(now - key.mean);
    if (!ewma_ || windows_ == 0) {
      key.mean = now;
      key.deviation = now / 2;
    } else {
      key.mean += (now - key.mean) / 8;
      key.deviation += (difference - key.deviation) / 4;
    }
    key.now = 0;
  }

  std::vector<EventValue> error_of(const EventWindow& window, double expected_missing) const {
    auto error = missing_error(amount_, most_missing(aggregate_, window));
    if (expected_missing > 1e-3) error.push_back({std::string(amount_.name) + "_expected_missing", expected_missing});
    return error;
  }

  std::shared_ptr<const KeyPart> part_;
  const Aggregate& aggregate_;
  const Amount& amount_;
  bool ewma_;
  Threshold threshold_;
  double deviations_;
  std::uint32_t warm_up_;
  Table followed_;
  std::uint64_t windows_ = 0, last_ = 0, total_before_ = 0;
  std::uint64_t left_out_ = 0;   ///< keys without room in this window
  double largest_left_out_ = 0;  ///< value or prediction of the largest of them
  double expected_missing_ = 0;  ///< possible shortfall of a prediction because earlier windows lacked it
};

}  // namespace

extern const TaskEntry kChange{
    "change",
    "keys whose traffic differs from the forecast of earlier windows",
    "key, its value, the expected value, and the difference",
    "exact if there are at most --task-keys keys; else each count states how much may be missing",
    kChangeParameters,
    [](Arguments& arguments, TaskContext& context) -> std::unique_ptr<Task> {
      return std::make_unique<Change>(arguments, context);
    }};

}  // namespace parshall
