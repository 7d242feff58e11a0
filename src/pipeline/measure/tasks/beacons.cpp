// SPDX-License-Identifier: Apache-2.0
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "pipeline/flow/both_ways.hpp"
#include "pipeline/measure/tasks/key_table.hpp"
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {
namespace {

constexpr Parameter kBeaconsParameters[] = {
    {"contacts", "10", "fewest contacts, up to 16 of which are judged"},
    {"least", "5s", "shortest interval between two contacts; what is closer counts as one"},
    {"jitter", "0.1", "largest deviation of an interval from the median, as a fraction of it"},
    {"share", "0.8", "smallest fraction of the intervals that keeps to it"},
    {"destinations", "8", "a source that contacts more destinations like this, by one port, is not reported: it polls"},
};

/// Reports contacts of a host with another one that come at regular intervals: malware that asks for orders, and
/// also time servers and updates. A contact by TCP is a connection that begins, so keep-alives are none. Any other
/// contact is a packet after a silence of `least`; packets to a higher port are answers, and between equal ports those
/// that come later.
///
/// Error:  packets of a flow between its first and its last one in a window are not looked at, so a window should not
///         be longer than `least`.
/// Shape:  144 bytes for each of --task-keys contacts, and 16 of the index; a pass over them at the end of a window.
/// Full:   the half of the keys with the fewest contacts is forgotten. Events say how many.
/// Source: regular intervals as the sign of beacons: Hu et al., "BAYWATCH: robust beaconing detection", DSN 2016. A
///         share of intervals around their median in place of their periodogram bears missed contacts and can be
///         checked.
class Beacons final : public Task {
 public:
  Beacons(Arguments& arguments, TaskContext& context)
      : part_(std::make_shared<const KeyPart>(*KeyPart::parse("src-dst-port"))),
        contacts_(arguments.count("contacts", 4, kKept + 1)),
        least_ns_(arguments.duration_ns("least", 1)),
        jitter_(arguments.number("jitter", 0, 1)),
        share_(arguments.number("share", 0, 1)),
        most_destinations_(arguments.count("destinations", 1, std::uint64_t{1} << 40)),
        pairs_(context.keys(), context.seed()) {
    if (context.fields() != KeyFields::five_tuple)
      arguments.complain("flows do not have both ends with their ports: leave out --key");
  }

  void flows(std::span<const FlowWindow> flows) override {
    constexpr std::uint16_t kSyn = 2;
    for (const FlowWindow& flow : flows) {
      const bool is_tcp = flow.key.protocol == IPPROTO_TCP;
      const bool is_answer = flow.key.src_port() < flow.key.dst_port();
      if (is_tcp ? (flow.tcp_flags & kSyn) == 0 : is_answer) continue;
      const FlowKey key = part_->of(flow.key);
      const std::uint64_t hash = pairs_.hash(key);
      Pair* pair = pairs_.find_or_add(hash, key);
      if (pair == nullptr) [[unlikely]] {
        make_room();
        pair = pairs_.find_or_add(hash, key);
      }
      pair->first_ns = std::min(pair->first_ns, flow.first_ns);
      pair->now_ns = std::max(pair->now_ns, is_tcp ? flow.first_ns : flow.last_ns);
    }
  }

  void end(EventWriter& events) override {
    const std::uint64_t now_ns = events.window().totals.last_ns;
    if (dropped_ != 0) events.write_left_out(std::exchange(dropped_, 0), {});
    std::vector<Found> found;
    for (auto& entry : pairs_.entries()) {
      Pair& pair = entry.value;
      const bool is_now = pair.now_ns != 0 && note(pair);
      if (pair.intervals + 1 < contacts_) continue;
      if (const auto median_s = regular_interval(pair); median_s > 0 && now_ns < pair.contact_ns + held_ns(median_s))
        found.push_back({&entry, median_s, is_now});
    }
    leave_out_answers(found);
    leave_out_pollers(found);
    std::ranges::sort(found, [](const Found& a, const Found& b) { return order_of(a.pair->key, b.pair->key) < 0; });
    std::vector<EventValue> error;
    if (const std::uint64_t untold = events.window().totals.untold_flows(); untold != 0)
      error = {{"flows_missing", untold}};
    for (const Found& one : found)
      if (one.is_now)
        events.write_lasting(part_, one.pair->key,
                             {{"interval_s", one.median_s}, {"contacts", one.pair->value.intervals + 1}}, error,
                             held_ns(one.median_s));
  }

  std::size_t memory_bytes() const noexcept override { return KeyTable<Pair>::memory_bytes(pairs_.capacity()); }

 private:
  static constexpr std::size_t kKept = 16;
  struct Pair {
    std::uint64_t first_ns = ~std::uint64_t{0}, now_ns = 0;  ///< first and last packet in the open window; 0: none
    std::uint64_t contact_ns = 0, last_ns = 0;               ///< latest contact, and latest packet
    std::uint64_t intervals = 0;
    std::array<float, kKept> latest_s{};  ///< the latest intervals, in a ring
  };
  struct Found {
    const KeyTable<Pair>::Entry* pair;
    double median_s;
    bool is_now;  ///< it has a contact in this window
  };

  /// Returns for how long contacts at this interval count as going on.
  static std::uint64_t held_ns(double median_s) noexcept {
    constexpr double kMissed = 3, kMostS = 86'400;
    return static_cast<std::uint64_t>(std::min(kMissed * median_s, kMostS) * 1e9);
  }

  /// Returns whether the window has a contact.
  bool note(Pair& pair) const noexcept {
    bool is_contact = pair.last_ns == 0;
    if (is_contact) {
      pair.contact_ns = pair.first_ns;
    } else if (pair.first_ns > pair.last_ns && pair.first_ns - pair.last_ns >= least_ns_) {
      pair.latest_s[pair.intervals % kKept] =
          static_cast<float>(static_cast<double>(pair.first_ns - pair.contact_ns) / 1e9);
      ++pair.intervals;
      pair.contact_ns = pair.first_ns;
      is_contact = true;
    }
    pair.last_ns = std::max(pair.last_ns, pair.now_ns);
    pair.first_ns = ~std::uint64_t{0};
    pair.now_ns = 0;
    return is_contact;
  }

  /// Returns the median interval in seconds if enough of the latest ones are near it, or 0.
  double regular_interval(const Pair& pair) const noexcept {
    std::array<float, kKept> sorted = pair.latest_s;
    const std::size_t count = std::min<std::size_t>(pair.intervals, kKept);
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(count);
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count / 2);
    std::nth_element(sorted.begin(), middle, end);
    const double median = *middle;
    const auto near = std::count_if(sorted.begin(), end,
                                    [&](float interval) { return std::abs(interval - median) <= jitter_ * median; });
    return static_cast<double>(near) >= share_ * static_cast<double>(count) ? median : 0;
  }

  /// Leaves out the later one of two directions between the same hosts, if their intervals are alike.
  void leave_out_answers(std::vector<Found>& found) const {
    const auto hosts = [](const Found& one) {
      FlowKey key = one.pair->key;
      key.dst_port_bytes = {};
      return both_ways(key).first;
    };
    std::ranges::sort(found, [&](const Found& a, const Found& b) {
      const int order = order_of(hosts(a), hosts(b));
      if (order != 0) return order < 0;
      const std::uint64_t first = a.pair->value.contact_ns, second = b.pair->value.contact_ns;
      return first != second ? first < second : order_of(a.pair->key, b.pair->key) < 0;
    });
    std::vector<Found> kept;
    std::size_t same = 0;  // the first kept one of these hosts
    for (const Found& one : found) {
      if (!kept.empty() && order_of(hosts(kept.back()), hosts(one)) != 0) same = kept.size();
      const bool is_answer =
          std::any_of(kept.begin() + static_cast<std::ptrdiff_t>(same), kept.end(), [&](const Found& of) {
            return std::ranges::equal(of.pair->key.src_address(), one.pair->key.dst_address()) &&
                   std::abs(of.median_s - one.median_s) <= jitter_ * of.median_s;
          });
      if (!is_answer) kept.push_back(one);
    }
    found = std::move(kept);
  }

  void leave_out_pollers(std::vector<Found>& found) const {
    const auto poller = [](const Found& one) {
      FlowKey key;
      key.ip_version = one.pair->key.ip_version;
      key.protocol = one.pair->key.protocol;
      key.dst_port_bytes = one.pair->key.dst_port_bytes;
      std::ranges::copy(one.pair->key.src_address(), key.address.begin());
      return key;
    };
    std::ranges::sort(found, [&](const Found& a, const Found& b) { return order_of(poller(a), poller(b)) < 0; });
    std::vector<Found> kept;
    for (auto first = found.begin(); first != found.end();) {
      const auto last = std::find_if(first, found.end(),
                                     [&](const Found& other) { return order_of(poller(*first), poller(other)) != 0; });
      if (static_cast<std::uint64_t>(last - first) <= most_destinations_) kept.insert(kept.end(), first, last);
      first = last;
    }
    found = std::move(kept);
  }

  void make_room() {
    dropped_ += pairs_.drop_half([](const auto& entry) { return entry.value.intervals; }).entries;
  }

  std::shared_ptr<const KeyPart> part_;
  std::uint64_t contacts_, least_ns_;
  double jitter_, share_;
  std::uint64_t most_destinations_;
  KeyTable<Pair> pairs_;
  std::uint64_t dropped_ = 0;
};

}  // namespace

extern const TaskEntry kBeacons{
    "beacons",
    "hosts that contact another one at regular intervals",
    "both hosts, the port, the interval in seconds, and the contacts so far; at each contact",
    "exact for intervals longer than a window; pairs beyond --task-keys are left out, those with the fewest contacts "
    "first, and counted",
    kBeaconsParameters,
    [](Arguments& arguments, TaskContext& context) -> std::unique_ptr<Task> {
      return std::make_unique<Beacons>(arguments, context);
    },
    /*finds_any=*/true,
    /*looks_at_flows=*/true,
    Severity::info};

}  // namespace parshall
