// SPDX-License-Identifier: Apache-2.0
#include "monitor/sandbox/each_thread.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

namespace parshall::sandbox {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{1};  ///< with one thread
constexpr std::chrono::microseconds kLook{100};
constexpr int kPending = -1;

/// Outlives every call: a thread may answer too late.
struct {
  const std::function<int()>* step = nullptr;
  std::atomic<pid_t> asked{0};
  std::atomic<int> answer{kPending};
} round;

void take_step(int) {
  const int saved = errno;
  pid_t me = static_cast<pid_t>(::syscall(SYS_gettid));
  if (round.asked.compare_exchange_strong(me, 0)) round.answer.store((*round.step)(), std::memory_order_release);
  errno = saved;
}

using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;

std::vector<pid_t> threads_in(const Folder& tasks) {
  std::vector<pid_t> found;
  ::rewinddir(tasks.get());
  while (const dirent* entry = ::readdir(tasks.get())) {
    const std::string_view name(entry->d_name);
    pid_t thread = 0;
    if (std::from_chars(name.begin(), name.end(), thread).ec == std::errc()) found.push_back(thread);
  }
  return found;
}

/// What `thread` answers; 0 also where it has ended.
int ask(pid_t thread, int signal) {
  round.answer.store(kPending);
  round.asked.store(thread);
  const auto until = Clock::now() + kPatience;
  if (::syscall(SYS_tgkill, ::getpid(), thread, signal) != 0) return errno == ESRCH ? 0 : errno;
  for (;;) {
    if (const int answer = round.answer.load(std::memory_order_acquire); answer != kPending) return answer;
    if (::syscall(SYS_tgkill, ::getpid(), thread, 0) != 0) return 0;
    pid_t still = thread;
    if (Clock::now() > until && round.asked.compare_exchange_strong(still, 0)) return ETIMEDOUT;
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

std::optional<Error> each_thread(const std::function<int()>& step) {
  const auto failed = [](int number) {
    return number == 0 ? std::nullopt : std::optional(Error{std::strerror(number)});
  };
  const auto me = static_cast<pid_t>(::syscall(SYS_gettid));
  std::vector<pid_t> done{me};
  const Folder tasks(::opendir("/proc/self/task"), &::closedir);  // before `step` may forbid it
  if (auto error = failed(step())) return error;
  if (!tasks) return std::nullopt;
  const int signal = SIGRTMAX - 1;
  struct sigaction ours {
  }, before{};
  ours.sa_handler = take_step;
  ours.sa_flags = SA_RESTART;
  ::sigaction(signal, &ours, &before);
  round.step = &step;
  std::optional<Error> error;
  for (bool found = true; found && !error;) {
    found = false;
    for (const pid_t thread : threads_in(tasks)) {
      if (error || std::ranges::find(done, thread) != done.end()) continue;
      if (const int number = ask(thread, signal); number != 0)
        error = Error{fmt::format("thread {}: {}", thread, std::strerror(number))};
      done.push_back(thread);
      found = true;
    }
  }
  // A signal that is yet to come would end the process, were there no handler: one that was not answered keeps it.
  if (!error) ::sigaction(signal, &before, nullptr);
  return error;
}

}  // namespace parshall::sandbox
