// SPDX-License-Identifier: Apache-2.0
#include "app/send_orders.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace parshall::cli {

void SendOrders::set_rate(const SendRate& rate) {
  const std::scoped_lock lock(mutex_);
  rate_ = rate;
  any_.store(true, std::memory_order_release);
}

void SendOrders::set_source(std::unique_ptr<PacketSource> source) {
  const std::scoped_lock lock(mutex_);
  source_ = std::move(source);
  any_.store(true, std::memory_order_release);
}

std::size_t SendOrders::carry_out(Sender& sender) noexcept {
  if (any_.load(std::memory_order_acquire)) {
    const std::scoped_lock lock(mutex_);
    any_.store(false, std::memory_order_relaxed);
    if (source_) sender.change_source(std::move(source_));
    if (rate_) sender.change_rate(*std::exchange(rate_, std::nullopt));
  }
  const bool paused = paused_.load(std::memory_order_relaxed);
  if (was_paused_ && !paused) sender.change_rate(sender.rate());  // packets due during the pause are not made up for
  was_paused_ = paused;
  return paused ? 0 : Sender::kBatch;
}

std::optional<std::string> Prompt::line() {
  constexpr std::size_t kLongest = 4096;
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  while (!ended_ && text_.find('\n') == text_.npos && ::poll(&input, 1, 0) > 0) {
    std::array<char, 512> part;
    const ssize_t got = ::read(STDIN_FILENO, part.data(), part.size());
    ended_ = got <= 0 || text_.size() > kLongest;
    if (got > 0) text_.append(part.data(), static_cast<std::size_t>(got));
  }
  const std::size_t end = text_.find('\n');
  if (end == text_.npos && ended_ && !text_.empty()) return std::exchange(text_, {});
  if (end == text_.npos) return std::nullopt;
  std::string line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

}  // namespace parshall::cli
