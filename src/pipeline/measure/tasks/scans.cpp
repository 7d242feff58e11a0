// SPDX-License-Identifier: Apache-2.0
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "pipeline/flow/both_ways.hpp"
#include "pipeline/measure/tasks/key_table.hpp"
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {
namespace {

constexpr Parameter kScansParameters[] = {
    {"threshold", "64", "report a source with more attempts than this in a window"},
};

/// Returns the key of what a flow tries to reach: its source, and the destination's address, port and protocol.
FlowKey target_of(const FlowKey& flow) noexcept {
  FlowKey target;
  target.ip_version = flow.ip_version;
  target.protocol = flow.protocol;
  target.dst_port_bytes = flow.dst_port_bytes;
  std::copy_n(flow.address.data(), 2 * flow.address_bytes(), target.address.data());
  return target;
}

FlowKey source_of(const FlowKey& key) noexcept {
  FlowKey source;
  source.ip_version = key.ip_version;
  std::ranges::copy(key.src_address(), source.address.begin());
  return source;
}

/// Reports sources that try to reach many targets in vain. A target is an address with a port and a protocol.
///
/// A flow of TCP is an attempt if none of its packets has ACK, and if it is not a reset alone: so are SYN, FIN, NULL
/// and Xmas scans of ports that are closed or filtered, and SYN scans of open ones. Any other flow is an attempt unless
/// the window has a flow in the opposite direction.
///
/// Shape:  64 bytes for each target, kTargets times --task-keys of them; 80 bytes for each source while a window ends.
/// Full:   targets of the lighter half of the sources are dropped, so that a flood of sources cannot hide a scan. If
/// that
///         frees little, sources with very many targets stop counting, and are reported with what they have. Each count
///         says how much it may lack.
/// Source: failed first contacts tell scans from busy clients: Jung et al., "Fast portscan detection using sequential
///         hypothesis testing", IEEE S&P 2004. A threshold in place of their test gives a count that can be checked.
class Scans final : public Task {
 public:
  Scans(Arguments& arguments, TaskContext& context)
      : part_(std::make_shared<const KeyPart>(*KeyPart::parse("src"))),
        threshold_(arguments.count("threshold", 1, std::uint64_t{1} << 40)),
        targets_(kTargets * context.keys(), context.seed()),
        sources_(kTargets * context.keys(), context.seed() + 1) {
    if (context.fields() != KeyFields::five_tuple)
      arguments.complain("flows do not have both ends with their ports: leave out --key");
  }

  void flows(std::span<const FlowWindow> flows) override {
    constexpr std::uint16_t kRst = 4, kAck = 16;
    for (const FlowWindow& flow : flows) {
      if (flow.key.protocol == IPPROTO_TCP) {
        if ((flow.tcp_flags & kAck) == 0 && flow.tcp_flags != kRst) note(target_of(flow.key), /*is_attempt=*/true);
        continue;
      }
      note(target_of(flow.key), /*is_attempt=*/true);
      note(target_of(opposite(flow.key)), /*is_attempt=*/false);
    }
  }

  void end(EventWriter& events) override {
    count_sources();
    std::vector<Found> found = sources_above(threshold_);
    find_targets(found);
    std::ranges::move(stopped_, std::back_inserter(found));
    std::ranges::sort(found, [](const Found& a, const Found& b) {
      return a.attempts != b.attempts ? a.attempts > b.attempts : order_of(a.source, b.source) < 0;
    });
    const std::uint64_t missing = most_missing_ + events.window().totals.untold_flows();
    if (dropped_ != 0) events.write_left_out(dropped_, error_of(missing));
    for (const Found& one : found)
      events.write(part_, one.source,
                   {{"attempts", one.attempts}, {"destinations", one.destinations}, {"ports", one.ports}},
                   one.has_stopped ? std::vector<EventValue>{{"attempts_at_least", one.attempts}} : error_of(missing));
    targets_.clear();
    sources_.clear();
    stopped_.clear();
    most_missing_ = dropped_ = 0;
  }

  std::size_t memory_bytes() const noexcept override {
    return Targets::memory_bytes(targets_.capacity()) + KeyTable<Source>::memory_bytes(sources_.capacity());
  }

 private:
  static constexpr std::size_t kTargets = 4;
  static constexpr std::size_t kMostStopped = 64;  ///< each had more than 1/64 of all targets

  struct Target {
    bool is_tried = false, is_answered = false;
  };
  struct Source {
    std::uint64_t attempts = 0;
    std::uint32_t place = ~std::uint32_t{0};  ///< among the sources found
  };
  struct Found {
    FlowKey source;
    std::uint64_t attempts = 0, destinations = 0, ports = 0;
    bool has_stopped = false;
  };
  using Targets = KeyTable<Target>;

  std::uint64_t hash(const FlowKey& source) const noexcept { return sources_.hash(source); }

  static std::vector<EventValue> error_of(std::uint64_t missing) {
    return missing == 0 ? std::vector<EventValue>{} : std::vector<EventValue>{{"attempts_missing", missing}};
  }

  void note(const FlowKey& key, bool is_attempt) {
    if (has_stopped(key)) return;
    const std::uint64_t hash = targets_.hash(key);
    Target* target = targets_.find_or_add(hash, key);
    if (target == nullptr) [[unlikely]] {
      make_room();
      if (has_stopped(key)) return;
      target = targets_.find_or_add(hash, key);
    }
    (is_attempt ? target->is_tried : target->is_answered) = true;
  }

  /// Counts the attempts of each source.
  void count_sources() noexcept {
    sources_.clear();
    for (const auto& [key, tag, target] : targets_.entries()) {
      if (!target.is_tried || target.is_answered) continue;
      const FlowKey source = source_of(key);
      ++sources_.find_or_add(hash(source), source)->attempts;
    }
  }

  bool has_stopped(const FlowKey& target) const noexcept {
    if (stopped_.empty()) [[likely]]
      return false;
    const FlowKey source = source_of(target);
    return std::ranges::any_of(stopped_, [&](const Found& one) { return one.source == source; });
  }

  /// Returns the counted sources with more attempts than this, and notes their places.
  std::vector<Found> sources_above(std::uint64_t attempts) {
    std::vector<Found> found;
    for (auto& source : sources_.entries()) {
      if (source.value.attempts <= attempts) continue;
      source.value.place = static_cast<std::uint32_t>(found.size());
      found.push_back({.source = source.key, .attempts = source.value.attempts});
    }
    return found;
  }

  /// Drops the targets of the lighter half of the sources. If these are few, sources with very many targets stop.
  /// Targets that were answered go in any case.
  void make_room() {
    count_sources();
    std::vector<std::uint64_t> attempts;
    for (const auto& source : sources_.entries()) attempts.push_back(source.value.attempts);
    std::uint64_t limit = 0, kept = 0;
    if (!attempts.empty()) {
      const auto middle = attempts.begin() + static_cast<std::ptrdiff_t>((attempts.size() - 1) / 2);
      std::ranges::nth_element(attempts, middle);
      limit = *middle;
    }
    for (const std::uint64_t each : attempts) kept += each > limit ? each : 0;
    const std::uint64_t very_many = std::max<std::uint64_t>(threshold_, targets_.capacity() / kMostStopped);
    std::vector<Found> heavy;
    if (limit > very_many || kept > targets_.capacity() / 4 * 3) heavy = sources_above(very_many);
    if (!heavy.empty()) {
      find_targets(heavy);
      for (Found& one : heavy) one.has_stopped = true;
      std::ranges::move(heavy, std::back_inserter(stopped_));
      limit = 0;
    }
    targets_.drop([&](const Targets::Entry& entry) {
      if (!entry.value.is_tried || entry.value.is_answered || has_stopped(entry.key)) return true;
      const FlowKey source = source_of(entry.key);
      const bool is_light = sources_.find(hash(source), source)->attempts <= limit;
      dropped_ += is_light;
      return is_light;
    });
    most_missing_ += limit;
  }

  /// Counts the different addresses and ports that each source found tried.
  void find_targets(std::vector<Found>& found) const {
    using Port = std::tuple<std::uint32_t, std::uint8_t, std::uint16_t>;
    std::vector<std::pair<std::uint32_t, std::array<std::uint8_t, 16>>> addresses;
    std::vector<Port> ports;
    for (const auto& [key, tag, target] : targets_.entries()) {
      if (!target.is_tried || target.is_answered) continue;
      const FlowKey source = source_of(key);
      const std::uint32_t place = sources_.find(hash(source), source)->place;
      if (place >= found.size()) continue;
      auto& address = addresses.emplace_back(place, std::array<std::uint8_t, 16>{}).second;
      std::ranges::copy(key.dst_address(), address.begin());
      ports.emplace_back(place, key.protocol, key.dst_port());
    }
    const auto count = [&found](auto& all, std::uint64_t Found::*into) {
      std::ranges::sort(all);
      all.erase(std::unique(all.begin(), all.end()), all.end());
      for (const auto& one : all) ++(found[std::get<0>(one)].*into);
    };
    count(addresses, &Found::destinations);
    count(ports, &Found::ports);
  }

  std::shared_ptr<const KeyPart> part_;
  std::uint64_t threshold_;
  Targets targets_;
  KeyTable<Source> sources_;
  std::vector<Found> stopped_;
  std::uint64_t most_missing_ = 0, dropped_ = 0;
};

}  // namespace

extern const TaskEntry kScans{
    "scans",
    "sources that try to reach many addresses or ports in vain",
    "source, its attempts (different addresses with their ports), and how many addresses and ports these are",
    "exact; if more targets were tried than 4 times --task-keys, each count states how much may be missing",
    kScansParameters,
    [](Arguments& arguments, TaskContext& context) -> std::unique_ptr<Task> {
      return std::make_unique<Scans>(arguments, context);
    }};

}  // namespace parshall
