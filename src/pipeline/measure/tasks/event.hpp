// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pipeline/measure/tasks/key_part.hpp"
#include "pipeline/measure/tasks/parted_flows.hpp"
#include "pipeline/measure/windows/window.hpp"

namespace parshall {

/// A number with its name, which includes the unit.
struct EventValue {
  std::string name;
  std::variant<std::uint64_t, double> value;
};

/// Name of the value by which a summary reports keys that found no room in a window.
inline constexpr std::string_view kKeysLeftOut = "keys_left_out";

/// Returns the name of the share of flows of this weight (FlowWeight) that a task followed, in an event about its
/// recall.
inline std::string followed_from(std::size_t weight) {
  return "followed_from_" + std::to_string(FlowWeight::least_packets(weight));
}

/// Window that an event belongs to.
struct EventWindow {
  WindowLength length;
  std::uint64_t number = 0;
  WindowTotals totals;
};

/// Kind of event: something a task looks for, a figure of all traffic, or how much a task found of what it looks for.
enum class EventKind : std::uint8_t { finding, summary, recall };

constexpr std::string_view name_of(EventKind kind) noexcept {
  constexpr std::array<std::string_view, 3> kNames{"finding", "summary", "recall"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// Finding of a task at a window's end.
struct Event {
  std::string task;
  EventWindow window;
  std::shared_ptr<const KeyPart> part;  ///< part of `key`; null if the event is about all traffic
  FlowKey key;
  std::vector<EventValue> values;
  std::vector<EventValue> error;  ///< possible deviation of the values, by kind; empty if they are exact
  EventKind kind = EventKind::finding;
  std::uint64_t holds_ns = 0;  ///< time after its window for which a finding holds without a new one
};

/// Takes the events of one task and one window, up to a limit; further ones are only counted.
class EventWriter {
 public:
  using Take = std::function<void(Event&&)>;

  /// `parted` has the flows whose counts are lower bounds.
  EventWriter(const std::string& task, const EventWindow& window, std::size_t most, const Take& take,
              const PartedFlows& parted)
      : task_(task), window_(window), most_(most), take_(take), parted_(parted) {}

  const EventWindow& window() const noexcept { return window_; }

  void write(std::vector<EventValue> values, std::vector<EventValue> error) {
    put(nullptr, {}, std::move(values), std::move(error));
  }
  void write(const std::shared_ptr<const KeyPart>& part, const FlowKey& key, std::vector<EventValue> values,
             std::vector<EventValue> error) {
    put(part, key, std::move(values), std::move(error));
  }
  /// How the task saw the flow that it reports.
  struct Seen {
    std::uint8_t weight = 0;  ///< as in FlowWindow
    bool in_part = false;     ///< FlowWindow::measured_in_part
    std::uint64_t events = 1;
  };
  void write(const std::shared_ptr<const KeyPart>& part, const FlowKey& flow, Seen seen, std::vector<EventValue> values,
             std::vector<EventValue> error) {
    if (parted_.may_have(flow))
      for (const EventValue& value : values)
        if (value.name == "packets" || value.name == "wire_bytes")
          error.push_back({value.name + "_at_least", value.value});
    put(part, flow, std::move(values), std::move(error), EventKind::finding, seen);
  }

  /// Writes a finding that holds for so long after its window.
  void write_lasting(const std::shared_ptr<const KeyPart>& part, const FlowKey& key, std::vector<EventValue> values,
                     std::vector<EventValue> error, std::uint64_t holds_ns) {
    put(part, key, std::move(values), std::move(error), EventKind::finding, {}, holds_ns);
  }

  void write_summary(std::vector<EventValue> values, std::vector<EventValue> error) {
    put(nullptr, {}, std::move(values), std::move(error), EventKind::summary);
  }

  /// Reports in a summary, regardless of the limit, how many keys were left out for lack of room (--task-keys), and how
  /// far counts may be off because of that.
  void write_left_out(std::uint64_t keys, std::vector<EventValue> error) {
    keys_left_out_ += keys;
    ++most_;
    write_summary({{std::string(kKeysLeftOut), keys}}, std::move(error));
  }

  /// Counts events that the task itself had no room for.
  void count_dropped(std::uint64_t events) noexcept {
    dropped_ += events;
    without_room_ += events;
  }

  std::uint64_t written() const noexcept { return written_; }
  std::uint64_t dropped() const noexcept { return dropped_; }  ///< events beyond the limit
  std::uint64_t keys_left_out() const noexcept { return keys_left_out_; }

  /// Returns all events by the weight of their flows. Those about a key count by its flows' average packets
  /// (FlowWeight), those about no flow as light.
  std::array<std::uint64_t, FlowWeight::kClasses> found() const noexcept {
    auto found = found_;
    found[0] += without_room_;
    return found;
  }
  /// Returns those of found() whose flows the task saw only in part.
  std::array<std::uint64_t, FlowWeight::kClasses> found_in_part() const noexcept { return found_in_part_; }
  /// Returns each event in flows that the task saw throughout, where found() has each flow once.
  std::array<std::uint64_t, FlowWeight::kClasses> each_found() const noexcept {
    auto found = each_found_;
    found[0] += without_room_;
    return found;
  }

 private:
  void put(std::shared_ptr<const KeyPart> part, const FlowKey& key, std::vector<EventValue> values,
           std::vector<EventValue> error, EventKind kind = EventKind::finding, std::optional<Seen> seen = {},
           std::uint64_t holds_ns = 0) {
    if (kind == EventKind::finding) {
      if (!seen) seen = {.weight = weight_of(values)};
      ++found_[seen->weight];
      found_in_part_[seen->weight] += seen->in_part;
      each_found_[seen->weight] += seen->in_part ? 0 : seen->events;
    }
    if (written_ == most_) {
      ++dropped_;
      return;
    }
    ++written_;
    take_({task_, window_, std::move(part), key, std::move(values), std::move(error), kind, holds_ns});
  }

  std::uint8_t weight_of(const std::vector<EventValue>& values) const noexcept {
    const auto count = [&](std::string_view name) -> std::uint64_t {
      for (const EventValue& value : values)
        if (value.name == name)
          if (const auto* const number = std::get_if<std::uint64_t>(&value.value)) return *number;
      return 0;
    };
    return weight_in(window_.length, count("packets") / std::max<std::uint64_t>(count("flows"), 1));
  }

  const std::string& task_;
  const EventWindow& window_;
  std::size_t most_;
  const Take& take_;
  const PartedFlows& parted_;
  std::uint64_t written_ = 0, dropped_ = 0, without_room_ = 0, keys_left_out_ = 0;
  std::array<std::uint64_t, FlowWeight::kClasses> found_{}, found_in_part_{}, each_found_{};
};

}  // namespace parshall
