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

/// Reports keys that had packets in many windows in a row and then fell silent.
///
/// Shape: 88 bytes for each of --task-keys keys, and 16 of the index; a pass over them at the end of a window.
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
    std::vector<const KeyTable<Talker>::Entry*> silent;
    bool any_to_forget = false;
    for (auto& entry : talkers_.entries()) {
      Talker& talker = entry.value;
      if (talker.packets != 0) {
        go_on(talker, number);
        continue;
      }
      any_to_forget |= is_over(talker, number);
      if (talker.run >= steady_ && number - talker.last >= silent_ && number - talker.last <= forget_)
        silent.push_back(&entry);
    }
    std::ranges::sort(silent, [](auto* a, auto* b) { return order_of(a->key, b->key) < 0; });
    for (const auto* const entry : silent) {
      const Talker& talker = entry->value;
      events.write(part_, entry->key,
                   {{"silent_windows", number - talker.last},
                    {"packets_before", talker.all_packets / talker.run},
                    {"wire_bytes_before", talker.all_bytes / talker.run}},
                   {});
    }
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
  };

  static void go_on(Talker& talker, std::uint64_t number) noexcept {
    if (talker.last + 1 != number) talker.run = talker.all_packets = talker.all_bytes = 0;
    ++talker.run;
    talker.all_packets += talker.packets;
    talker.all_bytes += talker.wire_bytes;
    talker.packets = talker.wire_bytes = 0;
    talker.last = number;
  }

  bool is_over(const Talker& talker, std::uint64_t number) const noexcept {
    return talker.packets == 0 && number - talker.last > (talker.run >= steady_ ? forget_ : 1);
  }

  void make_room() {
    using Weight = std::pair<std::uint64_t, std::uint64_t>;
    const auto weight = [](const Talker& talker) { return Weight(talker.run, talker.all_packets + talker.packets); };
    std::vector<Weight> weights;
    for (const auto& entry : talkers_.entries()) weights.push_back(weight(entry.value));
    const auto middle = weights.begin() + static_cast<std::ptrdiff_t>((weights.size() - 1) / 2);
    std::ranges::nth_element(weights, middle);
    const std::size_t before = talkers_.size();
    talkers_.drop([&](const auto& entry) { return weight(entry.value) <= *middle; });
    dropped_ += before - talkers_.size();
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
