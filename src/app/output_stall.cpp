// SPDX-License-Identifier: Apache-2.0
#include "app/output_stall.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/thread_name.hpp"

namespace parshall::cli {

OutputStall::OutputStall(const Outputs& outputs, std::chrono::milliseconds patience, std::function<bool()> is_ending,
                         std::function<void()> tell)
    : outputs_(outputs), patience_(patience), is_ending_(std::move(is_ending)), tell_(std::move(tell)), thread_([this] {
        run();
      }) {}

OutputStall::~OutputStall() {
  going_.store(false, std::memory_order_relaxed);
  end_.wake();
  thread_.join();
}

void OutputStall::run() {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kLook{50};
  name_this_thread("stall");
  std::vector<OutputSummary::Sum> before;
  const auto has_ended = [this] { return !going_.load(std::memory_order_relaxed); };
  for (auto since = Clock::now(); !has_ended(); end_.sleep(kLook, has_ended)) {
    std::vector<OutputSummary::Sum> now;
    bool waits = false;
    for (const OutputSummary& output : outputs_.summaries()) {
      now.insert(now.end(), {output.offered, output.written, output.unconfirmed, output.dropped});
      waits |= output.waiting() != OutputSummary::Sum();
    }
    if (!is_ending_() || !waits || now != before) since = Clock::now();
    before = std::move(now);
    if (Clock::now() - since < patience_) continue;
    tell_();
    return;
  }
}

}  // namespace parshall::cli
