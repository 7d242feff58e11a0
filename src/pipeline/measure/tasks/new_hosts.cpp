// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/networks.hpp"
#include "pipeline/measure/tasks/key_table.hpp"
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {
namespace {

constexpr Parameter kNewHostsParameters[] = {
    {"learn", "10m", "time in which hosts are only learnt; windows without packets do not count"},
    {"forget", "168h", "a host that was not seen for so long is new again"},
    {"networks", "private", "networks whose hosts count: 10.0.0.0/8+2001:db8::/32, all, or private (RFC 1918, 4193)"},
};

/// Reports sources that were never seen before.
///
/// Shape: 72 bytes for each of --task-keys hosts, 16 of the index, and 80 for as many in one window.
/// Full:  the half of the hosts that was not seen for the longest time is forgotten. Events say how many; such hosts
///        will be new again.
class NewHosts final : public Task {
 public:
  NewHosts(Arguments& arguments, TaskContext& context)
      : part_(std::make_shared<const KeyPart>(*KeyPart::parse("src"))),
        learn_ns_(arguments.duration_ns("learn", 0)),
        forget_ns_(arguments.duration_ns("forget", 1)),
        networks_(arguments.networks("networks")),
        hosts_(context.keys(), context.seed()) {
    seen_.reserve(hosts_.capacity());
    if (!part_->within(context.fields())) arguments.complain("flows do not have their source: choose another --key");
  }

  void flows(std::span<const FlowWindow> flows) override {
    for (const FlowWindow& flow : flows) {
      if (!networks_.contain(flow.key.src_address())) continue;
      const FlowKey key = part_->of(flow.key);
      const std::uint64_t hash = hosts_.hash(key);
      Host* host = hosts_.find_or_add(hash, key);
      if (host == nullptr) [[unlikely]] {
        forget_some();
        host = hosts_.find_or_add(hash, key);
      }
      note(key, *host, flow);
    }
  }

  void end(EventWriter& events) override {
    std::vector<EventValue> error;
    if (const std::uint64_t untold = events.window().totals.untold_flows(); untold != 0)
      error = {{"flows_missing", untold}};
    if (const std::uint64_t forgotten = std::exchange(forgotten_, 0); forgotten != 0)
      events.write_left_out(forgotten, {});
    std::ranges::sort(seen_, [](const Seen& a, const Seen& b) { return order_of(a.key, b.key) < 0; });
    const bool learns = learnt_ns_ < learn_ns_;
    for (const Seen& one : seen_) {
      if (is_new(one) && !learns)
        events.write(part_, one.key, {{"packets", one.packets}, {"wire_bytes", one.wire_bytes}}, error);
    }
    if (learns && events.window().totals.packets != 0) learnt_ns_ += time_of(events.window());
    seen_.clear();
    ++window_;
  }

  std::size_t memory_bytes() const noexcept override {
    return KeyTable<Host>::memory_bytes(hosts_.capacity()) + hosts_.capacity() * sizeof(Seen);
  }

 private:
  struct Host {
    std::uint64_t last_ns = 0;  ///< latest packet before the window `window`; 0: none
    std::uint64_t window = 0;   ///< the last one with a packet
    std::uint32_t place = 0;    ///< in seen_, in that window
  };
  struct Seen {
    FlowKey key;
    std::uint64_t first_ns, last_ns, packets, wire_bytes;
  };

  /// Time without packets does not count: a capture of many days may have a gap of most of them.
  /// Of packets, a window counts for at most a tenth of the learning, as one packet's time may be wrong.
  std::uint64_t time_of(const EventWindow& window) const noexcept {
    if (window.length.unit == WindowLength::Unit::ns) return window.length.amount;
    return std::min(window.totals.last_ns - window.totals.first_ns, learn_ns_ / 10);
  }

  void note(const FlowKey& key, Host& host, const FlowWindow& flow) {
    if (host.window != window_) {
      if (seen_.size() == hosts_.capacity()) {
        ++forgotten_;
        return;
      }
      host.window = window_;
      host.place = static_cast<std::uint32_t>(seen_.size());
      seen_.push_back({key, flow.first_ns, flow.last_ns, 0, 0});
    }
    Seen& one = seen_[host.place];
    one.first_ns = std::min(one.first_ns, flow.first_ns);
    one.last_ns = std::max(one.last_ns, flow.last_ns);
    one.packets += flow.packets;
    one.wire_bytes += flow.wire_bytes;
  }

  /// Returns whether the host was not seen before this window. From now on it was.
  bool is_new(const Seen& one) noexcept {
    Host* const host = hosts_.find(hosts_.hash(one.key), one.key);
    if (host == nullptr) return true;  // forgotten in this window
    const std::uint64_t before_ns = host->last_ns;
    host->last_ns = std::max({before_ns, one.last_ns, std::uint64_t{1}});
    return before_ns == 0 || (one.first_ns > before_ns && one.first_ns - before_ns >= forget_ns_);
  }

  void forget_some() {
    const auto weight = [this](const auto& host) {
      return host.value.window == window_ ? ~std::uint64_t{0} : host.value.last_ns;
    };
    forgotten_ += hosts_.drop_half(weight).entries;
  }

  std::shared_ptr<const KeyPart> part_;
  std::uint64_t learn_ns_, forget_ns_;
  Networks networks_;
  KeyTable<Host> hosts_;
  std::vector<Seen> seen_;  ///< in the open window
  std::uint64_t window_ = 1, learnt_ns_ = 0, forgotten_ = 0;
};

}  // namespace

extern const TaskEntry kNewHosts{"new-hosts",
                                 "hosts that send for the first time",
                                 "host, and what it sent in its first window",
                                 "exact; hosts beyond --task-keys are forgotten, the longest unseen first, and counted",
                                 kNewHostsParameters,
                                 [](Arguments& arguments, TaskContext& context) -> std::unique_ptr<Task> {
                                   return std::make_unique<NewHosts>(arguments, context);
                                 },
                                 /*finds_any=*/true,
                                 /*looks_at_flows=*/true,
                                 Severity::info,
                                 /*has_floors=*/false};

}  // namespace parshall
