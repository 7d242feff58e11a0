// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace parshall::cli {
namespace {

std::atomic<int> signals{0};
static_assert(std::atomic<int>::is_always_lock_free);

std::atomic<bool> reload{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_hangup(int) { reload.store(true, std::memory_order_relaxed); }

void on_signal(int number) {
  if (signals.fetch_add(1, std::memory_order_relaxed) > 0) ::_exit(128 + number);
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

bool stop_asked() noexcept { return signals.load(std::memory_order_relaxed) > 0; }

}  // namespace parshall::cli
