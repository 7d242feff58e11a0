// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.hpp"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string_view>

namespace parshall::cli {
namespace {

std::atomic<std::int64_t> first_ns{0};  ///< time of the first signal; 0: none yet
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::atomic<bool> reload{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_hangup(int) { reload.store(true, std::memory_order_relaxed); }

std::int64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

/// A second signal that follows at once counts as the first: timeout(1) signals its child, and then the whole group.
void on_signal(int number) {
  constexpr std::int64_t kTogetherNs = 500'000'000;
  const int saved_errno = errno;
  const std::int64_t now = now_ns();
  std::int64_t none = 0;
  if (!first_ns.compare_exchange_strong(none, now, std::memory_order_relaxed) && now - none > kTogetherNs) {
    constexpr std::string_view kSaid =
        "parshall: ended at once by a second signal: what it had still to write is lost\n";
    pollfd reader{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    if (::poll(&reader, 1, 0) == 1) [[maybe_unused]]
      const auto written = ::write(STDERR_FILENO, kSaid.data(), kSaid.size());
    ::_exit(128 + number);
  }
  errno = saved_errno;
}

}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int number : {SIGINT, SIGTERM}) ::sigaction(number, &action, nullptr);
  if (::signal(SIGHUP, SIG_IGN) != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a file size limit is reported like a full disk
}

void reload_on_hangup() {
  struct sigaction action {};
  action.sa_handler = on_hangup;
  ::sigaction(SIGHUP, &action, nullptr);
}

bool reload_asked() noexcept { return reload.exchange(false, std::memory_order_relaxed); }

bool stop_asked() noexcept { return first_ns.load(std::memory_order_relaxed) != 0; }

}  // namespace parshall::cli
