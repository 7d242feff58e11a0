// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "pipeline/measure/tasks/key_table.hpp"
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {
namespace {

constexpr Parameter kOutagesParameters[] = {
    {"key", "src", "part of the key that should not fall silent"},
    {"steady", "30", "windows in a row with packets that make a talker"},
    {"silent", "5", "windows without a packet after which it is reported, in each window until it comes back"},
    {"forget", "3600", "windows without a packet after which it is no talker any more"},
};

/// Reports keys that had packets in many windows in a row and then fell silent. If nothing at all came meanwhile, there
/// were no windows, and it reports them when they come back. Windows in which packets were lost or not inspected do not
/// count as silent.
///
/// Shape: 96 bytes for each of --task-keys keys, and 16 of the index; a pass over them at the end of a window.
/// Full:  the half of the keys with the fewest windows in a row, and then the fewest packets, is forgotten. Events say
///        how many.
class Outages final : public Task {
 public:
  Outages(Arguments& arguments, TaskContext& context)
      : part_(std::make_shared<const KeyPart>(arguments.key("key", context.fields()))),
        steady_(arguments.count("steady", 2, kMost)),
        silent_(arguments.count("silent", 1, kMost)),
        forget_(arguments.count("forget", silent_, kMost)),
        talkers_(context.keys(), context.seed()) {}

  void flows(std::span<const FlowWindow> flows) override {
    for (const FlowWindow& flow : flows) {
      const FlowKey key = part_->of(flow.key);
      const std::uint64_t hash = talkers_.hash(key);
      Talker* talker = talkers_.find_or_add(hash, key);
      if (talker == nullptr) [[unlikely]] {
        make_room();
        talker = talkers_.find_or_add(hash, key);
      }
      talker->packets += flow.packets;
      talker->wire_bytes += flow.wire_bytes;
    }
  }

  void end(EventWriter& events) override {
    const std::uint64_t number = events.window().number;
    if (dropped_ != 0) events.write_left_out(std::exchange(dropped_, 0), {});
    std::vector<Silent> silent;
    bool any_to_forget = false;
    const WindowTotals& totals = events.window().totals;
    const bool is_blind = totals.untold_packets() != 0 || totals.missed_packets != 0;
    for (auto& entry : talkers_.entries()) {
      Talker& talker = entry.value;
      if (talker.packets != 0) {
        if (const std::uint64_t gap = number - talker.last - 1;
            talker.run >= steady_ && gap >= silent_ && !talker.is_told)
          silent.push_back({entry.key, gap, talker.all_packets / talker.run, talker.all_bytes / talker.run});
        go_on(talker, number);
        continue;
      }
      if (is_blind && talker.run >= steady_) talker.last = number;  // its packets may be among those not seen
      any_to_forget |= is_over(talker, number);
      if (talker.run < steady_ || number - talker.last < silent_ || number - talker.last > forget_) continue;
      talker.is_told = true;
      silent.push_back(
          {entry.key, number - talker.last, talker.all_packets / talker.run, talker.all_bytes / talker.run});
    }
    std::ranges::sort(silent, [](const Silent& a, const Silent& b) { return order_of(a.key, b.key) < 0; });
    for (const Silent& one : silent)
      events.write(part_, one.key,
                   {{"silent_windows", one.windows}, {"packets_before", one.packets}, {"wire_bytes_before", one.bytes}},
                   {});
    if (any_to_forget) talkers_.drop([&](const auto& entry) { return is_over(entry.value, number); });
  }

  std::size_t memory_bytes() const noexcept override { return KeyTable<Talker>::memory_bytes(talkers_.capacity()); }

 private:
  static constexpr std::uint64_t kMost = 1'000'000'000;

  struct Talker {
    std::uint64_t packets = 0, wire_bytes = 0;     ///< in the open window
    std::uint64_t last = 0;                        ///< the last window with packets
    std::uint64_t run = 0;                         ///< windows in a row with packets, until then
    std::uint64_t all_packets = 0, all_bytes = 0;  ///< in these
    bool is_told = false;                          ///< it was reported since
  };

  struct Silent {
    FlowKey key;
    std::uint64_t windows, packets, bytes;  ///< without a packet; of a window before
  };

  static void go_on(Talker& talker, std::uint64_t number) noexcept {
    if (talker.last + 1 != number) talker.run = talker.all_packets = talker.all_bytes = 0;
    ++talker.run;
    talker.all_packets += talker.packets;
    talker.all_bytes += talker.wire_bytes;
    talker.packets = talker.wire_bytes = 0;
    talker.last = number;
    talker.is_told = false;
  }

  bool is_over(const Talker& talker, std::uint64_t number) const noexcept {
    return talker.packets == 0 && number - talker.last > (talker.run >= steady_ ? forget_ : 1);
  }

  void make_room() {
    const auto weight = [](const auto& entry) {  // windows in a row weigh more than packets
      constexpr std::uint64_t kMost32 = 0xFFFF'FFFF;
      const std::uint64_t packets = entry.value.all_packets + entry.value.packets;
      return (entry.value.run < kMost32 ? entry.value.run : kMost32) << 32 | (packets < kMost32 ? packets : kMost32);
    };
    dropped_ += talkers_.drop_half(weight).entries;
  }

  std::shared_ptr<const KeyPart> part_;
  std::uint64_t steady_, silent_, forget_;
  KeyTable<Talker> talkers_;
  std::uint64_t dropped_ = 0;
};

}  // namespace

extern const TaskEntry kOutages{"outages",
                                "talkers that fall silent",
                                "key, windows since its last packet, and the packets and bytes of a window before",
                                "exact; keys beyond --task-keys are left out, the least steady ones first, and counted",
                                kOutagesParameters,
                                [](Arguments& arguments, TaskContext& context) -> std::unique_ptr<Task> {
                                  return std::make_unique<Outages>(arguments, context);
                                }};

}  // namespace parshall
