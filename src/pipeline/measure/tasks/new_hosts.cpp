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
    {"learn", "10m", "time from the beginning in which hosts are only learnt"},
    {"forget", "168h", "a host that was not seen for so long is new again"},
    {"networks", "private", "networks whose hosts count: 10.0.0.0/8+2001:db8::/32, all, or private (RFC 1918, 4193)"},
};

/// Reports sources that were never seen before.
///
/// Shape: 72 bytes for each of --task-keys hosts, 16 of the index, and 72 for as many that are new in one window.
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
    new_.reserve(hosts_.capacity());
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
    const WindowTotals& totals = events.window().totals;
    note_begin(events.window());
    std::vector<EventValue> error;
    if (const std::uint64_t untold = totals.untold_flows(); untold != 0) error = {{"flows_missing", untold}};
    if (const std::uint64_t forgotten = std::exchange(forgotten_, 0); forgotten != 0)
      events.write_left_out(forgotten, {});
    std::ranges::sort(new_, [](const New& a, const New& b) { return order_of(a.key, b.key) < 0; });
    for (const New& one : new_)
      if (one.first_ns >= begin_ns_ && one.first_ns - begin_ns_ >= learn_ns_)
        events.write(part_, one.key, {{"packets", one.packets}, {"wire_bytes", one.wire_bytes}}, error);
    new_.clear();
    ++window_;
  }

  std::size_t memory_bytes() const noexcept override {
    return KeyTable<Host>::memory_bytes(hosts_.capacity()) + hosts_.capacity() * sizeof(New);
  }

 private:
  struct Host {
    std::uint64_t last_ns = 0;
    std::uint64_t window = 0;  ///< where it is new
    std::uint32_t place = 0;   ///< among those
  };
  struct New {
    FlowKey key;
    std::uint64_t first_ns, packets, wire_bytes;
  };

  /// Notes when the learning begins. A first packet of a wrong time, long before the second window, does not count.
  void note_begin(const EventWindow& window) {
    constexpr std::uint64_t kFirst = 1, kSecond = 2;
    const bool by_time = window.length.unit == WindowLength::Unit::ns;
    const std::uint64_t now_ns = by_time ? window.length.begin_of(window.number) : window.totals.first_ns;
    if (window_ == kFirst || (window_ == kSecond && now_ns > begin_ns_ && now_ns - begin_ns_ > learn_ns_))
      begin_ns_ = now_ns;
  }

  void note(const FlowKey& key, Host& host, const FlowWindow& flow) {
    const bool is_known =
        host.last_ns != 0 && (flow.first_ns <= host.last_ns || flow.first_ns - host.last_ns < forget_ns_);
    host.last_ns = std::max({host.last_ns, flow.last_ns, std::uint64_t{1}});
    if (!is_known && new_.size() == hosts_.capacity()) {
      ++forgotten_;
      return;
    }
    if (!is_known) {
      host.window = window_;
      host.place = static_cast<std::uint32_t>(new_.size());
      new_.push_back({key, flow.first_ns, 0, 0});
    }
    if (host.window != window_) return;
    New& one = new_[host.place];
    one.first_ns = std::min(one.first_ns, flow.first_ns);
    one.packets += flow.packets;
    one.wire_bytes += flow.wire_bytes;
  }

  void forget_some() {
    forgotten_ += hosts_.drop_half([](const auto& host) { return host.value.last_ns; }).entries;
  }

  std::shared_ptr<const KeyPart> part_;
  std::uint64_t learn_ns_, forget_ns_;
  Networks networks_;
  KeyTable<Host> hosts_;
  std::vector<New> new_;  ///< of the open window
  std::uint64_t window_ = 1, begin_ns_ = 0, forgotten_ = 0;
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
