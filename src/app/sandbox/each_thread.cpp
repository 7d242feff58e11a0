// SPDX-License-Identifier: Apache-2.0
#include "app/sandbox/each_thread.hpp"

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
constexpr std::chrono::seconds kPatience{1};  ///< for each thread
constexpr std::chrono::microseconds kLook{100};
constexpr const char* kThreads = "/proc/self/task";
constexpr int kPending = -1;

/// Outlives every call, since a thread may answer too late.
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

/// Makes `thread` run the step. Returns its answer, or 0 if it has ended.
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
  std::optional<Error> error;
  const auto note = [&error](const std::string& who, int number) {
    if (number != 0 && !error) error = Error{who + std::strerror(number)};
  };
  std::vector<pid_t> done{static_cast<pid_t>(::syscall(SYS_gettid))};
  const Folder tasks(::opendir(kThreads), &::closedir);
  const int signal = SIGRTMAX - 1;
  struct sigaction ours {
  }, before{};
  ours.sa_handler = take_step;
  ours.sa_flags = SA_RESTART;
  ::sigaction(signal, &ours, &before);
  round.step = &step;
  bool late = false;
  for (bool found = tasks != nullptr; found;) {
    found = false;
    for (const pid_t thread : threads_in(tasks)) {
      if (std::ranges::find(done, thread) != done.end()) continue;
      const int number = ask(thread, signal);
      note(fmt::format("thread {}: ", thread), number);
      late |= number == ETIMEDOUT;
      done.push_back(thread);
      found = true;
    }
  }
  // A late signal would end the process without a handler, so the handler stays if a thread did not answer.
  if (!late) ::sigaction(signal, &before, nullptr);
  note("", step());  // last, because a restricted thread may be unable to signal others
  return error;
}

bool threads_are_listed() noexcept { return ::access(kThreads, R_OK | X_OK) == 0; }

}  // namespace parshall::sandbox
